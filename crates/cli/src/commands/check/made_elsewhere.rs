//! Compares decisions about a run that were made elsewhere with those in force, and accepts them.

use std::fmt::Write;
use std::path::Path;

use retold::escaping::printable;
use retold::scores::{ComparedScores, ScoreFlip, Scorer, ScorerKind};
use serde_json::{Map, json};

use super::Args;
use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::{Output, count_of, group_digits};
use crate::runs::accepting;
use crate::score_rows::{ScoreFile, ScoreRows};
use crate::{gate, select};

/// How much of an answer is shown beside a flip.
const SHOWN: usize = 100;

pub(super) fn run(
    file: &Path,
    args: &Args,
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    let [name] = args.runs.as_slice() else {
        return Err(CliError::usage("--decisions are about one run: name one"));
    };
    let scorer = scorer(args)?;
    let file = ScoreFile { path: file, run: None, column: "value", values: &[] };
    let ScoreRows { scores, .. } = file.read()?;
    let mut source = match args.accept {
        true => select::source(global, name)?,
        false => select::source_to_read(global, name)?,
    };
    let views = [gate::view(&source.log, source.run)?];
    source.log = views[0].log();
    gate::through(&views, output, || {
        let mut reader = source.checked_reader()?;
        let compared = scores.compare(&mut reader, source.run, &scorer.name);
        let compared = compared.map_err(|error| file.wrong(error))?;
        let (mut stored, mut known) = (None, None);
        if args.accept && !scores.is_empty() {
            let mut accepted = accepting::begin(&source)?;
            let added = scores.accept(&mut reader, source.run, &scorer, &mut accepted);
            added.map_err(|error| file.wrong(error))?;
            let backend = global.open_or_create()?;
            (stored, known) = accepting::store(accepted, backend.as_ref())?;
        }
        let ComparedScores { same, new, flipped } = &compared;
        if output.is_json() {
            output.object(&json!({
                "run": source.file.is_none().then_some(source.run),
                "file": source.file,
                "name": scorer.name,
                "version": scorer.version,
                "decisions": scores.len(),
                "same": same,
                "new": new,
                "flips": flipped.len(),
                "flipped": flipped,
                "accepted": stored,
                "accepted_before": known,
                "simulated": source.simulated,
            }))?;
        } else {
            let mut text = if source.simulated { select::SIMULATED } else { "" }.to_owned();
            text.push_str(&comparison_text(&source.name(), &scorer, &compared, args.most));
            // Writing to a string cannot fail.
            let _ = match (stored, known) {
                (Some(run), _) => writeln!(
                    text,
                    "\nrun {run}: {} accepted",
                    count_of(scores.len() as u64, "decision")
                ),
                (None, Some(run)) => writeln!(
                    text,
                    "\nno run was recorded: all these decisions were accepted before, in run {run}"
                ),
                (None, None) => Ok(()),
            };
            output.text(&text)?;
        }
        Ok(if flipped.is_empty() || args.accept { Status::Fine } else { Status::Difference })
    })
}

/// The scorer: a function, with the name and the version of its decisions.
fn scorer(args: &Args) -> Result<Scorer, CliError> {
    let named = args.name.as_deref().unwrap_or_default();
    let (name, version) = named.split_once('@').unwrap_or((named, "1"));
    let wrong = || {
        CliError::usage(format!("--name {named:?} is not a name with a version"))
            .hint("write it like vote@4: NAME@VERSION, or NAME for version 1")
    };
    if name.trim().is_empty() {
        return Err(wrong());
    }
    let version = version.parse().map_err(|_| wrong())?;
    let function =
        args.function.iter().map(|function| ("function".to_owned(), (&**function).into()));
    let about = Map::from_iter(function);
    Ok(Scorer { kind: ScorerKind::Function, name: name.to_owned(), version, about })
}

/// The comparison, for people.
fn comparison_text(run: &str, scorer: &Scorer, compared: &ComparedScores, most: usize) -> String {
    let ComparedScores { same, new, flipped } = compared;
    let all = same + new + flipped.len() as u64;
    let (name, version) = (printable(&scorer.name, SHOWN), scorer.version);
    let mut out = format!(
        "{run}: {} {name}@{version}: {} the same, {}, {} new\n",
        count_of(all, "decision"),
        group_digits(*same),
        count_of(flipped.len() as u64, "flip"),
        group_digits(*new)
    );
    for flip in flipped.iter().take(most) {
        let ScoreFlip { seq, call, sample, choice, from, to, text } = flip;
        let choice = if *choice > 0 { format!(" choice {choice}") } else { String::new() };
        let (from, to) = (printable(&from.to_string(), SHOWN), printable(&to.to_string(), SHOWN));
        // Writing to a string cannot fail.
        let _ = writeln!(out, "  seq {seq} {call}#{sample}{choice}: {from} -> {to}");
        let _ = writeln!(out, "    {}", printable(text, SHOWN));
    }
    if flipped.len() > most {
        let more = group_digits((flipped.len() - most) as u64);
        let _ = writeln!(out, "  and {more} more: --most N, or --json for all");
    }
    out
}
