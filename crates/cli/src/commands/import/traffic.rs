//! `retold import FILE...`: what another tool recorded, as a run of a program.

use std::fmt::Write;
use std::path::PathBuf;

use serde_json::json;

use crate::again::begins;
use crate::error::{CliError, NOTHING_IMPORTED, Status};
use crate::global::Global;
use crate::output::{Output, count_of};
use crate::run_id::new_run_id;
use crate::runs::program::next_command;
use crate::views::traffic::{as_json, upstream_urls, write_notes};
use crate::{redaction, select};
use retold::escaping::printable;
use retold::log::{ForeignError, Log};
use retold::model::providers;
use retold::run::{clock, new_run_name};
use retold_traffic::{Format, Options, TrafficError, TrafficImport, import};
use retold_wire::{RedactionKey, Rules};

/// How requests of a file of another tool are named and compared.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct TrafficArgs {
    /// For files of other tools: a name for the run.
    #[arg(long, value_parser = new_run_name)]
    name: Option<String>,
    /// For files of other tools: the name of an upstream whose base URL is this, instead of one made
    /// from its host. Can be repeated.
    #[arg(long = "upstream", value_name = "NAME=URL")]
    upstreams: Vec<String>,
    /// For files of other tools: a field of requests that does not count when an answer is looked
    /// for, as in `record`. Can be repeated.
    #[arg(long, value_name = "FIELD")]
    ignore: Vec<String>,
    /// For files of other tools: what matches in a request counts as TEXT, as in `record`. Can be
    /// repeated.
    #[arg(long, value_name = "REGEX=TEXT")]
    replace: Vec<String>,
    /// For files of other tools: take what matches out of everything that is stored, as in `record`.
    /// Can be repeated.
    #[arg(long, value_name = "REGEX")]
    redact: Vec<String>,
}

impl TrafficArgs {
    /// Refuses these options for a file that has no use for them.
    pub(super) fn refuse_unused(&self) -> Result<(), CliError> {
        let TrafficArgs { name, upstreams, ignore, replace, redact } = self;
        let lists = [upstreams, ignore, replace, redact];
        if name.is_none() && lists.iter().all(|list| list.is_empty()) {
            return Ok(());
        }
        let message =
            "--name, --upstream, --ignore, --replace and --redact are for files of other tools";
        Err(CliError::usage(message).hint(NOTHING_IMPORTED))
    }
}

pub(super) fn run(
    format: Format,
    paths: &[PathBuf],
    args: TrafficArgs,
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    let TrafficArgs { name, upstreams, ignore, replace, redact } = args;
    let rules = Rules::parse(&ignore, &replace)?;
    let rules = match redact.is_empty() {
        true => rules,
        false => {
            rules.clone().redacting(&redact, &RedactionKey::new([0; 32]))?;
            rules.redacting(&redact, &redaction::own(&global.log)?)?
        }
    };
    let options = Options { name, rules, upstreams: upstream_urls(&upstreams)? };
    let read = import(format, paths, options, clock::now())?;
    let TrafficImport {
        run: collected,
        format,
        questions,
        answers,
        failed,
        unanswered,
        decisions,
        is_finished,
        urls,
        notes,
    } = read;
    let backend = global.open_or_create()?;
    let run = new_run_id()?;
    collected.store(backend.as_ref(), run)?;
    if output.is_json() {
        output.object(&json!({
            "run": run, "format": format, "questions": questions, "answers": answers,
            "failed_attempts": failed, "unanswered": unanswered, "decisions": decisions,
            "finished": is_finished, "upstreams": urls, "not_represented": as_json(&notes),
        }))?;
        return Ok(Status::Fine);
    }
    let shown: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    let shown =
        if shown.len() > 3 { count_of(shown.len() as u64, "file") } else { shown.join(", ") };
    let mut parts = vec![count_of(answers, "answer")];
    if failed > 0 {
        parts.push(count_of(failed, "failed attempt"));
    }
    if decisions > 0 {
        parts.push(count_of(decisions, "decision"));
    }
    let last = parts.pop().unwrap_or_default();
    let parts = if parts.is_empty() { last } else { format!("{} and {last}", parts.join(", ")) };
    let mut text = format!("run {run}: {parts} imported from {shown} ({format})\n");
    // Writing to a string cannot fail.
    for (upstream, url) in &urls {
        let variable = providers::variable(upstream);
        let _ = writeln!(text, "  {upstream}: {}, replayed at ${variable}", printable(url, 200));
    }
    if unanswered > 0 {
        let _ = writeln!(
            text,
            "{} without an answer: the run is not finished",
            count_of(unanswered, "question")
        );
    }
    write_notes(&mut text, &notes);
    let short = run.short(8);
    let started = select::run_start(Log::new(backend).reader()?.as_mut(), run)?;
    let next = match (urls.is_empty(), !is_finished) {
        // Nothing in it can be asked for over HTTP.
        (true, _) => format!("check {short} --parsers FILE"),
        (false, true) => next_command("record --resume", run, &[], &started),
        (false, false) => next_command("replay", run, &[], &started),
    };
    let _ = writeln!(text, "\nnext:\n  {} {next}", begins());
    output.text(&text)?;
    Ok(Status::Fine)
}

impl From<TrafficError> for CliError {
    fn from(error: TrafficError) -> Self {
        match error {
            TrafficError::File(error) => CliError::from(error).hint(NOTHING_IMPORTED),
            TrafficError::Log(error) => error.into(),
            TrafficError::Database(
                ref error @ (ForeignError::Open { .. } | ForeignError::Busy { .. }),
            ) => CliError::new(Status::Io, error.to_string()).hint(NOTHING_IMPORTED),
            other => CliError::usage(other.to_string()).hint(NOTHING_IMPORTED),
        }
    }
}
