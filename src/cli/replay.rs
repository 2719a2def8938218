//! `retold replay`.

use std::path::PathBuf;

use serde_json::json;

use super::Global;
use super::error::{CliError, Status};
use super::output::{Output, counted};
use super::play::go_on;
use super::rehearse;
use super::resume::settings_of;
use super::select;
use super::session::{self, Session};
use crate::model::Prices;
use crate::run::{Ended, Finish, Mode, Stop};

/// Execute a recorded run again, offline, and prove its outcome identical.
///
/// No model is asked and nothing is written. Exit code 1 and a report if anything differs.
///
/// With --prompts, the run is executed with other templates: which recorded calls still match, which
/// would be new, and the first change of each lane (a participant, a dialogue). A changed call is
/// answered with its recorded answer, so that the rest of its lane is compared, too.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The run (first digits of its id, or `latest`), or a recording's file.
    run: String,
    /// Take templates from this folder, named as in config/prompts/EXPERIMENT; a file that is
    /// missing means the recorded one.
    #[arg(long, value_name = "DIR")]
    prompts: Option<PathBuf>,
}

pub(super) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let selected = select::run_or_file(global, &args.run)?;
    if let Some(folder) = &args.prompts {
        return rehearse::run(selected, folder, global, output);
    }
    let started = select::started(selected.log.reader()?.as_mut(), selected.run)?;
    let settings = settings_of(&started)?;
    let simulated = started.is_simulated();
    let command = go_on(&started);
    let session = Session {
        log: selected.log,
        run: selected.run,
        mode: Mode::Replay,
        started,
        settings,
        prices: Prices::default(),
        model: None,
    };
    let Ended { finish, progress, outcome_digest, report, took } = session::go(session, global)?;
    let mut closed = None;
    let (identical, complete, divergence) = match finish {
        Finish::Finished => (true, true, None),
        Finish::Closed(outcome) => {
            closed = Some(outcome);
            (true, false, None)
        }
        Finish::EndOfRecord | Finish::Rehearsed(_) => (true, false, None),
        Finish::Stopped(Stop::Diverged(divergence)) => (false, true, Some(divergence)),
        Finish::Stopped(stop) => return Err(stop.into()),
    };
    if output.is_json() {
        let divergence = divergence
            .as_ref()
            .map(|d| json!({"what": d.headline(), "seq": d.seq(), "report": d.to_string()}));
        output.object(&json!({
            "run": selected.run,
            "identical": identical,
            "complete": complete,
            "outcome": match (&closed, complete) {
                (Some(outcome), _) => outcome.as_str(),
                (None, true) => "finished",
                (None, false) => "unfinished",
            },
            "exchanges": progress.exchanges,
            "model_calls": progress.model_calls,
            "decisions": progress.decisions,
            "outcome_digest": outcome_digest,
            "divergence": divergence,
            "seconds": took.as_secs_f64(),
            "simulated": simulated,
            "report": report.json,
        }))?;
    } else {
        let mut text = match (&divergence, complete) {
            (Some(divergence), _) => format!("run {} diverges: {divergence}", selected.run),
            (None, true) => format!("run {} replays identically", selected.run),
            (None, false) if let Some(outcome) = &closed => format!(
                "run {} replays identically as far as it goes; it was {}",
                selected.run,
                outcome.as_str()
            ),
            (None, false) => format!(
                "run {} replays identically as far as it goes; it never finished: \
                 `retold {command} {}` goes on",
                selected.run,
                selected.run.short(8)
            ),
        };
        let rate = progress.exchanges as f64 / took.as_secs_f64().max(1e-9);
        text.push_str(&format!(
            "\n{}, {} asked of a model, in {:.2} s ({rate:.0}/s)\noutcome digest {outcome_digest}\n",
            counted(progress.exchanges, "answer"),
            progress.model_calls,
            took.as_secs_f64()
        ));
        if simulated {
            text.push_str(select::SIMULATED);
        }
        if divergence.is_none() {
            text.push_str(&format!("\n{}", report.text));
        }
        output.text(&text)?;
    }
    Ok(if identical { Status::Fine } else { Status::Difference })
}
