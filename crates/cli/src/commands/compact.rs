//! `retold compact`.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::{Output, count_of, group_digits};
use crate::select;
use retold::id::RunId;
use retold::log::{Fault, Log, LogError, SegmentFault};
use retold_archive::{CompactionResult, bucket, is_of_compaction};

/// Merge the many objects of finished runs in a bucket into a few.
///
/// A run that was recorded into a bucket or a shared folder has an object for each commit. Once it has ended, this puts
/// its events into a few more objects, with an index: one call of it is then shown with a handful of requests, and all of it
/// is read faster. Events, hashes and heads stay the same. The run is verified meanwhile, and what was written is read
/// back.
///
/// Nothing is deleted. The run no longer needs the objects in `runs/RUN` that it had by then, so a lifecycle rule of
/// the bucket may remove them later. It can still be read, verified and copied.
///
/// A run that was compacted is left alone, unless it has gone on since, or one of its objects is missing: that is written again
/// from the objects in `runs/RUN`, as long as these are there. The same command continues where it was interrupted, and
/// several may run at once.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The runs; all that have ended, if none is named.
    #[arg(value_name = "RUN")]
    runs: Vec<String>,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let Args { runs: names } = args;
    let Some(url) = bucket(&global.log)? else {
        let message =
            format!("{} is a file, in which there is nothing to compact", global.log.display());
        return Err(CliError::usage(message).hint(
            "only a log in a bucket or a shared folder consists of objects that can be merged",
        ));
    };
    let store = url.open()?;
    let log = Log::new(Arc::new(store.clone()));
    let (mut made, mut mended) = (Vec::new(), Vec::new());
    let (mut known, mut unfinished, mut failed) = (0_u64, 0_u64, false);
    for run in select::choose(&log, &names, global)? {
        match store.compact(run).map_err(|error| explain(error, run)) {
            Ok(CompactionResult::Made { segments, parts, bytes }) => {
                if !output.is_json() {
                    output.text(&line(run, segments, parts, bytes))?;
                }
                made.push(
                    json!({"run": run, "segments": segments, "objects": parts, "bytes": bytes}),
                );
            }
            Ok(CompactionResult::Known) => known += 1,
            Ok(CompactionResult::Mended { parts }) => {
                if !output.is_json() {
                    let parts = count_of(parts, "missing object");
                    output.text(&format!("run {}: {parts} written again\n", run.short(8)))?;
                }
                mended.push(json!({"run": run, "objects": parts}));
                known += 1;
            }
            Ok(CompactionResult::Unfinished) if names.is_empty() => unfinished += 1,
            Ok(CompactionResult::Unfinished) => {
                let message = format!("run {run} has not ended, so more will be added to it");
                return Err(CliError::usage(message).hint("compact it when it has ended"));
            }
            // The others can be compacted all the same.
            Err(error) if error.status == Status::Difference => {
                error.print();
                failed = true;
            }
            Err(error) => return Err(error),
        }
    }
    if output.is_json() {
        let count = made.len();
        output.object(
            &json!({"log": log.backend().name(), "runs": Value::from(made), "compacted": count,
            "compacted_before": known, "mended": mended, "unfinished": unfinished}),
        )?;
    } else {
        output.text(&summary(made.len() as u64, known, unfinished))?;
    }
    Ok(if failed { Status::Difference } else { Status::Fine })
}

/// An error with what can be done if an object of a compaction is lost or damaged.
fn explain(error: LogError, run: RunId) -> CliError {
    let fault = match &error {
        LogError::Corrupt { fault, .. } => Some(&**fault),
        _ => None,
    };
    let short = run.short(8);
    let hint = match fault {
        Some(Fault::Segment(SegmentFault::Missing { object })) if is_of_compaction(object) => {
            Some(format!(
                "it cannot be written again, because objects in runs/{run} are missing as well: `retold show {short}` shows what can \
                 be read"
            ))
        }
        Some(Fault::Segment(SegmentFault::Changed { object, .. })) if is_of_compaction(object) => {
            Some(format!(
                "nothing is overwritten: if the objects in runs/{run} are there, delete {object}, and then `retold compact {short}` \
                 writes it again"
            ))
        }
        _ => None,
    };
    let error = CliError::from(error);
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

fn line(run: RunId, segments: u64, parts: u64, bytes: u64) -> String {
    let (segments, parts) = (count_of(segments, "segment"), count_of(parts, "object"));
    format!("run {}: {segments} merged into {parts}, {} bytes\n", run.short(8), group_digits(bytes))
}

fn summary(made: u64, known: u64, unfinished: u64) -> String {
    let mut text = format!("{} compacted", count_of(made, "run"));
    if known > 0 {
        text.push_str(&format!("; {} compacted before", count_of(known, "run")));
    }
    if unfinished > 0 {
        text.push_str(&format!("; {} not ended yet", count_of(unfinished, "run")));
    }
    text + "\n"
}
