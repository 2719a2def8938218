//! The answers that counted, with the reasoning that each decision separates from the action.

use super::row::{RowHead, table_of_players};
use crate::config::Config;
use crate::facts::{DecidingAnswer, PlayerTurn};
use crate::stage::Stage;
use crate::state::{Game, PlayedGames, Round};
use retold::content::Content;
use retold::id::{CallPath, Time};
use retold::run::{OutputError, RunRecord};
use retold_study::table::Table;

/// An answer that counted.
pub(super) struct CountedAnswer {
    pub(super) turn: PlayerTurn,
    pub(super) stage: Stage,
    pub(super) by: DecidingAnswer,
    /// When the answer arrived.
    time: Time,
    /// The answer's text.
    pub(super) text: String,
    /// Its reasoning, if the parser separates it.
    pub(super) reasoning: Option<String>,
    /// Its effect in the game: coins contributed, the message, or units for each other player.
    pub(super) result: String,
}

/// Reads the answers in the order of games, rounds, stages and players.
pub(super) fn read(
    config: &Config,
    state: &PlayedGames,
    record: &mut RunRecord<'_>,
) -> Result<Vec<CountedAnswer>, OutputError> {
    let mut answers = Vec::new();
    for game in &state.games {
        for round in &game.rounds {
            for (turn, stage, by, result) in decisions(game, round) {
                // If the amount is asked for separately, the reasoning is in the preceding answer.
                if stage == Stage::Contribution && config.decision_apart {
                    let reasoned = DecidingAnswer { method: by.method.clone(), sample: 0 };
                    answers.push(read_answer(record, turn, stage, reasoned, String::new())?);
                    answers.push(read_answer(record, turn, Stage::Decision, by, result)?);
                } else {
                    answers.push(read_answer(record, turn, stage, by, result)?);
                }
            }
        }
    }
    Ok(answers)
}

fn read_answer(
    record: &mut RunRecord<'_>,
    turn: PlayerTurn,
    stage: Stage,
    by: DecidingAnswer,
    result: String,
) -> Result<CountedAnswer, OutputError> {
    let (call, sample) = (stage.call(turn), by.sample);
    let missing = || OutputError::NoAnswer { call: call.clone(), sample };
    let path = CallPath::new(call.clone()).map_err(|_| missing())?;
    let Some((time, Content::Text(text))) = record.answer_with_time(&path, sample)? else {
        return Err(missing());
    };
    let decision = record.decision(&path, sample)?;
    let reasoning = decision.and_then(|decision| decision.details.reasoning);
    Ok(CountedAnswer { turn, stage, by, time, text: text.to_string(), reasoning, result })
}

/// The decisions in a round, with their answers.
fn decisions(game: &Game, round: &Round) -> Vec<(PlayerTurn, Stage, DecidingAnswer, String)> {
    let turn = |agent| PlayerTurn { game: game.number, round: round.number, agent };
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

/// `raw_responses.csv`: a row for each answer that counted.
pub(super) fn raw_responses(
    head: &RowHead,
    state: &PlayedGames,
    answers: &[CountedAnswer],
) -> Table {
    let mut table = table_of_players(
        "raw_responses",
        &["prompt_type", "raw_response", "parsed_result", "timestamp"],
    );
    for told in answers {
        let mut row = told.begin(head, state);
        row.extend([
            told.prompt_type().to_owned(),
            told.text.clone(),
            told.result.clone(),
            told.time.to_string(),
        ]);
        table.row(row);
    }
    table
}

impl CountedAnswer {
    /// The original program's name for the stage.
    pub(super) fn prompt_type(&self) -> &'static str {
        match self.stage {
            Stage::Chat => "chat",
            Stage::Contribution => "contribution",
            Stage::Decision => "contribution_decision",
            Stage::Redistribution => "redistribution",
            Stage::Embedding => "embedding",
        }
    }

    /// The cells for the player and the time of the answer.
    pub(super) fn begin(&self, head: &RowHead, state: &PlayedGames) -> Vec<String> {
        let PlayerTurn { game, round, agent } = self.turn;
        match state.game(game) {
            Some(game) => head.row_of_player(game, round, agent),
            None => vec![String::new(); 6],
        }
    }
}
