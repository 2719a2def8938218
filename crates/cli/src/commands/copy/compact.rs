//! `retold copy --compact`: the many objects of finished runs in a bucket, copied to a few.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::{Output, count_of, group_digits};
use crate::select;
use retold::id::RunId;
use retold::log::Log;
use retold_archive::{CompactionResult, bucket};

/// Copies the events of runs that have ended, or of those named, to a few objects of the same bucket. The same command continues
/// where it was interrupted, and several may run at once.
pub(super) fn compact(
    names: &[String],
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    let Some(url) = bucket(&global.log)? else {
        let message =
            format!("{} is a file, in which there is nothing to compact", global.log.display());
        return Err(CliError::usage(message).hint(
            "only a log in a bucket or a shared folder consists of objects that can be merged",
        ));
    };
    let store = url.open()?;
    let log = Log::new(Arc::new(store.clone()));
    let mut made = Vec::new();
    let (mut known, mut unfinished, mut failed) = (0_u64, 0_u64, false);
    for run in select::choose(&log, names, global)? {
        match store.compact(run).map_err(CliError::from) {
            Ok(CompactionResult::Made { segments, merged, bytes }) => {
                if !output.is_json() {
                    output.text(&line(run, segments, merged, bytes))?;
                }
                made.push(
                    json!({"run": run, "segments": segments, "objects": merged, "bytes": bytes}),
                );
            }
            Ok(CompactionResult::Known) => known += 1,
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
            "compacted_before": known, "unfinished": unfinished}),
        )?;
    } else {
        output.text(&summary(made.len() as u64, known, unfinished))?;
    }
    Ok(if failed { Status::Difference } else { Status::Fine })
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
