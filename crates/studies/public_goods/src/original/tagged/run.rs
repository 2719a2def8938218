//! Reads the files of an original run.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::avatars::AVATARS;
use crate::check::check_values;
use crate::config::Config;
use crate::facts::PlayerTurn;
use crate::original::config::RunConfig;
use crate::stage::Stage;
use retold::escaping::printable;
use retold::run::SIMULATED_MARK;
use retold_study::config::ConfigProblem;
use retold_study::original::{
    JsonFile, OriginalError, OriginalFolder, OriginalRow, Rows, from_value,
};

/// The longest message in the earlier of the original runs; in later ones, the parser's own limit
/// applies.
const SHORT: usize = 200;

/// The files of such a folder.
const FILES: &str = "config.json, game_log.csv, raw_responses.csv, chat_messages.csv and redistribution_details.csv";

/// The reasoning of an answer whose amount was asked for separately; the amount is next to it.
const FIRST_OF_TWO: &str = "contribution_iter0";

/// In our own files: that amount, as a separate answer.
const OWN_DECISION: &str = "contribution_decision";

/// A game, from 1, and a player of it, from 0.
type GamePlayer = (u32, u32);

/// An original run.
pub(super) struct TaggedRun {
    pub(super) config: Config,
    /// The files' names for the games, beginning with game 1.
    pub(super) games: Vec<String>,
    /// The answers, by our calls.
    pub(super) answers: BTreeMap<String, String>,
    pub(super) game_log: Rows,
    pub(super) chat_messages: Rows,
    pub(super) redistribution_details: Rows,
    pub(super) raw_responses: Rows,
    /// Players whose avatars are not in the files, by game.
    unnamed: Vec<GamePlayer>,
    /// Whether a program made the answers up.
    pub(super) simulated: bool,
    /// Whether its players were grouped by vectors of their reasoning.
    grouped: bool,
    /// Whether the config allowed messages but no player was asked for any.
    unasked: bool,
}

impl TaggedRun {
    /// Reads the files of a folder.
    pub(super) fn read(folder: &Path) -> Result<TaggedRun, OriginalError> {
        let folder = OriginalFolder::open(folder, FILES)?;
        let file = folder.json("config.json")?;
        let mut config = read_config(&file).map_err(|wrong| file.wrong(wrong))?;
        let turn = ["game_id", "round", "agent_id", "avatar_name"];
        let with = |own: &[&'static str]| [&turn, own].concat();
        let raw_responses = folder
            .table("raw_responses.csv", &with(&["prompt_type", "raw_response", "parsed_result"]))?;
        let game_log = folder.table(
            "game_log.csv",
            &with(&[
                "contribution",
                "punishments_sent",
                "punishments_received",
                "rewards_sent",
                "rewards_received",
                "round_payoff",
                "cumulative_wallet",
                "public_fund",
            ]),
        )?;
        let chat_messages = folder.table("chat_messages.csv", &with(&["message"]))?;
        let redistribution_details = folder.table(
            "redistribution_details.csv",
            &[
                "game_id", "round", "actor_id", "target_id", "type", "units_decided",
                "units_actual", "was_scaled", "cost", "impact",
            ],
        )?;
        let mut games: Vec<String> = Vec::new();
        for row in raw_responses.iter().chain(game_log.iter()) {
            let name = row.text("game_id");
            if !games.iter().any(|game| game == name) {
                games.push(name.to_owned());
            }
        }
        config.games = u32::try_from(games.len()).unwrap_or(u32::MAX).max(1);
        let named = raw_responses.iter().chain(game_log.iter());
        let (avatars, unnamed) = avatars(named, &games, config.group_size)?;
        config.avatars = Some(avatars);
        config.prompts = None;
        let grouped = config.reasoning.embedding_model.take().is_some();
        if is_cut_short(&chat_messages) {
            config.max_message_chars = SHORT;
        }
        let asked = |stage: &str| raw_responses.iter().any(|row| row.text("prompt_type") == stage);
        let unasked = config.communication_enabled && !raw_responses.is_empty() && !asked("chat");
        config.communication_enabled &= !unasked;
        config.decision_apart = raw_responses
            .iter()
            .any(|row| [OWN_DECISION, FIRST_OF_TWO].contains(&row.text("prompt_type")));
        check_values(&config).map_err(|wrong| {
            let ConfigProblem { key, message } = wrong;
            file.wrong(ConfigProblem { key: format!("config.{key}"), message })
        })?;
        let mut run = TaggedRun {
            config,
            games,
            answers: BTreeMap::new(),
            game_log,
            chat_messages,
            redistribution_details,
            raw_responses,
            unnamed,
            simulated: folder.has(SIMULATED_MARK),
            grouped,
            unasked,
        };
        run.answers = run.calls()?;
        Ok(run)
    }

    /// The turn of a row.
    pub(super) fn turn(
        &self,
        row: &OriginalRow<'_>,
        agent: &str,
    ) -> Result<PlayerTurn, OriginalError> {
        let (game, round) = self.round(row)?;
        Ok(PlayerTurn { game, round, agent: row.agent(agent, self.config.group_size)? })
    }

    /// The game and the round of a row.
    pub(super) fn round(&self, row: &OriginalRow<'_>) -> Result<(u32, u32), OriginalError> {
        let name = row.text("game_id");
        let game = (1..).zip(&self.games).find(|(_, game)| *game == name).map(|(n, _)| n);
        let game = game.ok_or_else(|| {
            let name = printable(name, 40);
            row.wrong(format!("game_id: {name:?} is in neither raw_responses.csv nor game_log.csv"))
        })?;
        let (round, last) = (row.number("round")?, self.config.game_length);
        if !(1..=last).contains(&round) {
            return Err(row.wrong(format!("round: {round}, in a game of {last}")));
        }
        Ok((game, round))
    }

    /// The files' name for a game.
    pub(super) fn game(&self, number: u32) -> &str {
        let at = (number as usize).checked_sub(1);
        at.and_then(|at| self.games.get(at)).map_or("", String::as_str)
    }

    /// The answer to each of our calls.
    fn calls(&self) -> Result<BTreeMap<String, String>, OriginalError> {
        let mut answers = BTreeMap::new();
        for row in self.raw_responses.iter() {
            let turn = self.turn(&row, "agent_id")?;
            let answer = row.text("raw_response").to_owned();
            let stage = match row.text("prompt_type") {
                "chat" => Stage::Chat,
                "contribution" => Stage::Contribution,
                "redistribution" => Stage::Redistribution,
                OWN_DECISION => Stage::Decision,
                FIRST_OF_TWO => {
                    let amount = row.text("parsed_result").to_owned();
                    answers.insert(Stage::Decision.call(turn), amount);
                    Stage::Contribution
                }
                other => {
                    let known = "chat, contribution, contribution_iter0 or redistribution";
                    return Err(row.wrong(format!("prompt_type: {other:?} is not {known}")));
                }
            };
            let call = stage.call(turn);
            if answers.insert(call.clone(), answer).is_some() {
                return Err(row.wrong(format!("a second answer to {call}")));
            }
        }
        Ok(answers)
    }

    /// The games with answers after the last logged round, each with the first of these rounds.
    fn unlogged_games(&self) -> Vec<String> {
        let mut last: BTreeMap<u32, u32> = BTreeMap::new();
        for (game, round) in self.game_log.iter().filter_map(|row| self.round(&row).ok()) {
            let last = last.entry(game).or_default();
            *last = round.max(*last);
        }
        let first = |(game, name): (u32, &String)| {
            // Without any row, the first round is the first that is not logged.
            let last = last.get(&game).copied().unwrap_or(0);
            let agents = 0..self.config.group_size;
            let mut rounds = last + 1..=self.config.game_length;
            let round = rounds.find(|round| {
                let turn = |agent| PlayerTurn { game, round: *round, agent };
                let call = |agent| Stage::Contribution.call(turn(agent));
                agents.clone().any(|agent| self.answers.contains_key(&call(agent)))
            });
            round.map(|round| format!("{}, round {round}", printable(name, 40)))
        };
        (1..).zip(&self.games).filter_map(first).collect()
    }

    /// The data that the original did not record.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = vec!["the prompts: ours are asked in their place".to_owned()];
        if self.raw_responses.iter().any(|row| row.text("prompt_type") == FIRST_OF_TWO) {
            notes.push(
                "the words of the second question, for the amount alone: only the amount is there"
                    .to_owned(),
            );
        }
        if self.answers.is_empty() {
            notes.push(
                "the answers: raw_responses.csv has no rows, so that nobody plays; the rows of \
                 game_log.csv are computed again from the actions in them"
                    .to_owned(),
            );
        }
        if self.game_log.is_empty() {
            notes.push(
                "the end: game_log.csv has no rows, the run broke off in its first round"
                    .to_owned(),
            );
        }
        let unlogged = self.unlogged_games();
        if let Some(first) = unlogged.first().filter(|_| !self.game_log.is_empty()) {
            let more = match unlogged.len() - 1 {
                0 => String::new(),
                more => format!(" (and so with {more} more)"),
            };
            notes.push(format!(
                "the end: game_log.csv has no rows from {first} on{more}, and there are answers: the run \
                 broke off there, or the rows are lost; nothing is compared there"
            ));
        }
        if self.unasked {
            notes.push(
                "messages: config.json allows them, and nobody was asked for one; ours does not ask, \
                 either"
                    .to_owned(),
            );
        }
        let incentives = [self.config.punishment_enabled, self.config.reward_enabled];
        if incentives == [true, true] {
            notes.push(
                "which units were punishment and which reward: one array was both".to_owned(),
            );
        }
        if self.grouped {
            notes.push(
                "the vectors of the reasoning: nobody is grouped by it; the run's own log has them"
                    .to_owned(),
            );
        }
        if !self.unnamed.is_empty() {
            let agents = self.unnamed.iter().map(|(game, n)| match self.games.len() {
                0 | 1 => format!("agent_{n}"),
                _ => format!("agent_{n} of {}", printable(self.game(*game), 40)),
            });
            let agents: Vec<String> = agents.collect();
            notes.push(format!("the avatars of {}: others stand in", agents.join(", ")));
        }
        notes
    }
}

fn read_config(file: &JsonFile) -> Result<Config, ConfigProblem> {
    let RunConfig { experiment_id, mut config } = from_value(&file.value, "")?;
    config.insert("experiment_id".to_owned(), experiment_id.into());
    // Our own folders specify the version; the original program's version is our first.
    config.entry("parser_version").or_insert(Value::from(1));
    config.insert("max_parse_retries".to_owned(), Value::from(0));
    from_value(&Value::Object(config), "config")
}

/// Whether messages were cut as in the earlier runs: the longest ones have exactly that length.
fn is_cut_short(messages: &Rows) -> bool {
    let lengths = messages.iter().map(|row| {
        let text = row.text("message");
        (text.chars().count(), text.ends_with("..."))
    });
    lengths.max() == Some((SHORT + "...".len(), true))
}

/// The avatars of every game, one game after the other, and the players without one.
fn avatars<'a>(
    rows: impl Iterator<Item = OriginalRow<'a>>,
    games: &[String],
    players: u32,
) -> Result<(Vec<String>, Vec<GamePlayer>), OriginalError> {
    let mut named: BTreeMap<(&str, u32), &str> = BTreeMap::new();
    for row in rows {
        let (agent, avatar) = (row.agent("agent_id", players)?, row.text("avatar_name"));
        let before = named.insert((row.text("game_id"), agent), avatar);
        if let Some(before) = before.filter(|before| *before != avatar) {
            let (avatar, before) = (printable(avatar, 40), printable(before, 40));
            return Err(row.wrong(format!(
                "avatar_name: agent_{agent} is {avatar:?} here and {before:?} before"
            )));
        }
    }
    let (mut avatars, mut unnamed) = (Vec::new(), Vec::new());
    let nameless = [String::new()];
    let games = if games.is_empty() { &nameless } else { games };
    for (number, game) in (1..).zip(games) {
        let of = |agent| named.get(&(game.as_str(), agent)).copied();
        let taken: Vec<&str> = (0..players).filter_map(of).collect();
        let mut spare = AVATARS.iter().filter(|avatar| !taken.contains(avatar));
        for agent in 0..players {
            let name = of(agent).or_else(|| {
                unnamed.push((number, agent));
                spare.next().copied()
            });
            // There are more avatars than players in a game.
            avatars.push(name.unwrap_or("").to_owned());
        }
    }
    Ok((avatars, unnamed))
}
