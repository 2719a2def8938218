//! Reports the state, for people and programs.

use std::fmt::Write;

use serde_json::{Value, json};

use super::state::OriginalState;
use retold::escaping::printable;
use retold::run::{OutputError, OutputFile, Report};
use retold_study::table::Table;

/// How many reasons are listed for people; all of them are in the JSON.
const LISTED: usize = 12;

/// The report.
pub(super) fn report(source: &str, state: &OriginalState) -> Report {
    Report { json: json(source, state), text: text(source, state), ..Report::default() }
}

/// `summary.json`, `epochs.csv` and `invalid_actions.csv`.
pub(super) fn files(source: &str, state: &OriginalState) -> Result<Vec<OutputFile>, OutputError> {
    let mut epochs = Table::new(
        "epochs",
        &[
            "run", "epoch", "alive", "died", "trades", "refused_there", "rejected_here",
            "energy_after_turns", "gini_energy",
        ],
    );
    for ((run, epoch), row) in &state.epochs {
        epochs.row([
            run.to_string(),
            epoch.to_string(),
            row.alive().to_string(),
            row.died.len().to_string(),
            row.trades.to_string(),
            row.refused_there.to_string(),
            row.rejected_here.to_string(),
            row.energy().to_string(),
            format!("{:.6}", row.gini()),
        ]);
    }
    let columns = ["run", "epoch", "agent_id", "done_there", "action_type", "reason"];
    let mut invalid = Table::new("invalid_actions", &columns);
    for (run, epoch, agent, done, action, reason) in &state.invalid {
        let (run, epoch, done) = (run.to_string(), epoch.to_string(), done.to_string());
        invalid.row([run, epoch, agent.clone(), done, action.clone(), reason.clone()]);
    }
    Ok(vec![
        OutputFile::json("summary.json", &json(source, state))?,
        OutputFile::from(epochs),
        OutputFile::from(invalid),
    ])
}

fn json(source: &str, state: &OriginalState) -> Value {
    let epochs: Vec<Value> = state
        .epochs
        .iter()
        .map(|((run, epoch), row)| {
            json!({
                "run": run, "epoch": epoch, "alive": row.alive(), "died": row.died.len(),
                "trades": row.trades, "refused_there": row.refused_there,
                "rejected_here": row.rejected_here, "energy_after_turns": row.energy(),
                "gini_energy": row.gini(),
            })
        })
        .collect();
    json!({
        "source": source,
        "turns": state.turns,
        "refused_there": state.refused_there,
        "rejected_in_both": state.rejected_in_both,
        "accepted_here_alone": state.accepted_here_alone,
        "changed_though_refused": state.changed_though_refused,
        "rejected_here_alone": state.rejected_here_alone,
        "reasons": state.reasons,
        "epochs": epochs,
    })
}

fn text(source: &str, state: &OriginalState) -> String {
    let mut text = String::new();
    let runs = state.epochs.keys().map(|(run, _)| run).collect::<std::collections::BTreeSet<_>>();
    let deaths: usize = state.epochs.values().map(|e| e.died.len()).sum();
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{}: {} runs, {} epochs, {} turns, {deaths} deaths",
        printable(source, 80),
        runs.len(),
        state.epochs.len(),
        state.turns
    );
    let _ = writeln!(
        text,
        "refused there: {}; of these rejected here: {}, accepted here: {}; changed though refused: {}",
        state.refused_there,
        state.rejected_in_both,
        state.accepted_here_alone,
        state.changed_though_refused
    );
    let _ = writeln!(text, "done there, no action of ours:");
    for (action, count) in &state.rejected_here_alone {
        let _ = writeln!(text, "  {count:>6}  {}", printable(action, 60));
    }
    let mut reasons: Vec<_> = state.reasons.iter().collect();
    reasons.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let _ = writeln!(text, "rejected here, by reason:");
    for (reason, count) in reasons.iter().take(LISTED) {
        let _ = writeln!(text, "  {count:>6}  {}", printable(reason, 110));
    }
    if reasons.len() > LISTED {
        let _ = writeln!(text, "  and {} other reasons", reasons.len() - LISTED);
    }
    text
}
