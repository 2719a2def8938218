//! Reads the log of a society of another program.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::NAME;
use super::answers::answer;
use super::files::{Row, Summary, find, log, name, summary};
use super::order;
use super::settings::{Entry, Settings, There};
use crate::experiments::reenact::{Answers, Comparison, ReenactError, Reenactment, runtime};
use crate::experiments::study::{Study, StudySettings};
use crate::id::CallPath;
use crate::run::OutputFile;

/// What stands in the place of the prompts.
const SITUATION: &str = include_str!("../../../config/prompts/society_log/situation.txt");

/// Reads a log (JSON Lines, plain or packed), or the only log of a folder.
///
/// # Errors
/// [`ReenactError`]: a file that cannot be read, a line that is no turn, an agent that acts twice in an
/// epoch.
pub fn reenact(path: &Path) -> Result<Reenactment, ReenactError> {
    let path = find(path)?;
    let mut rows = log(&path)?;
    let misplaced = order::sort(&mut rows);
    let summary = summary(&path)?;
    let mut by_call = BTreeMap::new();
    let mut entries = Vec::new();
    let mut seen = BTreeSet::new();
    for (line, row) in &rows {
        let entry = entry(row);
        let wrong = |reason: String| ReenactError::Line {
            path: path.display().to_string(),
            line: *line,
            reason,
        };
        let call = CallPath::new(entry.call())
            .map_err(|e| wrong(format!("agent_id cannot be part of a name: {e}")))?;
        if !seen.insert(call.to_string()) {
            let Entry { run, epoch, agent_id, .. } = &entry;
            let reason = format!("{agent_id} acts twice in epoch {epoch} of run {run}");
            return Err(wrong(reason));
        }
        if entry.there != There::Died {
            by_call.insert(call.to_string(), answer(row));
        }
        entries.push(entry);
    }
    let agents: BTreeSet<&str> = rows.iter().map(|(_, row)| row.agent_id.as_str()).collect();
    let source = name(&path);
    let settings = Settings {
        source: source.clone(),
        agents: u32::try_from(agents.len()).unwrap_or(u32::MAX),
        parser: "action@2".to_owned(),
        template: SITUATION.to_owned(),
        entries,
    };
    let experiment = serde_json::to_value(settings).map_err(|e| ReenactError::Inconsistent {
        path: path.display().to_string(),
        reason: e.to_string(),
    })?;
    let settings = StudySettings { experiment, runtime: runtime() };
    Ok(Reenactment {
        study: Study { experiment: NAME.to_owned(), seed: 0, settings },
        notes: notes(&source, &rows, &agents, &misplaced, summary.is_some()),
        model: Arc::new(Answers { source, by_call }),
        compare: Box::new(move |files| compare(files, summary.as_deref())),
    })
}

fn entry(row: &Row) -> Entry {
    let action = &row.action_type;
    Entry {
        run: row.run,
        epoch: row.epoch,
        turn: row.turn,
        agent_id: row.agent_id.clone(),
        persona: row.persona.clone(),
        location: row.from.clone().unwrap_or_else(|| row.location.clone()),
        // `mistral-7b_en_20260203-190004`: model, language, start.
        model: row.run_id.split('_').next().unwrap_or_default().to_owned(),
        action_type: action.as_str().map_or_else(|| action.to_string(), str::to_owned),
        before: row.resources_before,
        after: row.resources_after,
        there: match (row.is_death(), row.success) {
            (true, _) => There::Died,
            (false, true) => There::Done,
            (false, false) => There::Refused,
        },
    }
}

fn notes(
    file: &str,
    rows: &[(u64, Row)],
    agents: &BTreeSet<&str>,
    misplaced: &[u64],
    has_summary: bool,
) -> Vec<String> {
    let mut notes: Vec<String> = [
        "the prompts: each question is what the log holds of the situation",
        "the raw answers: each is put together from the action, target, content and thought that were \
         logged; speak is written as our forum_post, every other action as logged",
        "the rules of that world: what it did and refused, and what agents had, is taken from the log",
    ]
    .map(str::to_owned)
    .to_vec();
    let trades = rows.iter().filter(|(_, row)| row.success && row.action_type == "trade");
    // Many a target is "None" or "market".
    let names_agent = |row: &Row| row.target.as_str().is_some_and(|name| agents.contains(name));
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

/// Compares who was alive and what was traded in each epoch; and every turn that was refused there must
/// be rejected here, and have changed nothing.
fn compare(files: &[OutputFile], summary: Option<&[Summary]>) -> Comparison {
    let file = files.iter().find(|file| file.name == "summary.json");
    let bytes = file.and_then(|file| file.content.bytes().ok());
    let ours = bytes.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    let ours = ours.unwrap_or_default();
    let mut comparison = Comparison::default();
    let count = |key: &str| ours[key].as_u64().unwrap_or_default();
    comparison.compared += 2 * count("refused_there");
    for (key, what) in [
        ("accepted_here_alone", "turns were refused there and are accepted here"),
        ("changed_though_refused", "turns were refused there and changed what the agent had"),
    ] {
        if count(key) > 0 {
            comparison.differences.push(format!("{} {what}", count(key)));
        }
    }
    let epochs = ours["epochs"].as_array().map(Vec::as_slice).unwrap_or_default();
    for theirs in summary.unwrap_or_default() {
        let Summary { run, epoch, alive_agents, transaction_count } = theirs;
        let mine = epochs.iter().find(|e| e["run"] == *run && e["epoch"] == *epoch);
        for (key, value) in [("alive", alive_agents), ("trades", transaction_count)] {
            comparison.compared += 1;
            let mine = mine.map_or(Value::Null, |e| e[key].clone());
            if mine != *value {
                comparison.differences.push(format!(
                    "run {run}, epoch {epoch}: {key} is {mine} by the log and {value} in the summary"
                ));
            }
        }
    }
    comparison
}
