//! `retold replay RUN --prompts DIR`.

use std::path::Path;

use serde_json::{Value, json};

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::{Output, count_of, group_digits};
use crate::runs::session::{self, StudyExecution};
use crate::runs::settings::{as_json, settings_of};
use crate::runs::templates::{of_template, wrong};
use crate::select;
use crate::select::{RunSelection, SIMULATED};
use crate::views::departures::{departures_json, departures_text};
use retold::id::RunId;
use retold::run::{DryRun, Finish, Mode, Stop};
use retold_study::at_once::PromptTooLong;
use retold_study::error::ExperimentError;
use retold_study::templates::{TemplateReplacement, replace};

/// Runs a run again with other templates, and reports what differs from the record.
pub(crate) fn run(
    selected: RunSelection,
    folder: &Path,
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    let RunSelection { log, run } = selected;
    let started = select::run_start(log.reader()?.as_mut(), run)?;
    let simulated = started.is_simulated();
    let mut settings = settings_of(global.studies, &started)?;
    let mut recorded = as_json(&settings.experiment)?;
    let replaced = replace(&mut recorded, folder)?;
    settings.experiment = recorded.into();
    // An error at this point is caused by the templates.
    let built = global.studies.build(&started.experiment, &settings.experiment);
    if let Err(ExperimentError::BadSettings { source, .. }) = built {
        return Err(wrong(&source, folder, &replaced));
    }
    let session = StudyExecution::new(log, run, Mode::Rehearse, started, settings);
    let rehearsal = match session::go(session, global)?.finish {
        Finish::Rehearsed(rehearsal) => rehearsal,
        // If a prompt cannot be built, its template is wrong.
        Finish::Stopped(Stop::Invalid { source, .. })
            if of_template(source.as_ref()).is_some() || source.is::<PromptTooLong>() =>
        {
            return Err(wrong(source.as_ref(), folder, &replaced));
        }
        Finish::Stopped(stop) => return Err(stop.into()),
        Finish::Finished | Finish::EndOfRecord | Finish::Closed(_) => DryRun::default(),
    };
    let told =
        RehearsalReport { run, folder, replaced: &replaced, rehearsal: &rehearsal, simulated };
    if output.is_json() {
        output.object(&told.json())?
    } else {
        output.text(&told.text())?
    }
    Ok(if rehearsal.is_identical() { Status::Fine } else { Status::Difference })
}

/// The whole report of a rehearsal.
struct RehearsalReport<'a> {
    run: RunId,
    folder: &'a Path,
    replaced: &'a TemplateReplacement,
    rehearsal: &'a DryRun,
    simulated: bool,
}

impl RehearsalReport<'_> {
    fn json(&self) -> Value {
        let TemplateReplacement { templates, changed: changed_templates, unknown, files: _ } =
            self.replaced;
        let DryRun { matching, behind, changed, unrecorded, left, complete, departures, .. } =
            self.rehearsal;
        json!({
            "run": self.run,
            "templates": templates,
            "changed_templates": changed_templates,
            "unknown_files": unknown,
            "identical": self.rehearsal.is_identical(),
            "complete": complete,
            "matching": matching,
            "behind_a_change": behind,
            "new": changed + unrecorded,
            "changed": changed,
            "unrecorded": unrecorded,
            "left": left,
            "lanes": departures_json(departures),
            "simulated": self.simulated,
        })
    }

    fn text(&self) -> String {
        let DryRun { matching, behind, changed, unrecorded, left, complete, departures, .. } =
            self.rehearsal;
        let mut text = self.templates();
        text.push_str(&format!("{} still match", count_of(*matching, "recorded call")));
        if *behind > 0 {
            text.push_str(&format!(
                "; {} of them come after a change in their lane, and match only if new answers \
                 leave their prompts as they are",
                group_digits(*behind)
            ));
        }
        text.push_str(&format!("\n{} would be new: ", count_of(changed + unrecorded, "call")));
        text.push_str(&format!(
            "{} recorded with another prompt, {} never recorded\n",
            group_digits(*changed),
            group_digits(*unrecorded)
        ));
        if *left > 0 {
            let left = count_of(*left, "recorded call");
            text.push_str(&format!("{left} would not be asked any more\n"));
        }
        if !complete {
            text.push_str(
                "the run never finished: calls that it never reached do not count as differences\n",
            );
        }
        if self.simulated {
            text.push_str(SIMULATED);
        }
        text.push_str(&departures_text(departures));
        text
    }

    fn templates(&self) -> String {
        let TemplateReplacement { templates, changed, unknown, files: _ } = self.replaced;
        let folder = self.folder.display();
        let differ = match changed.as_slice() {
            [] => "no template is changed".to_owned(),
            names => format!("changed: {} ({} of {templates})", names.join(", "), names.len()),
        };
        let mut text = format!("run {} with the templates of {folder}: {differ}\n", self.run);
        if !unknown.is_empty() {
            let unknown = unknown.join(", ");
            text.push_str(&format!("not templates of this run, so ignored: {unknown}\n"));
        }
        text
    }
}
