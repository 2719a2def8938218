//! The name of a run: the one that a program was given, or that of the folder which a study's run writes.

use retold::event::{RUN_NAME, RunStarted};
use serde_json::Value;

use crate::settings::ExperimentSettings;
use crate::studies::Studies;

/// The setting for the number of a run's folder among those with its name, if it is not the first.
/// It is a number rather than a path, because recordings can come from anyone.
pub const FOLDER_NUMBER: &str = "output_folder";

/// The number of a run's folder among those with its name, according to its settings; `None` if
/// they do not say.
pub fn folder_number(settings: &Value) -> Option<u32> {
    settings[FOLDER_NUMBER].as_u64().and_then(|number| u32::try_from(number).ok())
}

/// The folder with this number among those with a name: `NAME`, `NAME-2` and so on.
pub fn numbered_name(name: &str, number: u32) -> String {
    if number > 1 { format!("{name}-{number}") } else { name.to_owned() }
}

impl Studies {
    /// The name of a run, by which commands find it. Runs whose settings name no outputs have none, unless they are shards,
    /// and neither have forks that ask something else: their settings name the folder of their parent, which they do not write. The name is recorded;
    /// of older runs, it follows from the settings.
    pub fn run_name(&self, started: &RunStarted) -> Option<String> {
        if let Some(name) = started.name() {
            return Some(name.to_owned());
        }
        if started.forked_from.is_some() {
            return None;
        }
        let settings: ExperimentSettings = started.settings.get("experiment")?.clone().into();
        let study = self.find(&started.experiment)?;
        let name = match study.output_name(&settings) {
            Some(name) => settings.run_name(name),
            // Shards have to be told apart.
            None => settings.shard().map(|_| settings.run_name(started.experiment.clone()))?,
        };
        Some(numbered_name(&name, folder_number(&started.settings).unwrap_or(1)))
    }

    /// Adds its name to the settings of a run that begins, so that readers without the studies find it, too.
    pub fn record_name(&self, started: &mut RunStarted) {
        let name = self.run_name(started);
        if let (Some(name), Some(settings)) = (name, started.settings.as_object_mut()) {
            settings.insert(RUN_NAME.to_owned(), name.into());
        }
    }
}
