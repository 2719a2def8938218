//! Two runs side by side, call by call, as `retold diff` compares them.

mod words;

use std::collections::BTreeMap;

use retold::compare::{
    CallDifference, CallPlace, ChangedCalls, ComparedCall, Comparison, DecisionPlace, PromptChange,
    RunSide, SameOutcome, compare_each,
};
use retold::decided::DeciderDifference;
use retold::escaping::printable;
use retold::event::Event;
use retold::id::{RunId, Seq};
use retold::log::{LogError, Reader};
use retold::text_diff::WordDifference;
use retold_study::studies::Studies;
use serde::Serialize;
use serde_json::Value;

use self::words::words;
use super::{PageReply, PageRequest};
use crate::computed::{CallPair, RunComparison};
use crate::error::PageError;
use crate::figures::{FigureTableView, NO_FIGURES, compared_figures};
use crate::job::JobState;
use crate::runs::{Notice, RunInfo, dangers, notices, run_heads, run_info};

/// Rows on one page.
const MOST: usize = 60;

/// The most settings that are listed.
const MOST_SETTINGS: usize = 100;

/// The most changes of prompts that are listed.
const MOST_CHANGES: usize = 20;

/// What can be listed: its name in a query, and for people.
const GROUPS: [(Option<CallDifference>, &str, &str); 6] = [
    (None, "same", "the same"),
    (Some(CallDifference::Prompt), "prompt", "another prompt"),
    (Some(CallDifference::Answer), "answer", "another answer"),
    (Some(CallDifference::Decision), "decision", "another decision"),
    (Some(CallDifference::OnlyInOne), "first", "only in the first"),
    (Some(CallDifference::OnlyInOther), "second", "only in the second"),
];

/// The name of a difference in a query, and for people.
fn key_and_label(what: Option<CallDifference>) -> (&'static str, &'static str) {
    let found = GROUPS.iter().find(|(group, ..)| *group == what);
    found.map_or(("same", "the same"), |(_, key, label)| (*key, *label))
}

#[derive(Clone, Serialize)]
struct Setting {
    key: String,
    first: String,
    second: String,
}

/// How many facts are the same, differ, and are in one run alone.
#[derive(Serialize)]
struct Facts {
    same: u64,
    changed: u64,
    only_first: u64,
    only_second: u64,
}

/// The keys of its query.
pub(super) const KEYS: &[&str] = &["a", "b", "difference", "from"];

#[derive(Serialize, Default)]
struct ComparePage {
    first: Option<RunInfo>,
    second: Option<RunInfo>,
    /// The runs to choose from.
    runs: Vec<RunInfo>,
    compared: Option<u64>,
    groups: Vec<DifferenceGroup>,
    facts: Option<Facts>,
    /// The entries of the state that differ; `None` if one of the runs has no digests of its state.
    state: Option<Vec<String>>,
    /// Whether both runs have the same outcome digest; `None` if they do not say that.
    same_outcome: Option<bool>,
    /// The same in words.
    outcome: Option<&'static str>,
    /// The figures of both runs, as `retold diff --json` has them, and as people read them.
    figures: Vec<FigureTableView>,
    /// Why there are none.
    no_figures: Option<String>,
    /// Each change of prompts, with how many calls have it.
    changes: Vec<PromptChange>,
    more_changes: usize,
    settings: Vec<Setting>,
    more_settings: usize,
    rows: Vec<CompareRow>,
    next: Option<String>,
    begin: Option<String>,
}

#[derive(Serialize)]
struct DifferenceGroup {
    label: &'static str,
    key: &'static str,
    count: u64,
    chosen: bool,
    query: String,
}

#[derive(Serialize)]
struct CompareRow {
    call: String,
    sample: u32,
    difference: &'static str,
    label: &'static str,
    first: Option<ComparedSide>,
    second: Option<ComparedSide>,
    /// How the prompts or else the answers differ, word by word.
    words: Option<WordDifference>,
}

/// A call in one of the runs.
#[derive(Serialize)]
struct ComparedSide {
    href: String,
    prompt: String,
    method: Option<String>,
    value: Option<String>,
}

pub(super) fn page(asked: &PageRequest<'_>) -> Result<PageReply, PageError> {
    let mut reader = asked.site.reader()?;
    let (first, second) = (asked.query.text("a")?, asked.query.text("b")?);
    let title = "Two runs".to_owned();
    let mut data = ComparePage::default();
    let mut notices = notices(asked.site, None)?;
    let heads = run_heads(reader.as_mut(), &mut notices);
    let recent = heads.iter().rev().take(100);
    data.runs = recent.map(|head| run_info(asked.site, reader.as_mut(), head)).collect();
    let (Some(first), Some(second)) = (first, second) else {
        return asked.page(200, "compare", title, None, notices, false, data);
    };
    let first = asked.site.find(&first)?;
    let second = asked.site.find(&second)?;
    for head in [&first, &second] {
        drop(asked.site.roll(head));
    }
    let is_pending = [&first, &second].iter().any(|head| asked.site.is_being_read(head.run));
    notices.extend(dangers(asked.site, [&first, &second]));
    data.first = Some(run_info(asked.site, reader.as_mut(), &first));
    data.second = Some(run_info(asked.site, reader.as_mut(), &second));
    if data.first.iter().chain(&data.second).any(|run| run.simulated) {
        notices.push(Notice::simulated());
    }
    let site = asked.site.clone();
    let runs = [first.run, second.run];
    let key = [(first.run, first.head.seq), (second.run, second.head.seq)];
    let stand = asked.site.comparisons.stand(key, move |_| {
        let (one, other) = (site.reader()?, site.reader()?);
        Ok(compare_runs(&site.studies, one, other, runs)?)
    });
    let compared = match stand {
        JobState::Running(done) => {
            data.compared = Some(done);
            return asked.page(200, "compare", title, None, notices, true, data);
        }
        JobState::Failed(why) => {
            notices.push(Notice::danger(format!("The runs cannot be compared: {why}")));
            return asked.page(200, "compare", title, None, notices, false, data);
        }
        JobState::Done(compared) => compared,
    };
    let deciders = compared.comparison.deciders.iter().map(DeciderDifference::text);
    notices.extend(deciders.map(|text| Notice::warning(format!("{text}."))));
    fill(asked, &mut data, &compared, runs, reader.as_mut())?;
    asked.page(200, "compare", title, None, notices, is_pending, data)
}

/// The part of a comparison that a page shows.
fn fill(
    asked: &PageRequest<'_>,
    data: &mut ComparePage,
    compared: &RunComparison,
    runs: [RunId; 2],
    reader: &mut dyn Reader,
) -> Result<(), PageError> {
    let query = &asked.query;
    let chosen = query.text("difference")?;
    data.groups = GROUPS
        .into_iter()
        .map(|(_, key, label)| {
            let is_chosen = chosen.as_deref() == Some(key);
            let set = if is_chosen { None } else { Some(key) };
            DifferenceGroup {
                label,
                key,
                count: compared.counts.get(key).copied().unwrap_or(0),
                chosen: is_chosen,
                query: query.with(&[("difference", set), ("from", None)]),
            }
        })
        .collect();
    let Comparison { facts, state, outcome, settings, .. } = &compared.comparison;
    let of_facts = facts.by_phase.values().flat_map(BTreeMap::values);
    let sum = |at: usize| of_facts.clone().map(|counts| counts.get(at).copied().unwrap_or(0)).sum();
    data.facts =
        Some(Facts { same: facts.same, changed: sum(0), only_first: sum(1), only_second: sum(2) });
    data.state = state.as_ref().map(|state| state.iter().map(ToString::to_string).collect());
    data.same_outcome = match outcome {
        SameOutcome::Same => Some(true),
        SameOutcome::Different => Some(false),
        _ => None,
    };
    data.outcome = Some(outcome.says());
    match &compared.figures {
        Ok(figures) if figures.is_empty() => data.no_figures = Some(NO_FIGURES.to_owned()),
        Ok(figures) => data.figures.clone_from(figures),
        Err(why) => data.no_figures = Some(why.to_string()),
    }
    data.changes = compared.changes.iter().take(MOST_CHANGES).cloned().collect();
    data.more_changes = compared.changes.len() - data.changes.len();
    let listed = settings.iter().take(MOST_SETTINGS).map(|setting| Setting {
        key: printable(&setting.path, 200),
        first: setting_text(setting.one.as_ref()),
        second: setting_text(setting.other.as_ref()),
    });
    data.settings = listed.collect();
    data.more_settings = settings.len().saturating_sub(MOST_SETTINGS);
    let from = query.parse::<usize>("from")?.unwrap_or(0);
    // Without a choice, what differs is listed.
    let is_listed = |what: Option<CallDifference>| match &chosen {
        Some(key) => key == key_and_label(what).0,
        None => what.is_some(),
    };
    let mut next = None;
    for (at, CallPair { call, sample, what, places }) in
        compared.calls.iter().enumerate().skip(from)
    {
        if !is_listed(*what) {
            continue;
        }
        if data.rows.len() == MOST {
            next = Some(at);
            break;
        }
        let [first, second] = [(0, places[0]), (1, places[1])].map(|(side, place)| {
            place.map(|place| compared_side(reader, runs[side], place)).transpose()
        });
        let (difference, label) = key_and_label(*what);
        let words = words(reader, runs, *what, *places)?;
        let (call, sample) = (call.to_string(), *sample);
        data.rows.push(CompareRow {
            call,
            sample,
            difference,
            label,
            first: first?,
            second: second?,
            words,
        });
    }
    data.next = next.map(|at| query.with(&[("from", Some(&at.to_string()))]));
    data.begin = (from > 0).then(|| query.with(&[("from", None)]));
    Ok(())
}

/// One side of a row.
fn compared_side(
    reader: &mut dyn Reader,
    run: RunId,
    place: CallPlace,
) -> Result<ComparedSide, LogError> {
    let decision = place.decision.map(|DecisionPlace { run, seq }| {
        let found = reader.events(run, Seq(seq.0.saturating_sub(1)), 1)?.into_iter().next();
        found.map(|stored| stored.event()).transpose().map_err(LogError::from)
    });
    let (method, value) = match decision.transpose()?.flatten() {
        Some(Event::DecisionMade(made)) => {
            (Some(made.by.method), Some(printable(&made.details.value.to_string(), 300)))
        }
        _ => (None, None),
    };
    let href = format!("/run/{run}/exchange/{}", place.request);
    Ok(ComparedSide { href, prompt: place.prompt.short(12), method, value })
}

fn setting_text(value: Option<&Value>) -> String {
    match value {
        None => "not set".to_owned(),
        Some(Value::String(text)) => printable(text, 400),
        Some(value) => printable(&value.to_string(), 400),
    }
}

/// Compares two runs, and keeps every call.
fn compare_runs(
    studies: &Studies,
    mut one: Box<dyn Reader>,
    mut other: Box<dyn Reader>,
    runs: [RunId; 2],
) -> Result<RunComparison, LogError> {
    let (mut calls, mut counts) = (Vec::new(), BTreeMap::new());
    let mut changed = ChangedCalls::default();
    let [first, second] = runs;
    let sides = (
        RunSide { reader: one.as_mut(), run: first },
        RunSide { reader: other.as_mut(), run: second },
    );
    let comparison = compare_each(sides.0, sides.1, &mut |compared| {
        changed.note(&compared);
        let ComparedCall { call, sample, what, one, other } = compared;
        *counts.entry(key_and_label(what).0).or_default() += 1;
        calls.push(CallPair { call: call.clone(), sample, what, places: [one, other] });
    })?;
    let changes = changed.changes(&comparison, one.as_mut(), other.as_mut())?;
    let figures = compared_figures(studies, one.as_mut(), first, other.as_mut(), second);
    Ok(RunComparison { calls, counts, comparison, changes, figures })
}
