//! Compares two runs: settings, prompts, answers, decisions, facts and state.
//!
//! Calls are aligned by their address (call and sample), which is the same in two runs of one
//! experiment, in a fork and its parent, and in two imports. A program's unnamed calls are named
//! after their prompts, so theirs are aligned by prompt, and those that only one run has by the words
//! of their prompts (`reworded`). Facts are aligned by what caused them: the
//! n-th fact of a kind that rests on one call. So an extra answer or an extra turn of one
//! participant does not make everything after it differ.
//!
//! Two runs may be in different logs. Nothing is read twice but the prompts that
//! [`Comparison::difference`] is asked for.

mod changes;
mod gather;
mod pairs;
mod reworded;
mod settings;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

pub use changes::{ChangedCalls, PromptChange};
pub use pairs::{FactChange, FactChanges, FactRecord, fact_changes, kind_of_fact};
pub use settings::{SettingDifference, setting_differences};

use crate::decided::{DeciderDifference, decider_differences};
use crate::event::{FoldedState, RUN_NAME, RunFinished, RunStarted};
use crate::id::{CallPath, OutcomeDigest, PromptHash, RunId, Sample, Seq};
use crate::log::{LogError, Reader};
use crate::lookup::LookupMap;
use crate::prompt::{Difference, first_difference};
use crate::run::{StateDifference, state_differences};

use reworded::reworded;

use gather::{ComparedDecision, ComparedQuestion, ComparedRun, QuestionEnd};

/// A run to be compared, and the log that has it.
pub struct RunSide<'a> {
    /// Reads the log.
    pub reader: &'a mut dyn Reader,
    /// The run.
    pub run: RunId,
}

/// What two runs have in common, and where they differ.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    /// The first run.
    pub one: RunId,
    /// The second run.
    pub other: RunId,
    /// The settings that differ, by their path; `experiment`, `seed`, `model` and `program` of the
    /// runs are among them.
    pub settings: Vec<SettingDifference>,
    /// How many calls they share.
    pub calls: CallCounts,
    /// The names under which they have decisions of different parsers.
    pub deciders: Vec<DeciderDifference>,
    /// The first difference of each lane that differs, in the order of the first run.
    pub lanes: Vec<LaneDifference>,
    /// How many lanes are the same in both.
    pub lanes_alike: u64,
    /// How the facts differ.
    pub facts: FactChanges,
    /// What differs in the folded state; `None` if one of the runs has no digests of its state.
    pub state: Option<Vec<StateDifference>>,
    /// The outcome digests, of runs that have ended and have an outcome.
    pub outcome_digests: [Option<OutcomeDigest>; 2],
    /// How they compare.
    pub outcome: SameOutcome,
}

/// How two outcome digests compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SameOutcome {
    /// They are the same.
    Same,
    /// They differ.
    Different,
    /// A run has not ended.
    Open,
    /// There is nothing that they cover.
    Nothing,
}

impl SameOutcome {
    fn new(one: Option<&RunFinished>, other: Option<&RunFinished>) -> Self {
        let (Some(one), Some(other)) = (one, other) else { return SameOutcome::Open };
        match (one.digest(), other.digest()) {
            (None, None) => SameOutcome::Nothing,
            (one, other) if one == other => SameOutcome::Same,
            _ => SameOutcome::Different,
        }
    }

    /// What to say of the digests.
    pub fn says(self) -> &'static str {
        match self {
            SameOutcome::Same => "the same",
            SameOutcome::Different => "different",
            SameOutcome::Open => "not both runs have ended",
            SameOutcome::Nothing => "none, because they would cover nothing",
        }
    }
}

/// Counts of calls; each sample of a call counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct CallCounts {
    /// In the first run.
    pub one: u64,
    /// In the second run.
    pub other: u64,
    /// In both.
    pub both: u64,
    /// Of those in both: with the same prompt.
    pub same_prompt: u64,
    /// Of those in both: with the same prompt, and the same answer or the same failure.
    pub same_answer: u64,
    /// Of those in both: decided in both.
    pub decided: u64,
    /// Of those decided in both: with the same value.
    pub same_value: u64,
    /// Of those decided in both: with the same value, found by the same method.
    pub same_decision: u64,
}

/// A call of two runs: at least one of them has it.
#[derive(Debug, Clone, Copy)]
pub struct ComparedCall<'a> {
    /// The call.
    pub call: &'a CallPath,
    /// Its sample, from 0.
    pub sample: Sample,
    /// What differs first; `None` if nothing does.
    pub what: Option<CallDifference>,
    /// The call in the first run.
    pub one: Option<CallPlace>,
    /// The call in the second run.
    pub other: Option<CallPlace>,
}

/// How a call differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CallDifference {
    /// It has another prompt.
    Prompt,
    /// It has the same prompt, and another answer.
    Answer,
    /// It has the same prompt and the same answer, and another decision.
    Decision,
    /// Only the first run has it.
    OnlyInOne,
    /// Only the second run has it.
    OnlyInOther,
}

/// Where a call is in its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CallPlace {
    /// Its question.
    pub request: Seq,
    /// The hash of its prompt.
    pub prompt: PromptHash,
    /// Its answer, or its last failure; `None` if it was never answered.
    pub end: Option<Seq>,
    /// The decision in force about it: of several, the first that differs.
    pub decision: Option<DecisionPlace>,
}

/// Where a decision is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct DecisionPlace {
    /// The run: the compared one, or one of decisions that were accepted about its answers.
    pub run: RunId,
    /// Its seq there.
    pub seq: Seq,
}

/// The first call of a lane that differs.
#[derive(Debug, Clone, Serialize)]
pub struct LaneDifference {
    /// The lane, see [`call_lane`](crate::event::call_lane): a participant, a game, a puzzle, or a call.
    pub lane: String,
    /// The call.
    pub call: CallPath,
    /// Its sample, from 0.
    pub sample: Sample,
    /// What differs first.
    pub what: CallDifference,
    /// The call in the first run.
    pub one: Option<CallPlace>,
    /// The call in the second run.
    pub other: Option<CallPlace>,
    /// How many calls of the lane differ, this one included.
    pub differing: u64,
}

/// The facts of a run, each with the call that caused it.
///
/// # Errors
/// [`LogError`] if the log cannot be read or is damaged.
pub fn recorded_facts(reader: &mut dyn Reader, run: RunId) -> Result<Vec<FactRecord>, LogError> {
    Ok(ComparedRun::read(reader, run)?.facts)
}

/// Compares two runs.
///
/// # Errors
/// [`LogError`] if a log cannot be read or is damaged.
pub fn compare(one: RunSide<'_>, other: RunSide<'_>) -> Result<Comparison, LogError> {
    compare_each(one, other, &mut |_| {})
}

/// Compares two runs, and calls `each` with every call: those of the first run in their order, then
/// those that only the second run has.
///
/// # Errors
/// [`LogError`] if a log cannot be read or is damaged.
pub fn compare_each(
    one: RunSide<'_>,
    other: RunSide<'_>,
    each: &mut dyn FnMut(ComparedCall<'_>),
) -> Result<Comparison, LogError> {
    let first = ComparedRun::read(one.reader, one.run)?;
    let second = ComparedRun::read(other.reader, other.run)?;
    let reworded = reworded((&first, one.reader), (&second, other.reader))?;
    let (calls, lanes, lanes_alike) = calls(&first, &second, &reworded, each);
    let deciders = decider_differences(&[first.deciders.clone(), second.deciders.clone()]);
    let digest = |run: &ComparedRun| run.finished.as_ref().and_then(RunFinished::digest);
    // A digest over no entries says nothing.
    let has_entries = |state: &FoldedState| !state.end.is_empty();
    let state = |run: &ComparedRun| run.finished.as_ref()?.state.clone().filter(has_entries);
    let state = match (state(&first), state(&second)) {
        (Some(one), Some(other)) => Some(state_differences(&one, &other)),
        _ => None,
    };
    Ok(Comparison {
        one: one.run,
        other: other.run,
        settings: setting_differences(&description(&first.started), &description(&second.started)),
        calls,
        deciders,
        lanes,
        lanes_alike,
        outcome_digests: [digest(&first), digest(&second)],
        outcome: SameOutcome::new(first.finished.as_ref(), second.finished.as_ref()),
        facts: fact_changes(first.facts, second.facts),
        state,
    })
}

/// The compared part of the beginning of a run. Its name says which run it is, and not how it was made.
fn description(started: &RunStarted) -> Value {
    let RunStarted { experiment, seed, settings, model, program, forked_from: _, merged_from: _ } =
        started;
    let mut settings = settings.clone();
    if let Some(settings) = settings.as_object_mut() {
        settings.remove(RUN_NAME);
    }
    serde_json::json!({
        "experiment": experiment, "model": model, "program": program, "seed": seed,
        "settings": settings,
    })
}

impl Comparison {
    /// Whether nothing differs but what says how and when the runs were recorded.
    pub fn is_identical(&self) -> bool {
        let CallCounts { one, other, both, same_decision, decided, same_answer, .. } = self.calls;
        let calls = one == both && other == both && same_answer == both && same_decision == decided;
        calls && self.lanes.is_empty() && self.facts.is_empty()
    }

    /// The first difference of all, by its place in the log.
    pub fn first(&self) -> Option<&LaneDifference> {
        let place = |lane: &&LaneDifference| lane.one.or(lane.other).map(|place| place.request);
        self.lanes.iter().min_by_key(place)
    }

    /// How the prompts of a call differ; `None` if they do not, or if only one run has the call.
    ///
    /// # Errors
    /// [`LogError`] if a log cannot be read.
    pub fn difference(
        lane: &LaneDifference,
        one: &mut dyn Reader,
        other: &mut dyn Reader,
    ) -> Result<Option<Difference>, LogError> {
        let (Some(before), Some(after)) = (lane.one, lane.other) else { return Ok(None) };
        if before.prompt == after.prompt {
            return Ok(None);
        }
        let (before, after) = (one.request(before.prompt)?, other.request(after.prompt)?);
        Ok(before.zip(after).and_then(|(before, after)| first_difference(&before, &after)))
    }
}

/// The calls of one lane that differ, so far.
struct LaneSoFar {
    first: Option<(usize, LaneDifference)>,
    differing: u64,
}

/// The place of each call among those of its lane, from 1.
#[derive(Default)]
struct LanePositions(BTreeMap<String, usize>);

impl LanePositions {
    fn next(&mut self, lane: &str) -> usize {
        let place = self.0.entry(lane.to_owned()).or_default();
        *place += 1;
        *place
    }
}

fn calls(
    first: &ComparedRun,
    second: &ComparedRun,
    reworded: &BTreeMap<usize, usize>,
    each: &mut dyn FnMut(ComparedCall<'_>),
) -> (CallCounts, Vec<LaneDifference>, u64) {
    let mut counts = CallCounts {
        one: first.asked.len() as u64,
        other: second.asked.len() as u64,
        ..CallCounts::default()
    };
    let mut lanes: BTreeMap<String, LaneSoFar> = BTreeMap::new();
    let mut places = LanePositions::default();
    let mut note = |asked: &ComparedQuestion, what, one, other, lane: &str, place: usize| {
        each(ComparedCall { call: &asked.call, sample: asked.sample, what, one, other });
        if !lanes.contains_key(lane) {
            lanes.insert(lane.to_owned(), LaneSoFar { first: None, differing: 0 });
        }
        let (Some(known), Some(what)) = (lanes.get_mut(lane), what) else { return };
        known.differing += 1;
        if known.first.as_ref().is_none_or(|(earlier, _)| place < *earlier) {
            let (call, sample) = (asked.call.clone(), asked.sample);
            let lane = lane.to_owned();
            let found = LaneDifference { lane, call, sample, what, one, other, differing: 0 };
            known.first = Some((place, found));
        }
    };
    for (at, asked) in first.asked.iter().enumerate() {
        let same_words = second.find(&asked.call, asked.sample);
        let twin = same_words.or_else(|| second.asked.get(*reworded.get(&at)?));
        let lane = asked.lane(twin);
        let place = places.next(lane);
        let Some(twin) = twin else {
            let what = Some(CallDifference::OnlyInOne);
            note(asked, what, Some(asked.place(None)), None, lane, place);
            continue;
        };
        let what = counts.add(asked, twin);
        note(
            asked,
            what,
            Some(asked.place(Some(twin))),
            Some(twin.place(Some(asked))),
            lane,
            place,
        );
    }
    let mut places = LanePositions::default();
    let reworded: BTreeSet<usize> = reworded.values().copied().collect();
    for (at, asked) in second.asked.iter().enumerate() {
        if reworded.contains(&at) {
            continue;
        }
        let twin = first.find(&asked.call, asked.sample);
        let lane = asked.lane(twin);
        let place = places.next(lane);
        if twin.is_none() {
            let what = Some(CallDifference::OnlyInOther);
            note(asked, what, None, Some(asked.place(None)), lane, place);
        }
    }
    let all = lanes.len() as u64;
    let mut found: Vec<LaneDifference> = lanes
        .into_values()
        .filter_map(|lane| {
            let (_, first) = lane.first?;
            Some(LaneDifference { differing: lane.differing, ..first })
        })
        .collect();
    let place = |lane: &LaneDifference| lane.one.or(lane.other).map(|place| place.request);
    found.sort_by_key(place);
    let alike = all - found.len() as u64;
    (counts, found, alike)
}

impl CallCounts {
    /// Counts a call that both runs have; how it differs.
    fn add(&mut self, one: &ComparedQuestion, other: &ComparedQuestion) -> Option<CallDifference> {
        let same_prompt = one.prompt == other.prompt;
        let same_answer = same_prompt && one.end.is_like(&other.end);
        self.both += 1;
        self.same_prompt += u64::from(same_prompt);
        self.same_answer += u64::from(same_answer);
        let decisions = match (one.decisions.as_slice(), other.decisions.as_slice()) {
            ([], []) => true,
            ([], _) | (_, []) => false,
            (decisions, twins) => {
                let all = |alike: fn(&ComparedDecision, &ComparedDecision) -> bool| {
                    let has_twin = |one: &ComparedDecision| {
                        one.twin(twins).is_some_and(|other| alike(one, other))
                    };
                    decisions.len() == twins.len() && decisions.iter().all(has_twin)
                };
                let same = all(ComparedDecision::is_like);
                self.decided += 1;
                self.same_value += u64::from(all(ComparedDecision::has_value_of));
                self.same_decision += u64::from(same);
                same
            }
        };
        match (same_prompt, same_answer, decisions) {
            (false, ..) => Some(CallDifference::Prompt),
            (true, false, _) => Some(CallDifference::Answer),
            (true, true, false) => Some(CallDifference::Decision),
            (true, true, true) => None,
        }
    }
}

impl ComparedQuestion {
    /// Where it is. Of several decisions, the first that differs from that of `twin`, or that it does not have.
    fn place(&self, twin: Option<&ComparedQuestion>) -> CallPlace {
        let end = match self.end {
            QuestionEnd::Open => None,
            QuestionEnd::Answered { seq, .. } | QuestionEnd::Failed { seq, .. } => Some(seq),
        };
        let twins = twin.map_or(&[][..], |twin| &twin.decisions);
        let differs =
            |one: &&ComparedDecision| one.twin(twins).is_none_or(|other| !one.is_like(other));
        let is_missing = self.decisions.len() < twins.len();
        let first = self.decisions.first().filter(|_| !is_missing);
        let decision = self.decisions.iter().find(differs).or(first);
        let decision = decision.map(|decision| decision.place);
        CallPlace { request: self.request, prompt: self.prompt, end, decision }
    }
}

/// Where something with an address is in a list.
type ByAddress = LookupMap<(CallPath, Sample), usize>;
