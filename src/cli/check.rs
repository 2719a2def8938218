//! `retold check`.

use std::fmt::Write;

use serde_json::{Value, json};

use super::Global;
use super::error::{CliError, Status};
use super::output::{Output, counted, grouped};
use super::select;
use crate::check::{Change, Checked, Part, Side, check};
use crate::inert::inert;
use crate::parse::registry;

/// Parse recorded answers again: which decisions change, and in what: value, method, reasoning or warnings.
///
/// A decision whose value changes is a flip. Exit code 1 if anything changes.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Runs (first digits of the id, or `latest`), or recordings' files.
    #[arg(required = true)]
    runs: Vec<String>,
    /// Compare with this parser, NAME or NAME@VERSION; the latest version of each if not given.
    #[arg(long, value_name = "PARSER")]
    parser: Option<String>,
    /// How many changed decisions to list as text; --json lists all.
    #[arg(long, value_name = "N", default_value_t = 20)]
    most: usize,
}

pub(super) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let target = args.parser.as_deref().map(registry::resolve).transpose()?;
    let mut all = Vec::new();
    for run in &args.runs {
        let selected = select::run_or_file(global, run)?;
        let mut reader = selected.log.reader()?;
        let simulated = select::started(reader.as_mut(), selected.run)?.is_simulated();
        all.push((check(reader.as_mut(), selected.run, target)?, simulated));
    }
    if output.is_json() {
        let objects: Vec<Value> = all.iter().map(|(c, simulated)| object(c, *simulated)).collect();
        match objects.as_slice() {
            [one] => output.object(one)?,
            several => output.object(&json!({"checks": several}))?,
        }
    } else {
        let texts: Vec<String> = all
            .iter()
            .map(|(c, simulated)| {
                format!("{}{}", if *simulated { select::SIMULATED } else { "" }, text(c, args.most))
            })
            .collect();
        output.text(&texts.join("\n"))?;
    }
    let differs = all.iter().any(|(c, _)| !c.changed.is_empty() || !c.unfaithful.is_empty());
    Ok(if differs { Status::Difference } else { Status::Fine })
}

fn object(checked: &Checked, simulated: bool) -> Value {
    let Checked {
        run,
        parser_from,
        parser_to,
        decisions,
        flipped,
        altered,
        changed,
        by_method,
        verdicts,
        unfaithful,
    } = checked;
    let table = |pick: fn(&(u64, u64)) -> u64| -> Value {
        verdicts.iter().map(|(k, v)| ((*k).to_owned(), json!(pick(v)))).collect()
    };
    let count = |part: &Part| changed.get(part).copied().unwrap_or_default();
    let parts = Part::ALL.iter().map(|part| (part.as_str().to_owned(), json!(count(part))));
    json!({
        "run": run,
        "parser_from": parser_from.join(", "),
        "parser_to": parser_to.join(", "),
        "decisions": decisions,
        "flips": flipped.len(),
        "changed": parts.collect::<serde_json::Map<_, _>>(),
        "by_method": by_method,
        "verdicts_from": table(|v| v.0),
        "verdicts_to": table(|v| v.1),
        "unfaithful": unfaithful,
        "flipped": flipped,
        "altered": altered,
        "simulated": simulated,
    })
}

fn text(checked: &Checked, most: usize) -> String {
    let Checked {
        run,
        parser_from,
        parser_to,
        decisions,
        flipped,
        altered,
        changed,
        by_method,
        verdicts,
        unfaithful,
    } = checked;
    if *decisions == 0 {
        return format!("run {run} has no decisions to check\n");
    }
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "run {run}: {} from {} to {}: {}",
        counted(*decisions, "decision"),
        parser_from.join(", "),
        parser_to.join(", "),
        counted(flipped.len() as u64, "flip")
    );
    let parts = Part::ALL.iter().filter_map(|part| Some((part, changed.get(part)?)));
    let parts: Vec<String> =
        parts.map(|(p, n)| format!("{} {}", p.as_str(), grouped(*n))).collect();
    let _ = match parts.is_empty() {
        true => writeln!(out, "value, method, reasoning and warnings: the same in every decision"),
        false => writeln!(out, "decisions that change: {}", parts.join(", ")),
    };
    if !unfaithful.is_empty() {
        let _ = writeln!(
            out,
            "{} not what the recorded parser version makes of the answer today, first at seq {}",
            counted(unfaithful.len() as u64, "decision"),
            unfaithful[0]
        );
    }
    let _ = writeln!(out, "\nmethod recorded -> method now");
    for (from, now) in by_method {
        for (to, n) in now {
            let _ = writeln!(out, "  {from:<22} -> {to:<22}{:>9}", grouped(*n));
        }
    }
    if !verdicts.is_empty() {
        let share = |n: u64| 100.0 * n as f64 / (*decisions).max(1) as f64;
        let _ = writeln!(out, "\nverdict{:>30}{:>20}", "recorded", "now");
        for (verdict, (from, to)) in verdicts {
            let _ = writeln!(
                out,
                "  {verdict:<16}{:>9} {:>6.2} %  {:>9} {:>6.2} %",
                grouped(*from),
                share(*from),
                grouped(*to),
                share(*to)
            );
        }
        if let Some((from, to)) = verdicts.get("valid") {
            let (from, to) = (share(*from), share(*to));
            let _ = writeln!(
                out,
                "solve rate {from:.2} % -> {to:.2} % ({:+.2} percentage points)",
                to - from
            );
        }
    }
    list(&mut out, "flips", flipped, most);
    list(&mut out, "the same value, changed otherwise", altered, most);
    out
}

/// Adds the first of some changes.
fn list(out: &mut String, heading: &str, changes: &[Change], most: usize) {
    if !changes.is_empty() && most > 0 {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(out, "\n{heading}");
    }
    for Change { seq, call, sample, parts, from, to } in changes.iter().take(most) {
        let _ = write!(out, "  seq {seq} {call}#{sample}:");
        if parts.contains(&Part::Value) || parts.contains(&Part::Method) {
            let _ = write!(out, " {} -> {}", side(from), side(to));
        }
        if parts.contains(&Part::Reasoning) {
            let text = |side: &Side| match &side.reasoning {
                Some(text) => format!("\"{}\"", inert(text, 60)),
                None => "none".to_owned(),
            };
            let _ = write!(out, " reasoning {} -> {}", text(from), text(to));
        }
        if parts.contains(&Part::Warnings) {
            let texts = |side: &Side| match side.warnings.is_empty() {
                true => "none".to_owned(),
                false => inert(&side.warnings.join("; "), 120),
            };
            let _ = write!(out, " warnings {} -> {}", texts(from), texts(to));
        }
        out.push('\n');
    }
    if changes.len() > most {
        let more = grouped((changes.len() - most) as u64);
        let _ = writeln!(out, "  and {more} more; --most N or --json lists them");
    }
}

fn side(side: &Side) -> String {
    let Side { method, value, verdict, .. } = side;
    let verdict = verdict.map(|v| format!(", {v}")).unwrap_or_default();
    format!("{} ({method}{verdict})", inert(&value.to_string(), 60))
}
