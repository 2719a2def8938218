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
use retold::id::CallPath;
use retold::inert::inert;
use retold::run::OutputFile;
use retold_study::reenact::{
    Answers, Comparison, ReenactError, Reenactment, Row as Cells, Rows, runtime,
};
use retold_study::study::Study;

/// What stands in the place of the prompts.
const SITUATION: &str = include_str!("../../../../config/prompts/society_log/situation.txt");

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
    let refused = refused(&rows);
    let agents: BTreeSet<&str> = rows.iter().map(|(_, row)| row.agent_id.as_str()).collect();
    let source = name(&path);
    let settings = Settings {
        source: source.clone(),
        agents: u32::try_from(agents.len()).unwrap_or(u32::MAX),
        parser: "action@3".to_owned(),
        template: SITUATION.to_owned(),
        entries,
    };
    Ok(Reenactment {
        study: Study::new(NAME, 0, settings, runtime()),
        notes: notes(&source, &rows, &agents, &misplaced, summary.is_some()),
        model: Arc::new(Answers { source, by_call }),
        compare: Box::new(move |files| compare(files, &refused, summary.as_deref())),
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
    let by_its_rules = refused(rows).iter().filter(|refused| refused.is_known_there).count();
    if by_its_rules > 0 {
        notes.push(format!(
            "why {by_its_rules} turns were refused there whose action that world knows: its own rules, which are not ours"
        ));
    }
    let trades = rows.iter().filter(|(_, row)| row.success && row.action_type == "trade");
    // Many a target is "None" or "market".
    let names_agent = |row: &Row| row.target.as_str().is_some_and(|name| agents.contains(name));
    let named = trades.clone().filter(|(_, row)| names_agent(row)).count();
    let all = trades.count();
    if all > 0 {
        notes.push(format!(
            "what was given in {all} trades that were done there, {} of them open offers, whose target is no agent of the log: \
             ours gives an amount to an agent, so action@3 rejects them; what they changed is taken from the log",
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

/// A turn that was refused there, as it is told.
struct Refused {
    line: u64,
    entry: Entry,
    /// That world does such an action elsewhere in the log: it understood this one, and its own rules refused it.
    is_known_there: bool,
}

/// The turns that were refused there.
fn refused(rows: &[(u64, Row)]) -> Vec<Refused> {
    let done: BTreeSet<String> = rows
        .iter()
        .filter(|(_, row)| row.success)
        .map(|(_, row)| row.action_type.to_string())
        .collect();
    let refused = rows.iter().filter(|(_, row)| !row.success && !row.is_death());
    let told = refused.map(|(line, row)| Refused {
        line: *line,
        entry: entry(row),
        is_known_there: done.contains(&row.action_type.to_string()),
    });
    told.collect()
}

/// Differences that are told one by one; the others are counted.
const TOLD: usize = 100;

/// Compares who was alive and what was traded in each epoch; and every turn that was refused there must
/// be rejected here, if it was not that world's own rules that refused it, and have changed nothing.
fn compare(files: &[OutputFile], refused: &[Refused], summary: Option<&[Summary]>) -> Comparison {
    let bytes = |name: &str| {
        let file = files.iter().find(|file| file.name == name);
        file.and_then(|file| file.content.bytes().ok()).unwrap_or_default()
    };
    let ours = serde_json::from_slice::<Value>(&bytes("summary.json")).unwrap_or_default();
    let table = String::from_utf8_lossy(&bytes("invalid_actions.csv")).into_owned();
    let rejected = rejected(&table);
    let mut comparison = Comparison::default();
    for Refused { line, entry, is_known_there } in refused {
        let Entry { run, epoch, agent_id, action_type, before, after, .. } = entry;
        let who = inert(&format!("line {line}, {agent_id} in epoch {epoch} of run {run}"), 120);
        let what = inert(action_type, 60);
        comparison.compared += 2;
        let is_here = rejected.contains(&(run.to_string(), epoch.to_string(), agent_id.clone()));
        if !is_here && !is_known_there {
            comparison
                .differences
                .push(format!("{who}: {what:?} was refused there and is accepted here"));
        }
        for (what, had, has) in [
            ("energy", before.energy, after.energy),
            ("influence", before.influence, after.influence),
        ] {
            if had != has {
                comparison.differences.push(format!(
                    "{who}: the turn was refused there, and {what} went from {had} to {has}"
                ));
            }
        }
    }
    let more = comparison.differences.len().saturating_sub(TOLD);
    if more > 0 {
        comparison.differences.truncate(TOLD);
        comparison
            .differences
            .push(format!("{more} more differences of turns that were refused there"));
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

/// Who was rejected here, by run, epoch and agent.
fn rejected(table: &str) -> BTreeSet<(String, String, String)> {
    let Ok(rows) = Rows::parse(table, "our invalid_actions.csv", &[]) else {
        return BTreeSet::new();
    };
    let who = |row: Cells<'_>| {
        (row.text("run").to_owned(), row.text("epoch").to_owned(), row.text("agent_id").to_owned())
    };
    rows.iter().map(who).collect()
}
