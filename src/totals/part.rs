//! The numbers of one model, or of one kind of call.

use std::collections::BTreeMap;

use super::methods::{ByParser, entry};
use super::{MOST, OTHERS};
use crate::content::Content;
use crate::escaping::printable;
use crate::event::{AttemptDetails, ResponseDetails};
use crate::model::Dollars;
use crate::run::{AnswerDetails, Shortcomings};

/// How much of an error's text is kept, as an example.
const EXAMPLE: usize = 160;

/// A sum of numbers, some of which are not known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Sum {
    sum: u64,
    is_known: bool,
}

impl Sum {
    fn new(number: Option<u64>) -> Self {
        Sum { sum: number.unwrap_or(0), is_known: number.is_some() }
    }

    /// The sum of the known ones; `None` if there are none.
    pub(super) fn total(self) -> Option<u64> {
        self.is_known.then_some(self.sum)
    }

    fn merge(&mut self, other: Sum) {
        // Only a forged log has counts that do not fit.
        self.sum = self.sum.saturating_add(other.sum);
        self.is_known |= other.is_known;
    }
}

/// Answers, and the tokens that were counted in them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct TokenUse {
    pub(super) answers: u64,
    /// How many of them have a count of tokens.
    pub(super) counted: u64,
    pub(super) prompt: Sum,
    /// Those of the prompt that the provider had in its cache; never more than there are.
    pub(super) cached: Sum,
    pub(super) completion: Sum,
    pub(super) reasoning: Sum,
    /// How many of the answers have a price.
    pub(super) priced: u64,
    /// How many of these have a count of tokens.
    pub(super) paid: u64,
    /// What these cost.
    pub(super) dollars: Dollars,
}

/// What an answer cost, and what the provider's cache saved, if it has a price.
pub(super) type AnswerCost = Option<(Dollars, Dollars)>;

impl TokenUse {
    pub(super) fn add(&mut self, details: &ResponseDetails, cost: AnswerCost) {
        let prompt = details.prompt_tokens;
        let is_counted = prompt.is_some() || details.completion_tokens.is_some();
        let cached = details.cached_tokens.map(|cached| cached.min(prompt.unwrap_or(0)));
        self.merge(TokenUse {
            answers: 1,
            counted: u64::from(is_counted),
            prompt: Sum::new(prompt),
            cached: Sum::new(cached),
            completion: Sum::new(details.completion_tokens),
            reasoning: Sum::new(details.reasoning_tokens),
            priced: u64::from(cost.is_some()),
            paid: u64::from(cost.is_some() && is_counted),
            dollars: cost.map(|(cost, _)| cost).unwrap_or_default(),
        });
    }

    pub(super) fn merge(&mut self, other: TokenUse) {
        let TokenUse {
            answers,
            counted,
            prompt,
            cached,
            completion,
            reasoning,
            priced,
            paid,
            dollars,
        } = other;
        (self.priced, self.paid) = (self.priced + priced, self.paid + paid);
        self.dollars += dollars;
        self.answers += answers;
        self.counted += counted;
        self.prompt.merge(prompt);
        self.cached.merge(cached);
        self.completion.merge(completion);
        self.reasoning.merge(reasoning);
    }

    /// The cost of those that have a price and counted tokens; `None` if there are none.
    pub(super) fn cost(self) -> Option<f64> {
        (self.paid > 0).then(|| self.dollars.get())
    }
}

/// Attempts that failed for one reason.
#[derive(Debug, Clone, Default)]
pub(super) struct FailureCount {
    pub(super) attempts: u64,
    /// The beginning of one of the errors.
    pub(super) example: String,
    /// Whether others read differently.
    pub(super) has_others: bool,
}

/// A kind of failure, and the HTTP status.
pub(super) type FailureReason = (String, Option<u16>);

/// The numbers of one model, or of one kind of call.
#[derive(Debug, Clone, Default)]
pub(super) struct Part {
    /// Answers that were asked for.
    pub(super) received: TokenUse,
    /// How many of them had tokens in the provider's cache, how many of these have a price, and how much more they would have
    /// cost.
    pub(super) cached: (u64, u64, Dollars),
    /// Answers to earlier questions of the run, used again.
    pub(super) within: TokenUse,
    /// Answers of the run that it is a fork of.
    pub(super) from_parent: TokenUse,
    /// Answers of any other run.
    pub(super) from_others: TokenUse,
    /// Answers that were there when the run was continued, once for each time.
    pub(super) resumed: TokenUse,
    /// Attempts that failed, by reason and HTTP status.
    pub(super) failures: BTreeMap<FailureReason, FailureCount>,
    /// How many answers took so many milliseconds, where a time was recorded.
    pub(super) latencies: BTreeMap<u64, u64>,
    /// What providers say that they charged, in their own unit, and for how many answers.
    pub(super) reported: (u64, f64),
    pub(super) lacking: Shortcomings,
    /// How many answers came from a model that the server called so, where it named one.
    pub(super) reported_as: BTreeMap<String, u64>,
    pub(super) parsers: ByParser,
}

impl Part {
    /// The answers that another run like this one would ask for.
    pub(super) fn anew(&self) -> TokenUse {
        let mut all = self.received;
        all.merge(self.from_parent);
        all.merge(self.from_others);
        all
    }

    /// Those that a replay gives.
    pub(super) fn replayed(&self) -> TokenUse {
        let mut all = self.anew();
        all.merge(self.within);
        all
    }

    /// Answers, asked for or used again.
    pub(super) fn answers(&self) -> u64 {
        let answered = [self.received, self.within, self.from_parent, self.from_others];
        answered.iter().map(|of| of.answers).sum()
    }

    pub(super) fn add_answer(&mut self, details: &ResponseDetails, cost: AnswerCost) {
        self.received.add(details, cost);
        if details.cached_tokens.is_some_and(|cached| cached > 0) {
            let (answers, priced, dollars) = &mut self.cached;
            (*answers, *priced) = (*answers + 1, *priced + u64::from(cost.is_some()));
            *dollars += cost.map(|(_, saved)| saved).unwrap_or_default();
        }
        if details.latency_ms > 0 {
            *self.latencies.entry(details.latency_ms).or_default() += 1;
        }
        if let Some(cost) = details.cost {
            self.reported.0 += 1;
            self.reported.1 += cost;
        }
    }

    /// Notes the server's name for the model of an answer, asked for or used again.
    pub(super) fn add_model_name(&mut self, details: &ResponseDetails) {
        if let Some(model) = &details.model {
            *entry(&mut self.reported_as, model, u64::default) += 1;
        }
    }

    pub(super) fn lacking(&mut self, beside: &AnswerDetails, content: &Content) {
        self.lacking += beside.shortcomings(content);
    }

    pub(super) fn add_failure(&mut self, details: &AttemptDetails) {
        let AttemptDetails { error, failure, status, .. } = details;
        let one =
            FailureCount { attempts: 1, example: printable(error, EXAMPLE), has_others: false };
        self.add_failures((failure.clone(), *status), &one);
    }

    fn add_failures(&mut self, reason: FailureReason, more: &FailureCount) {
        let is_full = self.failures.len() >= MOST && !self.failures.contains_key(&reason);
        let reason = if is_full { (OTHERS.to_owned(), None) } else { reason };
        let of = self
            .failures
            .entry(reason)
            .or_insert_with(|| FailureCount { attempts: 0, ..more.clone() });
        of.attempts += more.attempts;
        of.has_others |= more.has_others || of.example != more.example;
    }

    pub(super) fn resume(&mut self) {
        self.resumed.merge(self.received);
    }

    /// Adds the numbers of another model. Decisions are left out: they are counted together as well.
    pub(super) fn merge(&mut self, other: &Part) {
        self.received.merge(other.received);
        let (answers, priced, dollars) = &mut self.cached;
        (*answers, *priced) = (*answers + other.cached.0, *priced + other.cached.1);
        *dollars += other.cached.2;
        self.within.merge(other.within);
        self.from_parent.merge(other.from_parent);
        self.from_others.merge(other.from_others);
        self.resumed.merge(other.resumed);
        for (reason, failures) in &other.failures {
            self.add_failures(reason.clone(), failures);
        }
        for (milliseconds, answers) in &other.latencies {
            *self.latencies.entry(*milliseconds).or_default() += answers;
        }
        self.reported.0 += other.reported.0;
        self.reported.1 += other.reported.1;
        self.lacking += other.lacking;
        for (name, answers) in &other.reported_as {
            *entry(&mut self.reported_as, name, u64::default) += answers;
        }
    }
}
