//! Participants, and the story of one: all calls that build on each other's answers, in order.

use std::collections::{BTreeMap, BTreeSet};

use retold::event::Event;
use retold::id::{CallPath, Seq};
use retold::log::{EventFilter, LogError, each_event_at};
use retold_study::settings::ExperimentSettings;
use serde::Serialize;

use super::row::{ListedEvent, row};
use super::{PageReply, RunPageRequest, excerpt, participant_href};
use crate::error::PageError;

/// Participants on one page.
const MOST: usize = 200;

/// Exchanges of a story on one page.
const MOST_STEPS: usize = 40;

#[derive(Serialize)]
struct Participants {
    participants: Vec<ParticipantRow>,
    all: usize,
    /// The beginning of the names that are listed.
    q: Option<String>,
    next: Option<String>,
    first: Option<String>,
}

#[derive(Serialize)]
struct ParticipantRow {
    name: String,
    href: String,
    questions: usize,
    calls: usize,
    first: u64,
    last: u64,
    /// The query of the timeline with only what belongs to it.
    timeline: String,
}

#[derive(Serialize)]
struct StoryPage {
    name: String,
    steps: Vec<StoryStep>,
    questions: usize,
    timeline: String,
    next: Option<String>,
    first: Option<String>,
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
    answer: Option<String>,
    answer_cut: bool,
    failed: Vec<String>,
    method: Option<String>,
    value: Option<String>,
    /// Whether the decision is the answer as it is.
    verbatim: bool,
    facts: Vec<ListedEvent>,
}

/// The name of the participant that a call belongs to: what its experiment says, or else the second
/// part of the call.
pub(super) fn lane_of(of: &RunPageRequest<'_>, call: &CallPath) -> String {
    lane(of).map_or_else(|| second_part(call.as_str()).to_owned(), |lane| lane(call))
}

fn second_part(call: &str) -> &str {
    call.split('/').nth(1).unwrap_or(call)
}

/// How the run's experiment names participants; `None` if the program does not have it.
fn lane(of: &RunPageRequest<'_>) -> Option<retold::run::Lane> {
    let study = of.asked.site.studies.find(&of.info.experiment)?;
    let experiment = study.build(&of.settings()?).ok()?;
    Some(experiment.lanes())
}

impl RunPageRequest<'_> {
    /// The experiment's part of the run's settings.
    pub(super) fn settings(&self) -> Option<ExperimentSettings> {
        let mut reader = self.asked.site.reader().ok()?;
        let mut started = retold::run::started(reader.as_mut(), self.head.run).ok()?;
        Some(ExperimentSettings::Recorded(started.settings["experiment"].take()))
    }
}

pub(super) fn list(of: RunPageRequest<'_>) -> Result<PageReply, PageError> {
    let query = &of.asked.query;
    let (q, from) = (query.text("q")?, query.parsed::<usize>("from")?.unwrap_or(0));
    let lane = lane(&of);
    let slot = of.asked.site.roll(&of.head);
    let unfinished = !slot.is_read(&of.head);
    let roll = slot.roll();
    let mut found: BTreeMap<String, (usize, usize, u32, u32)> = BTreeMap::new();
    for (call, asked) in roll.calls() {
        let name = match lane {
            Some(lane) => CallPath::new(call).map_or_else(|_| call.to_owned(), |call| lane(&call)),
            None => second_part(call).to_owned(),
        };
        if q.as_ref().is_some_and(|q| !name.contains(q.as_str())) {
            continue;
        }
        let (Some(first), Some(last)) = (asked.first(), asked.last()) else { continue };
        let entry = found.entry(name).or_insert((0, 0, *first, *last));
        *entry = (entry.0 + asked.len(), entry.1 + 1, entry.2.min(*first), entry.3.max(*last));
    }
    let all = found.len();
    let shown = found.into_iter().skip(from).take(MOST);
    let participants: Vec<ParticipantRow> = shown
        .map(|(name, (questions, calls, first, last))| ParticipantRow {
            href: participant_href(&of.info.run, &name),
            timeline: of.href(&format!("?call={}", crate::query::part(&name))),
            name,
            questions,
            calls,
            first: first.into(),
            last: last.into(),
        })
        .collect();
    drop(roll);
    let next = from + participants.len();
    let data = Participants {
        next: (next < all).then(|| query.with(&[("from", Some(&next.to_string()))])),
        first: (from > 0).then(|| query.with(&[("from", None)])),
        participants,
        all,
        q,
    };
    of.page("participants", "Participants".to_owned(), unfinished, data)
}

pub(super) fn page(mut of: RunPageRequest<'_>, name: &str) -> Result<PageReply, PageError> {
    let run = of.head.run;
    let after = of.asked.query.parsed::<u64>("after")?.unwrap_or(0);
    let untrusted = of.asked.site.untrusted(&of.head);
    let slot = of.asked.site.roll(&of.head);
    let unfinished = !slot.is_read(&of.head);
    let roll = slot.roll();
    let lane = lane(&of);
    // A participant's own page is found by any part of its calls, too.
    let by_part = EventFilter { call: CallPath::new(name).ok(), ..EventFilter::default() };
    let is_own = |call: &str| match lane {
        Some(lane) => CallPath::new(call).is_ok_and(|call| lane(&call) == name),
        None => second_part(call) == name,
    };
    let collect = |wanted: &dyn Fn(&str) -> bool| {
        let mut asked: Vec<u32> = Vec::new();
        roll.calls().filter(|(call, _)| wanted(call)).for_each(|(_, seqs)| asked.extend(seqs));
        asked.sort_unstable();
        asked
    };
    let mut asked = collect(&is_own);
    if asked.is_empty() && by_part.call.is_some() {
        asked = collect(&|call| by_part.is_call(call));
    }
    asked.retain(|seq| of.end.is_none_or(|end| u64::from(*seq) < end.0));
    let questions = asked.len();
    if questions == 0 && !unfinished {
        let instead = format!("{} lists them", of.href("/participants"));
        let place = format!("run {}", of.info.short);
        return Err(PageError::missing(&place, "participant", name, &instead));
    }
    let from = asked.partition_point(|seq| u64::from(*seq) <= after);
    let page: BTreeSet<Seq> =
        asked.iter().skip(from).take(MOST_STEPS).map(|seq| Seq((*seq).into())).collect();
    let belonging = roll.following(&page);
    let has_more = from + page.len() < questions;
    drop(roll);
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
            steps.push(StoryStep {
                call: sent.call.to_string(),
                sample: sent.sample,
                seq,
                time: stored.time.to_string(),
                href: of.href(&format!("/exchange/{seq}")),
                chain: of.href(&format!("/chain/{seq}")),
                asked: excerpt(&asked.chars().take(4_000).collect::<String>(), 600),
                role,
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
            Ok(Event::ResponseReceived(_) | Event::AnswerReused(_)) => {
                let text = stored.content.as_ref().map_or("", |content| content.text());
                step.answer_cut = text.chars().nth(1_200).is_some();
                let text: String = text.chars().take(1_200).collect();
                step.answer = Some(retold::escaping::inert_lines(&text));
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
        timeline: of.href(&format!("?call={}", crate::query::part(name))),
        next: last.filter(|_| has_more).map(|last| query.with(&[("after", Some(&last))])),
        first: (after > 0).then(|| query.with(&[("after", None)])),
        name: name.to_owned(),
        steps,
        questions,
    };
    of.page("participant", name.to_owned(), unfinished, data)
}
