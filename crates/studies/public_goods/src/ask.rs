//! Asks many players at once, each until an answer is usable.

use std::sync::Arc;

use super::config::IfUnusable;
use super::experiment::PublicGoods;
use super::facts::{DecidingAnswer, Fact, PlayerTurn};
use super::stage::Stage;
use retold::content::Content;
use retold::parse::Parser;
use retold::prompt::Request;
use retold::run::{Answer, CallFailed, DecisionRef, Question, RetriedAnswer, Run, Source, Stop};

/// One question to one player.
pub(super) struct PlayerQuestion<P> {
    pub(super) turn: PlayerTurn,
    pub(super) stage: Stage,
    pub(super) request: Request,
    pub(super) parser: Arc<P>,
    /// The sources of the prompt.
    pub(super) because: Vec<Source>,
}

/// An answer that is used.
#[derive(Debug, Clone)]
pub(super) struct Got<V> {
    pub(super) value: V,
    pub(super) by: DecidingAnswer,
    pub(super) content: Content,
    pub(super) reasoning: Option<String>,
    pub(super) decision: DecisionRef,
}

/// A player without a usable answer.
#[derive(Debug, Clone)]
pub(super) struct PlayerFailure {
    turn: PlayerTurn,
    call: String,
    sample: u32,
    reason: String,
}

impl PlayerFailure {
    /// The fact that ends the game for a player.
    pub(super) fn fact(self) -> Fact {
        let PlayerFailure { turn, call, sample, reason } = self;
        Fact::PlayerFailed { turn, call, sample, reason }
    }

    fn new(turn: PlayerTurn, failed: CallFailed) -> Self {
        let CallFailed { call, sample, failure } = failed;
        PlayerFailure { turn, call: call.to_string(), sample, reason: failure.to_string() }
    }
}

/// The outcome of a question.
pub(super) type Outcome<V> = Result<Got<V>, PlayerFailure>;

/// Whether a method found the player's decision. The other methods are the parsers' last resorts,
/// and tags that contain something else.
pub(super) fn is_usable(method: &str) -> bool {
    !matches!(method, "default" | "wrong_length" | "unreadable_tag" | "no_message")
}

impl PublicGoods {
    /// Asks all questions at once. Those whose answers are not usable are asked again, as the next
    /// sample, up to `max_parse_retries` times. After that, either the parser's default counts or
    /// the player has failed, depending on the config.
    pub(super) async fn ask<P: Parser>(
        &self,
        run: &mut Run<Self>,
        asks: Vec<PlayerQuestion<P>>,
        usable: fn(&str) -> bool,
    ) -> Result<Vec<(PlayerTurn, Outcome<P::Value>)>, Stop> {
        let questions: Result<Vec<_>, Stop> = asks.iter().map(PlayerQuestion::question).collect();
        let most = self.config.max_parse_retries.saturating_add(1);
        let tried = run.ask_all_until(questions?, most, |answer| usable(answer.method)).await?;
        let outcomes = asks.iter().zip(tried).map(|(ask, tried)| {
            let RetriedAnswer { answer, accepted, sample, .. } = tried;
            let outcome = match answer {
                Err(failed) => Err(PlayerFailure::new(ask.turn, failed)),
                Ok(answer) if accepted || self.config.unusable_answer == IfUnusable::Default => {
                    Ok(got(answer, sample))
                }
                Ok(answer) => Err(ask.unusable(&answer.warnings, sample)),
            };
            (ask.turn, outcome)
        });
        Ok(outcomes.collect())
    }
}

impl<P> PlayerQuestion<P> {
    fn question(&self) -> Result<Question<P>, Stop> {
        let (request, parser) = (self.request.clone(), self.parser.clone());
        Ok(self.stage.question(self.turn, request, parser)?.because(&self.because))
    }

    fn unusable(&self, warnings: &[String], sample: u32) -> PlayerFailure {
        let tries = sample + 1;
        let last = warnings.join("; ");
        let reason = format!("none of {tries} answers could be used; the last one: {last}");
        PlayerFailure { turn: self.turn, call: self.stage.call(self.turn), sample, reason }
    }
}

fn got<V>(answer: Answer<V>, sample: u32) -> Got<V> {
    let Answer { value, method, reasoning, content, decision, .. } = answer;
    Got {
        value,
        by: DecidingAnswer { method: method.to_owned(), sample },
        content,
        reasoning,
        decision,
    }
}
