//! The totals of a run: calls, attempts and why they failed, tokens, latency, requests saved because the answer was already
//! recorded, and how decisions were found; by model, and by kind of call.
//!
//! [`Totals`] gathers them from the events, in memory that does not grow with the run: each answer at its price. [`Figures`]
//! is their form for display: in the terminal, on the page, and as JSON.

mod figures;
mod leading;
mod methods;
mod part;
mod saved;
#[cfg(test)]
mod tests;
mod with_shards;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use self::methods::{ByParser, entry};
use self::part::{FailureReason, Part};
use self::with_shards::ShardTotals;
use crate::content::Content;
use crate::event::{AttemptDetails, Event, ResponseDetails, call_kind};
use crate::exchange::{DECISIONS, accepted_about};
use crate::id::{CallPath, PromptHash, RunId, Sample, Seq, Time};
use crate::log::{LogError, Reader};
use crate::lookup::Recent;
use crate::model::{Order, Prices};
use crate::run::{AnswerCosts, AnswerDetails};

pub use self::figures::{
    AcceptedFigures, Attempts, Calls, Cost, Counts, Figures, Latency, PartFigures, Reason, Tokens,
    ToolFigures,
};
pub use self::methods::{MethodFigures, ParserFigures};
pub use self::saved::{SavedPart, Savings};
pub use self::with_shards::StudyFigures;
pub use self::words::{at_prices, dollars, token_count};

/// Events in one read.
const BATCH: usize = 1024;

/// The model of an answer that neither its request nor the server names.
pub const UNNAMED: &str = "(no model)";

/// The texts after which further ones are counted together: a foreign log may have any number of
/// models, reasons, parsers and methods.
const MOST: usize = 200;

/// What stands for all texts beyond that.
const OTHERS: &str = "(others)";

/// What a run used, as far as it was read.
#[derive(Debug, Clone)]
pub struct Totals {
    run: RunId,
    /// The last event that was read.
    end: Seq,
    parent: Option<RunId>,
    /// The shards that it is merged from.
    merged_from: Vec<RunId>,
    /// Their numbers, if they were read.
    of_shards: Option<ShardTotals>,
    /// Whether there is something to replay: not in decisions about the answers of another run.
    is_replayed: bool,
    resumed: u64,
    /// How often somebody looked at what came out before the end.
    looks: u64,
    /// By model.
    parts: BTreeMap<String, Part>,
    /// By kind of call.
    kinds: BTreeMap<String, Part>,
    /// Tools, by name.
    tools: BTreeMap<String, ToolFigures>,
    /// All decisions.
    parsers: ByParser,
    /// Decisions that were accepted about the answers, in runs of their own.
    accepted: Vec<(RunId, ByParser)>,
    /// Questions that have no answer so far.
    open: BTreeMap<Seq, Open>,
    /// The questions among them that were open when the run was continued, and are asked again.
    cut_off: BTreeSet<(CallPath, Sample, PromptHash)>,
    /// What answers count for. A decision mostly follows soon after its answer.
    answers: Recent<Seq, Of>,
    costs: AnswerCosts,
}

/// What an answer counts for.
#[derive(Debug, Clone)]
struct Of {
    kind: String,
    model: String,
}

/// A question without an answer.
#[derive(Debug, Clone)]
struct Open {
    call: CallPath,
    kind: String,
    sample: Sample,
    prompt: PromptHash,
    order: Order,
    /// Why its last attempt failed.
    failure: Option<FailureReason>,
    /// Whether its last attempt was given up.
    gave_up: bool,
    /// Whether its last attempt was a failure that a program was sent, which may ask again.
    was_sent: bool,
    /// Whether the run was continued since.
    is_cut_off: bool,
}

impl Open {
    /// Why the call has failed, as far as the run goes; `None` if it is open.
    fn failed(&self) -> Option<&FailureReason> {
        self.failure.as_ref().filter(|_| self.gave_up || self.was_sent)
    }
}

impl Totals {
    /// Before the first event of a run.
    pub fn new(run: RunId, prices: &Prices) -> Self {
        Totals {
            run,
            end: Seq(0),
            parent: None,
            merged_from: Vec::new(),
            of_shards: None,
            is_replayed: true,
            resumed: 0,
            looks: 0,
            parts: BTreeMap::new(),
            kinds: BTreeMap::new(),
            tools: BTreeMap::new(),
            parsers: ByParser::default(),
            accepted: Vec::new(),
            open: BTreeMap::new(),
            cut_off: BTreeSet::new(),
            answers: Recent::default(),
            costs: AnswerCosts::new(prices),
        }
    }

    /// The last event that was read.
    pub fn end(&self) -> Seq {
        self.end
    }

    /// Reads the next events, and says whether there were any. After an error, everything before the
    /// event that cannot be read is counted.
    ///
    /// # Errors
    /// [`LogError`] if an event, or the request that it belongs to, cannot be read.
    pub fn read_on(&mut self, reader: &mut dyn Reader) -> Result<bool, LogError> {
        let read = reader.events(self.run, self.end, BATCH)?;
        for stored in &read {
            let event = stored.event().map_err(LogError::from)?;
            self.add(stored.seq, stored.time, event, reader)?;
            self.end = stored.seq;
        }
        Ok(!read.is_empty())
    }

    /// Reads a run to its end.
    ///
    /// # Errors
    /// [`LogError`] if it cannot be read, or is damaged.
    pub fn read(reader: &mut dyn Reader, run: RunId, prices: &Prices) -> Result<Self, LogError> {
        let mut totals = Totals::new(run, prices);
        while totals.read_on(reader)? {}
        Ok(totals)
    }

    /// Reads the runs of decisions that were accepted about the answers of this one since.
    ///
    /// # Errors
    /// [`LogError`] if the runs of the log cannot be listed, or one of these is damaged.
    pub fn read_accepted(&mut self, reader: &mut dyn Reader) -> Result<(), LogError> {
        self.accepted.clear();
        for run in accepted_about(reader, self.run)? {
            let mut totals = Totals::new(run, self.costs.prices());
            while totals.read_on(reader)? {}
            self.accepted.push((run, totals.parsers));
        }
        Ok(())
    }

    fn add(
        &mut self,
        seq: Seq,
        time: Time,
        event: Event,
        reader: &mut dyn Reader,
    ) -> Result<(), LogError> {
        self.costs.note(&event);
        match event {
            Event::RunStarted(started) => {
                self.parent = started.forked_from.map(|parent| parent.run);
                self.merged_from = started.merged_from;
                self.is_replayed = started.experiment != DECISIONS;
            }
            Event::RunResumed(_) => self.resume(),
            Event::RequestSent(sent) => {
                let order = self.costs.order(reader, sent.prompt)?;
                let kind = call_kind(&sent.labels, &sent.call);
                let (call, sample, prompt) = (sent.call, sent.sample, sent.prompt);
                let key = (call, sample, prompt);
                let is_again = self.cut_off.remove(&key);
                let (call, sample, prompt) = key;
                if is_again {
                    let is_it = |open: &Open| {
                        open.is_cut_off
                            && (&open.call, open.sample, open.prompt) == (&call, sample, prompt)
                    };
                    // The same call is not counted twice.
                    self.open.retain(|_, open| !is_it(open));
                }
                let open = Open {
                    call,
                    kind,
                    sample,
                    prompt,
                    order,
                    failure: None,
                    gave_up: false,
                    was_sent: false,
                    is_cut_off: false,
                };
                self.open.insert(seq, open);
            }
            Event::ResponseReceived(received) => {
                let Some(open) = self.open.remove(&received.request) else { return Ok(()) };
                if let Some(tool) = open.order.tool {
                    entry(&mut self.tools, &tool, ToolFigures::default).answered += 1;
                    return Ok(());
                }
                let (details, content) =
                    (counted(received.details, &received.content), received.content);
                let cost = self.costs.cost(&open.order, &details, time);
                let of = of(open, &details);
                self.each_part(&of, |part| {
                    part.add_answer(&details, cost);
                    part.add_model_name(&details);
                });
                let beside = AnswerDetails::new(&content, details);
                self.each_part(&of, |part| part.lacking(&beside, &content));
                self.answers.insert(seq, of);
            }
            Event::AnswerReused(reused) => {
                let Some(open) = self.open.remove(&reused.request) else { return Ok(()) };
                if let Some(tool) = open.order.tool {
                    entry(&mut self.tools, &tool, ToolFigures::default).reused += 1;
                    return Ok(());
                }
                let (run, parent) = (self.run, self.parent);
                let (details, content) = (counted(reused.details, &reused.content), reused.content);
                let cost = self.costs.cost(&open.order, &details, time);
                let of = of(open, &details);
                self.each_part(&of, |part| {
                    part.add_model_name(&details);
                    match reused.from_run {
                        from if from == run => part.within.add(&details, cost),
                        from if Some(from) == parent => part.from_parent.add(&details, cost),
                        _ => part.from_others.add(&details, cost),
                    }
                });
                let beside = AnswerDetails::of_reuse(&content, details, reused.unreadable);
                self.each_part(&of, |part| part.lacking(&beside, &content));
                self.answers.insert(seq, of);
            }
            Event::AttemptFailed(failed) => {
                let none = ResponseDetails::default();
                let of = match self.open.get_mut(&failed.request) {
                    Some(open) => {
                        let AttemptDetails { failure, status, gave_up, .. } = &failed.details;
                        open.failure = Some((failure.clone(), *status));
                        open.gave_up = *gave_up;
                        open.was_sent = failed.details.http.is_some();
                        open.order.tool.is_none().then(|| of(open.clone(), &none))
                    }
                    // The question has been answered already.
                    None => self.asked(failed.request, &none, reader)?,
                };
                // A failure taken over from another run is not an attempt of this run.
                if let Some(of) = of.filter(|_| failed.details.from.is_none()) {
                    self.each_part(&of, |part| part.add_failure(&failed.details));
                }
            }
            Event::DecisionMade(made) => {
                self.parsers.add(&made);
                if let Some(of) = self.answer(made.response, reader)? {
                    self.each_part(&of, |part| part.parsers.add(&made));
                }
            }
            Event::LookedAt(_) => self.looks += 1,
            Event::BodyPart(_)
            | Event::ClientLeft(_)
            | Event::Occurred(_)
            | Event::MarkRecorded(_)
            | Event::Batch(_)
            | Event::EventsLost(_)
            | Event::RunFinished(_)
            | Event::Unknown(_) => {}
        }
        Ok(())
    }

    /// The run is continued: what it has is not asked again, and what is open is.
    fn resume(&mut self) {
        self.resumed += 1;
        for part in self.parts.values_mut() {
            part.resume();
        }
        for open in self.open.values_mut().filter(|open| !open.gave_up) {
            open.is_cut_off = true;
            self.cut_off.insert((open.call.clone(), open.sample, open.prompt));
        }
    }

    /// Adds to the numbers of a model and of a kind of call.
    fn each_part(&mut self, of: &Of, mut add: impl FnMut(&mut Part)) {
        add(entry(&mut self.parts, &of.model, Part::default));
        add(entry(&mut self.kinds, &of.kind, Part::default));
    }

    /// What an answer counts for; `None` if there is no such answer.
    fn answer(&mut self, seq: Seq, reader: &mut dyn Reader) -> Result<Option<Of>, LogError> {
        if let Some(of) = self.answers.get(&seq) {
            return Ok(Some(of.clone()));
        }
        let (request, details) = match event(reader, self.run, seq)? {
            Some(Event::ResponseReceived(received)) => (received.request, received.details),
            Some(Event::AnswerReused(reused)) => (reused.request, reused.details),
            _ => return Ok(None),
        };
        let of = self.asked(request, &details, reader)?;
        if let Some(of) = &of {
            self.answers.insert(seq, of.clone());
        }
        Ok(of)
    }

    /// What an answer to a question that was read before counts for.
    fn asked(
        &mut self,
        request: Seq,
        details: &ResponseDetails,
        reader: &mut dyn Reader,
    ) -> Result<Option<Of>, LogError> {
        let Some(Event::RequestSent(sent)) = event(reader, self.run, request)? else {
            return Ok(None);
        };
        let asked = self.costs.order(reader, sent.prompt)?;
        if asked.tool.is_some() {
            return Ok(None);
        }
        let kind = call_kind(&sent.labels, &sent.call);
        Ok(Some(Of { kind, model: name_of(asked.model, details) }))
    }
}

/// What the answer to a question counts for.
fn of(open: Open, details: &ResponseDetails) -> Of {
    Of { kind: open.kind, model: name_of(open.order.model, details) }
}

/// An embedding has no tokens of its own, whoever counts.
fn counted(mut details: ResponseDetails, content: &Content) -> ResponseDetails {
    if matches!(content, Content::Vector(_)) && details.prompt_tokens.is_some() {
        details.completion_tokens.get_or_insert(0);
    }
    details
}

/// The model that was asked for, or else the one that answered.
fn name_of(asked: Option<String>, details: &ResponseDetails) -> String {
    asked.or_else(|| details.model.clone()).unwrap_or_else(|| UNNAMED.to_owned())
}

/// An event of a run, if there is one with this number.
fn event(reader: &mut dyn Reader, run: RunId, seq: Seq) -> Result<Option<Event>, LogError> {
    let before = Seq(seq.0.saturating_sub(1));
    let found = reader.events(run, before, 1)?.into_iter().find(|found| found.seq == seq);
    found.map(|found| found.event().map_err(LogError::from)).transpose()
}
