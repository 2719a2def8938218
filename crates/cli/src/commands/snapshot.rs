//! `retold snapshot`.

use std::fmt::Write;
use std::path::PathBuf;

use serde_json::json;

use crate::error::{CliError, Status};
use crate::gate;
use crate::global::Global;
use crate::output::{Output, counted};
use crate::parser::{ParamsFrom, ParserArgs};
use crate::select::{self, Source};
use crate::views::left;
use retold::decide::{Again, Decider, Params, Selection};
use retold::id::CallPath;
use retold::snapshot::{Changed, SnapshotError, Snapshots, of_run};

/// Keep the decisions about recorded answers as snapshots, one file per answer, and compare them
/// with the existing ones.
///
/// Each file has the answer and what is decided about it now: value, method, reasoning and
/// warnings. Missing files are written. If a file differs, it is not changed: the new version is
/// written next to it, as .snap.new, the difference is shown, and the exit code is 1. To accept the
/// new version, rename it to the name of the old one; to reject it, delete it. In a Cargo project,
/// `cargo insta review` (from `cargo install cargo-insta`) goes through them one by one.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The run (first digits of the id, or `latest`) or a file (a recording or exchanges).
    run: String,
    /// The folder of the snapshots; created if it does not exist.
    folder: PathBuf,
    #[command(flatten)]
    parser: ParserArgs,
    #[command(flatten)]
    params_from: ParamsFrom,
    /// Only answers to this call or to calls below it.
    #[arg(long, value_name = "CALL")]
    call: Option<CallPath>,
    /// How many differences to show as text; --json has all.
    #[arg(long, value_name = "N", default_value_t = 20)]
    most: usize,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    CliError::refuse_log(&args.folder)?;
    let mut decider = args.parser.decider(global.studies.parsers())?;
    let params = args.parser.params(Some(&args.params_from))?;
    let source = select::source_to_read(global, &args.run)?;
    // Snapshots are compared with later ones, without the log, so they are only made from a sound run.
    gate::sound(&source.log, source.run, "no snapshot was written", output)?;
    written(&source, &args, decider.as_mut(), &params, global, output)
}

fn written(
    source: &Source,
    args: &Args,
    decider: Option<&mut Box<dyn Decider + Send>>,
    params: &Params,
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    let by = match decider {
        Some(decider) => Again::By(decider.as_mut()),
        None => Again::Latest,
    };
    let parsers = global.studies.parsers();
    let choice = Selection { by, params, only: args.call.as_ref(), parsers };
    let mut reader = source.checked()?;
    let seen = of_run(&mut reader, source.run, choice, &args.folder).map_err(|e| match e {
        SnapshotError::Nothing(left) => left::nothing(source, &left, args.call.as_ref(), parsers),
        other => other.into(),
    })?;
    let Snapshots { same, written, changed, unreferenced, left } = &seen;
    if output.is_json() {
        let shown = |paths: &[PathBuf]| {
            paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>()
        };
        let changed = changed.iter().map(
            |Changed { path, diff }| json!({"file": path.display().to_string(), "diff": diff}),
        );
        output.object(&json!({
            "folder": args.folder.display().to_string(),
            "same": same,
            "written": shown(written),
            "changed": changed.collect::<Vec<_>>(),
            "unreferenced": shown(unreferenced),
            "left": left::left_as_json(left),
            "simulated": source.simulated,
        }))?;
    } else {
        let simulated = if source.simulated { select::SIMULATED } else { "" };
        output.text(&format!("{simulated}{}", text(&seen, args)))?;
    }
    Ok(if seen.is_unchanged() { Status::Fine } else { Status::Difference })
}

fn text(seen: &Snapshots, args: &Args) -> String {
    let Snapshots { same, written, changed, unreferenced, left } = seen;
    let (folder, snapshots) = (args.folder.display(), |n: usize| counted(n as u64, "snapshot"));
    let mut out = String::new();
    for Changed { path, diff } in changed.iter().take(args.most) {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(out, "{}\n{diff}", path.display());
    }
    if changed.len() > args.most {
        let more = counted((changed.len() - args.most) as u64, "more difference");
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
