//! Reads the folder of an original run, with types.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;

use crate::check::check as check_config;
use crate::conditions::Condition;
use crate::config::Config;
use crate::parse::Demographics;
use crate::state::ParticipantStatus;
use crate::transcript::Transcript;
use retold::explain::explain;
use retold::run::SIMULATED_MARK;
use retold_study::config::{ConfigError, ConfigProblem, load as load_yaml};
use retold_study::original::{OriginalError, OriginalFolder};

/// The files of such a folder.
const FILES: &str = "config.yaml, participants.json and summary.json";

/// The files of an original run.
pub(super) struct Files {
    folder: OriginalFolder,
    /// `config.yaml`, as the original resolved it.
    pub(super) config: Config,
    /// Whether it has `min_responses_for_threshold`, which did not exist in the first version.
    pub(super) knows_minimum: bool,
    /// `participants.json`.
    pub(super) participants: Vec<ParticipantEntry>,
    /// `cluster_embeddings.json`; empty if nothing was summarised.
    pub(super) clusters: Vec<ClusterRow>,
    /// `individual_embeddings.json`; empty if nothing was summarised.
    pub(super) vectors: Vec<VectorRow>,
    /// `summary.json`.
    pub(super) summary: Value,
    /// The keys of each participant in `participants.json`: if a key did not exist in a version,
    /// there is no value for it, not even null.
    pub(super) keys: Vec<BTreeSet<String>>,
}

/// A participant in `participants.json`.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct ParticipantEntry {
    pub(super) participant_id: String,
    pub(super) condition: Condition,
    pub(super) base_persona: String,
    pub(super) demographics: Demographics,
    pub(super) enriched_persona: String,
    pub(super) initial_choice: Option<String>,
    pub(super) initial_explanation: Option<String>,
    pub(super) final_choice: Option<String>,
    pub(super) position_changed: Option<bool>,
    pub(super) clarification_transcript: Option<Transcript>,
    pub(super) adversarial_transcript: Option<Transcript>,
    pub(super) individual_summary: Option<String>,
    pub(super) individual_summary_embedding: Option<Vec<f32>>,
    pub(super) cluster_id: Option<String>,
    pub(super) opposition_view: Option<String>,
    pub(super) cross_pollination_content: Option<String>,
    pub(super) status: ParticipantStatus,
    pub(super) error_message: Option<String>,
    /// Keys that no known version has.
    #[serde(flatten)]
    pub(super) unknown: BTreeMap<String, Value>,
}

impl ParticipantEntry {
    /// Why a failed participant failed, as far as it was recorded.
    pub(super) fn failure(&self) -> String {
        let message = self.error_message.as_deref().unwrap_or("no reason was kept");
        format!("failed in the original run: {message}")
    }
}

/// A cluster in `cluster_embeddings.json`.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct ClusterRow {
    pub(super) cluster_id: String,
    pub(super) option: String,
    pub(super) description: String,
    pub(super) embedding: Vec<f32>,
    pub(super) member_count: usize,
    pub(super) member_ids: Vec<String>,
}

/// A participant in `individual_embeddings.json`.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct VectorRow {
    pub(super) participant_id: String,
    pub(super) embedding: Vec<f32>,
}

/// The key that did not exist in the first version of the original.
#[derive(Deserialize)]
struct KnownMinimum {
    min_responses_for_threshold: Option<u32>,
}

#[derive(Deserialize)]
struct ParticipantsFile {
    pilot_id: String,
    participants: Vec<ParticipantEntry>,
}

/// The same file, of which only the keys are needed.
#[derive(Deserialize)]
struct KeysFile {
    participants: Vec<BTreeMap<String, IgnoredAny>>,
}

#[derive(Deserialize)]
struct ClustersFile {
    pilot_id: String,
    clusters: Vec<ClusterRow>,
}

#[derive(Deserialize)]
struct VectorsFile {
    pilot_id: String,
    embeddings: Vec<VectorRow>,
}

impl Files {
    /// Reads a folder.
    pub(super) fn read(folder: &Path) -> Result<Files, OriginalError> {
        let folder = OriginalFolder::open(folder, FILES)?;
        // Otherwise simulated answers would return as an original's.
        if folder.has(SIMULATED_MARK) {
            let reason =
                "the answers in this folder were made up by a program: it is not an original run";
            return Err(folder.inconsistent(SIMULATED_MARK, reason));
        }
        let (path, text) = (folder.join("config.yaml"), folder.text("config.yaml")?);
        let mut config: Config = load_yaml(&path, &text).map_err(of_config)?;
        let known: KnownMinimum = load_yaml(&path, &text).map_err(of_config)?;
        let knows_minimum = known.min_responses_for_threshold.is_some();
        if !knows_minimum {
            config.min_responses_for_threshold = 0;
        }
        // Unusable answers were not recorded, so there is never a further one.
        config.max_parse_retries = 0;
        let participants: ParticipantsFile = json(&folder, "participants.json")?;
        let keys: KeysFile = json(&folder, "participants.json")?;
        let keys = keys.participants.into_iter().map(|row| row.into_keys().collect()).collect();
        let mut files = Files {
            summary: json(&folder, "summary.json")?,
            folder,
            config,
            knows_minimum,
            participants: participants.participants,
            clusters: Vec::new(),
            vectors: Vec::new(),
            keys,
        };
        check_config(&files.config).map_err(|ConfigProblem { key, message }| {
            files.inconsistent("config.yaml", format!("{key}: {message}"))
        })?;
        files.same_pilot("participants.json", &participants.pilot_id)?;
        files.same_pilot("summary.json", files.summary["pilot_id"].as_str().unwrap_or("none"))?;
        if files.has_summaries() {
            let clusters: ClustersFile = json(&files.folder, "cluster_embeddings.json")?;
            files.same_pilot("cluster_embeddings.json", &clusters.pilot_id)?;
            let vectors: VectorsFile = json(&files.folder, "individual_embeddings.json")?;
            files.same_pilot("individual_embeddings.json", &vectors.pilot_id)?;
            (files.clusters, files.vectors) = (clusters.clusters, vectors.embeddings);
        }
        Ok(files)
    }

    /// The folder's name for messages.
    pub(super) fn source(&self) -> String {
        self.folder.path().display().to_string()
    }

    /// Whether the original summarised the dialogues of phase 3.
    pub(super) fn has_summaries(&self) -> bool {
        self.participants.iter().any(|p| p.individual_summary.is_some())
    }

    /// Whether the original ended after phase 2.
    pub(super) fn ended_early(&self) -> bool {
        self.summary["terminated_early"] == true
    }

    /// The error for something in a file that is inconsistent with the rest.
    pub(super) fn inconsistent(&self, file: &str, reason: impl Into<String>) -> OriginalError {
        self.folder.inconsistent(file, reason)
    }

    fn same_pilot(&self, file: &str, pilot_id: &str) -> Result<(), OriginalError> {
        let own = &self.config.pilot_id;
        if pilot_id == own {
            Ok(())
        } else {
            let reason = format!("is of pilot {pilot_id:?}, and config.yaml is of {own:?}");
            Err(self.inconsistent(file, reason))
        }
    }
}

fn json<T: DeserializeOwned>(folder: &OriginalFolder, file: &str) -> Result<T, OriginalError> {
    serde_json::from_str(&folder.text(file)?).map_err(|e| {
        let (line, column) = (e.line() as u64, e.column());
        let whole = e.to_string();
        let message = whole.strip_suffix(&format!(" at line {line} column {column}"));
        let reason = format!("column {column}: {}", explain(message.unwrap_or(&whole)));
        OriginalError::line(&folder.join(file), line, reason)
    })
}

fn of_config(error: ConfigError) -> OriginalError {
    match error {
        ConfigError::Invalid { path, line, column, message, snippet: _ } => {
            OriginalError::Line { path, line, reason: format!("column {column}: {message}") }
        }
        ConfigError::NotUtf8 { path, problem } => OriginalError::not_utf8(path, problem),
        ConfigError::Unreadable { path, reason } => OriginalError::Unreadable { path, reason },
        ConfigError::Value { path, key, message } => {
            OriginalError::Inconsistent { path, reason: format!("{key}: {message}") }
        }
        ConfigError::Override { setting, message } => {
            OriginalError::Inconsistent { path: setting, reason: message }
        }
        other => {
            let path = "config.yaml".to_owned();
            OriginalError::Inconsistent { path, reason: other.to_string() }
        }
    }
}
