//! Answers from an exchanges file, by address.
//!
//! - A line with `call` and `sample` answers exactly that sample of that call with that prompt, as
//!   often as it is asked.
//! - A line with only `call` is the next sample of that call with that prompt, in file order.
//! - A line without `call` serves any call with that prompt, in file order, once.
//!
//! A line with an `error` instead of a `response` fails the call immediately with that failure: its
//! attempts have been made. A question without an answer fails with a message that names the
//! nearest lines of the file.
//!
//! If any answer is made up (`"simulated": true`), everything based on the file is marked as made
//! up.

mod load;
mod miss;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use futures::future::BoxFuture;

pub use load::{LoadError, LoadProblem, ScriptedExchange};

use super::answer::{Ask, Model, ModelInfo, Response};
use super::failure::{Failure, FailureKind};
use crate::id::{CallPath, PromptHash, Sample};
use crate::prompt::Request;

/// A model that answers from an exchanges file.
pub struct ScriptedModel {
    /// The file's name, for messages.
    source: String,
    /// Whether a program made up any of the answers.
    simulated: bool,
    /// One request per prompt hash, however many lines ask it.
    requests: BTreeMap<PromptHash, Request>,
    calls: BTreeMap<CallPath, BTreeMap<PromptHash, Samples>>,
    queues: BTreeMap<PromptHash, SharedAnswers>,
}

type Samples = BTreeMap<Sample, ScriptedAnswer>;

struct ScriptedAnswer {
    line: usize,
    outcome: Outcome,
}

/// The outcome of a question.
type Outcome = Result<Response, Failure>;

/// The answers to one prompt that any call may take, each used once.
#[derive(Default)]
struct SharedAnswers {
    total: usize,
    left: Mutex<VecDeque<Outcome>>,
}

impl SharedAnswers {
    fn push(&mut self, outcome: Outcome) {
        self.total += 1;
        self.left.get_mut().unwrap_or_else(PoisonError::into_inner).push_back(outcome);
    }

    fn take(&self) -> Option<Outcome> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

impl ScriptedModel {
    /// How many answers the file has.
    pub fn len(&self) -> usize {
        let addressed = self.calls.values().flat_map(BTreeMap::values).map(BTreeMap::len);
        addressed.sum::<usize>() + self.queues.values().map(|q| q.total).sum::<usize>()
    }

    /// How many answers can be used once by any call with the same prompt, in file order.
    #[must_use]
    pub fn unaddressed_count(&self) -> usize {
        self.queues.values().map(|q| q.total).sum()
    }

    /// Whether the file has no answers at all.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.queues.is_empty()
    }

    /// How many different prompts the file has.
    pub fn prompts(&self) -> usize {
        self.requests.len()
    }

    /// How many samples of a call with a prompt are available: those numbered from 0 without a gap,
    /// and those that any call with the prompt may take.
    #[must_use]
    pub fn samples_of(&self, call: &CallPath, prompt: PromptHash) -> u32 {
        let own = self.calls.get(call).and_then(|prompts| prompts.get(&prompt));
        let own = own.map_or(0, |own| (0..).take_while(|sample| own.contains_key(sample)).count());
        let shared = self.queues.get(&prompt).map_or(0, |queue| queue.total);
        u32::try_from(own + shared).unwrap_or(u32::MAX)
    }

    /// Why it has no answer to a question, in the words of the failure; `None` if it has one. Uses
    /// up no answer.
    #[must_use]
    pub fn miss(&self, ask: &Ask<'_>) -> Option<String> {
        let is_queued = self.queues.get(&ask.request.hash()).is_some_and(|queue| queue.total > 0);
        (!is_queued && self.addressed_to(ask).is_none()).then(|| miss::explain(self, ask))
    }

    /// The recorded outcome of exactly this sample of this call.
    fn addressed_to(&self, ask: &Ask<'_>) -> Option<&Outcome> {
        let recorded = self.calls.get(ask.call)?.get(&ask.request.hash())?.get(&ask.sample)?;
        Some(&recorded.outcome)
    }

    /// The recorded outcome at an address, if there is one.
    fn find(&self, ask: &Ask<'_>) -> Option<Outcome> {
        match self.addressed_to(ask) {
            Some(outcome) => Some(outcome.clone()),
            None => self.queues.get(&ask.request.hash())?.take(),
        }
    }
}

impl Model for ScriptedModel {
    fn info(&self) -> ModelInfo {
        ModelInfo {
            kind: "scripted".to_owned(),
            source: Some(self.source.clone()),
            simulated: self.simulated,
        }
    }

    fn answer<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Response, Failure>> {
        Box::pin(async move {
            self.find(&ask).unwrap_or_else(|| {
                Err(Failure::new(FailureKind::NoAnswer, miss::explain(self, &ask)))
            })
        })
    }
}

impl std::fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scripted")
            .field("source", &self.source)
            .field("answers", &self.len())
            .field("prompts", &self.prompts())
            .finish()
    }
}
