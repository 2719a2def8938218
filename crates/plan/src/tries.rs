//! The runs of one study in a log.

use retold::event::{PROGRAM, RunStarted};
use retold::id::{RunId, Time};
use retold::log::{LogError, Reader, RunHead};
use retold::run::run_start;
use retold_study::shard::SHARD;
use retold_study::studies::Studies;
use serde::Serialize;
use serde_json::Value;

use crate::differences::{SettingDifference, value_words};
use crate::setting_deviations::asked_differently;

/// How many settings of another run are named.
const MOST_NAMED: usize = 3;

/// What a run of a study counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StudyRunKind {
    /// A model answered, from its beginning.
    Real,
    /// A program made the answers up.
    Simulated,
    /// It shares the answers of another run.
    Fork,
    /// It is a part of a run, which is merged with others.
    Shard,
}

/// A run of the same study.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StudyRun {
    /// The run.
    pub run: RunId,
    /// When it began.
    pub began: Time,
    /// What it counts as.
    pub kind: StudyRunKind,
    /// The settings that it has differently, in words.
    pub differs: Vec<String>,
    /// The values of the figure in it; `None` if they were not computed.
    pub values: Option<String>,
}

/// How many runs of a study a log has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct StudyRuns {
    /// Those that count.
    pub real: u64,
    /// Those with made-up answers.
    pub simulated: u64,
    /// Those that share the answers of others.
    pub forks: u64,
    /// Those that are a part of a run.
    pub shards: u64,
    /// Runs of the log that cannot be read, whatever they are of.
    pub unreadable: u64,
}

impl StudyRuns {
    pub(crate) fn count(&mut self, kind: StudyRunKind) {
        match kind {
            StudyRunKind::Real => self.real += 1,
            StudyRunKind::Simulated => self.simulated += 1,
            StudyRunKind::Fork => self.forks += 1,
            StudyRunKind::Shard => self.shards += 1,
        }
    }
}

impl StudyRunKind {
    /// What a run counts as.
    pub(crate) fn of(started: &RunStarted) -> Self {
        if started.is_simulated() {
            StudyRunKind::Simulated
        } else if started.forked_from.is_some() {
            StudyRunKind::Fork
        } else if started.settings["experiment"][SHARD].is_string() {
            StudyRunKind::Shard
        } else {
            StudyRunKind::Real
        }
    }

    /// The word for it in a list; empty for a run that counts.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            StudyRunKind::Real => "",
            StudyRunKind::Simulated => "simulated",
            StudyRunKind::Fork => "a fork",
            StudyRunKind::Shard => "a shard",
        }
    }
}

/// Runs of a log with their beginnings.
#[derive(Default)]
pub(crate) struct Beginnings {
    pub(crate) runs: Vec<(RunHead, RunStarted)>,
    pub(crate) unreadable: u64,
}

impl Beginnings {
    /// Those of all runs, in the order in which they were started.
    ///
    /// # Errors
    /// [`LogError`] if the runs cannot be listed, or one cannot be read for another reason than damage.
    pub(crate) fn read(reader: &mut dyn Reader) -> Result<Self, LogError> {
        let mut found = Beginnings::default();
        for head in reader.runs()? {
            match run_start(reader, head.run) {
                Ok(started) => found.runs.push((head, started)),
                Err(error) if error.is_damage() => found.unreadable += 1,
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }
}

/// Whether two runs are of one study: of one experiment, or programs' runs with one name or one command.
pub(crate) fn is_same_study(one: &RunStarted, other: &RunStarted) -> bool {
    if one.experiment != other.experiment {
        return false;
    }
    let command = |of: &RunStarted| of.settings.get("command").cloned().unwrap_or(Value::Null);
    match one.experiment == PROGRAM {
        true if one.name().is_some() => one.name() == other.name(),
        true => command(one) == command(other),
        // Exchanges that were imported have no study in common.
        false => one.is_of_experiment(),
    }
}

/// What another run asks differently, in words.
pub(crate) fn settings_that_differ(
    one: &RunStarted,
    other: &RunStarted,
    studies: &Studies,
) -> Vec<String> {
    let found = asked_differently(&one.settings, &other.settings, &one.experiment, studies);
    let words = |difference: &SettingDifference| {
        let key = difference.key();
        match difference.found.as_str() {
            Some(text) if text.contains('\n') => format!("another {key}"),
            _ => format!("{key} {}", value_words(&difference.found)),
        }
    };
    let mut named: Vec<String> = found.iter().take(MOST_NAMED).map(words).collect();
    let more = found.len().saturating_sub(MOST_NAMED);
    named.extend((more > 0).then(|| format!("{more} other settings")));
    named
}
