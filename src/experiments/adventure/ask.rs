//! Asking in all games at once, and again where an answer cannot be used.

use std::sync::Arc;

use super::experiment::Adventure;
use crate::id::CallPath;
use crate::parse::Parser;
use crate::prompt::Request;
use crate::run::{Answer, CallFailed, Question, Run, Source, Stop};

/// A question of one game.
pub(super) struct Query<P> {
    pub(super) game: u32,
    pub(super) call: CallPath,
    pub(super) request: Request,
    pub(super) parser: Arc<P>,
    /// What the prompt was made from.
    pub(super) because: Vec<Source>,
}

/// What came of it.
pub(super) struct Tried<V> {
    pub(super) game: u32,
    /// The answer that can be used, or else the last one; none if the call failed.
    pub(super) answer: Result<Answer<V>, CallFailed>,
    pub(super) usable: bool,
    /// Answers that could not be used.
    pub(super) unusable: u32,
}

impl<V> Tried<V> {
    /// The answer, if it can be used.
    pub(super) fn used(&self) -> Option<&Answer<V>> {
        self.answer.as_ref().ok().filter(|_| self.usable)
    }
}

/// Asks all questions, and those again as the next sample whose answers cannot be used, up to
/// `retries` times; without end if not given. What came of each, in the order of the questions.
pub(super) async fn until<P: Parser>(
    run: &mut Run<Adventure>,
    queries: Vec<Query<P>>,
    retries: Option<u32>,
    usable: impl Fn(&P::Value) -> bool,
) -> Result<Vec<Tried<P::Value>>, Stop> {
    let mut done: Vec<(usize, Tried<P::Value>)> = Vec::with_capacity(queries.len());
    let mut open: Vec<(usize, Query<P>)> = queries.into_iter().enumerate().collect();
    let mut sample = 0;
    while !open.is_empty() {
        let questions = open.iter().map(|(_, query)| {
            let Query { call, request, parser, because, .. } = query;
            let question = Question::new(call.clone(), request.clone(), parser.clone());
            question.sample(sample).because(because)
        });
        let answers = run.ask_all(questions.collect::<Vec<_>>()).await?;
        let mut again = Vec::new();
        for ((place, query), answer) in open.into_iter().zip(answers) {
            let usable = answer.as_ref().is_ok_and(|answer| usable(&answer.value));
            if answer.is_ok() && !usable && retries.is_none_or(|most| sample < most) {
                again.push((place, query));
                continue;
            }
            let unusable = sample + u32::from(answer.is_ok() && !usable);
            done.push((place, Tried { game: query.game, answer, usable, unusable }));
        }
        open = again;
        sample += 1;
    }
    done.sort_by_key(|(place, _)| *place);
    Ok(done.into_iter().map(|(_, tried)| tried).collect())
}
