//! Reads the log of a society run by another program.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::answers::answer;
use super::compare::{compare, refused_turns};
use super::files::{LogRow, find, log, name, summary};
use super::settings::{OriginalSettings, OriginalTurn, There};
use super::{NAME, order};
use retold::id::CallPath;
use retold_study::original::{Answers, Original, OriginalError, Outputs};

/// The replacement for the prompts.
const SITUATION: &str = include_str!("../../../../../config/prompts/society_log/situation.txt");

/// Reads a log (JSON Lines, plain or compressed), or the only log in a folder.
///
/// # Errors
/// [`OriginalError`] for a file that cannot be read, a line that is not a turn, or an agent that
/// acts twice in an epoch.
pub fn read(path: &Path) -> Result<Original, OriginalError> {
    let path = find(path)?;
    let mut rows = log(&path)?;
    let misplaced = order::sort(&mut rows);
    let summary = summary(&path)?;
    let mut by_call = BTreeMap::new();
    let mut entries = Vec::new();
    let mut seen = BTreeSet::new();
    for (line, row) in &rows {
        let entry = row.entry();
        let wrong = |reason: String| OriginalError::line(&path, *line, reason);
        let call = CallPath::new(entry.call())
            .map_err(|e| wrong(format!("agent_id cannot be part of a name: {e}")))?;
        if !seen.insert(call.to_string()) {
            let OriginalTurn { run, epoch, agent_id, .. } = &entry;
            let reason = format!("{agent_id} acts twice in epoch {epoch} of run {run}");
            return Err(wrong(reason));
        }
        if entry.there != There::Died {
            by_call.insert(call.to_string(), answer(row).into());
        }
        entries.push(entry);
    }
    let refused = refused_turns(&rows);
    let agents: BTreeSet<&str> = rows.iter().map(|(_, row)| row.agent_id.as_str()).collect();
    let source = name(&path);
    let settings = OriginalSettings {
        source: source.clone(),
        agents: u32::try_from(agents.len()).unwrap_or(u32::MAX),
        parser: "action@2".to_owned(),
        template: SITUATION.to_owned(),
        entries,
    };
    let notes = notes(&source, &rows, &agents, &misplaced, summary.is_some());
    let answers = Answers::new(source, by_call);
    Ok(Original::new(NAME, 0, settings, answers, notes, move |files| {
        compare(Outputs(files), &refused, summary.as_deref())
    }))
}

fn notes(
    file: &str,
    rows: &[(u64, LogRow)],
    agents: &BTreeSet<&str>,
    misplaced: &[u64],
    has_summary: bool,
) -> Vec<String> {
    let mut notes: Vec<String> = [
        "the prompts: each question is the log's description of the situation",
        "the raw answers: each is assembled from the action, target, content and thought that were \
         logged; speak is written as our forum_post, every other action as logged",
        "the rules of that world: what it did and refused, and what agents had, is taken from the log",
    ]
    .map(str::to_owned)
    .to_vec();
    let by_its_rules = refused_turns(rows).iter().filter(|refused| refused.is_known_there).count();
    if by_its_rules > 0 {
        notes.push(format!(
            "why {by_its_rules} turns were refused there whose action that world knows: its own rules, which are not ours"
        ));
    }
    let trades = rows.iter().filter(|(_, row)| row.success && row.action_type == "trade");
    // Many targets are "None" or "market".
    let names_agent = |row: &LogRow| row.target.as_str().is_some_and(|name| agents.contains(name));
    let named = trades.clone().filter(|(_, row)| names_agent(row)).count();
    let all = trades.count();
    if all > 0 {
        notes.push(format!(
            "what was given in {all} trades that were done there, {} of them open offers, whose target is no agent of the log: \
             ours gives an amount to an agent, so action@2 rejects them; what they changed is taken from the log",
            all - named
        ));
    }
    if let Some(first) = misplaced.first() {
        notes.push(format!(
            "the order of the lines: {} stand behind later ones, first line {first} of {file}; they are taken by run, \
             epoch and turn",
            misplaced.len()
        ));
    }
    notes.extend(order::missing(rows).into_iter().map(|gap| format!("{gap} of {file}")));
    if !has_summary {
        let note = "a summary of its epochs beside the log: there is nothing to compare with";
        notes.push(note.to_owned());
    }
    notes
}
