//! What is shown of a run's numbers. Its JSON is that of `retold stats --json` and of the page.

use std::collections::BTreeMap;

use serde::Serialize;

use super::part::{Failures, Part, Used};
use super::{Decisions, Totals, UNNAMED};
use crate::id::RunId;
use crate::model::{Price, Prices, Usage};
use crate::parse::{ParserSpec, Parsers};
use crate::rank::nearest_rank;

/// A run in numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figures {
    /// The run.
    pub run: RunId,
    /// Events that were read.
    pub events: u64,
    /// How often the run was continued after an interruption.
    pub resumed: u64,
    /// The run that it is a fork of.
    pub forked_from: Option<RunId>,
    /// All models together.
    #[serde(flatten)]
    pub all: PartFigures,
    /// What one replay of the run does not ask. Replays leave no events, so that their number is not
    /// known.
    pub replay: SavedPart,
    /// The same by model: the name in the request, or else the one that the server reported.
    pub models: BTreeMap<String, PartFigures>,
    /// Decisions by parser (`vote@1`), or by the name under which a program reported them.
    pub parsers: BTreeMap<String, ParserFigures>,
    /// Decisions that were accepted about the answers since, in runs of their own.
    pub accepted: Vec<AcceptedFigures>,
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
    /// Calls. One that was asked again after an interruption is counted once.
    pub calls: Calls,
    /// Attempts to get an answer from a model.
    pub attempts: Attempts,
    /// Tokens of the answers that were asked for in this run.
    pub tokens: Tokens,
    /// What these cost.
    pub cost: Cost,
    /// The time that they took, where it was recorded.
    pub latency_ms: Option<Latency>,
    /// What was not asked because it was already recorded or in the provider's cache.
    pub saved: Saved,
}

/// Calls by how they ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Calls {
    /// All of them.
    pub asked: u64,
    /// Those with an answer, asked for or used again.
    pub answered: u64,
    /// Those that ran out of attempts. A fork has those of its parent, too, unless it asks again.
    pub failed: u64,
    /// Those that have neither: the run is still going on, or was interrupted.
    pub open: u64,
    /// Answers without text, tool call and refusal.
    pub blank: u64,
    /// Answers that reached the maximum length.
    pub cut_off: u64,
    /// Answers from which no text could be read.
    pub unreadable: u64,
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
    /// After how many of them the call was given up.
    pub gave_up: u64,
    /// The beginning of the first error.
    pub example: String,
}

/// Tokens of answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Tokens {
    /// Of the requests.
    pub prompt: u64,
    /// How many of these were in the provider's cache.
    pub cached: u64,
    /// Of the answers, including their reasoning.
    pub completion: u64,
    /// How many of these are reasoning.
    pub reasoning: u64,
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

/// What was not asked, or cost less.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Saved {
    /// Answers of the run that other calls with the same prompt used again.
    pub within_run: SavedPart,
    /// Answers of the run that it is a fork of.
    pub from_parent: SavedPart,
    /// Answers of any other run.
    pub from_other_runs: SavedPart,
    /// Answers that were already there when the run was continued, once for each time.
    pub resumed: SavedPart,
    /// Answers with tokens in the provider's cache, and what these tokens would have cost more.
    pub provider_cached: SavedPart,
}

/// Answers that were not asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct SavedPart {
    /// How many.
    pub answers: u64,
    /// The tokens of their requests, as far as they were counted.
    pub prompt_tokens: u64,
    /// Their own tokens.
    pub completion_tokens: u64,
    /// US dollars at list prices; `None` if a model has no price, or tokens were not counted.
    pub dollars: Option<f64>,
}

/// The decisions of one parser.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ParserFigures {
    /// All of them.
    pub decisions: u64,
    /// Those with warnings.
    pub with_warnings: u64,
    /// The share that a strategy found: all but the last resort. `None` if it is not known which
    /// method that is.
    pub found: Option<f64>,
    /// By method, the most frequent first.
    pub methods: Vec<MethodFigures>,
}

/// The decisions of one method.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MethodFigures {
    /// The method.
    pub method: String,
    /// How many.
    pub decisions: u64,
    /// Their share of the parser's decisions.
    pub share: f64,
    /// Whether it is the parser's last resort: nothing was found in the answer.
    pub is_last_resort: bool,
}

impl Totals {
    /// What is shown, with these prices. `parsers` know which methods are last resorts.
    pub fn figures(&self, prices: &Prices, parsers: &Parsers) -> Figures {
        let mut open: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        for question in self.open.values() {
            let model = question.model.as_deref().unwrap_or(UNNAMED);
            let (failed, open) = open.entry(model).or_default();
            *if question.gave_up { failed } else { open } += 1;
        }
        let nothing = Part::default();
        let names = self.parts.keys().map(String::as_str).chain(open.keys().copied());
        let mut models: BTreeMap<String, PartFigures> = BTreeMap::new();
        let (mut all, mut all_open) = (Part::default(), (0, 0));
        for name in names {
            if models.contains_key(name) {
                continue;
            }
            let part = self.parts.get(name).unwrap_or(&nothing);
            let open = open.get(name).copied().unwrap_or_default();
            all.merge(part);
            all_open = (all_open.0 + open.0, all_open.1 + open.1);
            models.insert(name.to_owned(), numbers(part, open, &priced(name, part, prices)));
        }
        let costs: Vec<Priced> =
            self.parts.iter().map(|(name, part)| priced(name, part, prices)).collect();
        let costs = costs.into_iter().fold(Priced::default(), Priced::and);
        let replay = costs.replay;
        let by_parser = |all: &BTreeMap<String, Decisions>| {
            let each = all.iter().map(|(name, of)| {
                let last = last_resort(&of.parser, parsers);
                (name.clone(), of_parser(of, last))
            });
            each.collect::<BTreeMap<_, _>>()
        };
        let accepted = self.accepted.iter().map(|(run, parsers)| {
            let (run, parsers) = (*run, by_parser(parsers));
            AcceptedFigures { run, parsers }
        });
        Figures {
            run: self.run,
            events: self.end.0,
            resumed: self.resumed,
            forked_from: self.parent,
            all: numbers(&all, all_open, &costs),
            replay,
            models,
            parsers: by_parser(&self.parsers),
            accepted: accepted.collect(),
        }
    }
}

/// What depends on prices.
#[derive(Debug, Clone)]
struct Priced {
    dollars: Option<f64>,
    without_price: BTreeMap<String, u64>,
    uncounted: u64,
    saved: Saved,
    replay: SavedPart,
}

impl Default for Priced {
    fn default() -> Self {
        let none = SavedPart { dollars: Some(0.0), ..SavedPart::default() };
        let saved = Saved {
            within_run: none,
            from_parent: none,
            from_other_runs: none,
            resumed: none,
            provider_cached: none,
        };
        let without_price = BTreeMap::new();
        Priced { dollars: None, without_price, uncounted: 0, saved, replay: none }
    }
}

impl Priced {
    fn and(mut self, other: Self) -> Self {
        self.dollars = match (self.dollars, other.dollars) {
            (Some(one), Some(other)) => Some(one + other),
            (one, other) => one.or(other),
        };
        self.without_price.extend(other.without_price);
        self.uncounted += other.uncounted;
        let (one, other_saved) = (self.saved, other.saved);
        self.saved = Saved {
            within_run: one.within_run.and(other_saved.within_run),
            from_parent: one.from_parent.and(other_saved.from_parent),
            from_other_runs: one.from_other_runs.and(other_saved.from_other_runs),
            resumed: one.resumed.and(other_saved.resumed),
            provider_cached: one.provider_cached.and(other_saved.provider_cached),
        };
        self.replay = self.replay.and(other.replay);
        self
    }
}

impl SavedPart {
    fn and(self, other: Self) -> Self {
        SavedPart {
            answers: self.answers + other.answers,
            prompt_tokens: self.prompt_tokens.saturating_add(other.prompt_tokens),
            completion_tokens: self.completion_tokens.saturating_add(other.completion_tokens),
            dollars: self.dollars.zip(other.dollars).map(|(one, other)| one + other),
        }
    }

    /// Answers at a price; without answers, nothing was saved whatever the price.
    fn of(used: Used, price: Option<Price>) -> Self {
        let is_counted = used.counted == used.answers;
        let dollars = price.filter(|_| is_counted).map(|price| dollars(used, price));
        SavedPart {
            answers: used.answers,
            prompt_tokens: used.prompt,
            completion_tokens: used.completion,
            dollars: if used.answers == 0 { Some(0.0) } else { dollars },
        }
    }
}

fn dollars(used: Used, price: Price) -> f64 {
    price.cost(Usage {
        prompt_tokens: Some(used.prompt),
        completion_tokens: Some(used.completion),
        cached_tokens: Some(used.cached),
        ..Usage::default()
    })
}

fn priced(model: &str, part: &Part, prices: &Prices) -> Priced {
    let price = prices.of(model);
    let used = part.received;
    let mut without_price = BTreeMap::new();
    if price.is_none() && used.answers > 0 {
        without_price.insert(model.to_owned(), used.answers);
    }
    let cached = SavedPart {
        answers: part.cached_answers,
        prompt_tokens: used.cached,
        completion_tokens: 0,
        dollars: match price {
            _ if used.cached == 0 => Some(0.0),
            Some(price) => {
                let less = price.prompt - price.cached.unwrap_or(price.prompt);
                Some(used.cached as f64 * less / 1e6)
            }
            None => None,
        },
    };
    let mut answered = used;
    for reused in [part.within, part.from_parent, part.from_others] {
        answered.merge(reused);
    }
    Priced {
        dollars: price.filter(|_| used.counted > 0).map(|price| dollars(used, price)),
        without_price,
        uncounted: if price.is_some() { used.answers - used.counted } else { 0 },
        saved: Saved {
            within_run: SavedPart::of(part.within, price),
            from_parent: SavedPart::of(part.from_parent, price),
            from_other_runs: SavedPart::of(part.from_others, price),
            resumed: SavedPart::of(part.resumed, price),
            provider_cached: cached,
        },
        replay: SavedPart::of(answered, price),
    }
}

fn numbers(part: &Part, (failed, open): (u64, u64), priced: &Priced) -> PartFigures {
    let used = part.received;
    let answered =
        used.answers + part.within.answers + part.from_parent.answers + part.from_others.answers;
    let mut reasons: Vec<Reason> = part.failures.iter().map(reason).collect();
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.attempts));
    let failures: u64 = reasons.iter().map(|reason| reason.attempts).sum();
    let (reported_answers, reported) = part.reported;
    PartFigures {
        calls: Calls {
            asked: answered + failed + open,
            answered,
            failed,
            open,
            blank: part.lacking.blank,
            cut_off: part.lacking.cut_off,
            unreadable: part.lacking.unreadable,
        },
        attempts: Attempts { made: used.answers + failures, failed: failures, reasons },
        tokens: Tokens {
            prompt: used.prompt,
            cached: used.cached,
            completion: used.completion,
            reasoning: used.reasoning,
            counted: used.counted,
            uncounted: used.answers - used.counted,
        },
        cost: Cost {
            dollars: priced.dollars,
            is_complete: priced.without_price.is_empty() && priced.uncounted == 0,
            without_price: priced.without_price.clone(),
            uncounted: priced.uncounted,
            reported: (reported_answers > 0).then_some(reported),
            reported_answers,
        },
        latency_ms: latency(&part.latencies),
        saved: priced.saved.clone(),
    }
}

fn reason(((failure, status), of): (&(String, Option<u16>), &Failures)) -> Reason {
    let Failures { attempts, gave_up, example } = of.clone();
    Reason { failure: failure.clone(), status: *status, attempts, gave_up, example }
}

/// Percentiles by nearest rank.
fn latency(times: &BTreeMap<u64, u64>) -> Option<Latency> {
    let at = |percent| nearest_rank(times, percent);
    let (p50, p90, p99, max) = (at(50)?, at(90)?, at(99)?, at(100)?);
    Some(Latency { measured: times.values().sum(), p50, p90, p99, max })
}

fn of_parser(of: &Decisions, last_resort: Option<&str>) -> ParserFigures {
    let decisions: u64 = of.methods.values().sum();
    let share = |count: u64| if decisions == 0 { 0.0 } else { count as f64 / decisions as f64 };
    let mut methods: Vec<MethodFigures> = of
        .methods
        .iter()
        .map(|(method, count)| MethodFigures {
            method: method.clone(),
            decisions: *count,
            share: share(*count),
            is_last_resort: last_resort == Some(method),
        })
        .collect();
    methods.sort_by_key(|method| std::cmp::Reverse(method.decisions));
    let found = methods.iter().filter(|method| !method.is_last_resort);
    let found = last_resort.map(|_| share(found.map(|method| method.decisions).sum()));
    ParserFigures { decisions, with_warnings: of.warned, found, methods }
}

/// The method with which a recorded parser says that it found nothing, if this program has the
/// parser and it has such a method.
fn last_resort(parser: &serde_json::Value, parsers: &Parsers) -> Option<&'static str> {
    let spec: ParserSpec = serde_json::from_value(parser.clone()).ok()?;
    parsers.parser(&spec).ok()?.last_resort()
}
