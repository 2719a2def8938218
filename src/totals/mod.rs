//! What a run used: calls, attempts and why they failed, tokens, latency, what was not asked because
//! it was already recorded, and how decisions were found.
//!
//! [`Totals`] gathers it from the events, in memory that does not grow with the run. [`Figures`] is
//! what is shown of it, with prices: in the terminal, on the page, and as JSON.

mod figures;
mod part;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use self::part::Part;
use crate::event::{
    AttemptDetails, DecisionMade, Event, EventError, ResponseDetails, RunStarted, StoredEvent,
};
use crate::exchange::decides_about;
use crate::id::{CallPath, PromptHash, RunId, Sample, Seq};
use crate::log::{LogError, Reader};
use crate::run::{Beside, Parent, started};

pub use self::figures::{
    AcceptedFigures, Attempts, Calls, Cost, Figures, Latency, MethodFigures, ParserFigures,
    PartFigures, Reason, Saved, SavedPart, Tokens,
};

/// Events in one read.
const BATCH: usize = 1024;

/// How many prompts are remembered with their models, in each of two generations: many answers have
/// the same prompt.
const REMEMBERED: usize = 4096;

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
    resumed: u64,
    parts: BTreeMap<String, Part>,
    parsers: BTreeMap<String, Decisions>,
    /// Decisions that were accepted about the answers, in runs of their own.
    accepted: Vec<(RunId, BTreeMap<String, Decisions>)>,
    /// Questions that have no answer so far.
    open: BTreeMap<Seq, Open>,
    /// The questions among them that were open when the run was continued, and are asked again.
    cut_off: BTreeSet<(CallPath, Sample, PromptHash)>,
    models: [BTreeMap<PromptHash, Option<String>>; 2],
}

/// A question without an answer.
#[derive(Debug, Clone)]
struct Open {
    call: CallPath,
    sample: Sample,
    prompt: PromptHash,
    /// The model that is asked, if the request names one.
    model: Option<String>,
    /// Whether its last attempt was given up.
    gave_up: bool,
    /// Whether the run was continued since.
    is_cut_off: bool,
}

/// The decisions of one parser.
#[derive(Debug, Clone)]
struct Decisions {
    /// The parser as it was recorded first.
    parser: Value,
    methods: BTreeMap<String, u64>,
    warned: u64,
}

impl Totals {
    /// Before the first event of a run.
    pub fn of(run: RunId) -> Self {
        Totals {
            run,
            end: Seq(0),
            parent: None,
            resumed: 0,
            parts: BTreeMap::new(),
            parsers: BTreeMap::new(),
            accepted: Vec::new(),
            open: BTreeMap::new(),
            cut_off: BTreeSet::new(),
            models: Default::default(),
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
        let read = match reader.events(self.run, self.end, BATCH) {
            Err(error @ LogError::Corrupt { .. }) => self.before_damage(reader).ok_or(error)?,
            read => read?,
        };
        for stored in &read {
            let event = stored.event().map_err(damaged)?;
            self.add(stored.seq, event, reader)?;
            self.end = stored.seq;
        }
        Ok(!read.is_empty())
    }

    /// The next events, up to one that is damaged or missing; `None` if it is the next one.
    fn before_damage(&self, reader: &mut dyn Reader) -> Option<Vec<StoredEvent>> {
        let (mut readable, mut damaged, mut found) = (0, BATCH, None);
        while readable + 1 < damaged {
            let most = usize::midpoint(readable, damaged);
            match reader.events(self.run, self.end, most) {
                Ok(events) if !events.is_empty() => (readable, found) = (most, Some(events)),
                _ => damaged = most,
            }
        }
        found
    }

    /// Reads a run to its end.
    ///
    /// # Errors
    /// [`LogError`] if it cannot be read, or is damaged.
    pub fn read(reader: &mut dyn Reader, run: RunId) -> Result<Self, LogError> {
        let mut totals = Totals::of(run);
        while totals.read_on(reader)? {}
        Ok(totals)
    }

    /// Reads the runs of decisions that were accepted about the answers of this one since. One that
    /// is damaged counts as far as it can be read; commands that are about it report the damage.
    ///
    /// # Errors
    /// [`LogError`] if the runs of the log cannot be listed.
    pub fn read_accepted(&mut self, reader: &mut dyn Reader) -> Result<(), LogError> {
        self.accepted.clear();
        for head in reader.runs()? {
            let of = started(reader, head.run).ok().as_ref().and_then(decides_about);
            if of == Some(self.run) {
                let mut totals = Totals::of(head.run);
                while matches!(totals.read_on(reader), Ok(true)) {}
                self.accepted.push((head.run, totals.parsers));
            }
        }
        Ok(())
    }

    fn add(&mut self, seq: Seq, event: Event, reader: &mut dyn Reader) -> Result<(), LogError> {
        match event {
            Event::RunStarted(started) => self.parent = parent(&started),
            Event::RunResumed(_) => self.resume(),
            Event::RequestSent(sent) => {
                let model = self.model(sent.prompt, reader)?;
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
                let (gave_up, is_cut_off) = (false, false);
                let open = Open { call, sample, prompt, model, gave_up, is_cut_off };
                self.open.insert(seq, open);
            }
            Event::ResponseReceived(received) => {
                let Some(open) = self.open.remove(&received.request) else { return Ok(()) };
                let details = &received.details;
                let part = self.part(open.model, details);
                part.received(details);
                part.lacking(&Beside::of(&received.content, received.details), &received.content);
            }
            Event::AnswerReused(reused) => {
                let Some(open) = self.open.remove(&reused.request) else { return Ok(()) };
                let (run, parent) = (self.run, self.parent);
                let part = self.part(open.model, &reused.details);
                match reused.from_run {
                    from if from == run => part.within.add(&reused.details),
                    from if Some(from) == parent => part.from_parent.add(&reused.details),
                    _ => part.from_others.add(&reused.details),
                }
                part.lacking(&Beside::reused(reused.details, reused.unreadable), &reused.content);
            }
            Event::AttemptFailed(failed) => {
                let AttemptDetails { gave_up, .. } = failed.details;
                let open = self.open.get_mut(&failed.request);
                let model = open.and_then(|open| {
                    open.gave_up = gave_up;
                    open.model.clone()
                });
                self.part(model, &ResponseDetails::default()).failed(failed.details);
            }
            Event::DecisionMade(made) => self.decided(made),
            Event::Occurred(_) | Event::RunFinished(_) | Event::Unknown(_) => {}
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

    fn decided(&mut self, made: DecisionMade) {
        let parser = &made.by.parser;
        let name = match (made.by.is_reported(), parser["version"].as_u64()) {
            (false, Some(version)) => format!("{}@{version}", made.by.decides()),
            (true, _) => format!("reported by the program: {}", made.by.decides()),
            (false, None) => made.by.decides().to_owned(),
        };
        let new = || Decisions { parser: parser.clone(), methods: BTreeMap::new(), warned: 0 };
        let of = entry(&mut self.parsers, name, new);
        of.warned += u64::from(!made.details.warnings.is_empty());
        *entry(&mut of.methods, made.by.method, u64::default) += 1;
    }

    /// The numbers of a model: the one that was asked for, or else the one that answered.
    fn part(&mut self, asked: Option<String>, details: &ResponseDetails) -> &mut Part {
        let name = asked.or_else(|| details.model.clone());
        entry(&mut self.parts, name.unwrap_or_else(|| UNNAMED.to_owned()), Part::default)
    }

    /// The model that a prompt names.
    fn model(
        &mut self,
        prompt: PromptHash,
        reader: &mut dyn Reader,
    ) -> Result<Option<String>, LogError> {
        let [new, old] = &self.models;
        if let Some(model) = new.get(&prompt).or_else(|| old.get(&prompt)) {
            return Ok(model.clone());
        }
        let model = reader.model(prompt)?;
        if self.models[0].len() >= REMEMBERED {
            self.models[1] = std::mem::take(&mut self.models[0]);
        }
        self.models[0].insert(prompt, model.clone());
        Ok(model)
    }
}

/// The entry with a name, or the one for all others if there are too many.
fn entry<T>(all: &mut BTreeMap<String, T>, name: String, new: impl FnOnce() -> T) -> &mut T {
    let is_full = all.len() >= MOST && !all.contains_key(&name);
    all.entry(if is_full { OTHERS.to_owned() } else { name }).or_insert_with(new)
}

/// A parent that cannot be read is one that is not known.
fn parent(started: &RunStarted) -> Option<RunId> {
    Some(Parent::of(started).ok()??.run)
}

fn damaged(error: EventError) -> LogError {
    LogError::Corrupt { run: error.run, seq: error.seq, what: error.what }
}
