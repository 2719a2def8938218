//! All runs.

use retold::id::Seq;
use retold::log::{Finding, deleted_runs};
use retold_archive::Damage;
use serde::Serialize;

use super::{PageReply, PageRequest};
use crate::error::PageError;
use crate::runs::{Notice, RunInfo, dangers, notices, run_heads, run_info};

/// Runs on one page.
const MOST: usize = 100;

#[derive(Serialize)]
struct RunsPage {
    runs: Vec<RunInfo>,
    /// How many runs the log has.
    all: usize,
    /// The query for earlier runs.
    earlier: Option<String>,
    /// The query for later runs.
    later: Option<String>,
    /// Whether more may come while the page is shown.
    can_grow: bool,
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
    let runs = shown.iter().rev().map(|head| run_info(asked.site, reader.as_mut(), head)).collect();
    notices.extend(dangers(asked.site, shown));
    let to = |at: usize| asked.query.with(&[("before", Some(&at.to_string()))]);
    let data = RunsPage {
        runs,
        all,
        earlier: (from > 0).then(|| to(from)),
        later: (before < all).then(|| to((before + MOST).min(all))),
        can_grow: asked.site.source.path().is_some(),
    };
    asked.page(200, "runs", "Runs".to_owned(), None, notices, false, data)
}
