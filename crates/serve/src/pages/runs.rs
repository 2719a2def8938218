//! All runs.

use std::collections::{BTreeMap, BTreeSet};

use retold::id::Seq;
use retold::log::{Finding, Reader, RunHead, deleted_runs};
use retold_archive::Damage;
use serde::Serialize;

use super::{PageReply, PageRequest};
use crate::error::PageError;
use crate::run_summary::RunSummary;
use crate::runs::{Notice, RunInfo, dangers, notices, run_heads, run_info};
use crate::summaries::MOST_EVENTS;

/// Runs on one page.
const MOST: usize = 100;

#[derive(Serialize)]
struct RunsPage {
    runs: Vec<ListedRun>,
    /// How many runs the log has.
    all: usize,
    /// The query for earlier runs.
    earlier: Option<String>,
    /// The query for later runs.
    later: Option<String>,
    /// Whether more may come while the page is shown.
    can_grow: bool,
}

/// A run of the list.
#[derive(Serialize)]
struct ListedRun {
    #[serde(flatten)]
    info: RunInfo,
    /// What came out, and the cost; `None` while it is not known, and of a run that is too long to be read for a list.
    summary: Option<RunSummary>,
    /// True if it is that long.
    is_long: bool,
    /// True of decisions about a run that is above it.
    is_indented: bool,
}

/// The keys of its query.
pub(super) const KEYS: &[&str] = &["before"];

pub(super) fn page(asked: &PageRequest<'_>) -> Result<PageReply, PageError> {
    let mut reader = asked.site.reader()?;
    let mut notices = notices(asked.site, None)?;
    let heads = run_heads(reader.as_mut(), &mut notices);
    let all = heads.len();
    // The last run first. Runs keep their numbers while others are added.
    let before = asked.query.parse::<usize>("before")?.unwrap_or(all).min(all);
    let from = before.saturating_sub(MOST);
    let shown = heads.get(from..before).unwrap_or(&[]);
    // A run of which nothing is left is not in the list.
    for Finding { run, fault, .. } in deleted_runs(asked.site.source.backend()?.as_ref())? {
        let Some(of) = run.map(|run| run.to_string()) else { continue };
        let notice = Notice::distrust(&Damage { seq: Seq(1), fault }, &format!("run {of}"));
        notices.push(Notice { of: Some(of), ..notice });
    }
    let (runs, is_pending) = listed_runs(asked, reader.as_mut(), shown, all);
    notices.extend(dangers(asked.site, shown));
    let to = |at: usize| asked.query.with(&[("before", Some(&at.to_string()))]);
    let data = RunsPage {
        runs,
        all,
        earlier: (from > 0).then(|| to(from)),
        later: (before < all).then(|| to((before + MOST).min(all))),
        can_grow: asked.site.source.path().is_some(),
    };
    asked.page(200, "runs", "Runs".to_owned(), None, notices, is_pending, data)
}

/// Runs with what came out of them, the last first, and decisions below the run that they are about; whether more will be
/// known of them soon.
fn listed_runs(
    asked: &PageRequest<'_>,
    reader: &mut dyn Reader,
    heads: &[RunHead],
    runs: usize,
) -> (Vec<ListedRun>, bool) {
    let infos = heads.iter().rev().map(|head| run_info(asked.site, reader, head));
    let infos: Vec<RunInfo> = infos.collect();
    let of_run = heads.iter().rev().zip(&infos);
    let of_run = of_run.map(|(head, info)| (head.clone(), !info.can_grow()));
    let (summaries, is_pending) =
        asked.site.summaries(&of_run.collect::<Vec<(RunHead, bool)>>(), runs);
    let listed = infos.into_iter().zip(summaries).map(|(info, mut summary)| {
        if let Some(summary) = summary.as_mut().filter(|_| info.is_running()) {
            // What has come out so far is shown when somebody asks for it.
            summary.figure = None;
        }
        ListedRun { is_long: info.events > MOST_EVENTS, is_indented: false, info, summary }
    });
    (with_decisions_below(listed.collect()), is_pending)
}

/// Puts decisions below the run that they are about, if that is in the list.
fn with_decisions_below(listed: Vec<ListedRun>) -> Vec<ListedRun> {
    let about: BTreeMap<String, String> = listed
        .iter()
        .filter(|run| run.info.kind == "accepted")
        .filter_map(|run| Some((run.info.run.clone(), run.info.from.clone()?)))
        .collect();
    let all: BTreeSet<String> = listed.iter().map(|run| run.info.run.clone()).collect();
    // Decisions may be about a run of decisions. A crafted log may name runs in a circle.
    let root = |run: &ListedRun| {
        let chain = std::iter::successors(about.get(&run.info.run), |run| about.get(*run));
        chain.take(about.len()).filter(|run| all.contains(*run)).last().cloned()
    };
    let mut below: BTreeMap<String, Vec<ListedRun>> = BTreeMap::new();
    let mut tops = Vec::new();
    for run in listed {
        match root(&run).filter(|root| !about.contains_key(root)) {
            Some(root) => below.entry(root).or_default().push(run),
            None => tops.push(run),
        }
    }
    let mut all = Vec::new();
    for top in tops {
        let decisions = below.remove(&top.info.run).unwrap_or_default();
        all.push(top);
        all.extend(decisions.into_iter().map(|run| ListedRun { is_indented: true, ..run }));
    }
    all
}
