//! Runs a recorded run again with other prompts, other settings or other decisions: what still
//! matches its record, and what would be new.
//!
//! A changed prompt is counted and answered with the recorded answer of its call and sample. Each
//! lane therefore continues to its end, and all other changes of a template are found as well. The
//! price: a later prompt that quotes a new answer is compared with a version that quotes the old
//! one. Such calls match here but might not match in a real run; [`DryRun::behind`] counts them,
//! lane by lane, and [`WhyNew::Foretold`] names those whose declared sources include a new answer.
//! (Ending a lane at its first change would miss everything after it, and making answers up would
//! count nothing real.)
//!
//! A call that was never recorded has no answer. It fails, as any call to a model may, and the
//! experiment continues without it; or, to count what follows from it, it gets the answer of
//! another call of its kind ([`DryRunSettings::stand_ins`]).
//!
//! A rehearsal with a model, which should be a simulated one because answers of others cost money,
//! needs none of this: all that a real run would ask is asked, and nothing of it is kept.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

use super::details::usage;
use super::history::{RecordedCall, RecordedEnd, Text};
use super::question::QuestionCore;
use crate::event::{Because, call_lane};
use crate::id::{CallPath, PromptHash, Sample, Seq};
use crate::log::{LogError, Reader};
use crate::lookup::LookupMap;
use crate::model::{Destinations, Order, Usage};
use crate::prompt::{Difference, Request, first_difference};

/// What differs in a rehearsal besides the experiment's settings. By default nothing does.
#[derive(Debug, Clone, Default)]
pub struct DryRunSettings {
    /// Only answers before this seq are shared, as by a fork; everything else is new.
    pub before: Option<Seq>,
    /// Whether calls that failed are asked again, as by a fork.
    pub retry_failed: bool,
    /// Whether a call that was never recorded gets the answer of another call of its
    /// [kind](CallPath::kind), so that what follows from it is counted. Otherwise it fails.
    pub stand_ins: bool,
    /// Decisions in the place of those that the experiment's own parsers make.
    pub decisions: BTreeMap<(CallPath, Sample), OtherDecision>,
}

/// A decision that another parser, or another version, made about a recorded answer.
#[derive(Debug, Clone, PartialEq)]
pub struct OtherDecision {
    /// The strategy that found it.
    pub method: String,
    /// The value.
    pub value: Value,
    /// The model's reasoning.
    pub reasoning: Option<String>,
    /// Things that were repaired or looked odd.
    pub warnings: Vec<String>,
}

/// The result of a rehearsal. All counts are of questions, that is, of pairs of call and sample.
#[derive(Debug, Clone, Default)]
pub struct DryRun {
    /// Asked exactly as recorded.
    pub matching: u64,
    /// How many of the matching questions come after a change in their lane: they match only if new
    /// answers leave their prompts unchanged.
    pub behind: u64,
    /// Recorded with another prompt than the one asked now.
    pub changed: u64,
    /// Never recorded.
    pub unrecorded: u64,
    /// Recorded, but not asked any more.
    pub left: u64,
    /// Whether the recorded run was complete. If not, calls that it never reached are among the
    /// unrecorded ones.
    pub complete: bool,
    /// The first call of each lane that differs from the record, in the order asked.
    pub departures: Vec<Departure>,
    /// The questions that a real run would ask a model, in the order asked.
    pub new: Vec<NewCall>,
    /// The usage of the recorded answers, by kind of call.
    pub used: BTreeMap<String, KindUse>,
    /// The facts, in order.
    pub facts: Vec<RehearsedFact>,
    /// Decisions that the experiment cannot use, because their values are not of the type that it
    /// reads: its own parser decided instead.
    pub misfits: u64,
}

/// A fact of a rehearsal.
#[derive(Debug, Clone)]
pub struct RehearsedFact {
    /// The call of the first decision that caused it.
    pub cause: Option<(CallPath, Sample)>,
    /// Its canonical JSON.
    pub fact: String,
}

/// A call that differs from the record.
#[derive(Debug, Clone)]
pub struct Departure {
    /// Its lane, see [`call_lane`].
    pub lane: String,
    /// The call.
    pub call: CallPath,
    /// Its sample, from 0.
    pub sample: Sample,
    /// The request now.
    pub request: Request,
    /// The hash of the prompt recorded at this address; `None` if nothing is recorded.
    pub recorded: Option<PromptHash>,
    /// The first difference between the two; `None` if nothing is recorded.
    pub difference: Option<Difference>,
}

/// Why a call would be asked of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WhyNew {
    /// It is recorded with another prompt.
    Changed,
    /// It was never recorded.
    Unrecorded,
    /// It is recorded, but not shared: it was answered after the place of the fork, or it failed
    /// and is asked again.
    NotShared,
    /// It matches its record here, but its prompt is made from an answer that would be new, so in a
    /// real run it will most likely differ.
    Foretold,
}

/// A call that a real run would ask a model.
#[derive(Debug, Clone)]
pub struct NewCall {
    /// The call.
    pub call: CallPath,
    /// Its sample, from 0.
    pub sample: Sample,
    /// Why it would be asked.
    pub why: WhyNew,
    /// Whether its prompt is made from answers that would be new. Whether such a call is asked at
    /// all, and with what prompt, follows from the recorded answers here, and from others then.
    pub follows_new: bool,
    /// What the request asks for, without its host.
    pub order: Order,
    /// The length of the canonical request.
    pub bytes: u64,
    /// The recorded exchange in its place, or in that of its stand-in.
    pub instead: Option<Instead>,
    /// Whether the model that was asked failed for good, so that the call uses no tokens.
    pub failed: bool,
}

/// The recorded exchange in the place of a new call.
#[derive(Debug, Clone, Copy)]
pub struct Instead {
    /// The prompt.
    pub prompt: PromptHash,
    /// The length of that prompt's canonical request.
    pub bytes: u64,
    /// The tokens of the recorded answer, if they were counted.
    pub usage: Option<Usage>,
}

/// The usage of the recorded answers of one kind of call.
#[derive(Debug, Clone, Copy, Default)]
pub struct KindUse {
    /// Answers whose tokens were counted.
    pub answers: u64,
    /// The bytes of their canonical requests.
    pub bytes: u64,
    /// The tokens of their requests.
    pub prompt_tokens: u64,
    /// The tokens of the answers.
    pub completion_tokens: u64,
}

impl DryRun {
    /// Whether everything is asked as recorded.
    pub fn is_identical(&self) -> bool {
        self.changed == 0 && self.left == 0 && (self.unrecorded == 0 || !self.complete)
    }
}

// Nothing is logged in a rehearsal. What has no place in the log gets a number beyond all places, so
// that each thing can still be named as a cause or a source.

/// The questions and answers of stand-ins and of a model.
const STAND_INS: u64 = 1 << 49;

/// Decisions.
const DECISIONS: u64 = 1 << 50;

/// Facts.
const FACTS: u64 = 1 << 51;

/// A rehearsal under way.
#[derive(Debug, Default)]
pub(super) struct Rehearsing {
    pub(super) found: DryRun,
    /// The lanes that differ from the record.
    departed: BTreeSet<String>,
    /// Questions whose prompts are made from new answers, new answers, and facts made from them.
    tainted: BTreeSet<Seq>,
    /// The answer that each decision is about, in program order.
    decisions: Vec<Seq>,
    /// The address of each answer.
    pub(super) addresses: LookupMap<Seq, (CallPath, Sample)>,
    stand_ins: u64,
    /// The questions that a model was asked: their places among the new calls.
    pub(super) put_to_model: LookupMap<(CallPath, Sample), usize>,
    /// Those of them that it need not answer, because an earlier answer is shared.
    pub(super) withdrawn: BTreeSet<usize>,
}

impl Rehearsing {
    /// Counts a question, and returns the record that answers it: its own, or a stand-in.
    pub(super) fn ask(
        &mut self,
        asked: &QuestionCore,
        because: &Because,
        found: Option<RecordedCall>,
        stand_in: Option<RecordedCall>,
        settings: &DryRunSettings,
    ) -> Option<RecordedCall> {
        let made_from_new = because.iter().any(|seq| self.tainted.contains(&seq));
        let why = self.note(asked, found.as_ref(), settings, made_from_new);
        let failed_again =
            |found: &RecordedCall| settings.retry_failed && found.recorded.result.is_err();
        let found = match found {
            Some(found) if stand_in.is_some() && failed_again(&found) => stand_in,
            Some(found) => Some(found),
            None => stand_in.map(|found| self.as_stand_in(found)),
        };
        let used = found.as_ref().and_then(|found| usage_of(&found.recorded));
        self.count_use(asked, used.as_ref());
        if let Some(why) = why {
            let instead =
                found.as_ref().map(|found| Instead { prompt: found.prompt, bytes: 0, usage: used });
            self.found.new.push(NewCall {
                call: asked.call.clone(),
                sample: asked.sample,
                why,
                follows_new: made_from_new,
                order: Destinations::default().order(&asked.request),
                bytes: asked.request.canonical().len() as u64,
                instead,
                failed: false,
            });
        }
        let found = found?;
        let RecordedEnd { request, seq, .. } = found.recorded;
        if made_from_new {
            self.tainted.insert(request);
        }
        if why.is_some() {
            self.tainted.insert(seq);
        }
        self.addresses.insert(seq, (asked.call.clone(), asked.sample));
        Some(found)
    }

    /// Gives the answer of another call a place of its own.
    fn as_stand_in(&mut self, found: RecordedCall) -> RecordedCall {
        let (request, seq) = self.new_places();
        let recorded = RecordedEnd { request, seq, result: found.recorded.result };
        RecordedCall { recorded, ..found }
    }

    /// The places of a question and its answer that are not in the log.
    pub(super) fn new_places(&mut self) -> (Seq, Seq) {
        self.stand_ins += 2;
        let request = Seq(STAND_INS + self.stand_ins);
        (request, request.next())
    }

    /// Counts a question as matching, changed or unrecorded; why a model would be asked, if it would.
    pub(super) fn note(
        &mut self,
        asked: &QuestionCore,
        found: Option<&RecordedCall>,
        settings: &DryRunSettings,
        made_from_new: bool,
    ) -> Option<WhyNew> {
        let lane = call_lane(&asked.labels, &asked.call);
        let departed = self.departed.contains(&lane);
        let why = match found {
            Some(found) if found.prompt == asked.prompt() => {
                self.found.matching += 1;
                self.found.behind += u64::from(departed);
                let RecordedEnd { seq, result, .. } = &found.recorded;
                let after = settings.before.is_some_and(|before| *seq >= before);
                let again = settings.retry_failed && result.is_err();
                return match (after || again, made_from_new) {
                    (true, _) => Some(WhyNew::NotShared),
                    (false, true) => Some(WhyNew::Foretold),
                    (false, false) => None,
                };
            }
            Some(_) => {
                self.found.changed += 1;
                WhyNew::Changed
            }
            None => {
                self.found.unrecorded += 1;
                WhyNew::Unrecorded
            }
        };
        if !departed {
            self.departed.insert(lane.clone());
            let QuestionCore { call, sample, request, .. } = asked.clone();
            let recorded = found.map(|found| found.prompt);
            let departure = Departure { lane, call, sample, request, recorded, difference: None };
            self.found.departures.push(departure);
        }
        Some(why)
    }

    pub(super) fn count_use(&mut self, asked: &QuestionCore, used: Option<&Usage>) {
        let Some(Usage { prompt_tokens: Some(prompt), completion_tokens, .. }) = used else {
            return;
        };
        let kind = self.found.used.entry(asked.call.kind()).or_default();
        kind.answers += 1;
        kind.bytes += asked.request.canonical().len() as u64;
        kind.prompt_tokens += prompt;
        kind.completion_tokens += completion_tokens.unwrap_or(0);
    }

    /// Notes a decision about an answer; its place. Decisions are numbered in program order, in
    /// which they would be logged.
    pub(super) fn note_decision(&mut self, response: Seq) -> Seq {
        self.decisions.push(response);
        Seq(DECISIONS + self.decisions.len() as u64)
    }

    /// The answer that a decision is about.
    fn answer_of(&self, decision: Seq) -> Option<Seq> {
        let number = decision.0.checked_sub(DECISIONS)?.checked_sub(1)?;
        self.decisions.get(usize::try_from(number).ok()?).copied()
    }

    /// Notes a fact; its place.
    pub(super) fn note_fact(&mut self, causes: &[Seq], fact: &str) -> Seq {
        let answers: Vec<Seq> = causes.iter().filter_map(|cause| self.answer_of(*cause)).collect();
        let cause = answers.first().and_then(|answer| self.addresses.get(answer).cloned());
        self.found.facts.push(RehearsedFact { cause, fact: fact.to_owned() });
        let seq = Seq(FACTS + self.found.facts.len() as u64);
        if answers.iter().any(|answer| self.tainted.contains(answer)) {
            self.tainted.insert(seq);
        }
        seq
    }

    /// Notes a decision whose value the experiment cannot read.
    pub(super) fn misfit(&mut self) {
        self.found.misfits += 1;
    }

    /// Ends the rehearsal: `left` recorded exchanges were not asked for.
    pub(super) fn end(
        &mut self,
        left: u64,
        complete: bool,
        reader: &mut dyn Reader,
    ) -> Result<DryRun, LogError> {
        let mut found = std::mem::take(&mut self.found);
        (found.left, found.complete) = (left, complete);
        let mut at = 0..;
        found.new.retain(|_| at.next().is_none_or(|at| !self.withdrawn.contains(&at)));
        // Beyond the point where the recorded run was cut off, nothing can differ from it.
        found.departures.retain(|departure| complete || departure.recorded.is_some());
        for departure in &mut found.departures {
            let Some(prompt) = departure.recorded else { continue };
            let recorded = reader.request(prompt)?;
            departure.difference =
                recorded.and_then(|recorded| first_difference(&recorded, &departure.request));
        }
        for call in &mut found.new {
            let Some(instead) = &mut call.instead else { continue };
            instead.bytes = match call.why {
                WhyNew::NotShared | WhyNew::Foretold => call.bytes,
                WhyNew::Changed | WhyNew::Unrecorded => {
                    let recorded = reader.request(instead.prompt)?;
                    recorded.map_or(call.bytes, |recorded| recorded.canonical().len() as u64)
                }
            };
        }
        Ok(found)
    }
}

/// The tokens of a recorded answer.
pub(super) fn usage_of(recorded: &RecordedEnd) -> Option<Usage> {
    match &recorded.result {
        Ok(Text { beside, .. }) => usage(&beside.details()),
        Err(_) => None,
    }
}
