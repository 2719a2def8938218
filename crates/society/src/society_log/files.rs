//! The files of such a society: its event log, and the summary of its epochs beside it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::facts::Holdings;
use retold::inert::inert;
use retold_study::reenact::{ReenactError, lines};

/// What the names of logs end with, before `.jsonl` and packing.
const LOG: &str = "_simulation_log";
const SUMMARY: &str = "_epoch_summary";

/// A line of a log. What else a line has is the business of that world.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Row {
    pub(super) run: u32,
    pub(super) run_id: String,
    pub(super) epoch: u32,
    pub(super) turn: u32,
    pub(super) agent_id: String,
    pub(super) persona: String,
    pub(super) location: String,
    /// For moves: where from. The location is then where to.
    pub(super) from: Option<String>,
    /// Mostly a text; once a list.
    pub(super) action_type: Value,
    pub(super) target: Value,
    pub(super) content: Value,
    pub(super) thought: Value,
    pub(super) success: bool,
    pub(super) resources_before: Holdings,
    pub(super) resources_after: Holdings,
}

impl Row {
    /// Whether it tells of a death, which is no turn.
    pub(super) fn is_death(&self) -> bool {
        self.action_type == "death"
    }
}

/// What the log's world says of an epoch itself.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Summary {
    pub(super) run: u32,
    pub(super) epoch: u32,
    pub(super) alive_agents: u64,
    pub(super) transaction_count: u64,
}

/// The log at a path: the file itself, or the only log of a folder.
pub(super) fn find(path: &Path) -> Result<PathBuf, ReenactError> {
    let unreadable =
        |reason: String| ReenactError::Unreadable { path: path.display().to_string(), reason };
    let unclear =
        |reason: String| ReenactError::Inconsistent { path: path.display().to_string(), reason };
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let entries = std::fs::read_dir(path).map_err(|e| unreadable(e.to_string()))?;
    let mut logs: BTreeSet<PathBuf> = BTreeSet::new();
    for entry in entries {
        let file = entry.map_err(|e| unreadable(e.to_string()))?.path();
        if name(&file).contains(&format!("{LOG}.jsonl")) {
            logs.insert(file);
        }
    }
    let names: Vec<String> = logs.iter().map(|log| inert(&name(log), 80)).collect();
    match names.len() {
        0 => Err(unclear(format!(
            "no log in it: its name would end with {LOG}.jsonl or {LOG}.jsonl.gz"
        ))),
        1 => logs.pop_first().ok_or_else(|| unreadable("no log in it".to_owned())),
        _ => Err(unclear(format!("several logs in it: name one of {}", names.join(", ")))),
    }
}

/// The rows of a log, with their lines.
pub(super) fn log(path: &Path) -> Result<Vec<(u64, Row)>, ReenactError> {
    let rows: Vec<(u64, Row)> = lines(path, "a turn of a society's log")?;
    if rows.is_empty() {
        let path = path.display().to_string();
        return Err(ReenactError::Inconsistent {
            path,
            reason: "there is no turn in it".to_owned(),
        });
    }
    Ok(rows)
}

/// The summary beside a log; `None` if there is none.
pub(super) fn summary(log: &Path) -> Result<Option<Vec<Summary>>, ReenactError> {
    let Some((start, _)) = name(log).split_once(LOG).map(|(a, b)| (a.to_owned(), b.to_owned()))
    else {
        return Ok(None);
    };
    for packing in ["", ".gz", ".zst"] {
        let path = log.with_file_name(format!("{start}{SUMMARY}.jsonl{packing}"));
        if path.exists() {
            let rows = lines(&path, "the summary of an epoch")?;
            return Ok(Some(rows.into_iter().map(|(_, row)| row).collect()));
        }
    }
    Ok(None)
}

/// A file's name, without its folder.
pub(super) fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
