//! Many independent dialogues at once; their decisions and facts are logged in the order of the
//! dialogues.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use futures::StreamExt;
use futures::stream::FuturesUnordered;

use super::ahead::parse_ahead;
use super::ask::{AnsweredQuestion, more_telling};
use super::because::{DecisionRef, FactRef};
use super::core::{Core, SharedCore};
use super::experiment::{Experiment, Run};
use super::outcomes::NewDecision;
use super::question::{Answer, CallFailed, Question};
use super::stop::Stop;
use crate::parse::Parser;
use crate::prompt::canonical;

/// One of many dialogues. Its answers are recorded as they arrive; its decisions and facts are
/// logged as soon as all earlier dialogues have ended, so that their order never depends on timing.
pub struct Talk<E: Experiment + ?Sized> {
    core: SharedCore,
    number: usize,
    order: Rc<RefCell<Order<E::Event>>>,
    /// Whether any of the dialogues is under way.
    under_way: Rc<Cell<bool>>,
}

enum PendingRecord<F> {
    Decision(NewDecision, DecisionRef),
    Fact(F, Vec<DecisionRef>, FactRef),
}

/// The outcomes that the dialogues have yet to log, and the dialogue whose turn it is.
struct Order<F> {
    /// The first dialogue that has not ended: its decisions and facts are logged at once.
    turn: usize,
    /// The decisions and facts of the others, each in its own order.
    waiting: BTreeMap<usize, Vec<PendingRecord<F>>>,
    /// Facts that are logged but not yet part of the state.
    logged: Vec<F>,
    /// Why logging has stopped, if a fact could not be logged.
    stop: Option<Stop>,
    /// Whether logging has ended.
    is_closed: bool,
}

impl<F: serde::Serialize> Order<F> {
    fn new() -> Self {
        let (waiting, logged) = (BTreeMap::new(), Vec::new());
        Order { turn: 0, waiting, logged, stop: None, is_closed: false }
    }

    /// Logs an outcome of a dialogue, or keeps it until the dialogue's turn.
    fn add(&mut self, core: &Core, number: usize, outcome: PendingRecord<F>) -> Result<(), Stop> {
        if number == self.turn && !self.is_closed {
            return self.log(core, outcome);
        }
        self.waiting.entry(number).or_default().push(outcome);
        Ok(())
    }

    /// Gives the turn to another dialogue, and logs what that one has made so far.
    fn pass_to(&mut self, core: &Core, number: usize) -> Result<(), Stop> {
        self.turn = number;
        let made = self.waiting.remove(&number).unwrap_or_default();
        made.into_iter().try_for_each(|outcome| self.log(core, outcome))
    }

    fn log(&mut self, core: &Core, outcome: PendingRecord<F>) -> Result<(), Stop> {
        let logged = match outcome {
            PendingRecord::Decision(decision, known_as) => core.decide(decision, &known_as),
            PendingRecord::Fact(fact, causes, known_as) => {
                let text = canonical(&fact).map_err(Stop::from);
                let logged = text.and_then(|text| core.occur(&causes, &text));
                logged.map(|seq| {
                    known_as.set(seq);
                    self.logged.push(fact);
                })
            }
        };
        self.is_closed |= logged.is_err();
        logged
    }
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
        let question = self.core.as_recorded(question)?;
        let exchanged = self.core.exchange(&question.asked).await?;
        let ahead = parse_ahead(&question, &exchanged).await;
        self.decide((question, exchanged, ahead))
    }

    /// Asks several questions at once, as when all participants of a dialogue act at the same time.
    /// The answers are in the order of the questions, and so are the decisions in the log,
    /// whichever answer came first.
    ///
    /// # Errors
    /// As [`Run::ask`].
    pub async fn ask_all<P: Parser>(
        &mut self,
        questions: impl IntoIterator<Item = Question<P>>,
    ) -> Result<Vec<Result<Answer<P::Value>, CallFailed>>, Stop> {
        let mut flying = FuturesUnordered::new();
        let mut waiting: Vec<Option<AnsweredQuestion<P>>> = Vec::new();
        for (number, question) in questions.into_iter().enumerate() {
            waiting.push(None);
            let core = self.core.clone();
            flying.push(async move {
                let question = core.as_recorded(question)?;
                let exchanged = core.exchange(&question.asked).await?;
                let ahead = parse_ahead(&question, &exchanged).await;
                Ok::<_, Stop>((number, (question, exchanged, ahead)))
            });
        }
        let mut answers = Vec::with_capacity(waiting.len());
        let mut stop: Option<Stop> = None;
        while let Some(ended) = flying.next().await {
            let mut failed = match ended {
                Ok((number, ended)) => {
                    waiting[number] = Some(ended);
                    None
                }
                Err(e) => Some(e),
            };
            while failed.is_none()
                && stop.is_none()
                && let Some(ended) = waiting.get_mut(answers.len()).and_then(Option::take)
            {
                match self.decide(ended) {
                    Ok(answer) => answers.push(answer),
                    Err(e) => failed = Some(e),
                }
            }
            if let Some(e) = failed {
                // Calls in flight were paid for, so they are awaited and recorded. Nothing new
                // begins, unless all that is new is held.
                if !matches!(e, Stop::Held) {
                    self.core.brake.pull();
                }
                stop = Some(more_telling(stop, e));
            }
        }
        stop.map_or(Ok(answers), Err)
    }

    /// Turns the end of a question into a decision, and logs it when it is this dialogue's turn.
    fn decide<P: Parser>(
        &self,
        (question, exchanged, ahead): AnsweredQuestion<P>,
    ) -> Result<Result<Answer<P::Value>, CallFailed>, Stop> {
        let answered = match exchanged {
            Ok(answered) => answered,
            Err(failed) => return Ok(Err(failed)),
        };
        let (answer, decision) = self.core.parse(&question, answered, ahead)?;
        let outcome = PendingRecord::Decision(decision, answer.decision.clone());
        self.order.borrow_mut().add(&self.core, self.number, outcome)?;
        Ok(Ok(answer))
    }

    /// Records a fact and the decisions that caused it.
    pub fn record(&mut self, fact: E::Event, causes: &[DecisionRef]) {
        self.record_ref(fact, causes);
    }

    /// Records a fact, and returns a [source](Question::because) for prompts after
    /// [`Run::converse_all`]. Within the dialogue, name the decisions that caused it instead.
    pub fn record_ref(&mut self, fact: E::Event, causes: &[DecisionRef]) -> FactRef {
        let known_as = FactRef::of_dialogue(&self.under_way);
        let outcome = PendingRecord::Fact(fact, causes.to_vec(), known_as.clone());
        let mut order = self.order.borrow_mut();
        if let Err(stop) = order.add(&self.core, self.number, outcome) {
            self.core.brake.pull();
            order.stop = Some(stop);
        }
        known_as
    }
}

impl<E: Experiment + ?Sized> Run<E> {
    /// Runs one dialogue per item, all concurrently; the results are in the order of the items.
    ///
    /// # Errors
    /// As [`Run::ask`], and any error of a dialogue.
    pub async fn converse_all<T, R>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        dialogue: impl AsyncFn(&mut Talk<E>, T) -> Result<R, Stop>,
    ) -> Result<Vec<R>, Stop> {
        let core = self.core.clone();
        let order = Rc::new(RefCell::new(Order::new()));
        let mut flying = FuturesUnordered::new();
        let under_way = Rc::new(Cell::new(true));
        for (number, item) in items.into_iter().enumerate() {
            let (core, dialogue) = (core.clone(), &dialogue);
            let (order, under_way) = (order.clone(), under_way.clone());
            flying.push(async move {
                let mut talk = Talk { core, number, order, under_way };
                (number, dialogue(&mut talk, item).await)
            });
        }
        let mut results = Vec::with_capacity(flying.len());
        let mut ended: BTreeMap<usize, R> = BTreeMap::new();
        let mut stop: Option<Stop> = None;
        while let Some((number, result)) = flying.next().await {
            let mut order = order.borrow_mut();
            let failed = match result {
                Ok(result) => {
                    ended.insert(number, result);
                    None
                }
                Err(e) => Some(e),
            };
            for e in failed.into_iter().chain(order.stop.take()) {
                // The others only finish their current question, which is paid for. Where one waits for a batch, they go on until
                // they wait as well; nothing of theirs is logged before its end, because the turn is not passed on.
                if !matches!(e, Stop::Held) {
                    core.brake.pull();
                    order.is_closed = true;
                }
                stop = Some(more_telling(stop, e));
            }
            while !order.is_closed
                && let Some(result) = ended.remove(&results.len())
            {
                results.push(result);
                if let Err(e) = order.pass_to(&core, results.len()) {
                    core.brake.pull();
                    stop = Some(more_telling(stop, e));
                }
            }
            for fact in order.logged.drain(..) {
                self.fold(&fact);
            }
        }
        under_way.set(false);
        stop.map_or(Ok(results), Err)
    }
}
