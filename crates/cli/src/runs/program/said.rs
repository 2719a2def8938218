//! What is said about a program's run when the program has ended: on stderr, because stdout is the
//! program's.

use std::fmt::Write;

use serde_json::json;

use crate::again::{typed, words};
use crate::error::write_err;
use crate::global::Global;
use crate::output::counted;
use retold::id::RunId;
use retold::inert::inert;
use retold_wire::Summary;

/// How many misses are printed.
const MISSES: usize = 5;

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Done {
    /// A run was recorded, and is finished or not.
    Recorded { finished: bool },
    /// A run was replayed.
    Replayed,
}

/// Says what happened, and what to type next.
pub(super) fn say(
    (run, done, code): (RunId, Done, u8),
    summary: &Summary,
    command: &[String],
    global: &Global,
) {
    if global.json {
        let Summary { requests, answers, failed, replayed, missed, misses, left, .. } = summary;
        let misses = misses.iter().map(
            |miss| json!({"call": miss.call, "field": miss.field(), "report": miss.to_string()}),
        );
        let object = json!({
            "run": run, "requests": requests, "recorded": answers, "failed_attempts": failed,
            "replayed": replayed, "not_recorded": missed, "misses": misses.collect::<Vec<_>>(),
            "left": left, "exit_code": code,
            "finished": done == Done::Recorded { finished: true },
        });
        write_err(&format!("{object}\n"));
        return;
    }
    if !global.quiet || summary.missed > 0 {
        write_err(&typed(&text(run, done, code, summary, command)));
    }
}

fn text(run: RunId, done: Done, code: u8, summary: &Summary, command: &[String]) -> String {
    let Summary { requests, answers, failed, replayed, missed, misses, left, calls_left } = summary;
    let (name, command) = (run.short(8), words(command).unwrap_or_else(|| "CMD".to_owned()));
    let mut text = String::new();
    // Writing to a string cannot fail.
    match done {
        Done::Recorded { finished } => {
            let mut parts = vec![counted(*answers, "answer")];
            if *failed > 0 {
                parts.push(counted(*failed, "failed attempt"));
            }
            let _ = write!(text, "retold: recorded {} as run {name}", parts.join(" and "));
            if *replayed > 0 {
                let _ =
                    write!(text, ", after {} from the log", counted(*replayed, "recorded answer"));
            }
            text.push('\n');
            if finished {
                let _ = writeln!(
                    text,
                    "  `retold replay {name} -- {command}` runs it again from these answers, offline"
                );
            } else {
                let _ = writeln!(
                    text,
                    "  the program ended with exit code {code}, so the run is not finished: \
                     `retold resume {name} -- {command}` continues it"
                );
            }
        }
        Done::Replayed => {
            let sent = counted(*replayed, "recorded answer");
            let _ = writeln!(
                text,
                "retold: replayed {sent} of run {name}; nothing was asked of a model"
            );
        }
    }
    if *missed > 0 {
        let were = if *missed == 1 { "was" } else { "were" };
        let _ = writeln!(text, "{} {were} not recorded:", counted(*missed, "request"));
        let mut shown: Vec<String> = Vec::new();
        for miss in misses.iter().map(ToString::to_string) {
            if shown.len() < MISSES && !shown.contains(&miss) {
                let _ = writeln!(text, "\n{miss}");
                shown.push(miss);
            }
        }
        let _ = writeln!(
            text,
            "\n  `retold fork {name} -- {command}` records a new run: with these answers, and what is new"
        );
    }
    if *left > 0 {
        let calls = calls_left.iter().map(|call| inert(call, 100)).collect::<Vec<_>>().join(", ");
        let more = if *left > calls_left.len() { ", .." } else { "" };
        let was = if *left == 1 { "was" } else { "were" };
        let _ = writeln!(
            text,
            "{} {was} never asked for: {calls}{more}",
            counted(*left as u64, "recorded answer")
        );
    }
    if *requests == 0 {
        text.push_str(
            "warning: the program made no request that retold could see. It has to read its base URL from a variable \
             such as OPENAI_BASE_URL or ANTHROPIC_BASE_URL; a host that is written into the program is not seen\n",
        );
    }
    text
}
