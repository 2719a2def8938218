//! Writes tables to a bucket.

use std::path::PathBuf;

use retold_bucket::{BucketFolder, BucketFolderError, PlacedFile, WholeFile};
use retold_tables::Table;
use retold_tables::write::TableFormat;

use crate::error::{CliError, Status};
use crate::log_place;
use crate::select::RunSelection;
use crate::table_files::{TableFile, WrittenTables};
use retold::scratch_folder::ScratchFolder;

/// A table of a run on its way to a bucket.
struct ReadyTable {
    table: Table,
    rows: u64,
    file: WholeFile,
    /// Its name in the bucket.
    name: String,
    is_new: bool,
}

impl WrittenTables<'_> {
    /// Writes tables of each run to a bucket: `TABLE/RUN.parquet`. All files of a run are complete before the first of
    /// them is sent, and its row in `runs` is sent last: a run that has one is all there.
    pub(super) fn send(
        &self,
        wanted: &[Table],
        format: TableFormat,
        bucket: &BucketFolder,
        force: bool,
    ) -> Result<Vec<TableFile>, CliError> {
        self.of_each_run(|run| {
            let here = ScratchFolder::make().map_err(no_scratch)?;
            let files = self.run_in_folder(run, wanted, format, here.path())?;
            let ready = files.into_iter().map(|file| ready(file, run, format, bucket, force));
            let mut ready = ready.collect::<Result<Vec<ReadyTable>, CliError>>()?;
            ready.sort_by_key(|of| of.table == Table::Runs);
            let sent = ready.into_iter().map(|ReadyTable { table, rows, file, name, is_new }| {
                if is_new {
                    bucket.put(&name, &file)?;
                }
                Ok(TableFile { table, file: bucket.url_of(&name).into(), rows, is_new })
            });
            sent.collect()
        })
    }
}

/// A file, if it may be sent.
fn ready(
    TableFile { table, file, rows, is_new: _ }: TableFile,
    RunSelection { run, .. }: &RunSelection,
    format: TableFormat,
    bucket: &BucketFolder,
    force: bool,
) -> Result<ReadyTable, CliError> {
    let name = format!("{}/{run}.{}", table.name(), format.ending());
    let file = WholeFile::new(PathBuf::from(&file))?;
    let there = bucket.find(&name, &file)?;
    if there == PlacedFile::Other && !force {
        let message = format!("{} is there already, and is not the same", bucket.url_of(&name));
        return Err(CliError::usage(message).hint(format!(
            "nothing of run {run} was changed. It may have continued, or been written with other columns or by another \
             release: replace it with --force, or name another folder"
        )));
    }
    Ok(ReadyTable { table, rows, file, name, is_new: there != PlacedFile::Same })
}

fn no_scratch(error: std::io::Error) -> CliError {
    let folder = std::env::temp_dir();
    let message = format!("cannot write a temporary folder in {}: {error}", folder.display());
    CliError::new(Status::Io, message).hint("TMPDIR names another place")
}

impl From<BucketFolderError> for CliError {
    fn from(error: BucketFolderError) -> Self {
        let shown = CliError::new(Status::Io, error.to_string());
        let place = match &error {
            BucketFolderError::CannotOpen { folder, .. } => folder,
            BucketFolderError::Object { object, .. } => object,
            _ => return shown,
        };
        let reach = log_place::unreachable(place);
        shown.hint(format!("{reach}; the same command then writes what is missing"))
    }
}
