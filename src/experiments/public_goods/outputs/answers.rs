//! The answers that counted, read again from the log with the parsers that decided.

use super::Head;
use crate::content::Content;
use crate::experiments::public_goods::ask::Stage;
use crate::experiments::public_goods::experiment::PublicGoods;
use crate::experiments::public_goods::facts::{By, Turn};
use crate::experiments::public_goods::state::{Game, Played, Round};
use crate::id::CallPath;
use crate::parse::Parser;
use crate::run::{OutputError, RunRecord};
use crate::table::Table;

/// An answer that counted.
pub(super) struct Told {
    pub(super) turn: Turn,
    pub(super) stage: Stage,
    pub(super) by: By,
    /// What the model said.
    pub(super) text: String,
    /// Its reasoning, if the parser keeps one apart.
    pub(super) reasoning: Option<String>,
    /// What it came to in the game: coins contributed, the message, units for each other player.
    pub(super) result: String,
}

/// Reads the answers in the order of games, rounds, stages and players.
pub(super) fn read(
    play: &PublicGoods,
    state: &Played,
    record: &mut RunRecord<'_>,
) -> Result<Vec<Told>, OutputError> {
    let mut answers = Vec::new();
    for game in &state.games {
        for round in &game.rounds {
            for (turn, stage, by, result) in decided(game, round) {
                // Where the amount is asked for by itself, the reasoning is in the answer before.
                let apart = stage == Stage::Contribution && play.config.decision_apart;
                if apart {
                    let by = By { method: by.method.clone(), sample: 0 };
                    let text = text(record, Stage::Contribution, turn, 0)?;
                    let reasoning = play.parsers.contribution.parse(&text).reasoning;
                    let result = String::new();
                    answers.push(Told { turn, stage, by, text, reasoning, result });
                }
                let stage = if apart { Stage::Decision } else { stage };
                let text = text(record, stage, turn, by.sample)?;
                let reasoning = match stage {
                    Stage::Chat => play.parsers.chat.parse(&text).reasoning,
                    Stage::Redistribution => {
                        let targets = round.contributions.len().saturating_sub(1);
                        let parser = play.parsers.redistribution.get(targets);
                        parser.and_then(|parser| parser.parse(&text).reasoning)
                    }
                    _ => play.parsers.contribution.parse(&text).reasoning,
                };
                answers.push(Told { turn, stage, by, text, reasoning, result });
            }
        }
    }
    Ok(answers)
}

/// What was decided in a round, and by which answers.
fn decided(game: &Game, round: &Round) -> Vec<(Turn, Stage, By, String)> {
    let turn = |agent| Turn { game: game.number, round: round.number, agent };
    let mut all = Vec::new();
    for message in &round.messages {
        all.push((turn(message.agent), Stage::Chat, message.by.clone(), message.text.clone()));
    }
    for c in &round.contributions {
        all.push((turn(c.agent), Stage::Contribution, c.by.clone(), c.coins.to_string()));
    }
    for r in &round.redistributions {
        let units: Vec<String> = r.units.iter().map(|units| units.decided.to_string()).collect();
        let result = format!("[{}]", units.join(", "));
        all.push((turn(r.agent), Stage::Redistribution, r.by.clone(), result));
    }
    all
}

fn text(
    record: &mut RunRecord<'_>,
    stage: Stage,
    turn: Turn,
    sample: u32,
) -> Result<String, OutputError> {
    let call = stage.call(turn);
    let missing = || OutputError::Missing { what: format!("the answer of {call} sample {sample}") };
    let path = CallPath::new(call.clone()).map_err(|_| missing())?;
    match record.answer(&path, sample)? {
        Some(Content::Text(text)) => Ok(text.to_string()),
        Some(Content::Vector(_)) | None => Err(missing()),
    }
}

/// `raw_responses.csv`: a row for each answer that counted.
pub(super) fn raw_responses(head: &Head, state: &Played, answers: &[Told]) -> Table {
    let mut table = Table::new(
        "raw_responses",
        &[
            "experiment_id",
            "config_hash",
            "game_id",
            "round",
            "agent_id",
            "avatar_name",
            "prompt_type",
            "raw_response",
            "parsed_result",
            "timestamp",
        ],
    );
    for told in answers {
        let mut row = told.begin(head, state);
        row.extend([
            told.prompt_type().to_owned(),
            told.text.clone(),
            told.result.clone(),
            head.timestamp.clone(),
        ]);
        table.row(row);
    }
    table
}

impl Told {
    /// As the original program spells the stage.
    pub(super) fn prompt_type(&self) -> &'static str {
        match self.stage {
            Stage::Chat => "chat",
            Stage::Contribution => "contribution",
            Stage::Decision => "contribution_decision",
            Stage::Redistribution => "redistribution",
            Stage::Embedding => "embedding",
        }
    }

    /// The cells that say who answered when.
    pub(super) fn begin(&self, head: &Head, state: &Played) -> Vec<String> {
        let Turn { game, round, agent } = self.turn;
        let mut row = match state.game(game) {
            Some(game) => head.row(game),
            None => vec![String::new(); 3],
        };
        let avatar = state.game(game).map_or("", |game| game.avatar(agent));
        row.extend([round.to_string(), format!("agent_{agent}"), avatar.to_owned()]);
        row
    }
}
