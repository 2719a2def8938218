//! What a study says of its parts: situations, in which several decided, and decisions that it derived without asking a model.

use retold::run::{AnyExperiment, RunRecord};
use retold_study::registration::Registration;
use serde::Serialize;

use super::{PageReply, RunPageRequest};
use crate::error::PageError;
use retold::escaping::printable;

/// The most events of a run whose parts are listed: its facts are read for each page.
const MOST_EVENTS: u64 = 200_000;

/// The most names that are listed.
const MOST: usize = 600;

#[derive(Serialize)]
struct PartsPage {
    /// The names of what is listed.
    situations: Vec<String>,
    derived: Vec<String>,
    /// How many of either are not listed.
    more: usize,
    /// The part that is shown, and its text.
    name: Option<String>,
    text: Option<String>,
}

/// The keys of its query.
pub(super) const KEYS: &[&str] = &["name"];

pub(super) fn page(mut of: RunPageRequest<'_>, (): ()) -> Result<PageReply, PageError> {
    let name = of.asked.query.text("name")?;
    let short = of.info.short.clone();
    let study = of.asked.site.studies.find(&of.info.experiment);
    let Some(study) = study.filter(|_| of.info.kind == "study") else {
        let message =
            "Only runs of a study that this program has have situations and derived decisions.";
        return Err(PageError::NotFound(message.to_owned()));
    };
    if of.info.events > MOST_EVENTS {
        return Err(PageError::NotFound(format!(
            "The run has too many events to list its parts here: `retold audit {short} --list` lists its derived decisions, and \
             `retold show {short} NAME` shows a situation."
        )));
    }
    let run = of.head.run;
    let mut record = RunRecord::read(of.reader.as_mut(), run)?;
    let experiment = experiment(study, &record)?;
    let unreadable =
        |error: &dyn std::fmt::Display| PageError::NotFound(printable(&error.to_string(), 400));
    let mut situations = study.situations(&record.facts).map_err(|error| unreadable(&error))?;
    let derived = experiment.derived_names_any(&record.facts);
    let mut derived = derived.map_err(|error| unreadable(&error))?;
    let report = match &name {
        None => None,
        Some(name) if derived.contains(name) => experiment.derived_any(name, &record).transpose(),
        Some(name) => experiment.story_any(name, &mut record).transpose(),
    };
    let report = report.transpose().map_err(|error| unreadable(&error))?;
    if let (Some(name), None) = (&name, &report) {
        return Err(PageError::missing(
            &format!("run {short}"),
            "part",
            name,
            "this page lists them",
        ));
    }
    let all = situations.len() + derived.len();
    situations.truncate(MOST);
    derived.truncate(MOST);
    let more = all - situations.len() - derived.len();
    let text = report.map(|report| report.text);
    drop(record);
    of.page("parts", "Parts".to_owned(), false, PartsPage { situations, derived, more, name, text })
}

/// The experiment of a recorded run.
fn experiment(
    study: &dyn Registration,
    record: &RunRecord<'_>,
) -> Result<Box<dyn AnyExperiment>, PageError> {
    let settings = record.started.settings["experiment"].clone().into();
    study.build(&settings).map_err(|error| {
        PageError::NotFound(format!(
            "The settings of this run do not work with this release: {error}"
        ))
    })
}
