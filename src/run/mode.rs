//! Where answers come from.

use super::divergence::Divergence;
use super::history::{RecordedCall, RecordedEnd};
use super::question::QuestionCore;
use super::stop::Stop;

/// Where answers come from. A fork's parent is always asked before the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// The model answers.
    Record,
    /// The log answers; a miss is a divergence and never causes a call.
    Replay,
    /// The log answers, then the model.
    Resume,
    /// The log answers by call and sample, even if the prompt has changed; differences are counted,
    /// and nothing is written. With a model, which should be a simulated one, the log answers the
    /// questions that it has with the same prompt, and the model all others. See
    /// [`DryRun`](super::DryRun).
    Rehearse,
}

/// Where the answer to a question comes from.
pub(super) enum AnswerSource {
    Log(RecordedEnd),
    Model,
    Nobody,
}

impl Mode {
    /// The only place that decides where an answer comes from, given the log's entry for the
    /// question's call and sample, and whether there is a model.
    pub(super) fn source(
        self,
        asked: &QuestionCore,
        found: Option<RecordedCall>,
        has_model: bool,
    ) -> Result<AnswerSource, Stop> {
        match (self, found) {
            (Mode::Replay | Mode::Resume, Some(found)) if found.prompt != asked.prompt() => {
                Err(Divergence::prompt(asked, found.prompt).into())
            }
            (Mode::Replay | Mode::Resume | Mode::Rehearse, Some(found)) => {
                Ok(AnswerSource::Log(found.recorded))
            }
            (Mode::Replay, None) => Err(Divergence::missing(asked).into()),
            (Mode::Rehearse, None) if !has_model => Ok(AnswerSource::Nobody),
            (Mode::Record | Mode::Resume | Mode::Rehearse, _) => Ok(AnswerSource::Model),
        }
    }

    /// Whether new events are written.
    pub(super) fn writes(self) -> bool {
        matches!(self, Mode::Record | Mode::Resume)
    }
}
