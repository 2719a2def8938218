//! Why a run ended before its experiment finished.

use std::error::Error;

use super::because::NoPlace;
use super::budget::OverBudget;
use super::divergence::Divergence;
use crate::event::{Labels, RunOutcome};
use crate::id::{CallPath, IdError, Sample};
use crate::log::LogError;
use crate::model::{Failure, LIMIT, Refusal, RequestFormError};
use crate::parse::MakeError;
use crate::prompt::{CanonicalError, RequestError};

/// The reason why a run ended before its experiment finished. Everything recorded so far is kept,
/// and the run can be resumed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Stop {
    /// The log could not be read or written.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The re-execution differs from the log.
    #[error(transparent)]
    Diverged(Box<Divergence>),
    /// A request to stop.
    #[error("interrupted")]
    Interrupted,
    /// What the run asks is to be answered by batch, and it has nothing more to ask until that has happened: see
    /// [`ExecutionResult::held`](super::ExecutionResult::held).
    #[error("waiting for the answers of a batch")]
    Held,
    /// A failure that every later call would meet as well.
    #[error("call {call} sample {sample}: {failure}")]
    Model {
        /// The call that met it.
        call: CallPath,
        /// Its sample.
        sample: Sample,
        /// What happened.
        failure: Failure,
    },
    /// A server refuses something about every request like this one, so the run goes no further.
    #[error("call {call} sample {sample}: {failure}")]
    Refused {
        /// The call that met it.
        call: CallPath,
        /// Its sample.
        sample: Sample,
        /// The model that was asked.
        model: String,
        /// The refusal.
        refusal: Refusal,
        /// What happened.
        failure: Failure,
    },
    /// A model has another name for `max_tokens`, which it says before it has answered anything. A continuation whose
    /// settings have the model under [`max_completion_tokens`](crate::model::RequestForm::max_completion_tokens) asks it so.
    #[error("{model} wants {LIMIT} instead of max_tokens")]
    LimitName {
        /// The model.
        model: String,
    },
    /// The network is out: too many attempts in a row could not connect. The affected calls are
    /// neither answered nor failed, so a resume asks them again.
    #[error("{} ({})", failure, row_of(*failures, *ever_answered))]
    Unreachable {
        /// How many failures in a row.
        failures: u32,
        /// Whether any attempt of this execution was answered earlier.
        ever_answered: bool,
        /// The last failure.
        failure: Failure,
    },
    /// The run has used up its tokens or dollars, or they cannot be counted.
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
    /// The run was ended for good.
    #[error("the run was {}", outcome.as_str())]
    Ended {
        /// How.
        outcome: RunOutcome,
    },
    /// The log ends here, because the recorded run did.
    #[error("the recorded run goes no further")]
    EndOfRecord,
    /// It was to go no further: see [`until`](super::Setup::until).
    #[error("stopped after {phase}")]
    Reached {
        /// The mark after which it stopped.
        phase: String,
    },
    /// The run is merged from shards, none of which has an answer, and no model is asked a question that the shards would
    /// have asked: see [`shards_end`](super::Setup::shards_end).
    #[error("no shard has an answer to call {call} sample {sample}")]
    NotInShards {
        /// The call.
        call: CallPath,
        /// Its sample.
        sample: Sample,
        /// The labels of the call, which may say whose answer it is.
        labels: Labels,
    },
    /// The experiment asked for the same address twice.
    #[error(
        "call {call} sample {sample} was asked twice: name the call differently, or ask for another sample"
    )]
    AskedTwice {
        /// The call.
        call: CallPath,
        /// The sample.
        sample: Sample,
    },
    /// The experiment made something that cannot be logged.
    #[error("the experiment made an invalid {what}: {source}")]
    Invalid {
        /// A request, call path, fact, parser or state.
        what: &'static str,
        /// Why it is invalid.
        source: Box<dyn Error + Send + Sync>,
    },
}

impl Stop {
    /// The experiment made something that cannot be logged.
    pub fn invalid(what: &'static str, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Stop::Invalid { what, source: source.into() }
    }
}

fn row_of(failures: u32, ever_answered: bool) -> String {
    let s = if failures == 1 { "" } else { "s" };
    let ever = if ever_answered { "" } else { ", and no answer so far" };
    format!("{failures} connection failure{s} in a row{ever}")
}

impl From<Box<Divergence>> for Stop {
    fn from(divergence: Box<Divergence>) -> Self {
        Stop::Diverged(divergence)
    }
}

impl From<Divergence> for Stop {
    fn from(divergence: Divergence) -> Self {
        Stop::Diverged(Box::new(divergence))
    }
}

impl From<RequestError> for Stop {
    fn from(error: RequestError) -> Self {
        Stop::invalid("request", error)
    }
}

impl From<RequestFormError> for Stop {
    fn from(error: RequestFormError) -> Self {
        Stop::invalid("request", error)
    }
}

impl From<IdError> for Stop {
    fn from(error: IdError) -> Self {
        Stop::invalid("call path", error)
    }
}

impl From<CanonicalError> for Stop {
    fn from(error: CanonicalError) -> Self {
        Stop::invalid("fact", error)
    }
}

impl From<NoPlace> for Stop {
    fn from(error: NoPlace) -> Self {
        Stop::invalid("source of a prompt", error)
    }
}

impl From<MakeError> for Stop {
    fn from(error: MakeError) -> Self {
        Stop::invalid("parser", error)
    }
}
