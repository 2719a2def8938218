//! The files of such a society: its event log, and the summary of its epochs next to it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::facts::Holdings;
use super::settings::{OriginalTurn, There};
use retold::escaping::printable;
use retold_study::original::{OriginalError, lines};

/// The end of a log's file name, before `.jsonl` and compression.
const LOG: &str = "_simulation_log";
const SUMMARY: &str = "_epoch_summary";

/// A line of a log. Its other fields only matter to that world.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct LogRow {
    pub(super) run: u32,
    pub(super) run_id: String,
    pub(super) epoch: u32,
    pub(super) turn: u32,
    pub(super) agent_id: String,
    pub(super) persona: String,
    pub(super) location: String,
    /// For moves, the origin. The location is then the destination.
    pub(super) from: Option<String>,
    /// Usually a text, once a list.
    pub(super) action_type: Value,
    pub(super) target: Value,
    pub(super) content: Value,
    pub(super) thought: Value,
    pub(super) success: bool,
    pub(super) resources_before: Holdings,
    pub(super) resources_after: Holdings,
}

impl LogRow {
    /// Whether it reports a death, which is not a turn.
    pub(super) fn is_death(&self) -> bool {
        self.action_type == "death"
    }

    /// The turn as the import's settings keep it.
    pub(super) fn entry(&self) -> OriginalTurn {
        let action = &self.action_type;
        OriginalTurn {
            run: self.run,
            epoch: self.epoch,
            turn: self.turn,
            agent_id: self.agent_id.clone(),
            persona: self.persona.clone(),
            location: self.from.clone().unwrap_or_else(|| self.location.clone()),
            // `mistral-7b_en_20260203-190004`: model, language, start.
            model: self.run_id.split_once('_').map_or(&*self.run_id, |(model, _)| model).to_owned(),
            action_type: action.as_str().map_or_else(|| action.to_string(), str::to_owned),
            before: self.resources_before,
            after: self.resources_after,
            there: match (self.is_death(), self.success) {
                (true, _) => There::Died,
                (false, true) => There::Done,
                (false, false) => There::Refused,
            },
        }
    }
}

/// The log's own statements about an epoch.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct EpochSummary {
    pub(super) run: u32,
    pub(super) epoch: u32,
    pub(super) alive_agents: u64,
    pub(super) transaction_count: u64,
    /// What follows from the rules of that world, which the log does not have.
    #[serde(flatten)]
    pub(super) others: BTreeMap<String, Value>,
}

/// The log at a path: the file itself, or the only log in a folder.
pub(super) fn find(path: &Path) -> Result<PathBuf, OriginalError> {
    let unreadable = |e: std::io::Error| OriginalError::unreadable(path, e.to_string());
    let unclear = |reason: String| OriginalError::inconsistent(path, reason);
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let entries = std::fs::read_dir(path).map_err(unreadable)?;
    let mut logs: BTreeSet<PathBuf> = BTreeSet::new();
    for entry in entries {
        let file = entry.map_err(unreadable)?.path();
        if name(&file).contains(&format!("{LOG}.jsonl")) {
            logs.insert(file);
        }
    }
    let names: Vec<String> = logs.iter().map(|log| printable(&name(log), 80)).collect();
    match (logs.pop_first(), logs.is_empty()) {
        (Some(log), true) => Ok(log),
        (Some(_), false) => {
            Err(unclear(format!("there are several logs in it: name one of {}", names.join(", "))))
        }
        (None, _) => Err(unclear(format!(
            "there is no log in it: its name would end with {LOG}.jsonl or {LOG}.jsonl.gz"
        ))),
    }
}

/// The rows of a log, with their lines.
pub(super) fn log(path: &Path) -> Result<Vec<(u64, LogRow)>, OriginalError> {
    let rows: Vec<(u64, LogRow)> = lines(path, "a turn of a society's log")?;
    if rows.is_empty() {
        return Err(OriginalError::inconsistent(path, "there is no turn in it"));
    }
    Ok(rows)
}

/// The summary next to a log; `None` if there is none.
pub(super) fn summary(log: &Path) -> Result<Option<Vec<EpochSummary>>, OriginalError> {
    let name = name(log);
    let Some((start, _)) = name.split_once(LOG) else { return Ok(None) };
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
