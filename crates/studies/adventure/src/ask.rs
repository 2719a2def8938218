//! Asks in all games at once, and again if an answer is not usable.

use std::sync::Arc;

use retold::id::CallPath;
use retold::parse::Parser;
use retold::prompt::Request;
use retold::run::{Experiment, Question, RetriedAnswer, Run, Source, Stop};

/// A question of one game.
pub(super) struct GameQuestion<P> {
    pub(super) game: u32,
    /// `None` before the first.
    pub(super) turn: Option<u32>,
    pub(super) call: CallPath,
    pub(super) request: Request,
    pub(super) parser: Arc<P>,
    /// The sources of the prompt.
    pub(super) because: Vec<Source>,
}

/// Asks all questions. Those whose answers are not usable are asked again as the next sample, up to
/// `retries` times, or without limit if not given. Returns the outcomes with their games, in the
/// order of the questions.
pub(super) async fn ask_until_usable<E: Experiment, P: Parser>(
    run: &mut Run<E>,
    queries: Vec<GameQuestion<P>>,
    retries: Option<u32>,
    usable: impl Fn(&P::Value) -> bool,
) -> Result<Vec<(u32, RetriedAnswer<P::Value>)>, Stop> {
    let games: Vec<u32> = queries.iter().map(|query| query.game).collect();
    let questions = queries.into_iter().map(|query| {
        let GameQuestion { game, turn, call, request, parser, because } = query;
        let question = Question::new(call, request, parser).because(because).label("game", game);
        match turn {
            Some(turn) => question.label("turn", turn),
            None => question,
        }
    });
    let most = retries.map_or(u32::MAX, |retries| retries.saturating_add(1));
    let tried = run.ask_all_until(questions, most, |answer| usable(&answer.value)).await?;
    Ok(games.into_iter().zip(tried).collect())
}
