//! The settings that a program's run records about itself.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::chance_setting::RecordedChance;
use crate::rules::RecordedRules;

/// The experiment name of runs that were recorded from a program.
pub use retold::event::PROGRAM;

/// The placeholder in a recorded command or URL for the parts that are left out of it.
pub const MASK: &str = "[key]";

/// The settings of a program's run. Nothing in them chooses a program that is executed or a server
/// that is asked: both are named again whenever the run is replayed or continued.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramSettings {
    /// The seed of the program's own draws, if they are the run's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chance: Option<RecordedChance>,
    /// The command, to be shown; without keys.
    pub command: Vec<String>,
    /// Where the run was imported from, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<ImportSource>,
    /// If connections to hosts were intercepted: the hosts that the user named, besides known ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intercept: Option<Vec<String>>,
    /// The name that the user gave the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The parts of a request that do not count.
    #[serde(flatten)]
    pub rules: RecordedRules,
    /// Whether one answer serves all requests that are equal.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
    /// The names of its upstreams.
    pub upstreams: Vec<String>,
    /// Where the requests of each upstream, and of each intercepted host, went: to be shown, without
    /// secrets. Those of an import are in [`ImportSource::urls`].
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub urls: BTreeMap<String, String>,
}

impl ProgramSettings {
    /// Where the requests of an upstream went, if the run says so.
    pub fn led_to(&self, upstream: &str) -> Option<&str> {
        let imported = || self.imported.as_ref()?.urls.get(upstream);
        self.urls.get(upstream).or_else(imported).map(String::as_str)
    }
}

/// Where a run was imported from: shown, and written into files that are exported. Nothing in it is
/// ever asked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportSource {
    /// The files, by name.
    pub files: Vec<String>,
    /// Their format.
    pub format: String,
    /// Where the requests of each upstream went.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub urls: BTreeMap<String, String>,
}
