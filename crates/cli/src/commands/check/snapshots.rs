//! Keeps the decisions about recorded answers as snapshots, and compares them with the existing ones.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::Args;

use crate::error::{CliError, Status};
use crate::gate;
use crate::global::Global;
use crate::output::{Output, count_of};
use crate::parser::ParserChoice;
use crate::select::{self, RunSource};
use crate::views::left;
use retold::decide::Selection;
use retold::snapshot::{SnapshotChange, SnapshotError, Snapshots, of_run};

pub(super) fn run(
    folder: &Path,
    args: &Args,
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    let [run] = args.runs.as_slice() else {
        return Err(CliError::usage("--snapshots keeps the decisions about one run: name one run"));
    };
    CliError::refuse_log(folder)?;
    let choice = args.parser.choice(global.studies.parsers())?;
    let source = select::source_to_read(global, run)?;
    // Snapshots are compared with later ones, without the log, so they are only made from a sound run.
    gate::sound(&source.log, source.run, "no snapshot was written", output)?;
    write_snapshots(&source, folder, choice, args, global, output)
}

fn write_snapshots(
    source: &RunSource,
    folder: &Path,
    mut choice: ParserChoice,
    args: &Args,
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    let params = args.parser.params()?;
    let parsers = global.studies.parsers();
    let (by, only) = (choice.only("--snapshots")?, args.call.as_ref());
    let selection = Selection {
        by,
        params: &params,
        only,
        choices: args.choice,
        name: args.name.as_deref(),
        parsers,
    };
    let mut reader = source.checked_reader()?;
    let seen = of_run(&mut reader, source.run, selection, folder).map_err(|e| match e {
        SnapshotError::Nothing(left) => left::nothing(source, &left, args.call.as_ref(), parsers),
        other => other.into(),
    })?;
    let Snapshots { same, written, changed, unreferenced, left } = &seen;
    if output.is_json() {
        let shown = |paths: &[PathBuf]| {
            paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>()
        };
        let changed = changed.iter().map(
            |SnapshotChange { path, diff }| json!({"file": path.display().to_string(), "diff": diff}),
        );
        output.object(&json!({
            "folder": folder.display().to_string(),
            "same": same,
            "written": shown(written),
            "changed": changed.collect::<Vec<_>>(),
            "unreferenced": shown(unreferenced),
            "left": left::left_as_json(left),
            "simulated": source.simulated,
        }))?;
    } else {
        let simulated = if source.simulated { select::SIMULATED } else { "" };
        output.text(&format!("{simulated}{}", text(&seen, folder, args.most)))?;
    }
    Ok(if seen.is_unchanged() { Status::Fine } else { Status::Difference })
}

fn text(seen: &Snapshots, folder: &Path, most: usize) -> String {
    let Snapshots { same, written, changed, unreferenced, left } = seen;
    let (folder, snapshots) = (folder.display(), |n: usize| count_of(n as u64, "snapshot"));
    let mut out = String::new();
    for SnapshotChange { path, diff } in changed.iter().take(most) {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(out, "{}\n{diff}", path.display());
    }
    if changed.len() > most {
        let more = count_of((changed.len() - most) as u64, "more difference");
        let _ = writeln!(out, "and {more}: --most N shows them\n");
    }
    if !written.is_empty() {
        let _ = writeln!(out, "{} written to {folder}", snapshots(written.len()));
    }
    if *same > 0 {
        let _ = writeln!(out, "{} unchanged in {folder}", snapshots(*same));
    }
    if !unreferenced.is_empty() {
        let n = snapshots(unreferenced.len());
        let _ = writeln!(out, "{n} of other answers, not changed");
    }
    left::left_alone(&mut out, left);
    if !changed.is_empty() {
        let n = snapshots(changed.len());
        let _ = writeln!(
            out,
            "{n} changed: the new ones are next to them, as .snap.new\n\nnext:\n  cargo insta review    \
             # in a Cargo project: accept or reject each\n  or rename NAME.snap.new to NAME.snap to accept it, and delete \
             it to reject it"
        );
    }
    out
}
