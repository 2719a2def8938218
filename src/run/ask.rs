//! Asking many questions at once, with the answers in the order of the questions.

use std::collections::VecDeque;

use futures::StreamExt;
use futures::stream::FuturesUnordered;

use super::ahead::parse_ahead;
use super::core::{Core, Exchanged};
use super::experiment::{Experiment, Run};
use super::question::{Answer, CallFailed, Question};
use super::stop::Stop;
use crate::model::EMBEDDINGS_TOGETHER;
use crate::parse::{ParsedAnswer, Parser};
use crate::prompt::Api;

/// How many questions may be prepared beyond those under way.
const SPARE: usize = 8;

/// How many answers may wait for an earlier one before asking is paused.
const AHEAD: usize = 4096;

/// A question, how it ended, and the parsed answer if it was long.
pub(super) type AnsweredQuestion<P> =
    (Question<P>, Exchanged, Option<ParsedAnswer<<P as Parser>::Value>>);

impl<E: Experiment + ?Sized> Run<E> {
    /// Asks one question; the answer is recorded, parsed, and the decision recorded.
    ///
    /// # Errors
    /// [`Stop`] if the run cannot continue; the inner [`CallFailed`] if only this call failed.
    pub async fn ask<P: Parser>(
        &mut self,
        question: Question<P>,
    ) -> Result<Result<Answer<P::Value>, CallFailed>, Stop> {
        let question = self.core.as_recorded(question)?;
        let exchanged = self.core.exchange(&question.asked).await?;
        let ahead = parse_ahead(&question, &exchanged).await;
        decide(&self.core, &question, exchanged, ahead)
    }

    /// Asks many questions concurrently; the answers come in the order of the questions.
    ///
    /// # Errors
    /// As [`Run::ask`].
    pub async fn ask_all<P: Parser>(
        &mut self,
        questions: impl IntoIterator<Item = Question<P>>,
    ) -> Result<Vec<Result<Answer<P::Value>, CallFailed>>, Stop> {
        let mut answers = Vec::new();
        let keep = |_: &mut Self, answer| {
            answers.push(answer);
            Ok(())
        };
        self.ask_each(questions, keep).await?;
        Ok(answers)
    }

    /// Asks many questions concurrently and passes on each answer, in the order of the questions,
    /// as soon as it and all earlier ones are available. For runs too large to hold all answers.
    ///
    /// # Errors
    /// As [`Run::ask`], and any error of `each`.
    pub async fn ask_each<P: Parser>(
        &mut self,
        questions: impl IntoIterator<Item = Question<P>>,
        mut each: impl FnMut(&mut Self, Result<Answer<P::Value>, CallFailed>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let core = self.core.clone();
        core.phases.asking(true);
        let mut questions = questions.into_iter().fuse().peekable();
        let mut flying = FuturesUnordered::new();
        // Answers waiting for an earlier one; the first belongs to question number `delivered`.
        let mut waiting: VecDeque<Option<AnsweredQuestion<P>>> = VecDeque::new();
        let mut delivered = 0_usize;
        // Twice the number of concurrent attempts: questions that wait for a retry hold no permit
        // and must not keep others from being asked.
        let most = 2 * core.setup.throttle.limits().concurrency + SPARE;
        // A hundred texts to be embedded are one request.
        let room = |question: &Question<P>| match question.request().api() {
            Api::Chat | Api::Tool => most,
            Api::Embedding => most.saturating_mul(EMBEDDINGS_TOGETHER),
        };
        let mut stop: Option<Stop> = None;
        // Whether a question is held for a batch. The others are asked all the same, and nothing more is passed on.
        let mut is_held = false;
        loop {
            while stop.is_none() && (is_held || waiting.len() < AHEAD) {
                let Some(question) = questions.next_if(|next| flying.len() < room(next)) else {
                    break;
                };
                let question = match core.as_recorded(question) {
                    Ok(question) => question,
                    Err(e) => {
                        stop = Some(e);
                        break;
                    }
                };
                match core.look_up(&question.asked) {
                    Ok(Some(_)) if is_held => {}
                    // The common case of a replay: in order and available.
                    Ok(Some(exchanged)) if waiting.is_empty() => {
                        delivered += 1;
                        let answer = decide(&core, &question, exchanged, None);
                        if let Err(e) = answer.and_then(|answer| each(self, answer)) {
                            stop = Some(e);
                        }
                    }
                    Ok(Some(exchanged)) => waiting.push_back(Some((question, exchanged, None))),
                    Ok(None) => {
                        let number = delivered + waiting.len();
                        if !is_held {
                            waiting.push_back(None);
                        }
                        let core = core.clone();
                        flying.push(async move {
                            let ended = match core.live(&question.asked).await {
                                Ok(exchanged) => {
                                    let ahead = parse_ahead(&question, &exchanged).await;
                                    Ok((question, exchanged, ahead))
                                }
                                Err(stop) => Err(stop),
                            };
                            (number, ended)
                        });
                    }
                    Err(e) => stop = Some(e),
                }
            }
            if stop.is_some() {
                // Calls in flight were paid for, so they are awaited and recorded. Nothing new
                // begins.
                core.brake.pull();
            }
            let Some((number, ended)) = flying.next().await else { break };
            match ended {
                Err(Stop::Held) => is_held = true,
                Ok(_) if is_held => {}
                Ok(ended) => waiting[number - delivered] = Some(ended),
                Err(e) => stop = Some(more_telling(stop, e)),
            }
            if is_held {
                waiting.clear();
            }
            while stop.is_none() && matches!(waiting.front(), Some(Some(_))) {
                let Some(Some((question, exchanged, ahead))) = waiting.pop_front() else { break };
                delivered += 1;
                let answer = decide(&core, &question, exchanged, ahead);
                if let Err(e) = answer.and_then(|answer| each(self, answer)) {
                    stop = Some(e);
                }
            }
        }
        core.phases.asking(false);
        stop.or(is_held.then_some(Stop::Held)).map_or(Ok(()), Err)
    }
}

/// The more informative of two reasons to stop: an interruption often follows from the other.
pub(super) fn more_telling(first: Option<Stop>, then: Stop) -> Stop {
    match first {
        Some(Stop::Interrupted | Stop::Held) | None => then,
        Some(first) => first,
    }
}

fn decide<P: Parser>(
    core: &Core,
    question: &Question<P>,
    exchanged: Exchanged,
    ahead: Option<ParsedAnswer<P::Value>>,
) -> Result<Result<Answer<P::Value>, CallFailed>, Stop> {
    let answered = match exchanged {
        Ok(answered) => answered,
        Err(failed) => return Ok(Err(failed)),
    };
    let (answer, decision) = core.parse(question, answered, ahead)?;
    core.decide(decision, &answer.decision)?;
    Ok(Ok(answer))
}
