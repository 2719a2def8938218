//! Prints which decisions of a run share a recorded answer.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::error::{CliError, Status};
use crate::output::{Output, counted};
use crate::select::{self, RunSelection};
use retold::audit::{Independence, SharedAnswer, independence};
use retold::escaping::printable;

/// How many shared answers are listed for people, and how many calls of each.
const SHOWN: usize = 20;
const CALLS_SHOWN: usize = 8;

/// How much of the name of what is decided is shown.
const DECIDES_SHOWN: usize = 60;

/// What `-` means.
const NOT_KNOWN: &str = "-: no effective sample size. Prompts were made from earlier answers or facts, or the run does \
    not say from what, so these decisions may depend on each other\n";

/// Prints which decisions of a run share a recorded answer, and the effective sample sizes.
pub(crate) fn show(selected: &RunSelection, output: &Output) -> Result<Status, CliError> {
    let mut reader = selected.checked()?;
    let simulated = select::started(&mut reader, selected.run)?.is_simulated();
    let found = independence(&mut reader, selected.run)?;
    if output.is_json() {
        let mut object = object(&found);
        object["run"] = json!(selected.run);
        object["simulated"] = simulated.into();
        output.object(&object)?;
    } else {
        let said = if simulated { select::SIMULATED } else { "" };
        let checked = select::checked(reader.checked(), selected.run);
        output.text(&format!("{said}{}{checked}", text(&found)))?;
    }
    Ok(Status::Fine)
}

fn object(found: &Independence) -> Value {
    let kind = |((kind, decides), sizes): (&(String, String), &retold::audit::Sizes)| {
        json!({"kind": kind, "decides": decides, "decisions": sizes.decisions, "answers": sizes.answers,
            "effective_sample_size": sizes.effective})
    };
    let shared = |SharedAnswer { run, seq, decides, decisions }: &SharedAnswer| {
        let decisions = decisions.iter();
        let decisions = decisions
            .map(|(seq, call, sample)| json!({"seq": seq, "call": call, "sample": sample}));
        json!({"run": run, "seq": seq, "decides": decides, "decisions": decisions.collect::<Vec<_>>()})
    };
    json!({
        "kinds": found.kinds.iter().map(kind).collect::<Vec<_>>(),
        "shared": found.shared.iter().map(shared).collect::<Vec<_>>(),
    })
}

fn text(found: &Independence) -> String {
    let mut out =
        String::from("decisions  answers  effective  kind of call, and what was decided\n");
    for ((kind, decides), sizes) in &found.kinds {
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "{:>9}  {:>7}  {:>9}  {kind}: {}",
            sizes.decisions,
            sizes.answers,
            sizes.effective.map_or_else(|| "-".to_owned(), |effective| format!("{effective:.1}")),
            printable(decides, DECIDES_SHOWN)
        );
    }
    match (found.kinds.is_empty(), found.shared.is_empty()) {
        (true, _) => out = "the run has no decisions\n".to_owned(),
        (false, true) => {
            out.push_str("no two decisions of the same thing rest on one recorded answer\n")
        }
        (false, false) => {}
    }
    for SharedAnswer { run, seq, decides, decisions } in found.shared.iter().take(SHOWN) {
        let calls = decisions.iter().take(CALLS_SHOWN);
        let calls: Vec<_> = calls.map(|(_, call, sample)| format!("{call}#{sample}")).collect();
        let more = if decisions.len() > CALLS_SHOWN { ", .." } else { "" };
        let _ = writeln!(
            out,
            "{} of {} on the answer at seq {seq} of run {}: {}{more}",
            counted(decisions.len() as u64, "decision"),
            printable(decides, DECIDES_SHOWN),
            run.short(8),
            calls.join(", ")
        );
    }
    if found.kinds.values().any(|sizes| sizes.effective.is_none()) {
        out.push_str(NOT_KNOWN);
    }
    if found.shared.len() > SHOWN {
        let _ =
            writeln!(out, "and {} more shared answers: --json has all", found.shared.len() - SHOWN);
    }
    out
}
