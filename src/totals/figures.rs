//! The figures that are shown for a run. Their JSON is that of `retold stats --json` and of the
//! page.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Serialize;

use super::methods::{ParserFigures, entry};
use super::part::{FailureCount, FailureReason, Part};
use super::saved::{SavedPart, Savings};
use super::with_shards::StudyFigures;
use super::{Open, Totals, UNNAMED};
use crate::id::RunId;
use crate::parse::Parsers;
use crate::percentile::nearest_rank;
use crate::run::Shortcomings;

/// A run in numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figures {
    /// The run.
    pub run: RunId,
    /// Events that were read.
    pub events: u64,
    /// How often the run was continued after an interruption.
    pub resumed: u64,
    /// How often somebody looked at what had come out before the run ended, as far as it is recorded.
    #[serde(skip_serializing_if = "never")]
    pub looks: u64,
    /// The run that it is a fork of.
    pub forked_from: Option<RunId>,
    /// How many shards it is merged from; 0 if it is not.
    #[serde(skip_serializing_if = "is_none")]
    pub merged_from: usize,
    /// All models together.
    #[serde(flatten)]
    pub all: PartFigures,
    /// The requests that one replay of the run saves. Replays leave no events, so that their number is not known.
    pub replay: SavedPart,
    /// The same by model: the name in the request, or else the one that the server reported.
    pub models: BTreeMap<String, PartFigures>,
    /// Calls by kind, see [`call_kind`](crate::event::call_kind).
    pub kinds: BTreeMap<String, Counts>,
    /// Calls of tools, by name: no model was asked, and they are in none of the other numbers.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, ToolFigures>,
    /// Decisions that were accepted about the answers since, in runs of their own.
    pub accepted: Vec<AcceptedFigures>,
    /// The totals of a merged run and its shards together. The numbers above are those of the run alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with_shards: Option<StudyFigures>,
}

fn never(times: &u64) -> bool {
    *times == 0
}

fn is_none(shards: &usize) -> bool {
    *shards == 0
}

/// The calls of a tool by how they ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ToolFigures {
    /// Those that gave a result in this run.
    pub answered: u64,
    /// Those whose recorded result was given again.
    pub reused: u64,
    /// Those that raised an error, or had not ended when the run did.
    pub failed: u64,
}

impl ToolFigures {
    /// All of them.
    pub fn calls(self) -> u64 {
        self.answered + self.reused + self.failed
    }
}

/// Decisions that were accepted about the answers of another run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AcceptedFigures {
    /// The run that they are in.
    pub run: RunId,
    /// By parser.
    pub parsers: BTreeMap<String, ParserFigures>,
}

/// The numbers of one model, or of all.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PartFigures {
    /// Calls, attempts, tokens, time and decisions.
    #[serde(flatten)]
    pub counts: Counts,
    /// The cost of the tokens.
    pub cost: Cost,
    /// Requests saved because the answer was already recorded or in the provider's cache.
    pub saved: Savings,
    /// The answers that a new run like this one would request, including those that this one shares with its parent or with
    /// other runs.
    #[serde(skip)]
    pub anew: SavedPart,
}

/// The numbers of some calls.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Counts {
    /// Calls. One that was asked again after an interruption is counted once.
    pub calls: Calls,
    /// Attempts to get an answer from a model.
    pub attempts: Attempts,
    /// Tokens of the answers that were asked for in this run.
    pub tokens: Tokens,
    /// The time that they took, where it was recorded.
    pub latency_ms: Option<Latency>,
    /// How many answers took how many milliseconds, where it was recorded.
    #[serde(skip)]
    pub latencies: BTreeMap<u64, u64>,
    /// What servers call the models that answered, where they name them, with the number of answers.
    pub reported_as: BTreeMap<String, u64>,
    /// Decisions by parser (`vote@1`), or by the name under which a program reported them.
    pub parsers: BTreeMap<String, ParserFigures>,
}

/// Calls by how they ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Calls {
    /// All of them.
    pub asked: u64,
    /// Those with an answer, asked for or used again.
    pub answered: u64,
    /// Those of them whose answer was recorded before, in this run or another: no model was asked.
    pub reused: u64,
    /// Those that ran out of attempts, and those of a program that was sent nothing but failures. A
    /// fork has those of its parent, too, unless it asks again.
    pub failed: u64,
    /// Those without an answer that did not fail: the run is still going on, or was interrupted.
    pub open: u64,
    /// Answers that fall short.
    #[serde(flatten)]
    pub lacking: Shortcomings,
}

/// Attempts to get an answer from a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Attempts {
    /// All of them.
    pub made: u64,
    /// Those that brought no answer.
    pub failed: u64,
    /// Why, the most frequent first.
    pub reasons: Vec<Reason>,
}

/// Attempts that failed for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// The kind of failure, such as `rate_limited`.
    pub failure: String,
    /// The HTTP status.
    pub status: Option<u16>,
    /// How many.
    pub attempts: u64,
    /// For how many calls it was the last attempt, so that they have no answer.
    pub gave_up: u64,
    /// The beginning of one of the errors.
    pub example: String,
    /// Whether other errors read differently.
    pub has_others: bool,
}

/// Tokens of answers, as far as they were counted; `None` if they were counted in no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Tokens {
    /// Of the requests.
    pub prompt: Option<u64>,
    /// How many of these were in the provider's cache.
    pub cached: Option<u64>,
    /// Of the answers, including their reasoning.
    pub completion: Option<u64>,
    /// How many of these are reasoning.
    pub reasoning: Option<u64>,
    /// The answers whose tokens were counted.
    pub counted: u64,
    /// The answers whose tokens were not.
    pub uncounted: u64,
}

/// What answers cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cost {
    /// US dollars at list prices, for the answers that have a price and counted tokens; `None` if
    /// there are none.
    pub dollars: Option<f64>,
    /// The day on which the prices were taken, if their file says it.
    pub prices_taken: Option<String>,
    /// Whether these are all answers.
    pub is_complete: bool,
    /// The models without a price, with the number of their answers.
    pub without_price: BTreeMap<String, u64>,
    /// Answers with a price whose tokens were not counted.
    pub uncounted: u64,
    /// What providers say that they charged, in their own unit; `None` if none says it.
    pub reported: Option<f64>,
    /// How many answers that is for.
    pub reported_answers: u64,
}

/// How long answers took, in milliseconds. Percentiles are nearest-rank: the smallest time that at
/// least this share of the answers did not exceed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Latency {
    /// The answers whose time was recorded; less than a millisecond counts as not recorded.
    pub measured: u64,
    /// The median.
    pub p50: u64,
    /// The 90th percentile.
    pub p90: u64,
    /// The 99th percentile.
    pub p99: u64,
    /// The longest.
    pub max: u64,
}

/// Questions without an answer: those that failed, and those that are open.
#[derive(Debug, Clone, Default)]
pub(super) struct UnansweredCounts {
    /// By the reason of their last failure.
    failed: BTreeMap<FailureReason, u64>,
    open: u64,
}

impl UnansweredCounts {
    fn add(&mut self, question: &Open) {
        match question.failed() {
            Some(reason) => *self.failed.entry(reason.clone()).or_default() += 1,
            None => self.open += 1,
        }
    }
}

impl Totals {
    /// The figures that are shown. `parsers` know which methods are last resorts.
    pub fn figures(&self, parsers: &Parsers) -> Figures {
        let mut of_model: BTreeMap<String, UnansweredCounts> = BTreeMap::new();
        let mut of_kind = of_model.clone();
        let mut of_all = UnansweredCounts::default();
        let mut tools = self.tools.clone();
        for question in self.open.values() {
            if let Some(tool) = &question.order.tool {
                entry(&mut tools, tool, ToolFigures::default).failed += 1;
                continue;
            }
            let model = question.order.model.as_deref().unwrap_or(UNNAMED).to_owned();
            of_model.entry(model).or_default().add(question);
            of_kind.entry(question.kind.clone()).or_default().add(question);
            of_all.add(question);
        }
        let mut all = Part::default();
        let mut models = BTreeMap::new();
        for (name, (part, unanswered)) in together(&self.parts, &of_model) {
            all.merge(part);
            let cost = self.cost(part, [(name, part)]);
            models.insert(name.clone(), numbers(part, unanswered, cost, parsers));
        }
        let cost = self.cost(&all, &self.parts);
        let kinds = together(&self.kinds, &of_kind).into_iter();
        let kinds =
            kinds.map(|(name, (part, open))| (name.clone(), counts(part, open, parsers))).collect();
        all.parsers = self.parsers.clone();
        let accepted = self.accepted.iter().map(|(run, of)| {
            let (run, parsers) = (*run, of.figures(parsers));
            AcceptedFigures { run, parsers }
        });
        Figures {
            run: self.run,
            events: self.end.0,
            resumed: self.resumed,
            looks: self.looks,
            forked_from: self.parent,
            merged_from: self.merged_from.len(),
            all: numbers(&all, of_all, cost, parsers),
            replay: match self.is_replayed {
                true => SavedPart::new(all.replayed()),
                false => SavedPart::default(),
            },
            models,
            kinds,
            tools,
            accepted: accepted.collect(),
            with_shards: self.with_shards(parsers),
        }
    }

    /// The cost of all of these together.
    pub(super) fn cost<'p>(
        &self,
        all: &Part,
        models: impl IntoIterator<Item = (&'p String, &'p Part)>,
    ) -> Cost {
        let without_price = models.into_iter().filter_map(|(name, part)| {
            let without = part.received.answers - part.received.priced;
            (without > 0).then(|| (name.clone(), without))
        });
        let without_price: BTreeMap<String, u64> = without_price.collect();
        let uncounted = all.received.priced - all.received.paid;
        let (reported_answers, reported) = all.reported;
        Cost {
            dollars: all.received.cost(),
            prices_taken: self.costs.prices().taken().map(str::to_owned),
            is_complete: without_price.is_empty() && uncounted == 0,
            without_price,
            uncounted,
            reported: (reported_answers > 0).then_some(reported),
            reported_answers,
        }
    }
}

/// The numbers under each name, with the questions that have no answer.
fn together<'a>(
    parts: &'a BTreeMap<String, Part>,
    unanswered: &'a BTreeMap<String, UnansweredCounts>,
) -> BTreeMap<&'a String, (&'a Part, UnansweredCounts)> {
    static NOTHING: LazyLock<Part> = LazyLock::new(Part::default);
    let names = parts.keys().chain(unanswered.keys());
    let of = |name: &'a String| {
        let part = parts.get(name).unwrap_or(&NOTHING);
        (name, (part, unanswered.get(name).cloned().unwrap_or_default()))
    };
    names.map(of).collect()
}

pub(super) fn numbers(
    part: &Part,
    unanswered: UnansweredCounts,
    cost: Cost,
    parsers: &Parsers,
) -> PartFigures {
    PartFigures {
        counts: counts(part, unanswered, parsers),
        cost,
        saved: Savings::new(part),
        anew: SavedPart::new(part.anew()),
    }
}

fn counts(
    part: &Part,
    UnansweredCounts { failed: last, open }: UnansweredCounts,
    parsers: &Parsers,
) -> Counts {
    let failed = last.values().sum();
    let used = part.received;
    let answered = part.answers();
    let reason = |(reason, of): (&FailureReason, &FailureCount)| {
        let FailureCount { attempts, example, has_others } = of.clone();
        let gave_up = last.get(reason).copied().unwrap_or_default();
        let (failure, status) = reason.clone();
        Reason { failure, status, attempts, gave_up, example, has_others }
    };
    let mut reasons: Vec<Reason> = part.failures.iter().map(reason).collect();
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.attempts));
    let failures: u64 = reasons.iter().map(|reason| reason.attempts).sum();
    Counts {
        calls: Calls {
            asked: answered + failed + open,
            answered,
            reused: answered - used.answers,
            failed,
            open,
            lacking: part.lacking,
        },
        attempts: Attempts { made: used.answers + failures, failed: failures, reasons },
        tokens: Tokens {
            prompt: used.prompt.total(),
            cached: used.cached.total(),
            completion: used.completion.total(),
            reasoning: used.reasoning.total(),
            counted: used.counted,
            uncounted: used.answers - used.counted,
        },
        latency_ms: latency(&part.latencies),
        latencies: part.latencies.clone(),
        reported_as: part.reported_as.clone(),
        parsers: part.parsers.figures(parsers),
    }
}

/// Percentiles by nearest rank.
fn latency(times: &BTreeMap<u64, u64>) -> Option<Latency> {
    let at = |percent| nearest_rank(times, percent);
    let (p50, p90, p99, max) = (at(50)?, at(90)?, at(99)?, at(100)?);
    Some(Latency { measured: times.values().sum(), p50, p90, p99, max })
}
