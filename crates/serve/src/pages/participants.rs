//! The calls of a run by one of its labels: by participant, by condition. Without labels, each call by itself.

use std::collections::BTreeSet;

use retold::event::{CLUSTERS, PARTICIPANTS};
use serde::Serialize;

use super::{PageReply, RunPageRequest, participant_href};
use crate::error::PageError;
use crate::event_columns::EventColumns;

/// Groups on one page.
const MOST: usize = 200;

#[derive(Serialize)]
struct GroupsPage {
    /// The label that the calls are grouped by; `None` if the run has none.
    by: Option<String>,
    /// The labels that there are.
    names: Vec<LabelName>,
    participants: Vec<GroupRow>,
    all: usize,
    /// How many questions do not have the label.
    unlabelled: usize,
    /// What the values that are listed contain.
    q: Option<String>,
    next: Option<String>,
    first: Option<String>,
}

/// A label to group by.
#[derive(Serialize)]
struct LabelName {
    name: String,
    chosen: bool,
    query: String,
}

#[derive(Serialize)]
struct GroupRow {
    name: String,
    href: String,
    questions: usize,
    calls: usize,
    first: u64,
    last: u64,
    /// The query of the timeline with only what belongs to it.
    timeline: String,
}

/// The label that calls are grouped by unless another is chosen: who is asked, or else what is independent of others,
/// or else the first. `None` if there are no labels.
pub(super) fn usual_label(roll: &EventColumns) -> Option<String> {
    let names: BTreeSet<&str> = roll.labels().map(|(name, ..)| name).collect();
    let known = PARTICIPANTS.iter().chain(&CLUSTERS).find(|name| names.contains(**name)).copied();
    known.or_else(|| names.first().copied()).map(str::to_owned)
}

/// The order of values: numbers by their size, before all others.
fn place(value: &str) -> (bool, u64, &str) {
    let number = value.parse().ok();
    (number.is_none(), number.unwrap_or(0), value)
}

pub(super) fn list(of: RunPageRequest<'_>) -> Result<PageReply, PageError> {
    let query = &of.asked.query;
    let (q, from) = (query.text("q")?, query.parsed::<usize>("from")?.unwrap_or(0));
    let slot = of.asked.site.roll(&of.head);
    let unfinished = !slot.is_read(&of.head);
    let roll = slot.roll();
    let by = query.text("by")?.or_else(|| usual_label(&roll));
    let is_listed = |value: &str| q.as_ref().is_none_or(|q| value.contains(q.as_str()));
    let mut found: Vec<(&str, &[u32])> = match &by {
        Some(by) => roll
            .labels()
            .filter(|(name, value, _)| name == by && is_listed(value))
            .map(|(_, value, asked)| (value, asked))
            .collect(),
        None => roll.calls().filter(|(call, _)| is_listed(call)).collect(),
    };
    found.sort_by(|(one, _), (other, _)| place(one).cmp(&place(other)));
    let all = found.len();
    let asked: usize = roll.calls().map(|(_, asked)| asked.len()).sum();
    let with = roll.labels().filter(|(name, ..)| by.as_deref() == Some(*name));
    let with: usize = with.map(|(.., asked)| asked.len()).sum();
    let unlabelled = if by.is_some() { asked - with } else { 0 };
    let row = |(name, asked): (&str, &[u32])| GroupRow {
        href: participant_href(&of.info.run, by.as_deref(), name),
        timeline: timeline(&of, by.as_deref(), name),
        name: name.to_owned(),
        questions: asked.len(),
        calls: roll.calls_of(asked),
        first: asked.first().copied().unwrap_or(0).into(),
        last: asked.last().copied().unwrap_or(0).into(),
    };
    let participants: Vec<GroupRow> = found.into_iter().skip(from).take(MOST).map(row).collect();
    let names: BTreeSet<&str> = roll.labels().map(|(name, ..)| name).collect();
    let names = names.into_iter().map(|name| LabelName {
        name: name.to_owned(),
        chosen: by.as_deref() == Some(name),
        query: query.with(&[("by", Some(name)), ("from", None), ("q", None)]),
    });
    let names: Vec<LabelName> = names.collect();
    drop(roll);
    let next = from + participants.len();
    let title = by.as_ref().map_or_else(|| "Calls".to_owned(), |by| format!("Calls by {by}"));
    let data = GroupsPage {
        next: (next < all).then(|| query.with(&[("from", Some(&next.to_string()))])),
        first: (from > 0).then(|| query.with(&[("from", None)])),
        by,
        names,
        participants,
        all,
        unlabelled,
        q,
    };
    of.page("participants", title, unfinished, data)
}

/// The timeline with only what belongs to a label, or to a call.
pub(super) fn timeline(of: &RunPageRequest<'_>, by: Option<&str>, name: &str) -> String {
    let part = crate::query::part;
    match by {
        Some(by) => of.href(&format!("?label={}", part(&format!("{by}={name}")))),
        None => of.href(&format!("?call={}", part(name))),
    }
}
