//! Writes the dialogues of a run as a file of Inspect Scout.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::{Output, count_of};
use crate::runs::effective;
use crate::table_draft::TableDraft;
use crate::{gate, select};
use retold_tables::write::TableFormat;
use retold_tables::{LabelColumns, Transcripts, transcript_columns};

use retold::members::Members;

pub(super) fn run(
    run: &str,
    to: Option<PathBuf>,
    force: bool,
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    let file = parquet_file(to)?;
    if !force && file.symlink_metadata().is_ok() {
        return Err(CliError::usage(format!("{} already exists", file.display()))
            .hint("choose another name, or replace it with --force"));
    }
    let of = select::to_read(global, run)?;
    // The file is used elsewhere, without hashes of the events before it, so it is only made from a sound run.
    gate::sound(&of.log, of.run, "nothing was written", output)?;

    let mut labels = LabelColumns::default();
    labels.add(of.log.reader()?.as_mut(), of.run)?;
    let columns = transcript_columns(&labels);
    let mut transcripts = Transcripts::new(Box::new(of.checked_reader()?), of.run, labels)?;
    let mut draft = TableDraft::new(&file, TableFormat::Parquet, &columns)?;
    while let Some(batch) = transcripts.next_batch()? {
        draft.write(&batch)?;
    }
    let (file, rows) = draft.finish()?;
    let (place, left_out) = (file.display().to_string(), transcripts.left_out());
    let in_force = effective::of(&of)?;
    if output.is_json() {
        let mut object = json!({"run": of.run, "file": place, "transcripts": rows,
            "not_conversations": left_out});
        if !in_force.is_plain() {
            object.set("decisions_in_force", json!(in_force));
        }
        output.object(&object)?;
        return Ok(Status::Fine);
    }
    let mut text = format!("{} written to {place}\n", count_of(rows, "transcript"));
    if left_out > 0 {
        let left_out = count_of(left_out, "exchange");
        text.push_str(&format!("not represented:\n  {left_out} without a conversation\n"));
    }
    text.push_str(&effective::text(&in_force));
    output.text(&text)?;
    Ok(Status::Fine)
}

/// The file, whose name Scout recognises by its ending.
fn parquet_file(to: Option<PathBuf>) -> Result<PathBuf, CliError> {
    let hint =
        "Inspect Scout reads a folder of such files: name one, as in transcripts/RUN.parquet";
    let file = to.filter(|path| path != Path::new("-"));
    let file = file.ok_or_else(|| {
        CliError::usage("transcripts are written to a file in Parquet, and not printed").hint(hint)
    })?;
    let is_parquet = file.extension().is_some_and(|end| end.eq_ignore_ascii_case("parquet"));
    match is_parquet {
        true => Ok(file),
        false => {
            let message =
                format!("{}: the name of this file has to end in .parquet", file.display());
            Err(CliError::usage(message).hint(hint))
        }
    }
}
