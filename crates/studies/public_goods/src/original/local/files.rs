//! The files of such a folder, with types.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use retold_study::original::{JsonFile, OriginalError, OriginalFolder, OriginalRow, Rows, lines};

/// The files of such a folder.
const FILES: &str = "config.json, participant_debug.jsonl.gz and participant_sim.csv";
const SIM: &str = "participant_sim.csv";
const DEBUG: [&str; 3] =
    ["participant_debug.jsonl.gz", "participant_debug.jsonl", "participant_debug.jsonl.zst"];

/// `config.json`. Its other keys only matter to that program.
#[derive(Debug, Deserialize)]
pub(super) struct GameConfig {
    pub(super) experiment: String,
    pub(super) environment: OriginalEnvironment,
    pub(super) model: OriginalModelConfig,
}

/// The game.
#[derive(Debug, Deserialize)]
pub(super) struct OriginalEnvironment {
    #[serde(rename = "CONFIG_playerCount")]
    pub(super) players: u32,
    #[serde(rename = "CONFIG_numRounds")]
    pub(super) rounds: u32,
    #[serde(rename = "CONFIG_showNRounds")]
    pub(super) shows_rounds: bool,
    #[serde(rename = "CONFIG_endowment")]
    pub(super) endowment: u32,
    #[serde(rename = "CONFIG_multiplier")]
    pub(super) multiplier: f64,
    #[serde(rename = "CONFIG_allOrNothing")]
    pub(super) all_or_nothing: bool,
    #[serde(rename = "CONFIG_chat")]
    pub(super) chat: bool,
    #[serde(rename = "CONFIG_showOtherSummaries")]
    pub(super) shows_others: bool,
    #[serde(rename = "CONFIG_punishmentExists")]
    pub(super) punishment: bool,
    #[serde(rename = "CONFIG_punishmentCost")]
    pub(super) punishment_cost: f64,
    #[serde(rename = "CONFIG_punishmentMagnitude")]
    pub(super) punishment_impact: f64,
    #[serde(rename = "CONFIG_showPunishmentId")]
    pub(super) shows_punisher: bool,
    #[serde(rename = "CONFIG_rewardExists")]
    pub(super) reward: bool,
    #[serde(rename = "CONFIG_rewardCost")]
    pub(super) reward_cost: f64,
    #[serde(rename = "CONFIG_rewardMagnitude")]
    pub(super) reward_impact: f64,
    #[serde(rename = "CONFIG_showRewardId")]
    pub(super) shows_rewarder: bool,
}

/// The model that answered.
#[derive(Debug, Deserialize)]
pub(super) struct OriginalModelConfig {
    pub(super) base_model: String,
    #[serde(default)]
    pub(super) adapter_path: Option<String>,
    #[serde(default)]
    pub(super) use_peft: bool,
    #[serde(default)]
    pub(super) temperature: Option<f64>,
    #[serde(default)]
    pub(super) top_p: Option<f64>,
    #[serde(default)]
    pub(super) contrib_max_new_tokens: Option<u32>,
    #[serde(default)]
    pub(super) actions_max_new_tokens: Option<u32>,
}

/// A line of `participant_debug.jsonl`.
#[derive(Debug, Deserialize)]
pub(super) struct DebugExchange {
    pub(super) game: String,
    pub(super) round: u32,
    pub(super) agent: String,
    pub(super) phase: String,
    pub(super) prompt_full: String,
    pub(super) raw_output_full: String,
}

/// Whether a folder is one of these, even if it is damaged.
pub(in super::super) fn is_one(folder: &Path) -> bool {
    DEBUG.iter().chain([&SIM]).any(|name| folder.join(name).exists())
}

/// Such a folder.
pub(super) struct GameFolder(OriginalFolder);

impl GameFolder {
    pub(super) fn open(path: &Path) -> Result<Self, OriginalError> {
        OriginalFolder::open(path, FILES).map(GameFolder)
    }

    /// `config.json`. Refuses our own outputs of such a run, which have answers and tables but no
    /// prompts.
    pub(super) fn config(&self) -> Result<JsonFile, OriginalError> {
        let config = self.0.json("config.json")?;
        let is_own = config.value.get("config").is_some_and(|config| config.get("games").is_some());
        if !is_own || DEBUG.iter().any(|name| self.0.has(name)) {
            return Ok(config);
        }
        let reason = "these are the outputs of an imported run, and the prompts are not among them: import \
                      the folder that the run was made from, or take the run itself with `retold export \
                      RUN FILE` and `retold import FILE`";
        Err(OriginalError::inconsistent(self.0.path(), reason))
    }

    /// The prompts and answers, with the path of their file.
    pub(super) fn debug(&self) -> Result<(PathBuf, Vec<(u64, DebugExchange)>), OriginalError> {
        let [first, ..] = DEBUG;
        let name = DEBUG.into_iter().find(|name| self.0.has(name));
        let path = self.0.join(name.ok_or_else(|| self.0.missing(first))?);
        let exchanges = lines(&path, "a prompt and its answer")?;
        Ok((path, exchanges))
    }

    /// That program's result for each answer.
    pub(super) fn sim(&self) -> Result<Rows, OriginalError> {
        let rows = self.0.table(SIM, &super::table::COLUMNS)?;
        // Every row must have a round number; otherwise it belongs to no round.
        rows.iter()
            .try_for_each(|row: OriginalRow<'_>| row.number::<u32>("roundIndex").map(drop))?;
        Ok(rows)
    }

    /// The error for something that is inconsistent with the rest.
    pub(super) fn of_sim(&self, reason: String) -> OriginalError {
        self.0.inconsistent(SIM, reason)
    }
}
