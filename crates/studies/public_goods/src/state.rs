//! The state: games, their players and rounds.

use serde::Serialize;

use super::facts::{DecidingAnswer, Fact, PlayerTurn};
use super::rules::Units;
use retold_study::floats::HashedVector;

/// The state.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct PlayedGames {
    /// Beginning with game 1.
    pub games: Vec<Game>,
    /// The reasons for contributions, if vectors of them are made.
    pub reasons: Vec<(PlayerTurn, String)>,
    /// The vectors of reasons.
    pub vectors: Vec<(PlayerTurn, HashedVector)>,
    /// The turns whose reasons have a vector.
    pub embedded: Vec<PlayerTurn>,
    /// Game, player and group of those who were grouped by their reasoning.
    pub groups: Vec<(u32, u32, usize)>,
    /// How well separated the groups are.
    pub silhouette: Option<f64>,
}

/// A game.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Game {
    /// From 1.
    pub number: u32,
    /// Beginning with `agent_0`.
    pub players: Vec<PlayerSeat>,
    /// Beginning with round 1; the last one may be unsettled.
    pub rounds: Vec<Round>,
}

/// A player.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlayerSeat {
    /// From 0.
    pub agent: u32,
    /// The name that the others know.
    pub avatar: String,
    /// The model that plays.
    pub llm_model: String,
    /// The earnings of all settled rounds.
    pub wallet: f64,
    /// Why the player left the game, and in which round.
    pub failed: Option<(u32, String)>,
}

/// A round.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Round {
    /// From 1.
    pub number: u32,
    /// In the order in which they were sent, including silence.
    pub messages: Vec<GameMessage>,
    /// In the order of the players.
    pub contributions: Vec<Contribution>,
    /// In the order of the players.
    pub redistributions: Vec<Redistribution>,
    /// How it ended.
    pub settled: Option<RoundResult>,
}

/// A message, or silence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GameMessage {
    /// The player.
    pub agent: u32,
    /// Empty for silence.
    pub text: String,
    /// The answer.
    pub by: DecidingAnswer,
}

/// A contribution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Contribution {
    /// The player.
    pub agent: u32,
    /// The coins in the answer.
    pub stated: i64,
    /// The coins in the public fund.
    pub coins: i64,
    /// The answer.
    pub by: DecidingAnswer,
}

/// A player's punishments and rewards of others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Redistribution {
    /// The player.
    pub agent: u32,
    /// For each other player of the round, in order.
    pub units: Vec<Units>,
    /// Whether the player could not pay for all of them.
    pub was_scaled: bool,
    /// The answer.
    pub by: DecidingAnswer,
}

/// How a round ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RoundResult {
    /// All contributions, multiplied.
    pub public_fund: f64,
    /// In the order of the players.
    pub payoffs: Vec<Payoff>,
}

/// A player's earnings in a round.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Payoff {
    /// The player.
    pub agent: u32,
    /// In coins.
    pub coins: f64,
    /// The earnings of all rounds up to this one.
    pub wallet: f64,
}

impl PlayedGames {
    /// A game by its number.
    pub fn game(&self, number: u32) -> Option<&Game> {
        self.games.iter().find(|game| game.number == number)
    }

    pub(crate) fn apply(&mut self, fact: &Fact) {
        match fact.clone() {
            Fact::Seated { game, agent, avatar, llm_model } => {
                let seat = PlayerSeat { agent, avatar, llm_model, wallet: 0.0, failed: None };
                self.at(game).players.push(seat);
            }
            Fact::Spoke { turn, message, by } => {
                let message = GameMessage { agent: turn.agent, text: message, by };
                self.round(turn.game, turn.round).messages.push(message);
            }
            Fact::Contributed { turn, stated, contribution, by, reasoning } => {
                self.reasons.extend(reasoning.map(|text| (turn, text)));
                let contribution =
                    Contribution { agent: turn.agent, stated, coins: contribution, by };
                self.round(turn.game, turn.round).contributions.push(contribution);
            }
            Fact::Redistributed { turn, units, was_scaled, by } => {
                let redistribution = Redistribution { agent: turn.agent, units, was_scaled, by };
                self.round(turn.game, turn.round).redistributions.push(redistribution);
            }
            Fact::RoundSettled { game, round, public_fund, payoffs } => {
                let payoffs =
                    payoffs.into_iter().map(|(agent, coins)| self.pay(game, agent, coins));
                let payoffs = payoffs.collect();
                self.round(game, round).settled = Some(RoundResult { public_fund, payoffs });
            }
            Fact::ReasoningEmbedded { turn, floats, .. } => {
                self.vectors.push((turn, HashedVector(floats)));
                self.embedded.push(turn);
            }
            Fact::PlayersGrouped { groups, silhouette } => {
                self.groups = groups;
                self.silhouette = silhouette;
            }
            Fact::PlayerFailed { turn, call, sample, reason } => {
                let failed = Some((turn.round, format!("{call} sample {sample}: {reason}")));
                if let Some(seat) = self.at(turn.game).seat_mut(turn.agent) {
                    seat.failed = failed;
                }
            }
        }
    }

    fn at(&mut self, number: u32) -> &mut Game {
        let at = match self.games.iter().position(|game| game.number == number) {
            Some(at) => at,
            None => {
                self.games.push(Game { number, ..Game::default() });
                self.games.len() - 1
            }
        };
        &mut self.games[at]
    }

    fn round(&mut self, game: u32, number: u32) -> &mut Round {
        let rounds = &mut self.at(game).rounds;
        let at = match rounds.iter().position(|round| round.number == number) {
            Some(at) => at,
            None => {
                rounds.push(Round { number, ..Round::default() });
                rounds.len() - 1
            }
        };
        &mut rounds[at]
    }

    fn pay(&mut self, game: u32, agent: u32, coins: f64) -> Payoff {
        let seat = self.at(game).seat_mut(agent);
        let wallet = seat.map_or(coins, |seat| {
            seat.wallet += coins;
            seat.wallet
        });
        Payoff { agent, coins, wallet }
    }
}

impl Game {
    /// The players who have not failed, in order.
    pub fn active(&self) -> impl Iterator<Item = &PlayerSeat> {
        self.players.iter().filter(|seat| seat.failed.is_none())
    }

    /// A player by number.
    pub fn seat(&self, agent: u32) -> Option<&PlayerSeat> {
        self.players.iter().find(|seat| seat.agent == agent)
    }

    /// The avatar of a player; empty if there is no player with that number.
    pub fn avatar(&self, agent: u32) -> &str {
        self.seat(agent).map_or("", |seat| &seat.avatar)
    }

    /// A round by its number.
    pub fn round(&self, number: u32) -> Option<&Round> {
        self.rounds.iter().find(|round| round.number == number)
    }

    fn seat_mut(&mut self, agent: u32) -> Option<&mut PlayerSeat> {
        self.players.iter_mut().find(|seat| seat.agent == agent)
    }
}

impl Round {
    /// Pairs of player and coins, in the order of the players.
    pub fn coins(&self) -> Vec<(u32, i64)> {
        self.contributions.iter().map(|c| (c.agent, c.coins)).collect()
    }

    /// A player's contribution.
    pub fn contribution(&self, agent: u32) -> Option<&Contribution> {
        self.contributions.iter().find(|c| c.agent == agent)
    }

    /// All units of the round, in the order of actors and targets.
    pub fn units(&self) -> Vec<Units> {
        self.redistributions.iter().flat_map(|r| r.units.iter().copied()).collect()
    }
}
