//! `retold cassette review`.

use std::io::BufRead;
use std::path::PathBuf;

use retold::run::clock;
use retold::text_diff::unified_diff;
use retold_traffic::{Format, Options};
use serde_json::json;

use super::pending::{PendingCassette, nearest_folder, waiting_in};
use super::words;
use crate::error::{CliError, Status, write_err};
use crate::global::Global;
use crate::output::{Output, count_of};

/// Go through the cassettes that `pytest --retold=drift` found to differ, and accept or reject each.
///
/// Such a run asks the real APIs, leaves the cassettes as they are, and keeps what it was answered in pytest's cache. This
/// shows the texts and tool calls that differ, and how many other lines do (`--json` has all of them), and reads a line: `a` accepts it (the cassette is replaced), `r` rejects it (the new answers are
/// deleted), `s` leaves it for later, and `q` leaves all others. Exit code 1 if any are left.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Where new cassettes wait; .pytest_cache/d/retold of this folder or of one above it if left out.
    #[arg(value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Accept all of them.
    #[arg(long, conflicts_with = "reject")]
    accept: bool,
    /// Reject all of them.
    #[arg(long)]
    reject: bool,
}

/// What becomes of a cassette that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReviewVerdict {
    Accepted,
    Rejected,
    Left,
}

impl ReviewVerdict {
    fn as_str(self) -> &'static str {
        match self {
            ReviewVerdict::Accepted => "accepted",
            ReviewVerdict::Rejected => "rejected",
            ReviewVerdict::Left => "left",
        }
    }
}

pub(crate) fn run(args: Args, _: &Global, output: &Output) -> Result<Status, CliError> {
    let Args { folder, accept, reject } = args;
    let here = std::env::current_dir()
        .map_err(|error| CliError::new(Status::Io, format!("this folder: {error}")))?;
    let pending = match folder.or_else(|| nearest_folder(&here)) {
        Some(folder) => waiting_in(&folder)?,
        None => Vec::new(),
    };
    let mut answers = std::io::stdin().lock();
    let for_all = match (accept, reject) {
        (true, _) => Some(ReviewVerdict::Accepted),
        (_, true) => Some(ReviewVerdict::Rejected),
        _ => None,
    };
    let (mut all_left, mut reviewed) = (false, Vec::new());
    for (at, waiting) in pending.iter().enumerate() {
        let name = waiting.cassette.display().to_string();
        let diff = unified_diff(&waiting.before()?, &waiting.now()?, [&name, "asked now"]);
        let shown = words::difference(&waiting.cassette, &waiting.waits_at, &diff)?;
        if !output.is_json() {
            output.text(shown.as_ref().unwrap_or(&diff))?;
        }
        let verdict = match for_all {
            _ if all_left => ReviewVerdict::Left,
            Some(verdict) => verdict,
            None => ask(&mut answers, at + 1, pending.len(), &mut all_left)?,
        };
        match verdict {
            ReviewVerdict::Accepted => {
                check(waiting)?;
                waiting.accept()?;
            }
            ReviewVerdict::Rejected => waiting.reject()?,
            ReviewVerdict::Left => {}
        }
        reviewed.push((name, diff, verdict));
    }
    let of = |verdict| reviewed.iter().filter(|(.., it)| *it == verdict).count() as u64;
    let left = of(ReviewVerdict::Left);
    if output.is_json() {
        let each = reviewed.iter().map(
            |(name, diff, verdict)| json!({"cassette": name, "verdict": verdict.as_str(), "diff": diff}),
        );
        output.object(&json!({"reviewed": each.collect::<Vec<_>>()}))?;
    } else if reviewed.is_empty() {
        output
            .text("no cassette waits for a review: `pytest --retold=drift` finds what differs\n")?;
    } else {
        let (accepted, rejected) = (of(ReviewVerdict::Accepted), of(ReviewVerdict::Rejected));
        output.text(&format!(
            "{}: {accepted} accepted, {rejected} rejected, {left} left\n",
            count_of(reviewed.len() as u64, "cassette")
        ))?;
    }
    Ok(if left == 0 { Status::Fine } else { Status::Difference })
}

/// Reads what becomes of a cassette. At the end of the input, it and all others are left.
fn ask(
    answers: &mut impl BufRead,
    number: usize,
    all: usize,
    all_left: &mut bool,
) -> Result<ReviewVerdict, CliError> {
    loop {
        write_err(&format!("cassette {number} of {all}: [a]ccept, [r]eject, [s]kip or [q]uit? "));
        let mut line = String::new();
        let read = answers
            .read_line(&mut line)
            .map_err(|error| CliError::new(Status::Io, format!("standard input: {error}")))?;
        match line.trim() {
            "a" | "accept" => return Ok(ReviewVerdict::Accepted),
            "r" | "reject" => return Ok(ReviewVerdict::Rejected),
            "s" | "skip" => return Ok(ReviewVerdict::Left),
            "q" | "quit" => {
                *all_left = true;
                return Ok(ReviewVerdict::Left);
            }
            _ if read == 0 => {
                write_err("\n");
                *all_left = true;
                return Ok(ReviewVerdict::Left);
            }
            _ => {}
        }
    }
}

/// Refuses a file that is not a cassette, before it takes the place of one.
fn check(waiting: &PendingCassette) -> Result<(), CliError> {
    let files = [waiting.waits_at.clone()];
    retold_traffic::import(Format::Cassette, &files, Options::default(), clock::now())
        .map(drop)
        .map_err(|error| {
            CliError::usage(error.to_string()).hint("it replaces nothing: `r` rejects it")
        })
}
