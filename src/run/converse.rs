//! Many independent dialogues at once, their decisions and facts logged in the order of the
//! dialogues.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use futures::StreamExt;
use futures::stream::FuturesUnordered;

use super::ahead::parse_ahead;
use super::ask::more_telling;
use super::because::FactRef;
use super::core::SharedCore;
use super::experiment::{Experiment, Run};
use super::outcomes::NewDecision;
use super::question::{Answer, CallFailed, DecisionRef, Question};
use super::stop::Stop;
use crate::parse::Parser;

/// One of many dialogues. Its answers are recorded as they arrive; its decisions and facts are
/// logged when all dialogues before it have ended, so that the order never depends on timing.
pub struct Talk<E: Experiment + ?Sized> {
    core: SharedCore,
    outcomes: Outcomes<E>,
    /// Whether any of the dialogues is under way.
    under_way: Rc<Cell<bool>>,
}

/// What one dialogue is yet to log, in order.
type Outcomes<E> = Vec<Outcome<<E as Experiment>::Event>>;

enum Outcome<F> {
    Decision(NewDecision, DecisionRef),
    Fact(F, Vec<DecisionRef>, FactRef),
}

impl<E: Experiment + ?Sized> Talk<E> {
    /// Asks one question.
    ///
    /// # Errors
    /// As [`Run::ask`].
    pub async fn ask<P: Parser>(
        &mut self,
        question: Question<P>,
    ) -> Result<Result<Answer<P::Value>, CallFailed>, Stop> {
        let exchanged = self.core.exchange(&question.asked).await?;
        let ahead = parse_ahead(&question, &exchanged).await;
        let answered = match exchanged {
            Ok(answered) => answered,
            Err(failed) => return Ok(Err(failed)),
        };
        let (answer, decision) = self.core.parse(&question, answered, ahead)?;
        self.outcomes.push(Outcome::Decision(decision, answer.decision.clone()));
        Ok(Ok(answer))
    }

    /// Records a fact and the decisions that caused it.
    pub fn record(&mut self, fact: E::Event, causes: &[DecisionRef]) {
        self.record_ref(fact, causes);
    }

    /// Records a fact, and hands back what names it as a [source](Question::because) of prompts after
    /// [`Run::converse_all`]. Within the dialogue, name the decisions that caused it.
    pub fn record_ref(&mut self, fact: E::Event, causes: &[DecisionRef]) -> FactRef {
        let known_as = FactRef::of_dialogue(&self.under_way);
        self.outcomes.push(Outcome::Fact(fact, causes.to_vec(), known_as.clone()));
        known_as
    }
}

impl<E: Experiment + ?Sized> Run<E> {
    /// Runs one dialogue an item, all concurrently; the results come in the order of the items.
    ///
    /// # Errors
    /// As [`Run::ask`], and whatever a dialogue raises.
    pub async fn converse_all<T, R>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        dialogue: impl AsyncFn(&mut Talk<E>, T) -> Result<R, Stop>,
    ) -> Result<Vec<R>, Stop> {
        let core = self.core.clone();
        let mut flying = FuturesUnordered::new();
        let under_way = Rc::new(Cell::new(true));
        for (number, item) in items.into_iter().enumerate() {
            let (core, dialogue, under_way) = (core.clone(), &dialogue, under_way.clone());
            flying.push(async move {
                let mut talk = Talk { core, outcomes: Vec::new(), under_way };
                let result = dialogue(&mut talk, item).await;
                (number, result.map(|result| (result, talk.outcomes)))
            });
        }
        let mut results = Vec::with_capacity(flying.len());
        let mut waiting: BTreeMap<usize, (R, Outcomes<E>)> = BTreeMap::new();
        let mut stop: Option<Stop> = None;
        while let Some((number, result)) = flying.next().await {
            match result {
                Ok(ended) => drop(waiting.insert(number, ended)),
                Err(e) => {
                    // The others finish the question they are at, which is paid for, and no more.
                    core.brake.pull();
                    stop = Some(more_telling(stop, e));
                }
            }
            while stop.is_none()
                && let Some((result, outcomes)) = waiting.remove(&results.len())
            {
                results.push(result);
                if let Err(e) = self.log(outcomes) {
                    core.brake.pull();
                    stop = Some(e);
                }
            }
        }
        under_way.set(false);
        stop.map_or(Ok(results), Err)
    }

    fn log(&mut self, outcomes: Outcomes<E>) -> Result<(), Stop> {
        for outcome in outcomes {
            match outcome {
                Outcome::Decision(decision, known_as) => self.core.decide(decision, &known_as)?,
                Outcome::Fact(fact, causes, known_as) => {
                    known_as.set(self.log_fact(&fact, &causes)?);
                }
            }
        }
        Ok(())
    }
}
