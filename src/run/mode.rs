//! Where answers come from.

use super::divergence::Divergence;
use super::history::Recorded;
use super::question::Asked;
use super::stop::Stop;

/// Where answers come from. Where a model would be asked, a fork's parent is asked before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The model answers.
    Record,
    /// The log answers; a miss is a divergence, never a call.
    Replay,
    /// The log answers, then the model.
    Resume,
}

/// Who answers a question.
pub(super) enum Source {
    Log(Recorded),
    Model,
}

impl Mode {
    /// The one place that decides who answers, given what the log has at the question's address.
    pub(super) fn source(self, asked: &Asked, found: Option<Recorded>) -> Result<Source, Stop> {
        match (self, found) {
            (Mode::Replay | Mode::Resume, Some(recorded)) => Ok(Source::Log(recorded)),
            (Mode::Replay, None) => Err(Divergence::missing(asked).into()),
            (Mode::Record | Mode::Resume, _) => Ok(Source::Model),
        }
    }

    /// Whether new events are written.
    pub(super) fn writes(self) -> bool {
        self != Mode::Replay
    }
}
