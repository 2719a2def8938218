//! The report about a program's run when the program has ended: on stderr, because stdout is the program's.

use std::fmt::Write;

use serde_json::{Value, json};

use super::{chance, descendants, next, passing};
use crate::again::spell_commands;
use crate::error::write_err;
use crate::global::Global;
use crate::output::count_of;
use retold::escaping::printable;
use retold::id::RunId;
use retold::members::Members;
use retold::run::OverBudget;
use retold_wire::{
    ChanceLook, ConnectionReport, DepartureSummary, NearestMatch, ProgramSettings, SessionSummary,
    ToolSummary, Why,
};

/// How many misses are printed.
const MISSES: usize = 5;

/// The run of a program that has ended: recorded or replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProgramOutcome {
    /// A run was recorded, and is finished or not.
    Recorded { finished: bool },
    /// A run was replayed, which is finished or was cut off.
    Replayed { finished: bool },
}

/// A run of a program that has ended.
pub(super) struct EndedProgram<'a> {
    pub(super) run: RunId,
    pub(super) done: ProgramOutcome,
    /// The program's exit code.
    pub(super) code: u8,
    pub(super) summary: &'a SessionSummary,
    pub(super) reported: &'a ConnectionReport,
    /// Whether the program made a request or a connection that retold could see.
    pub(super) was_seen: bool,
    /// The processes that the program has started and that still run.
    pub(super) outliving: &'a [String],
    /// The number of Python processes that took the chance of the run, if it has one.
    pub(super) chanced: Option<usize>,
    /// A framework whose tools are not recorded, because the Python package is not beside it.
    pub(super) unreached: Option<&'static str>,
    pub(super) settings: &'a ProgramSettings,
    /// The options of this command that the next one needs, too.
    pub(super) flags: &'a [String],
}

/// Says what happened, and what to type next.
pub(super) fn say(ended: &EndedProgram<'_>, global: &Global) {
    let summary = ended.summary;
    if global.json {
        write_err(&format!("{}\n", ended_object(ended)));
        return;
    }
    if !global.quiet || summary.missed + summary.differences > 0 {
        write_err(&spell_commands(&text(ended)));
    }
}

/// What happened, as JSON.
fn ended_object(ended: &EndedProgram<'_>) -> Value {
    let mut object = object(ended.run, ended.summary);
    object.set("still_running", json!(ended.outliving));
    object.set("connections", passing::object(ended.reported));
    if let Some(framework) = ended.unreached {
        object.set("tools_not_recorded", json!(framework));
    }
    if let Some(chanced) = ended.chanced {
        object.set("chance", json!({"processes": chanced}));
    }
    object.set("exit_code", json!(ended.code));
    object.set("finished", json!(ended.done == ProgramOutcome::Recorded { finished: true }));
    object
}

/// The outcome as JSON, for the library through which a program has started us, with the report of the differences
/// from the record, and the names of calls that were not asked.
pub(super) fn for_library(ended: &EndedProgram<'_>) -> Value {
    let mut object = ended_object(ended);
    object.set("report", json!(differences(ended.summary).trim()));
    object.set("calls_left", json!(ended.summary.calls_left));
    object
}

/// What happened in a run, as JSON.
pub(super) fn object(run: RunId, summary: &SessionSummary) -> Value {
    let SessionSummary {
        requests, answers, failed, replayed, missed, misses, left, unended, ..
    } = summary;
    let SessionSummary {
        outcomes,
        differences,
        difference,
        failures,
        replayed_failures,
        led_to,
        ..
    } = summary;
    let SessionSummary { shared, unreported, unaffordable, over_budget, tools, .. } = summary;
    let over_budget = over_budget.as_ref().map(ToString::to_string);
    let DepartureSummary { clients, answers: paid, tokens } = summary.departures;
    let misses = misses.iter().map(miss_object);
    json!({
        "run": run, "requests": requests, "recorded": answers, "failed_attempts": failed, "unended": unended,
        "failures": failures, "replayed": replayed, "shared": shared, "replayed_failed_attempts": replayed_failures, "not_recorded": missed, "misses": misses.collect::<Vec<_>>(),
        "led_to": led_to, "left": left, "reported": outcomes, "differences": differences, "difference": difference,
        "clients_left": {"clients": clients, "answers": paid, "tokens": tokens}, "not_reported_again": unreported, "not_asked": unaffordable, "over_budget": over_budget,
        "tools": {"recorded": tools.recorded, "failed": tools.failed, "replayed": tools.replayed},
    })
}

/// A request that is not recorded, as JSON.
fn miss_object(miss: &NearestMatch) -> Value {
    let (field, fields, recorded, now) = match &miss.why {
        Why::Differs { field, fields, recorded, now, .. } => (Some(field), *fields, recorded, now),
        _ => (None, 0, &None, &None),
    };
    json!({
        "call": miss.call, "asked": miss.asked, "field": field, "fields": fields, "recorded": recorded, "now": now,
        "looks_like": miss.look.map(ChanceLook::as_str), "stack": miss.stack,
        "report": miss.to_string(),
    })
}

/// The recorded answers and failures, in words.
pub(super) fn record_text(run: RunId, summary: &SessionSummary) -> String {
    let SessionSummary { answers, failed, failures, replayed, replayed_failures, outcomes, .. } =
        summary;
    let mut parts = vec![count_of(*answers, "answer")];
    if *failed > 0 {
        let each = failures.iter().map(|(what, n)| match n {
            1 => what.clone(),
            n => format!("{n} times {what}"),
        });
        let each = each.collect::<Vec<_>>().join(", ");
        parts.push(format!("{} ({each})", count_of(*failed, "failed attempt")));
    }
    if summary.tools.recorded > 0 {
        let ToolSummary { recorded, failed, .. } = summary.tools;
        let failed = if failed > 0 { format!(" ({failed} failed)") } else { String::new() };
        parts.push(format!("{}{failed}", count_of(recorded, "tool call")));
    }
    if *outcomes > 0 {
        parts.push(count_of(*outcomes, "reported outcome"));
    }
    let mut text = format!("recorded {} as run {}", join_words(&parts), run.short(8));
    if replayed + replayed_failures + summary.tools.replayed > 0 {
        // Writing to a string cannot fail.
        let _ = write!(text, ", after {} from the log", sent_again(summary));
    }
    text + &shared_text(summary)
}

/// How many requests got the answer of an equal one, in words after others; empty if none did.
pub(super) fn shared_text(summary: &SessionSummary) -> String {
    match summary.shared {
        0 => String::new(),
        1 => "; 1 request shared the answer of an equal one".to_owned(),
        n => format!("; {} shared the answers of equal ones", count_of(n, "request")),
    }
}

/// How many answers lack their end, as a line; empty if none does.
fn missing_ends(summary: &SessionSummary) -> String {
    match summary.unended {
        0 => String::new(),
        1 => "1 answer lacks its end: its stream was closed before it\n".to_owned(),
        n => format!("{n} answers lack their end: their streams were closed before it\n"),
    }
}

/// How many answers could not be read, as a warning with the first of them; empty if all could.
fn unreadable(summary: &SessionSummary) -> String {
    let Some((seq, why)) = &summary.first_unreadable else { return String::new() };
    let answers = count_of(summary.unreadable, "answer");
    let (are, first) = match summary.unreadable {
        1 => ("is", ""),
        _ => ("are", "the first is "),
    };
    format!(
        "warning: {answers} {are} kept, but could not be read whole: {first}seq {seq}: {}\n",
        printable(why, 500)
    )
}

/// The number of clients that left, and the answers received for them, as a line; empty if none left.
fn departures(summary: &SessionSummary) -> String {
    let DepartureSummary { clients, answers, tokens } = summary.departures;
    if clients == 0 {
        return String::new();
    }
    let whole = if clients == 1 { "its whole answer" } else { "their whole answers" };
    let mut text = format!("{} left before having {whole}", count_of(clients, "client"));
    if answers > 0 {
        let were = if answers == 1 { "was" } else { "were" };
        // Writing to a string cannot fail.
        let _ = write!(text, "; {} {were} received nevertheless", count_of(answers, "answer"));
        if tokens > 0 {
            let _ = write!(text, ", with {}", count_of(tokens, "token"));
        }
    }
    text + "\n"
}

/// The answers and failures that were sent again, in words.
pub(super) fn sent_again(summary: &SessionSummary) -> String {
    let SessionSummary { replayed, replayed_failures, tools, .. } = summary;
    let mut parts = match (replayed, replayed_failures) {
        (0, 0) if tools.replayed > 0 => Vec::new(),
        (answers, 0) => vec![count_of(*answers, "recorded answer")],
        (0, failures) => vec![count_of(*failures, "recorded failed attempt")],
        (answers, failures) => {
            vec![count_of(*answers, "recorded answer"), count_of(*failures, "failed attempt")]
        }
    };
    if tools.replayed > 0 {
        parts.push(count_of(tools.replayed, "tool call"));
    }
    join_words(&parts)
}

/// The differences from the record, in lines; empty if there are none.
pub(super) fn differences(summary: &SessionSummary) -> String {
    let SessionSummary { missed, misses, left, calls_left, difference, .. } = summary;
    let mut text = String::new();
    // Writing to a string cannot fail.
    if let Some(difference) = difference {
        let _ = writeln!(text, "\nwhat the program reported differs from the record:");
        for line in difference.trim_end().lines() {
            let _ = writeln!(text, "{}", printable(line, 1000));
        }
        text.push_str(&more_reports(summary));
    }
    if *missed > 0 {
        let were = if *missed == 1 { "was" } else { "were" };
        let requests = count_of(*missed, "request");
        let _ = match misses.iter().all(|miss| miss.why == Why::Unanswered { failed: true }) {
            true => writeln!(text, "{requests} {were} recorded with failures only:"),
            false => writeln!(text, "{requests} {were} not recorded:"),
        };
        let mut shown: Vec<String> = Vec::new();
        for miss in misses.iter().map(ToString::to_string) {
            if shown.len() < MISSES && !shown.contains(&miss) {
                let _ = writeln!(text, "\n{miss}");
                shown.push(miss);
            }
        }
        text.push('\n');
    }
    if *left > 0 {
        let calls =
            calls_left.iter().map(|call| printable(call, 100)).collect::<Vec<_>>().join(", ");
        let more = if *left > calls_left.len() { ", .." } else { "" };
        let was = if *left == 1 { "was" } else { "were" };
        let _ = writeln!(
            text,
            "{} {was} never asked: {calls}{more}",
            count_of(*left as u64, "recorded request")
        );
    }
    text
}

/// How many reports differ besides the first, as a line; empty if none does.
fn more_reports(summary: &SessionSummary) -> String {
    let SessionSummary { differences, unreported, .. } = summary;
    let differing = differences - unreported;
    let (more, left) = match differing {
        0 => (0, unreported.saturating_sub(1)),
        n => (n - 1, *unreported),
    };
    let mut parts = Vec::new();
    match more {
        0 => {}
        1 => parts.push("1 more report differs".to_owned()),
        n => parts.push(format!("{} differ", count_of(n, "more report"))),
    }
    let noun = if differing == 0 { "more recorded report" } else { "recorded report" };
    match left {
        0 => {}
        1 => parts.push(format!("1 {noun} was not made again")),
        n => parts.push(format!("{} were not made again", count_of(n, noun))),
    }
    match parts.is_empty() {
        true => String::new(),
        false => format!("({})\n", join_words(&parts)),
    }
}

/// Where answers led the program, in lines: it may have asked there, past us.
pub(super) fn led_lines(summary: &SessionSummary) -> String {
    let mut text = String::new();
    for host in &summary.led_to {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "an answer led the program to {host}, past its upstreams: what it asks there is not recorded, unless \
             --upstream NAME=URL names that server"
        );
    }
    text
}

fn text(ended: &EndedProgram<'_>) -> String {
    let EndedProgram { run, done, code, summary, was_seen, settings, flags, .. } = *ended;
    let SessionSummary {
        requests, replayed_failures, missed, outcomes, differences: differ, ..
    } = summary;
    let SessionSummary { unaffordable, over_budget, .. } = summary;
    let (name, next) = (run.short(8), |verb| next::with(verb, run, flags, settings));
    let mut text = String::new();
    // Writing to a string cannot fail.
    match done {
        ProgramOutcome::Recorded { finished } => {
            let _ = writeln!(text, "retold: {}", record_text(run, summary));
            if finished && *requests == 0 {
                // There is nothing that could be run again.
            } else if finished {
                let _ = writeln!(
                    text,
                    "  `retold {}` runs it again from these answers",
                    next::with("replay", run, &[], settings)
                );
            } else if let Some(over) = over_budget {
                let how = match over {
                    OverBudget::NoPrice { .. } => "with its price in the file that --prices names",
                    OverBudget::Uncounted => "without a limit",
                    _ => "with a higher limit",
                };
                let _ = writeln!(
                    text,
                    "  {over}: {} not asked, and the run is not finished: `retold {}` continues it {how}",
                    match unaffordable {
                        1 => "1 request was".to_owned(),
                        n => format!("{} were", count_of(*n, "request")),
                    },
                    next("record --resume"),
                );
            } else if *differ > 0 {
                text.push_str(
                    "  what the program reported differs from what was recorded before, so the run is not finished\n",
                );
            } else {
                let _ = writeln!(
                    text,
                    "  the program ended with exit code {code}, so the run is not finished: \
                     `retold {}` continues it",
                    next("record --resume")
                );
                if *replayed_failures > 0 {
                    text.push_str(
                        "  with --retry-failed, no recorded failure is sent to it again\n",
                    );
                }
            }
        }
        ProgramOutcome::Replayed { .. } => {
            let (sent, shared) = (sent_again(summary), shared_text(summary));
            let _ = writeln!(
                text,
                "retold: replayed {sent} of run {name}{shared}; retold asked nothing; it does not see what goes past it"
            );
            if *outcomes > 0 && *differ == 0 {
                let are = if *outcomes == 1 { "is" } else { "are" };
                let _ =
                    writeln!(text, "{} {are} as recorded", count_of(*outcomes, "reported outcome"));
            }
        }
    }
    text.push_str(&missing_ends(summary));
    text.push_str(&unreadable(summary));
    text.push_str(&departures(summary));
    text.push_str(&led_lines(summary));
    text.push_str(&differences(summary));
    if *missed > 0 {
        if done == (ProgramOutcome::Replayed { finished: false }) {
            let _ = writeln!(
                text,
                "  the run was not finished: `retold {}` continues it, and asks what is missing",
                next("record --resume")
            );
        }
        let _ = writeln!(
            text,
            "  `retold {}` records a new run: with these answers, and what is new",
            next("fork")
        );
    }
    text.push_str(&descendants::warning(ended.outliving));
    if ended.chanced == Some(0) {
        text.push_str(chance::UNREACHED);
    }
    if let Some(framework) = ended.unreached {
        let _ = writeln!(
            text,
            "warning: tools of {framework} are not recorded, and a replay runs them: the Python package retold is not installed beside it"
        );
    }
    // Recorded calls that were not asked now are reported already.
    if !was_seen && matches!(done, ProgramOutcome::Recorded { .. }) {
        text.push_str("warning: the program made no request that retold could see");
        let why = match settings.intercept.is_some() {
            // It may have ended before it would have made one.
            _ if code != 0 => "",
            true => {
                ". It has to read HTTPS_PROXY, which Node before version 24 and aiohttp without trust_env=True do not"
            }
            false => {
                ". It has to read its base URL from a variable such as OPENAI_BASE_URL or ANTHROPIC_BASE_URL; for a host \
                 that is written into the program, use --intercept"
            }
        };
        let _ = writeln!(text, "{why}");
    }
    text
}

/// Words in a sentence: `a, b and c`.
fn join_words(parts: &[String]) -> String {
    match parts {
        [rest @ .., last] if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => parts.concat(),
    }
}
