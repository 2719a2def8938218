//! Two runs side by side, call by call.

use std::collections::{BTreeMap, BTreeSet};

use retold::decide::{RecordedAnswer, each_answer};
use retold::id::{CallPath, ContentHash, PromptHash, RunId, Sample, Seq};
use retold::inert::inert;
use retold::log::{LogError, Reader};
use serde::Serialize;
use serde_json::Value;

use super::{Asked, Reply};
use crate::error::PageError;
use crate::job::Stand;
use crate::runs::{Notice, RunInfo, run_info};

/// Rows on one page.
const MOST: usize = 60;

/// The most settings that are listed.
const MOST_SETTINGS: usize = 100;

/// One side of a row.
#[derive(Clone, PartialEq, Eq)]
struct Side {
    seq: Seq,
    prompt: PromptHash,
    answer: ContentHash,
    decided: Option<(String, String)>,
}

/// What two runs have for every call and sample.
pub(crate) struct Compared {
    rows: Vec<(CallPath, Sample, [Option<Side>; 2], Difference)>,
    counts: BTreeMap<Difference, u64>,
    settings: Vec<Setting>,
    more_settings: usize,
}

/// The first thing in which two exchanges differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum Difference {
    Same,
    Prompt,
    Answer,
    Decision,
    First,
    Second,
}

impl Difference {
    const ALL: [Difference; 6] = [
        Difference::Same,
        Difference::Prompt,
        Difference::Answer,
        Difference::Decision,
        Difference::First,
        Difference::Second,
    ];

    /// Its name in a query.
    fn key(self) -> &'static str {
        match self {
            Difference::Same => "same",
            Difference::Prompt => "prompt",
            Difference::Answer => "answer",
            Difference::Decision => "decision",
            Difference::First => "first",
            Difference::Second => "second",
        }
    }

    fn label(self) -> &'static str {
        match self {
            Difference::Same => "the same",
            Difference::Prompt => "another prompt",
            Difference::Answer => "another answer",
            Difference::Decision => "another decision",
            Difference::First => "only in the first",
            Difference::Second => "only in the second",
        }
    }
}

#[derive(Clone, Serialize)]
struct Setting {
    key: String,
    first: String,
    second: String,
}

#[derive(Serialize, Default)]
struct Page {
    first: Option<RunInfo>,
    second: Option<RunInfo>,
    /// The runs to choose from.
    runs: Vec<RunInfo>,
    compared: Option<u64>,
    groups: Vec<Group>,
    settings: Vec<Setting>,
    more_settings: usize,
    rows: Vec<Row>,
    next: Option<String>,
    begin: Option<String>,
}

#[derive(Serialize)]
struct Group {
    label: &'static str,
    key: &'static str,
    count: u64,
    chosen: bool,
    query: String,
}

#[derive(Serialize)]
struct Row {
    call: String,
    sample: u32,
    difference: Difference,
    label: &'static str,
    first: Option<Shown>,
    second: Option<Shown>,
}

#[derive(Serialize)]
struct Shown {
    href: String,
    prompt: String,
    method: Option<String>,
    value: Option<String>,
}

pub(super) fn page(asked: &Asked<'_>) -> Result<Reply, PageError> {
    let mut reader = asked.site.reader()?;
    let (first, second) = (asked.query.text("a")?, asked.query.text("b")?);
    let title = "Two runs".to_owned();
    let mut data = Page::default();
    let heads = reader.runs()?;
    let recent = heads.iter().rev().take(100);
    data.runs = recent.map(|head| run_info(reader.as_mut(), head)).collect();
    let (Some(first), Some(second)) = (first, second) else {
        return asked.page(200, "compare", title, None, Vec::new(), false, data);
    };
    let first = asked.site.find(reader.as_mut(), &first)?;
    let second = asked.site.find(reader.as_mut(), &second)?;
    data.first = Some(run_info(reader.as_mut(), &first));
    data.second = Some(run_info(reader.as_mut(), &second));
    let site = asked.site.clone();
    let runs = [first.run, second.run];
    let key = [(first.run, first.head.seq), (second.run, second.head.seq)];
    let stand = asked.site.comparisons.of(key, move |progress| {
        let mut reader = site.reader().map_err(|error| error.to_string())?;
        let mut done = 0;
        let compared = compare(reader.as_mut(), runs, &mut || {
            done += 1;
            progress.at(done);
        });
        compared.map_err(|error| error.to_string())
    });
    let compared = match stand {
        Stand::Running(done) => {
            data.compared = Some(done);
            return asked.page(200, "compare", title, None, Vec::new(), true, data);
        }
        Stand::Failed(why) => {
            let notices = vec![Notice::danger(format!("The runs cannot be compared: {why}"))];
            return asked.page(200, "compare", title, None, notices, false, data);
        }
        Stand::Done(compared) => compared,
    };
    fill(asked, &mut data, &compared, runs)?;
    asked.page(200, "compare", title, None, Vec::new(), false, data)
}

/// The part of a comparison that a page shows.
fn fill(
    asked: &Asked<'_>,
    data: &mut Page,
    compared: &Compared,
    runs: [RunId; 2],
) -> Result<(), PageError> {
    let query = &asked.query;
    let chosen = query.text("difference")?;
    data.groups = Difference::ALL
        .into_iter()
        .map(|difference| {
            let key = difference.key();
            let is_chosen = chosen.as_deref() == Some(key);
            let set = if is_chosen { None } else { Some(key) };
            Group {
                label: difference.label(),
                key,
                count: compared.counts.get(&difference).copied().unwrap_or(0),
                chosen: is_chosen,
                query: query.with(&[("difference", set), ("from", None)]),
            }
        })
        .collect();
    (data.settings, data.more_settings) = (compared.settings.clone(), compared.more_settings);
    let from = query.parsed::<usize>("from")?.unwrap_or(0);
    // Without a choice, what differs is listed.
    let is_listed = |difference: Difference| match &chosen {
        Some(key) => key == difference.key(),
        None => difference != Difference::Same,
    };
    let listed = compared.rows.iter().enumerate().skip(from);
    let mut next = None;
    for (at, (call, sample, sides, difference)) in listed {
        if !is_listed(*difference) {
            continue;
        }
        if data.rows.len() == MOST {
            next = Some(at);
            break;
        }
        let shown = |side: usize| {
            let found = sides.get(side)?.as_ref()?;
            let run = runs.get(side)?;
            Some(Shown {
                href: format!("/run/{run}/exchange/{}", found.seq),
                prompt: found.prompt.short(12),
                method: found.decided.as_ref().map(|(method, _)| method.clone()),
                value: found.decided.as_ref().map(|(_, value)| inert(value, 300)),
            })
        };
        data.rows.push(Row {
            call: call.to_string(),
            sample: *sample,
            difference: *difference,
            label: difference.label(),
            first: shown(0),
            second: shown(1),
        });
    }
    data.next = next.map(|at| query.with(&[("from", Some(&at.to_string()))]));
    data.begin = (from > 0).then(|| query.with(&[("from", None)]));
    Ok(())
}

/// Aligns two runs by call and sample.
fn compare(
    reader: &mut dyn Reader,
    runs: [RunId; 2],
    each: &mut dyn FnMut(),
) -> Result<Compared, LogError> {
    let mut rows: BTreeMap<(CallPath, Sample), [Option<Side>; 2]> = BTreeMap::new();
    for (at, run) in runs.into_iter().enumerate() {
        each_answer::<LogError>(reader, run, |_, answer| {
            each();
            let RecordedAnswer { seq, call, sample, prompt, content, decision, .. } = answer;
            let decided =
                decision.map(|(_, made)| (made.by.method, made.details.value.to_string()));
            let side = Side { seq, prompt, answer: content.hash(), decided };
            if let Some(place) = rows.entry((call, sample)).or_default().get_mut(at) {
                *place = Some(side);
            }
            Ok(())
        })?;
    }
    let mut counts: BTreeMap<Difference, u64> = BTreeMap::new();
    let rows = rows
        .into_iter()
        .map(|((call, sample), sides)| {
            let difference = match &sides {
                [Some(first), Some(second)] if first.prompt != second.prompt => Difference::Prompt,
                [Some(first), Some(second)] if first.answer != second.answer => Difference::Answer,
                [Some(first), Some(second)] if first.decided != second.decided => {
                    Difference::Decision
                }
                [Some(_), None] => Difference::First,
                [None, Some(_)] => Difference::Second,
                _ => Difference::Same,
            };
            *counts.entry(difference).or_default() += 1;
            (call, sample, sides, difference)
        })
        .collect();
    let [first, second] = runs.map(|run| retold::run::started(reader, run));
    let (first, second) = (first?, second?);
    let mut settings = Vec::new();
    if first.seed != second.seed {
        let (first, second) = (first.seed.to_string(), second.seed.to_string());
        settings.push(Setting { key: "seed".to_owned(), first, second });
    }
    differences("", Some(&first.settings), Some(&second.settings), &mut settings);
    differences("model", Some(&first.model), Some(&second.model), &mut settings);
    let more_settings = settings.len().saturating_sub(MOST_SETTINGS);
    settings.truncate(MOST_SETTINGS);
    Ok(Compared { rows, counts, settings, more_settings })
}

/// The keys in which two settings differ.
fn differences(key: &str, first: Option<&Value>, second: Option<&Value>, found: &mut Vec<Setting>) {
    if first == second || found.len() > 10 * MOST_SETTINGS {
        return;
    }
    if let (Some(Value::Object(one)), Some(Value::Object(other))) = (first, second) {
        let keys: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
        for name in keys {
            let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
            differences(&key, one.get(name), other.get(name), found);
        }
        return;
    }
    let text = |value: Option<&Value>| match value {
        None => "not set".to_owned(),
        Some(Value::String(text)) => inert(text, 400),
        Some(value) => inert(&value.to_string(), 400),
    };
    found.push(Setting { key: key.to_owned(), first: text(first), second: text(second) });
}
