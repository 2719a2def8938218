//! A situation: a stage of a round of a game, in which all its players have seen the same rounds. Their reasons one after
//! another, each with the model that played and its action, so that they can be compared as texts.

use serde_json::{Value, json};

use super::facts::{DecidingAnswer, PlayerTurn};
use super::stage::Stage;
use super::state::{Game, PlayedGames, PlayerSeat, Round};
use super::story::{gave, reasoning};
use super::words::{coins, quantity};
use retold::run::{OutputError, Report, RunRecord};
use retold_study::story::{indent, is_numbered, no_part};

/// The stages in which players decide, with their names.
const STAGES: [(&str, Stage); 3] = [
    ("chat", Stage::Chat),
    ("contribution", Stage::Contribution),
    ("redistribution", Stage::Redistribution),
];

/// The situation `game1/r01/contribution`, or all those of the round `game1/r01`; without the game if there is only
/// one. `None` if this is not the name of a situation.
///
/// # Errors
/// [`OutputError`] if there is no such situation, or the record lacks an answer.
pub(super) fn situation(
    state: &PlayedGames,
    part: &str,
    record: &mut RunRecord<'_>,
) -> Result<Option<Report>, OutputError> {
    let Some(wanted) = SituationName::read(part) else { return Ok(None) };
    let mut found: Vec<Situation<'_>> =
        situations(state).filter(|situation| wanted.is_of(situation)).collect();
    if wanted.game.is_none() && state.games.len() != 1 {
        found.clear();
    }
    if found.is_empty() {
        let names = situations(state).map(|situation| situation.name());
        return Err(no_part(record, format!("situation {part}"), names));
    }
    let (mut text, mut all) = (String::new(), Vec::new());
    for situation in &found {
        let players = situation.players(record)?;
        if !text.is_empty() {
            text.push('\n');
        }
        let count = quantity(players.len(), "player");
        text.push_str(&format!("situation {}: {count}\n", situation.name()));
        players.iter().for_each(|player| text.push_str(&player.text()));
        all.push(json!({
            "game": situation.game.number,
            "round": situation.round.number,
            "stage": situation.stage_name,
            "players": players.iter().map(ReasonedAction::json).collect::<Vec<_>>(),
        }));
    }
    let json = json!({"situations": all});
    Ok(Some(Report { json, text, ..Report::default() }))
}

/// The name of a situation, or of all those of a round.
struct SituationName<'a> {
    game: Option<&'a str>,
    round: &'a str,
    stage: Option<&'a str>,
}

impl<'a> SituationName<'a> {
    fn read(part: &'a str) -> Option<Self> {
        let (game, rest) = match part.split_once('/') {
            Some((game, rest)) if is_numbered(game, "game") => (Some(game), rest),
            _ => (None, part),
        };
        let (round, stage) = match rest.split_once('/') {
            Some((round, stage)) => (round, Some(stage)),
            None => (rest, None),
        };
        let is_stage = stage.is_none_or(|stage| STAGES.iter().any(|(name, _)| *name == stage));
        (is_numbered(round, "r") && is_stage).then_some(SituationName { game, round, stage })
    }

    fn is_of(&self, situation: &Situation<'_>) -> bool {
        let number = |name: Option<&str>, prefix| name?.strip_prefix(prefix)?.parse::<u32>().ok();
        self.game.is_none_or(|game| number(Some(game), "game") == Some(situation.game.number))
            && number(Some(self.round), "r") == Some(situation.round.number)
            && self.stage.is_none_or(|stage| stage == situation.stage_name)
    }
}

struct Situation<'a> {
    game: &'a Game,
    round: &'a Round,
    stage_name: &'static str,
    stage: Stage,
}

/// The names of all situations.
pub(super) fn situation_names(state: &PlayedGames) -> Vec<String> {
    situations(state).map(|situation| situation.name()).collect()
}

/// Those in which anybody decided.
fn situations(state: &PlayedGames) -> impl Iterator<Item = Situation<'_>> {
    let rounds = state.games.iter().flat_map(|game| game.rounds.iter().map(move |r| (game, r)));
    rounds.flat_map(|(game, round)| {
        let of_stage = move |(stage_name, stage)| Situation { game, round, stage_name, stage };
        STAGES.into_iter().map(of_stage).filter(Situation::is_decided)
    })
}

/// A player's action and its reasons.
struct ReasonedAction<'a> {
    game: u32,
    seat: &'a PlayerSeat,
    /// `None` if nothing was decided.
    done: Option<(String, DecidingAnswer)>,
    reasoning: Option<String>,
}

impl<'a> Situation<'a> {
    fn name(&self) -> String {
        format!("game{}/r{:02}/{}", self.game.number, self.round.number, self.stage_name)
    }

    fn is_decided(&self) -> bool {
        self.game.players.iter().any(|seat| self.action(seat.agent).is_some())
    }

    /// A player's action, in words, and the answer that decided.
    fn action(&self, agent: u32) -> Option<(String, DecidingAnswer)> {
        let Situation { game, round, stage, .. } = *self;
        match stage {
            Stage::Chat => {
                let said = round.messages.iter().find(|message| message.agent == agent)?;
                let text = match said.text.as_str() {
                    "" => "said nothing".to_owned(),
                    text => format!("said: {text}"),
                };
                Some((text, said.by.clone()))
            }
            Stage::Redistribution => {
                let given = round.redistributions.iter().find(|given| given.agent == agent)?;
                Some((format!("gave {}", gave(game, &given.units)), given.by.clone()))
            }
            Stage::Contribution | Stage::Decision | Stage::Embedding => {
                let own = round.contribution(agent)?;
                Some((format!("contributed {}", coins(own.coins as f64)), own.by.clone()))
            }
        }
    }

    fn players(&self, record: &mut RunRecord<'_>) -> Result<Vec<ReasonedAction<'a>>, OutputError> {
        let (game, round) = (self.game.number, self.round.number);
        let player = |seat: &'a PlayerSeat| {
            let done = self.action(seat.agent);
            let turn = PlayerTurn { game, round, agent: seat.agent };
            let reasoning = match &done {
                Some((_, by)) => reasoning(record, self.stage, turn, by)?,
                None => None,
            };
            Ok(ReasonedAction { game, seat, done, reasoning })
        };
        self.game.players.iter().map(player).collect()
    }
}

impl ReasonedAction<'_> {
    fn text(&self) -> String {
        let ReasonedAction { game, seat, done, reasoning } = self;
        let done = match (done, &seat.failed) {
            (Some((what, by)), _) => format!("{what}  ({})", by.method),
            (None, Some((round, reason))) => format!("left the game in round {round}: {reason}"),
            (None, None) => "decided nothing".to_owned(),
        };
        let reasoning = match reasoning {
            Some(reasoning) => indent(reasoning),
            None => indent("(no reasoning apart from the action)"),
        };
        let PlayerSeat { agent, avatar, llm_model, .. } = seat;
        format!("\ngame{game}/agent_{agent}  {avatar}  {llm_model}  {done}\n{reasoning}\n")
    }

    fn json(&self) -> Value {
        let ReasonedAction { seat, done, reasoning, .. } = self;
        json!({
            "agent_id": format!("agent_{}", seat.agent),
            "avatar_name": seat.avatar,
            "llm_model": seat.llm_model,
            "action": done.as_ref().map(|(what, _)| what),
            "method": done.as_ref().map(|(_, by)| &by.method),
            "reasoning": reasoning,
        })
    }
}
