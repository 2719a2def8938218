//! All runs.

use retold::id::RunId;
use serde::Serialize;

use super::{Asked, Reply};
use crate::error::PageError;
use crate::runs::{Notice, RunInfo, notices, run_info};
use crate::trust::Damage;

/// Runs on one page.
const MOST: usize = 100;

#[derive(Serialize)]
struct Runs {
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

pub(super) fn page(asked: &Asked<'_>) -> Result<Reply, PageError> {
    let mut reader = asked.site.reader()?;
    let mut notices = notices(asked.site, None)?;
    let heads = match reader.runs() {
        Ok(heads) => heads,
        Err(error) => {
            notices.push(Notice::danger(format!("The runs cannot be read: {error}")));
            Vec::new()
        }
    };
    let all = heads.len();
    // The last run first. Runs keep their numbers while others are added.
    let before = asked.query.parsed::<usize>("before")?.unwrap_or(all).min(all);
    let from = before.saturating_sub(MOST);
    let shown = heads.get(from..before).unwrap_or(&[]);
    let (damaged, is_complete) = asked.site.survey(shown);
    for (run, Damage { seq, what }) in &damaged {
        let short = run.short(8);
        let text = format!("From event {seq} on, run {short} cannot be trusted: {what}.");
        let of = Some(run.to_string());
        notices.push(Notice { from: Some(seq.0), of, ..Notice::danger(text) });
    }
    // A run of which nothing is left is not in the list.
    let is_gone = |run: RunId| !heads.iter().any(|head| head.run == run);
    for problem in asked.site.source.standing()?.problems {
        if problem.run.is_some_and(is_gone) {
            let lost = Notice::danger(format!("This log has lost events. {problem}"));
            notices.push(Notice { from: problem.seq.map(|seq| seq.0), ..lost });
        }
    }
    let runs = shown.iter().rev().map(|head| run_info(reader.as_mut(), head)).collect();
    let to = |at: usize| asked.query.with(&[("before", Some(&at.to_string()))]);
    let data = Runs {
        runs,
        all,
        earlier: (from > 0).then(|| to(from)),
        later: (before < all).then(|| to((before + MOST).min(all))),
        can_grow: asked.site.source.can_grow(),
    };
    asked.page(200, "runs", "Runs".to_owned(), None, notices, !is_complete, data)
}
