//! A deposit on its way into its folder, which appears when all of it is there.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::{CliError, Status};
use crate::select::RunSelection;
use crate::table_files::WrittenTables;
use retold::draft::Draft;
use retold::exchange::export_recording;
use retold::jsonl::{IfExists, JsonlWriter};
use retold::log::Log;
use retold_deposit::{
    CLUSTERS, DEFINITIONS, DepositFacts, DepositTable, DepositedRun, FIGURES, clusters_csv,
    croissant, expected_rows, is_without_texts, rows_csv, sums,
};
use retold_figures::{ClusteredDraws, GroupValue};
use retold_report::{Medium, ReportPage};
use retold_tables::write::TableFormat;
use retold_tables::{LabelColumns, Table, TableOptions};

/// The draws of each group of each figure.
pub(super) type FigureDraws = Vec<Vec<(Vec<GroupValue>, ClusteredDraws)>>;

/// A deposit that is being written.
pub(super) struct DepositDraft(Draft);

impl DepositDraft {
    pub(super) fn new(folder: &Path) -> Result<Self, CliError> {
        Ok(DepositDraft(Draft::folder(folder).map_err(|error| unwritable(folder, error))?))
    }

    fn path(&self, name: &str) -> Result<PathBuf, CliError> {
        let path = self.0.path().join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|error| unwritable(parent, error))?;
        }
        Ok(path)
    }

    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> Result<(), CliError> {
        let path = self.path(name)?;
        write_new(&path, bytes).map_err(|error| unwritable(&path, error))
    }

    /// The figures: as they are written down, their values, and what the values are computed from.
    pub(super) fn write_figures(
        &self,
        page: &ReportPage,
        draws: &FigureDraws,
    ) -> Result<(), CliError> {
        let csv = |written: Result<Vec<u8>, csv::Error>| {
            written.map_err(|error| {
                CliError::new(Status::Io, format!("a figure cannot be written: {error}"))
            })
        };
        let figures = page.tables.iter().map(|table| format!("  - {}\n", quoted(&table.figure)));
        let figures: String = figures.collect();
        let list = if figures.is_empty() { " []\n".to_owned() } else { format!("\n{figures}") };
        self.write(DEFINITIONS, format!("figures:{list}").as_bytes())?;
        self.write(FIGURES, &csv(rows_csv(&expected_rows(&page.tables, &page.searches)))?)?;
        self.write(CLUSTERS, &csv(clusters_csv(&page.tables, draws))?)
    }

    pub(super) fn write_report(&self, page: &ReportPage) -> Result<(), CliError> {
        let html = page.html(Medium::Screen);
        let html = html.map_err(|e| CliError::usage(format!("a plot cannot be drawn: {e}")))?;
        self.write("report.html", html.as_bytes())
    }

    pub(super) fn write_recording(&self, log: &Log, of: &DepositedRun) -> Result<(), CliError> {
        let path = self.path(&of.recording())?;
        let mut writer = JsonlWriter::create(&path, IfExists::Refuse)?;
        export_recording(log.reader()?.as_mut(), of.run, &mut |line| {
            Ok::<_, CliError>(writer.write_line(line)?)
        })?;
        writer.finish()?;
        Ok(())
    }

    /// The tables, in Parquet and CSV, and their description for machines.
    pub(super) fn write_tables(
        &self,
        runs: &[RunSelection],
        labels: &LabelColumns,
        facts: &DepositFacts<'_>,
    ) -> Result<(), CliError> {
        let is_kept = (!facts.manifest.texts).then_some(is_without_texts as fn(_, &_, &_) -> _);
        let tables = WrittenTables { runs, labels, options: TableOptions::default(), is_kept };
        let mut written = Vec::new();
        for table in Table::ALL {
            let columns = tables.columns(table);
            if columns.is_empty() {
                continue;
            }
            let file = |format: TableFormat| {
                let path = self.path(&format!("tables/{}.{}", table.name(), format.ending()))?;
                tables.file(table, format, &path)?;
                sums::sha256_of_file(&path).map_err(|error| unwritable(&path, error))
            };
            let (parquet, csv) = (file(TableFormat::Parquet)?, file(TableFormat::Csv)?);
            written.push(DepositTable { table, columns, parquet, csv });
        }
        self.write("croissant.json", croissant(facts, &written).as_bytes())
    }

    /// Adds the hashes of all files and moves the folder into its place. Returns the number of files.
    pub(super) fn finish(self, folder: &Path) -> Result<usize, CliError> {
        let path = self.0.path();
        let sums = sums::sums_of_folder(path).map_err(|error| unwritable(path, error))?;
        self.write(sums::SUMS, sums.as_bytes())?;
        fs::rename(self.0.path(), folder).map_err(|error| unwritable(folder, error))?;
        Ok(sums.lines().count() + 1)
    }
}

/// Writes a file that is not there yet.
pub(super) fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = fs::File::create_new(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

pub(super) fn unwritable(path: &Path, error: io::Error) -> CliError {
    CliError::new(Status::Io, format!("cannot write {}: {error}", path.display()))
        .hint("the runs are safe in the log: try again, or name another folder")
}

/// A text as YAML: a JSON string is one.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
