//! A player's whole story: every round, with the messages that it received, its reasoning, its
//! contributions and the outcome.

use serde::Deserialize;
use serde_json::json;

use super::facts::{DecidingAnswer, Fact, PlayerTurn};
use super::rules::Units;
use super::situation::situation;
use super::stage::Stage;
use super::state::{Game, PlayedGames, PlayerSeat};
use super::words::{coins, units};
use retold::id::{CallPath, Seq};
use retold::run::{OutputError, Report, RunRecord};
use retold_study::story::{Chapter, StoryStatement, indent, is_numbered, no_part, tell, text};

/// The text that a player is shown about a settled round: game, player, round. `None` if the
/// prompts are not ours.
pub(crate) type Shown<'a> = &'a dyn Fn(&Game, u32, u32) -> Option<String>;

/// The story of a player: `game1/agent_0`, or `game1/SNAKE`; without the game if there is only one. Or a
/// [`situation`]. `None` if this is the name of neither.
///
/// # Errors
/// [`OutputError`] if there is no such player, or the record lacks something that the story is made
/// from.
pub(crate) fn story(
    state: &PlayedGames,
    part: &str,
    shown: Shown<'_>,
    record: &mut RunRecord<'_>,
) -> Result<Option<Report>, OutputError> {
    if let Some(told) = situation(state, part, record)? {
        return Ok(Some(told));
    }
    let Some((game, seat)) = find(state, part) else {
        if !is_name(part) {
            return Ok(None);
        }
        let of_game = |game: &Game| -> Vec<String> {
            let name = |seat: &PlayerSeat| format!("game{}/agent_{}", game.number, seat.agent);
            game.players.iter().map(name).collect()
        };
        let players = state.games.iter().flat_map(of_game);
        return Err(no_part(record, format!("player {part}"), players));
    };
    let mut chapters = Vec::new();
    for (seq, fact) in facts(record)? {
        if let Some(chapter) = chapter(game, seat, fact, shown, record)? {
            chapters.push((seq, chapter));
        }
    }
    let (first, own) = (format!("game{}", game.number), format!("agent_{}", seat.agent));
    let about = |call: &CallPath| {
        let mut parts = call.as_str().split('/');
        parts.next() == Some(&first) && parts.nth(1) == Some(&own)
    };
    let told = tell(record, chapters, &about)?;
    let status = if seat.failed.is_some() { "failed" } else { "played" };
    let mut said = format!("player {first}/{own}  {}  {status}\n", seat.avatar);
    if let Some((round, reason)) = &seat.failed {
        said.push_str(&format!("  in round {round}\n{}\n", indent(reason)));
    }
    said.push_str(&text(&told));
    let json = json!({
        "game": game.number,
        "agent_id": own,
        "avatar_name": seat.avatar,
        "llm_model": seat.llm_model,
        "wallet": seat.wallet,
        "failed": seat.failed,
        "story": told,
    });
    Ok(Some(Report { json, text: said, ..Report::default() }))
}

fn facts(record: &RunRecord<'_>) -> Result<Vec<(Seq, Fact)>, OutputError> {
    let facts = record.facts.iter().zip(&record.places).enumerate();
    let typed = facts.map(|(number, (fact, place))| match Fact::deserialize(fact) {
        Ok(fact) => Ok((place.seq, fact)),
        Err(e) => Err(OutputError::Fact { number, source: e.into() }),
    });
    typed.collect()
}

fn find<'a>(state: &'a PlayedGames, part: &str) -> Option<(&'a Game, &'a PlayerSeat)> {
    let (game, name) = match part.split_once('/') {
        Some((game, name)) => (state.game(game.strip_prefix("game")?.parse().ok()?)?, name),
        None => (state.games.first().filter(|_| state.games.len() == 1)?, part),
    };
    let is = |seat: &&PlayerSeat| seat.avatar == name || format!("agent_{}", seat.agent) == name;
    game.players.iter().find(is).map(|seat| (game, seat))
}

/// Whether this can only be the name of a player: calls have more parts.
fn is_name(part: &str) -> bool {
    match part.split_once('/') {
        Some((game, name)) => is_numbered(game, "game") && !name.contains('/'),
        None => is_numbered(part, "agent_"),
    }
}

/// The chapter of a fact about the player; `None` if it is about others.
fn chapter(
    game: &Game,
    seat: &PlayerSeat,
    fact: Fact,
    shown: Shown<'_>,
    record: &mut RunRecord<'_>,
) -> Result<Option<Chapter>, OutputError> {
    let (this, agent) = (game.number, seat.agent);
    let is_own = |turn: &PlayerTurn| (turn.game, turn.agent) == (this, agent);
    let (what, lines) = match fact {
        Fact::Seated { game, agent: who, avatar, llm_model } if (game, who) == (this, agent) => {
            let lines = vec![
                StoryStatement::plain("avatar", avatar),
                StoryStatement::plain("model", llm_model),
            ];
            ("seated".to_owned(), lines)
        }
        Fact::Spoke { turn, message, by } if is_own(&turn) => {
            let mut lines = heard(game, turn, true);
            lines.extend(thought(record, Stage::Chat, turn, &by)?);
            let said = if message.is_empty() { "(nothing)".to_owned() } else { message };
            lines.push(StoryStatement::new("said", said, Stage::Chat.call(turn)));
            lines.push(StoryStatement::plain("method", by.method));
            (format!("round {}: message", turn.round), lines)
        }
        Fact::Contributed { turn, stated, contribution, by, reasoning: _ } if is_own(&turn) => {
            let mut lines = heard(game, turn, false);
            lines.extend(thought(record, Stage::Contribution, turn, &by)?);
            let call = Stage::Contribution.call(turn);
            lines.push(StoryStatement::new("stated", stated.to_string(), call));
            let amount =
                StoryStatement::new("amount", stated.to_string(), Stage::Decision.call(turn));
            lines.push(amount.if_asked());
            lines.push(StoryStatement::plain("contributed", coins(contribution as f64)));
            lines.push(StoryStatement::plain("method", by.method));
            (format!("round {}: contribution", turn.round), lines)
        }
        Fact::Redistributed { turn, units, was_scaled, by } if is_own(&turn) => {
            let mut lines: Vec<StoryStatement> =
                thought(record, Stage::Redistribution, turn, &by)?.into_iter().collect();
            let gave = gave(game, &units);
            lines.push(StoryStatement::new("gave", gave, Stage::Redistribution.call(turn)));
            if was_scaled {
                lines
                    .push(StoryStatement::plain("scaled down", "the player could not pay for all"));
            }
            lines.push(StoryStatement::plain("method", by.method));
            (format!("round {}: redistribution", turn.round), lines)
        }
        Fact::RoundSettled { game: number, round, payoffs, .. } if number == this => {
            let own = payoffs.iter().find(|(who, _)| *who == agent);
            let Some((_, earned)) = own else { return Ok(None) };
            let mut lines = vec![StoryStatement::plain("got", coins(*earned))];
            lines.extend(
                shown(game, agent, round).map(|text| StoryStatement::plain("was shown", text)),
            );
            (format!("round {round}: outcome"), lines)
        }
        Fact::ReasoningEmbedded { turn, dimensions, vector, floats: _ } if is_own(&turn) => {
            let vector = format!("{dimensions} numbers, {}", vector.short(12));
            let line = StoryStatement::new("vector", vector, Stage::Embedding.call(turn));
            (format!("round {}: reasons as a vector", turn.round), vec![line])
        }
        Fact::PlayersGrouped { groups, .. } => {
            let own = groups.iter().find(|(game, who, _)| (*game, *who) == (this, agent));
            let Some((.., group)) = own else { return Ok(None) };
            (
                "grouped by reasoning".to_owned(),
                vec![StoryStatement::plain("group", group.to_string())],
            )
        }
        Fact::PlayerFailed { turn, call, reason, .. } if is_own(&turn) => {
            let lines = vec![StoryStatement::unused("reason", reason, call)];
            (format!("round {}: failed", turn.round), lines)
        }
        _ => return Ok(None),
    };
    Ok(Some(Chapter { what, lines }))
}

/// What others said in the round: everything, or only what came before the player's own message.
fn heard(game: &Game, turn: PlayerTurn, before_own: bool) -> Vec<StoryStatement> {
    let messages = game.round(turn.round).into_iter().flat_map(|round| &round.messages);
    let heard = messages.take_while(|m| !before_own || m.agent != turn.agent);
    let heard = heard.filter(|m| m.agent != turn.agent && !m.text.is_empty());
    heard
        .map(|m| StoryStatement::plain(&format!("heard from {}", game.avatar(m.agent)), &*m.text))
        .collect()
}

pub(super) fn gave(game: &Game, all: &[Units]) -> String {
    let given = all.iter().filter(|u| u.decided > 0).map(|u| {
        let paid =
            if u.actual == u.decided { String::new() } else { format!(", {} paid for", u.actual) };
        format!("{} to {}{paid}", units(u.decided), game.avatar(u.target))
    });
    let given: Vec<String> = given.collect();
    if given.is_empty() { "nothing to anyone".to_owned() } else { given.join("; ") }
}

fn is_asked(
    record: &mut RunRecord<'_>,
    stage: Stage,
    turn: PlayerTurn,
) -> Result<bool, OutputError> {
    let Ok(call) = CallPath::new(stage.call(turn)) else { return Ok(false) };
    Ok(record.samples(&call)?.contains_key(&0))
}

/// The reasoning for what an answer decided, as the decision separates it. Where the amount is asked for after the
/// reasoning, it is that of the first answer.
pub(super) fn reasoning(
    record: &mut RunRecord<'_>,
    stage: Stage,
    turn: PlayerTurn,
    by: &DecidingAnswer,
) -> Result<Option<String>, OutputError> {
    let is_apart = stage == Stage::Contribution && is_asked(record, Stage::Decision, turn)?;
    let sample = if is_apart { 0 } else { by.sample };
    let Ok(call) = CallPath::new(stage.call(turn)) else { return Ok(None) };
    let decision = record.decision(&call, sample)?;
    Ok(decision.and_then(|decision| decision.details.reasoning))
}

fn thought(
    record: &mut RunRecord<'_>,
    stage: Stage,
    turn: PlayerTurn,
    by: &DecidingAnswer,
) -> Result<Option<StoryStatement>, OutputError> {
    let text = reasoning(record, stage, turn, by)?;
    Ok(text.map(|text| StoryStatement::plain("thought", text)))
}
