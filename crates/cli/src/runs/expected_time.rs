//! How long a run will take that keeps to a pace, said before it asks.

use std::time::Duration;

use crate::again::spell_commands;
use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::{count_of, group_digits};
use crate::runs::session::StudyExecution;
use crate::runs::simulated::{SimulatedRun, simulate, with_simulated_model};
use crate::views::pace::{pace_text, seconds_text};
use retold::model::{Limits, Prices};
use retold::run::Mode;
use retold::totals::Totals;
use retold_study::study::Study;

/// How long may be spent on finding out.
const LONGEST: Duration = Duration::from_secs(5);

/// The shortest interval between requests for which it is worth finding out.
const SLOW: Duration = Duration::from_millis(100);

/// How long a run will take.
pub(crate) struct ExpectedTime {
    /// How many answers it will have; 0 if that is not known.
    pub(crate) answers: u64,
    pub(crate) text: String,
}

impl ExpectedTime {
    /// Of a run that asks a server at a pace of its own; `None` of others. How much it asks is found out with simulated answers.
    ///
    /// # Errors
    /// Only if somebody interrupts it: a run whose simulation fails reports that itself.
    pub(crate) fn new(
        session: &StudyExecution,
        limits: &Limits,
        global: &Global,
    ) -> Result<Option<Self>, CliError> {
        let StudyExecution { mode, started, settings, .. } = session;
        let is_own = started.forked_from.is_none() && started.merged_from.is_empty();
        let is_slow = limits.interval() >= SLOW && settings.runtime.model.kind.api().is_some();
        if !matches!(mode, Mode::Record | Mode::Resume) || !is_own || !is_slow || global.quiet {
            return Ok(None);
        }
        let asked = match asked(session, global) {
            Err(error) if error.status == Status::Interrupted => return Err(error),
            asked => asked.ok().flatten(),
        };
        Ok(ExpectedTime::of(asked, limits.interval()))
    }

    fn of(asked: Option<Asked>, interval: Duration) -> Option<Self> {
        let Some(Asked { answers, requests, recorded }) = asked else {
            let every = seconds_text(interval);
            let text =
                format!("one request every {every}: `retold plan CONFIG` says how long all take");
            return Some(ExpectedTime { answers: 0, text: spell_commands(&text) });
        };
        let left = answers.saturating_sub(recorded);
        let pace = pace_text(requests.min(left), interval)?;
        let text = match recorded {
            0 => format!("about {}, {pace}", count_of(answers, "answer")),
            _ => format!(
                "about {} of {} are left, {pace}",
                count_of(left, "answer"),
                group_digits(answers)
            ),
        };
        Some(ExpectedTime { answers, text })
    }
}

/// What a run will ask.
struct Asked {
    answers: u64,
    /// How many requests that takes.
    requests: u64,
    /// How many answers it has already.
    recorded: u64,
}

/// What a run will ask; `None` if it takes too long to find out.
fn asked(session: &StudyExecution, global: &Global) -> Result<Option<Asked>, CliError> {
    let StudyExecution { log, run, mode, started, settings, .. } = session;
    let (experiment, seed, settings) = (started.experiment.clone(), started.seed, settings.clone());
    let mut study = Study { experiment, seed, seed_is_drawn: false, settings };
    with_simulated_model(&mut study, global);
    let Some(SimulatedRun { requests, answers, .. }) = simulate(study, Some(LONGEST), global)?
    else {
        return Ok(None);
    };
    let recorded = match mode {
        Mode::Resume => {
            let totals = Totals::read(log.reader()?.as_mut(), *run, &Prices::default())?;
            totals.figures(global.studies.parsers()).all.counts.calls.answered
        }
        _ => 0,
    };
    Ok(Some(Asked { answers, requests, recorded }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_says_what_is_left() {
        let of = |answers, requests, recorded| {
            let asked = Asked { answers, requests, recorded };
            ExpectedTime::of(Some(asked), Duration::from_secs(3)).unwrap().text
        };
        let whole = "about 13,053 answers, at least 10 hours 21 minutes: one request every 3 s";
        assert_eq!(of(13_053, 12_431, 0), whole);
        let rest = "about 53 answers of 13,053 are left, at least 2 minutes 36 seconds: one request every 3 s";
        assert_eq!(of(13_053, 12_431, 13_000), rest);
        let unknown = ExpectedTime::of(None, Duration::from_secs(3)).unwrap();
        assert_eq!(
            unknown.text,
            "one request every 3 s: `retold plan CONFIG` says how long all take"
        );
    }
}
