//! The story of a participant, or of whatever else calls are labelled with: all its calls, in order.

use std::collections::{BTreeMap, BTreeSet};

use retold::event::{AnswerReused, CLUSTERS, Event, PARTICIPANTS, ResponseReceived};
use retold::id::{CallPath, Seq};
use retold::log::{EventFilter, LogError, each_event_at};
use serde::Serialize;

use super::accepted::AcceptedView;
use super::answer_parts::{AnswerParts, cut};
use super::row::{ListedEvent, row};
use super::{PageReply, RunPageRequest};
use crate::decision_columns::DecisionColumns;
use crate::error::PageError;
use crate::event_columns::EventColumns;
use retold::escaping::excerpt;

/// Exchanges of a story on one page.
const MOST_STEPS: usize = 40;

/// The longest part of an answer that is shown, in bytes.
const LONGEST: usize = 1_200;

#[derive(Serialize)]
struct StoryPage {
    name: String,
    /// The label with this value; `None` if it is a call, or a part of some.
    by: Option<String>,
    /// The first and the last decision, of those that are numbers or few names if there are some.
    ends: Vec<EndDecision>,
    steps: Vec<StoryStep>,
    questions: usize,
    timeline: String,
    next: Option<String>,
    first: Option<String>,
}

/// The first or the last decision of a story.
#[derive(Serialize)]
struct EndDecision {
    /// `first`, `last` or `only`.
    which: &'static str,
    call: String,
    sample: u32,
    name: String,
    value: String,
    href: String,
    chain: String,
}

/// A question of a story, and what came of it.
#[derive(Serialize)]
struct StoryStep {
    call: String,
    sample: u32,
    seq: u64,
    time: String,
    href: String,
    chain: String,
    /// The last message of the prompt.
    asked: String,
    role: String,
    #[serde(flatten)]
    parts: AnswerParts,
    /// The text of its answer; `None` if there is none, or if it calls tools and says nothing.
    answer: Option<String>,
    answer_cut: bool,
    failed: Vec<String>,
    method: Option<String>,
    value: Option<String>,
    /// Whether the decision is the answer as it is.
    verbatim: bool,
    /// The decisions that were accepted since and are in force.
    accepted: Vec<AcceptedView>,
    facts: Vec<ListedEvent>,
}

/// The label that has this value, and its questions. A call is found by its name, or by parts of it.
fn story(roll: &EventColumns, by: Option<String>, name: &str) -> (Option<String>, Vec<u32>) {
    let by = by.or_else(|| {
        let has = |by: &String| !roll.with_label(by, name).is_empty();
        let other =
            || roll.labels().find(|(_, value, _)| *value == name).map(|(by, ..)| by.to_owned());
        usual_label(roll).filter(has).or_else(other)
    });
    if let Some(by) = by {
        let asked = roll.with_label(&by, name).to_vec();
        return (Some(by), asked);
    }
    let parts = EventFilter { call: CallPath::new(name).ok(), ..EventFilter::default() };
    let calls = roll.calls().filter(|(call, _)| parts.call.is_some() && parts.is_call(call));
    let mut asked: Vec<u32> = calls.flat_map(|(_, seqs)| seqs.iter().copied()).collect();
    asked.sort_unstable();
    (None, asked)
}

/// The keys of its query.
pub(super) const KEYS: &[&str] = &["by", "after"];

/// Labels that say which calls come before which others.
const ORDERS: [&str; 5] = ["phase", "stage", "round", "turn", "step"];

/// The label whose values have stories unless another is chosen: one that says who is asked, or else one that names
/// independent clusters, or else the first. `None` if there are no labels.
fn usual_label(roll: &EventColumns) -> Option<String> {
    let names: BTreeSet<&str> = roll.labels().map(|(name, ..)| name).collect();
    let known = PARTICIPANTS.iter().chain(&CLUSTERS).find(|name| names.contains(**name)).copied();
    known.or_else(|| names.first().copied()).map(str::to_owned)
}

/// The timeline with only what belongs to a label, or to a call.
fn timeline(of: &RunPageRequest<'_>, by: Option<&str>, name: &str) -> String {
    let part = crate::query::part;
    match by {
        Some(by) => of.href(&format!("?label={}", part(&format!("{by}={name}")))),
        None => of.href(&format!("?call={}", part(name))),
    }
}

pub(super) fn page(mut of: RunPageRequest<'_>, name: &str) -> Result<PageReply, PageError> {
    let run = of.head.run;
    let after = of.asked.query.parse::<u64>("after")?.unwrap_or(0);
    let untrusted = of.asked.site.first_untrusted(&of.head);
    let (accepted, are_joined) = of.asked.site.accepted_decisions(&of.head, of.runs);
    let slot = of.asked.site.roll(&of.head);
    let unfinished = !slot.is_read(&of.head);
    let roll = slot.roll();
    let (by, mut asked) = story(&roll, of.asked.query.text("by")?, name);
    asked.retain(|seq| of.end.is_none_or(|end| u64::from(*seq) < end.0));
    let questions = asked.len();
    if questions == 0 && !unfinished {
        let instead = format!("{} lists them", of.href(""));
        let place = format!("run {}", of.info.short);
        return Err(PageError::missing(
            &place,
            by.as_deref().unwrap_or("participant or call"),
            name,
            &instead,
        ));
    }
    let from = asked.partition_point(|seq| u64::from(*seq) <= after);
    let page: BTreeSet<Seq> =
        asked.iter().skip(from).take(MOST_STEPS).map(|seq| Seq((*seq).into())).collect();
    let belonging = roll.following(&page);
    let is_ordered =
        of.info.kind == "study" || roll.labels().any(|(name, ..)| ORDERS.contains(&name));
    let ends = of.ends(&roll, accepted.as_deref(), &asked)?;
    // The order of arrival says nothing about what followed from what.
    let ends = if is_ordered || ends.len() < 2 { ends } else { Vec::new() };
    let unfinished = unfinished || !are_joined;
    let has_more = from + page.len() < questions;
    drop(roll);
    let decisions = accepted.is_some().then(|| of.call_decisions()).transpose()?;
    let mut steps: Vec<StoryStep> = Vec::new();
    let mut places: BTreeMap<u64, usize> = BTreeMap::new();
    let all: Vec<Seq> =
        page.iter().copied().chain(belonging).collect::<BTreeSet<_>>().into_iter().collect();
    let mut events = Vec::new();
    each_event_at::<LogError>(of.reader.as_mut(), run, &all, |stored| {
        events.push(stored);
        Ok(())
    })?;
    for stored in events {
        let seq = stored.seq.0;
        let read = stored.event();
        if let Ok(Event::RequestSent(sent)) = &read {
            let request = of.reader.request(sent.prompt)?;
            let (role, asked) = request
                .and_then(|request| request.messages().pop())
                .unwrap_or_else(|| ("?".to_owned(), "the prompt is missing".to_owned()));
            places.insert(seq, steps.len());
            let accepted = match &decisions {
                Some(decisions) => of.accepted(decisions, &sent.call, sent.sample)?,
                None => Vec::new(),
            };
            steps.push(StoryStep {
                accepted,
                call: sent.call.to_string(),
                sample: sent.sample,
                seq,
                time: stored.time.to_string(),
                href: of.href(&format!("/exchange/{seq}")),
                chain: of.href(&format!("/chain/{seq}")),
                asked: excerpt(&asked.chars().take(4_000).collect::<String>(), 600),
                role,
                parts: AnswerParts::default(),
                answer: None,
                answer_cut: false,
                failed: Vec::new(),
                method: None,
                value: None,
                verbatim: false,
                facts: Vec::new(),
            });
            continue;
        }
        let causes = match &read {
            Ok(Event::Occurred(fact)) => fact.causes.clone(),
            _ => stored.cause.into_iter().collect(),
        };
        let step = causes.iter().find_map(|cause| places.get(&cause.0).copied());
        let Some((at, step)) = step.and_then(|at| Some((at, steps.get_mut(at)?))) else { continue };
        match &read {
            Ok(
                Event::ResponseReceived(ResponseReceived { content, details, .. })
                | Event::AnswerReused(AnswerReused { content, details, .. }),
            ) => {
                step.parts = AnswerParts::of(&details.extra, LONGEST);
                let (text, left_out) = cut(content.text(), LONGEST);
                step.answer_cut = left_out > 0;
                step.answer = Some(text).filter(|text| !text.is_empty() || !step.parts.has_calls());
            }
            Ok(Event::AttemptFailed(failed)) => {
                step.failed.push(excerpt(&failed.details.error, 160));
            }
            Ok(Event::DecisionMade(made)) => {
                step.method = Some(made.by.method.clone());
                let answer = step.answer.as_deref().map(str::trim);
                step.verbatim = made.details.value.as_str().map(str::trim) == answer;
                step.value = Some(excerpt(&made.details.value.to_string(), 300));
            }
            Ok(Event::Occurred(_)) => step.facts.push(row(run, &stored, untrusted)),
            _ => continue,
        }
        places.insert(seq, at);
    }
    let query = &of.asked.query;
    let last = steps.last().map(|step| step.seq.to_string());
    let data = StoryPage {
        timeline: timeline(&of, by.as_deref(), name),
        next: last.filter(|_| has_more).map(|last| query.with(&[("after", Some(&last))])),
        first: (after > 0).then(|| query.with(&[("after", None)])),
        by,
        ends,
        name: name.to_owned(),
        steps,
        questions,
    };
    of.page("participant", name.to_owned(), unfinished, data)
}

impl RunPageRequest<'_> {
    /// The first and the last decision about some questions. The word of a person or a judge about an answer is not one of those
    /// that a participant made.
    fn ends(
        &mut self,
        roll: &EventColumns,
        accepted: Option<&DecisionColumns>,
        asked: &[u32],
    ) -> Result<Vec<EndDecision>, PageError> {
        let decisions = accepted.unwrap_or(&roll.questions.decisions);
        let places: Vec<usize> = asked.iter().filter_map(|seq| roll.questions.find(*seq)).collect();
        let last_of = |at: &usize, is_any: bool| {
            let mut about = decisions.about(*at).filter(|entry| !entry.is_verdict);
            about.find(|entry| {
                let has_value = decisions.value(entry).is_some();
                is_any || decisions.is_comparable(entry.name) && has_value
            })
        };
        let found = |is_any: bool| {
            let all = places.iter().filter_map(|at| Some((*at, last_of(at, is_any)?)));
            let mut all = all.collect::<Vec<_>>().into_iter();
            (all.next(), all.next_back())
        };
        let (first, last) = match found(false) {
            (None, _) => found(true),
            found => found,
        };
        let only = if last.is_some() { "first" } else { "only" };
        let mut ends = Vec::new();
        for (which, (at, entry)) in
            first.map(|first| (only, first)).into_iter().chain(last.map(|last| ("last", last)))
        {
            let Some(question) = roll.questions.rows().get(at) else { continue };
            let value = match (decisions.value(entry), decisions.place(entry)) {
                (Some(value), _) => excerpt(value, 160),
                (None, Some(seq)) => self.decision_value(seq)?,
                (None, None) => String::new(),
            };
            ends.push(EndDecision {
                which,
                call: roll.text(question.call).to_owned(),
                sample: question.sample,
                name: decisions.text(entry.name).to_owned(),
                value,
                href: self.href(&format!("/exchange/{}#decision", question.seq)),
                chain: self.href(&format!("/chain/{}", question.seq)),
            });
        }
        Ok(ends)
    }
}
