//! Asks in all games at once, and again if an answer is not usable.

use std::sync::Arc;

use super::experiment::Adventure;
use retold::id::CallPath;
use retold::parse::Parser;
use retold::prompt::Request;
use retold::run;
use retold::run::{Answer, CallFailed, Question, Run, Source, Stop};

/// A question of one game.
pub(super) struct Query<P> {
    pub(super) game: u32,
    pub(super) call: CallPath,
    pub(super) request: Request,
    pub(super) parser: Arc<P>,
    /// The sources of the prompt.
    pub(super) because: Vec<Source>,
}

/// The outcome of a question.
pub(super) struct Tried<V> {
    pub(super) game: u32,
    /// The usable answer, or otherwise the last one; an error if the call failed.
    pub(super) answer: Result<Answer<V>, CallFailed>,
    pub(super) usable: bool,
    /// The number of unusable answers.
    pub(super) unusable: u32,
}

impl<V> Tried<V> {
    /// The answer, if it is usable.
    pub(super) fn used(&self) -> Option<&Answer<V>> {
        self.answer.as_ref().ok().filter(|_| self.usable)
    }
}

/// Asks all questions. Those whose answers are not usable are asked again as the next sample, up to
/// `retries` times, or without limit if not given. Returns the outcomes in the order of the
/// questions.
pub(super) async fn until<P: Parser>(
    run: &mut Run<Adventure>,
    queries: Vec<Query<P>>,
    retries: Option<u32>,
    usable: impl Fn(&P::Value) -> bool,
) -> Result<Vec<Tried<P::Value>>, Stop> {
    let games: Vec<u32> = queries.iter().map(|query| query.game).collect();
    let questions = queries.into_iter().map(|query| {
        let Query { game: _, call, request, parser, because } = query;
        Question::new(call, request, parser).because(because)
    });
    let most = retries.map_or(u32::MAX, |retries| retries.saturating_add(1));
    let tried = run.ask_all_until(questions, most, |answer| usable(&answer.value)).await?;
    let tried = games.into_iter().zip(tried).map(|(game, tried)| {
        let run::Tried { answer, accepted: usable, refused: unusable, .. } = tried;
        Tried { game, answer, usable, unusable }
    });
    Ok(tried.collect())
}
