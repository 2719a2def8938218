//! `retold outputs`.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::Global;
use super::error::{CliError, Status};
use super::output::{Output, counted};
use super::select;
use super::show::experiment_of;
use crate::run::{OutputFile, RunRecord};

/// Write what a run gives other programs: tables (CSV) and JSON files, in a new folder.
///
/// They are folded from the log; no model is asked. A folder that exists is never written to.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The run (first digits of its id, or `latest`), or a recording's file.
    run: String,
    /// The folder to make [default: outputs/NAME, the name from the run's config, or else the run's id].
    #[arg(long, value_name = "FOLDER")]
    to: Option<PathBuf>,
}

pub(super) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let selected = select::run_or_file(global, &args.run)?;
    let mut reader = selected.log.reader()?;
    let mut record = RunRecord::read(reader.as_mut(), selected.run)?;
    let experiment = experiment_of(&record)?;
    let folder = args.to.unwrap_or_else(|| {
        let name = experiment.output_name_any().unwrap_or_else(|| selected.run.to_string());
        Path::new("outputs").join(name)
    });
    refuse_existing(&folder)?;
    let files = experiment.outputs_any(&mut record)?;
    if files.is_empty() {
        let name = &record.started.experiment;
        return Err(CliError::usage(format!("experiment {name} has no outputs")));
    }
    write_folder(&folder, &files)?;
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    let shown = folder.display().to_string();
    match output.is_json() {
        true => {
            let simulated = select::is_simulated(&record.started);
            output.object(&json!({
                "run": selected.run, "folder": shown, "files": names, "simulated": simulated,
            }))?;
        }
        false => {
            let count = counted(files.len() as u64, "file");
            let mut text = format!("{count} of run {} in {shown}\n", selected.run);
            if select::is_simulated(&record.started) {
                text.push_str(select::SIMULATED);
            }
            names.iter().for_each(|name| text.push_str(&format!("  {name}\n")));
            output.text(&text)?;
        }
    }
    Ok(Status::Fine)
}

/// An output folder is written once.
pub(super) fn refuse_existing(folder: &Path) -> Result<(), CliError> {
    match folder.symlink_metadata() {
        Err(_) => Ok(()),
        Ok(_) => Err(CliError::usage(format!("{} is there already", folder.display()))
            .hint("nothing was written: give another folder with --to, or move that one away")),
    }
}

/// Writes a folder whole or not at all: under another name first, then renamed.
pub(super) fn write_folder(folder: &Path, files: &[OutputFile]) -> Result<(), CliError> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let part = folder.with_file_name(format!(".{name}.part-{}", std::process::id()));
    let written = fill(&part, files).and_then(|()| std::fs::rename(&part, folder));
    written.map_err(|e| {
        // What is left of it is of no use to anybody; that it cannot be removed, either, adds nothing.
        let _ = std::fs::remove_dir_all(&part);
        CliError::new(Status::Io, format!("cannot write {}: {e}", folder.display()))
            .hint("the run itself is safe in the log; give another folder with --to")
    })
}

fn fill(folder: &Path, files: &[OutputFile]) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    for OutputFile { name, bytes } in files {
        let mut file = std::fs::File::create(folder.join(name))?;
        file.write_all(bytes)?;
        file.sync_all()?;
    }
    Ok(())
}
