//! Writes the output files of a study to a new folder.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::{Output, count_of};
use crate::runs::settings::experiment_of;
use crate::runs::{effective, folder};
use crate::{gate, select};
use retold::members::Members;
use retold::run::RunRecord;
use retold_study::run_name::folder_number;
use retold_study::settings::ExperimentSettings;
use retold_wire::PROGRAM;

pub(super) fn run(
    run: &str,
    to: Option<PathBuf>,
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    if to.as_deref().is_some_and(|to| to == Path::new("-")) {
        return Err(CliError::usage("outputs are several files: name a folder, not `-`"));
    }
    let selected = select::to_read(global, run)?;
    // The files are used elsewhere, without hashes, so they are only made from a sound run.
    gate::sound(&selected.log, selected.run, "nothing was written", output)?;
    let mut reader = selected.log.reader()?;
    let mut record = RunRecord::read(reader.as_mut(), selected.run)?;
    if record.started.experiment == PROGRAM {
        let name = selected.run.short(8);
        return Err(CliError::usage("this run was recorded from a program: only runs of studies have output files")
            .hint(format!(
                "`retold export {name} FILE.jsonl` writes its events, and with --as exchanges its questions and answers"
            ))
            .hint(format!("`retold report {name} -o FILE.html` writes a page about it")));
    }
    let experiment = experiment_of(global.studies, &record)?;
    let name = || match experiment.output_name_any() {
        Some(name) => {
            let settings: ExperimentSettings = record.started.settings["experiment"].clone().into();
            settings.run_name(name)
        }
        None => selected.run.to_string(),
    };
    let number = folder_number(&record.started.settings);
    let folder = match to {
        Some(folder) => folder,
        None => folder::path_for(&name(), number.unwrap_or(1))
            .map_err(|e| e.hint("name a folder: `retold export RUN FOLDER --as outputs`"))?,
    };
    folder::refuse_existing(&folder)
        .map_err(|e| e.hint("name another folder: `retold export RUN FOLDER --as outputs`"))?;
    let files = folder::files(experiment.as_ref(), &mut record)?;
    folder::write_folder(&folder, &files)?;
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    let shown = folder.display().to_string();
    // The files have the recorded decisions.
    let in_force = effective::of(&selected)?;
    if output.is_json() {
        let simulated = record.started.is_simulated();
        let mut object = json!({
            "run": selected.run, "folder": shown, "files": names, "simulated": simulated,
        });
        if !in_force.is_plain() {
            object.set("decisions_in_force", json!(in_force));
        }
        output.object(&object)?;
    } else {
        let count = count_of(files.len() as u64, "file");
        let mut text = format!("{count} of run {} in {shown}\n", selected.run);
        if record.started.is_simulated() {
            text.push_str(select::SIMULATED);
        }
        if !in_force.is_plain() {
            text.push_str(&effective::text(&in_force));
            text.push_str("the files have the decisions of this run itself\n");
        }
        names.iter().for_each(|name| text.push_str(&format!("  {name}\n")));
        output.text(&text)?;
    }
    Ok(Status::Fine)
}
