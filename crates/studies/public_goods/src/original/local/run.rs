//! Assembles the contents of a folder: the players, the questions and answers, and that program's
//! results.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::json;

use super::files::{
    DebugExchange, GameConfig, GameFolder, OriginalEnvironment, OriginalModelConfig,
};
use super::settings::{LocalGame, LocalSettings, OriginalPlayer, RecordedPrompt};
use crate::{Config, PlayerTurn, Stage};
use retold::escaping::printable;
use retold_study::config::ConfigProblem;
use retold_study::original::{OriginalError, Rows, from_value};

/// A folder's games.
pub(super) struct LocalRun {
    pub(super) settings: LocalSettings,
    /// Answers by call.
    pub(super) answers: BTreeMap<String, String>,
    /// The payoffs of the previous round that prompts show: game, round, avatar, and whole coins.
    pub(super) shown: Vec<(String, u32, String, i64)>,
    pub(super) sim: Rows,
}

impl LocalRun {
    /// Reads a folder.
    pub(super) fn read(folder: &Path) -> Result<LocalRun, OriginalError> {
        let folder = GameFolder::open(folder)?;
        let json = folder.config()?;
        let file: GameConfig = from_value(&json.value, "").map_err(|wrong| json.wrong(wrong))?;
        let environment = &file.environment;
        check(environment).map_err(|wrong| json.wrong(wrong))?;
        let (path, lines) = folder.debug()?;
        let sim = folder.sim()?;
        let games = games(&sim);
        for LocalGame { id, players } in &games {
            if players.len() != environment.players as usize {
                let (n, all) = (players.len(), environment.players);
                let reason =
                    format!("game {} has {n} players, and {all} by config.json", printable(id, 40));
                return Err(folder.of_sim(reason));
            }
        }
        let config = config(&file, games.len()).map_err(|wrong| json.wrong(wrong))?;
        let settings = LocalSettings {
            config,
            multiplier: environment.multiplier,
            top_p: file.model.top_p,
            actions_max_tokens: file.model.actions_max_new_tokens,
            games,
            texts: Vec::new(),
            asked: Vec::new(),
        };
        let (answers, shown) = (BTreeMap::new(), Vec::new());
        let mut original = LocalRun { settings, answers, shown, sim };
        let mut known = BTreeMap::new();
        for (line, row) in lines {
            original.take(row, &mut known, |reason| OriginalError::line(&path, line, reason))?;
        }
        Ok(original)
    }

    /// Adds a line.
    fn take(
        &mut self,
        exchange: DebugExchange,
        known: &mut BTreeMap<String, usize>,
        wrong: impl Fn(String) -> OriginalError,
    ) -> Result<(), OriginalError> {
        let DebugExchange { game, round, agent, phase, prompt_full, raw_output_full } = exchange;
        let stage = match phase.as_str() {
            "contrib" => Stage::Contribution,
            "actions" => Stage::Redistribution,
            other => {
                return Err(wrong(format!(
                    "phase: {:?} is not contrib or actions",
                    printable(other, 40)
                )));
            }
        };
        let last = self.settings.config.game_length;
        if !(1..=last).contains(&round) {
            return Err(wrong(format!("round: {round}, in a game of {last}")));
        }
        let games = &self.settings.games;
        let unknown = |what: &str, name: &str| {
            wrong(format!("{what}: {:?} is not in participant_sim.csv", printable(name, 40)))
        };
        let at = games.iter().position(|g| g.id == game).ok_or_else(|| unknown("game", &game))?;
        let players = &games[at].players;
        let player = players.iter().position(|who| who.avatar == agent);
        let player = player.ok_or_else(|| unknown("agent", &agent))?;
        let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let turn = PlayerTurn { game: number(at) + 1, round, agent: number(player) };
        let call = stage.call(turn);
        if self.answers.insert(call.clone(), raw_output_full).is_some() {
            return Err(wrong(format!("a second answer to {call}")));
        }
        if stage == Stage::Contribution && round > 1 {
            let shown = payoffs(&prompt_full).into_iter();
            self.shown
                .extend(shown.map(|(avatar, coins)| (game.clone(), round - 1, avatar, coins)));
        }
        let texts = &mut self.settings.texts;
        let prompt = pieces(&prompt_full).map(|piece| {
            *known.entry(piece.to_owned()).or_insert_with(|| {
                texts.push(piece.to_owned());
                texts.len() - 1
            })
        });
        let prompt = prompt.collect();
        self.settings.asked.push(RecordedPrompt { turn, stage, prompt });
        Ok(())
    }
}

/// The players of each game, in the order of the table.
fn games(sim: &Rows) -> Vec<LocalGame> {
    let mut games: Vec<LocalGame> = Vec::new();
    for row in sim.iter() {
        let [id, avatar, persona] =
            ["gameId", "playerAvatar", "persona"].map(|column| row.text(column).to_owned());
        let at = games.iter().position(|game| game.id == id).unwrap_or_else(|| {
            games.push(LocalGame { id, players: Vec::new() });
            games.len() - 1
        });
        let players = &mut games[at].players;
        if !players.iter().any(|who| who.avatar == avatar) {
            players.push(OriginalPlayer { avatar, persona });
        }
    }
    games
}

/// Checks what we know about that program.
fn check(environment: &OriginalEnvironment) -> Result<(), ConfigProblem> {
    let OriginalEnvironment { players, endowment, chat, punishment, reward, .. } = environment;
    let wrong = |key: &str, message: String| {
        Err(ConfigProblem::new(&format!("environment.{key}"), message))
    };
    if *players < 2 {
        return wrong("CONFIG_playerCount", format!("must be at least 2, not {players}"));
    }
    if *endowment == 0 {
        return wrong("CONFIG_endowment", "must be at least 1, not 0".to_owned());
    }
    if *chat {
        let message = "games with messages are not known of this program";
        return wrong("CONFIG_chat", message.to_owned());
    }
    if *punishment && *reward {
        let message = "not together with CONFIG_punishmentExists: which of the units were which is not \
                       known";
        return wrong("CONFIG_rewardExists", message.to_owned());
    }
    Ok(())
}

/// The game's config in our terms.
fn config(file: &GameConfig, games: usize) -> Result<Config, ConfigProblem> {
    let GameConfig { experiment, environment: e, model } = file;
    let OriginalEnvironment { players, rounds, endowment, multiplier, .. } = e;
    let OriginalModelConfig { base_model, adapter_path, use_peft, temperature, .. } = model;
    let adapter = adapter_path.as_ref().filter(|_| *use_peft);
    let llm_model = adapter.map_or(base_model.clone(), |path| format!("{base_model} with {path}"));
    let config = json!({
        "experiment_id": experiment,
        "games": games,
        "group_size": players,
        "game_length": rounds,
        "endowment": endowment,
        "horizon_knowledge": if e.shows_rounds { "known" } else { "unknown" },
        "mpcr": multiplier / f64::from(*players),
        "contribution_type": if e.all_or_nothing { "all_or_nothing" } else { "variable" },
        "contribution_framing": "opt_in",
        "communication_enabled": false,
        "peer_outcome_visibility": e.shows_others,
        "actor_anonymity": !(if e.reward { e.shows_rewarder } else { e.shows_punisher }),
        "punishment_enabled": e.punishment,
        "punishment_cost": e.punishment_cost,
        "punishment_impact": e.punishment_impact,
        "reward_enabled": e.reward,
        "reward_cost": e.reward_cost,
        "reward_impact": e.reward_impact,
        "llm_model": llm_model,
        "llm_temperature": temperature,
        "max_tokens": model.contrib_max_new_tokens,
        "max_parse_retries": 0,
    });
    from_value(&config, "")
}

/// A prompt, split where its rounds and its question begin.
fn pieces(prompt: &str) -> impl Iterator<Item = &str> {
    let marks = ["\n<ROUND i=", "\nQUESTION:"];
    let mut cuts: Vec<usize> =
        marks.iter().flat_map(|mark| prompt.match_indices(mark)).map(|(at, _)| at + 1).collect();
    cuts.extend([0, prompt.len()]);
    cuts.sort_unstable();
    let ends: Vec<usize> = cuts[1..].to_vec();
    cuts.into_iter()
        .zip(ends)
        .filter_map(|(from, to)| prompt.get(from..to))
        .filter(|p| !p.is_empty())
}

/// The payoffs in the last round summary that a prompt shows.
fn payoffs(prompt: &str) -> Vec<(String, i64)> {
    let summary = prompt.rsplit_once("<ROUND SUMMARY json='").map_or("", |(_, rest)| rest);
    let json = summary.split_once("'/>").map_or("", |(json, _)| json);
    // A prompt without a legible summary shows no payoffs.
    let players = serde_json::from_str::<BTreeMap<String, serde_json::Value>>(json);
    let coins = players.into_iter().flatten().filter_map(|(name, shown)| {
        let avatar = name.strip_suffix(" (YOU)").unwrap_or(&name).to_owned();
        Some((avatar, shown["payoff"].as_i64()?))
    });
    coins.collect()
}
