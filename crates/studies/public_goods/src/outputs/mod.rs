//! The files of a run for other programs.
//!
//! `config.json`, `game_log.csv`, `chat_messages.csv`, `redistribution_details.csv` and
//! `raw_responses.csv` have the names and columns of the original program's files, so that its
//! analyses can read ours. As there, `timestamp` is the time at which the answer arrived, the
//! message was sent, the units were given or the round was settled; it is in the log, so a replay
//! does not change it. One difference: `raw_responses.csv` has only the answers that counted, not
//! those that were asked for again.
//!
//! Ours: `reasoning.csv` (the reasoning separate from the action), `reasoning_measures.csv`,
//! `reasoning_by_model.csv`, `situations.csv` (models side by side), `reasoning_groups.csv` (for
//! plotting).

mod answers;
mod games;
mod groups;
mod reasoning;
mod row;
mod times;

use serde_json::{Value, json};

use self::row::RowHead;
use self::times::Times;
use super::config::Config;
use super::rules::GameRules;
use super::state::PlayedGames;
use retold::prompt::canonical;
use retold::run::{OutputError, OutputFile, RunRecord};

/// Every file.
pub(crate) fn files(
    config: &Config,
    rules: &GameRules,
    state: &PlayedGames,
    record: &mut RunRecord<'_>,
) -> Result<Vec<OutputFile>, OutputError> {
    let no_json = |source| OutputError::Json { name: "config.json".to_owned(), source };
    let mut config_json = serde_json::to_value(config).map_err(|e| no_json(e.into()))?;
    let text = canonical(&config_json).map_err(|e| no_json(e.into()))?;
    let mut config_hash = blake3::hash(text.as_bytes()).to_hex().to_string();
    config_hash.truncate(8);
    add_runtime(&mut config_json, &record.started.settings["runtime"]);
    let head = RowHead {
        experiment_id: config.experiment_id.clone(),
        config_hash,
        timestamp: record.first.to_string(),
    };
    let answers = answers::read(config, state, record)?;
    let times = Times::new(record);
    let tables = [
        games::game_log(&head, rules, state, &times),
        games::chat_messages(&head, state, &times),
        games::redistribution_details(&head, rules, state, &times),
        answers::raw_responses(&head, state, &answers),
        reasoning::reasoning(&head, state, &answers),
        reasoning::measures(&head, rules, state, &answers),
        reasoning::by_model(rules, state, &answers),
        reasoning::situations(&head, rules, state, &answers),
    ];
    let mut files = vec![OutputFile::json(
        "config.json",
        &json!({
            "experiment_id": head.experiment_id,
            "config_hash": head.config_hash,
            "timestamp": head.timestamp,
            "config": config_json,
        }),
    )?];
    files.extend(tables.into_iter().map(OutputFile::from));
    if !state.groups.is_empty() {
        let table = groups::reasoning_groups(&head, rules, state, &answers, record)?;
        files.push(OutputFile::from(table));
    }
    Ok(files)
}

/// Adds which model answered, how fast it was asked and when it was tried again, as a config has it. Runs of earlier
/// releases have other values there, which the digests of their outputs cover.
fn add_runtime(config: &mut Value, runtime: &Value) {
    let Some(config) = config.as_object_mut() else { return };
    for key in ["model", "limits", "retry"] {
        if let Some(used) = runtime.get(key) {
            config.entry(key).or_insert_with(|| used.clone());
        }
    }
}
