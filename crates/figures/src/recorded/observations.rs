//! The facts, decisions and open questions of a run, as figures count them.

use std::collections::{BTreeMap, BTreeSet};

use retold::content::Content;
use retold::decide::last_resort;
use retold::decided::{
    DecidedQuestion, DecisionAbout, DecisionJoin, DecisionsSince, JoinedDecision,
};
use retold::event::{DecisionMade, Event, RequestSent, StoredEvent};
use retold::id::{CallPath, RunId, Sample, Seq};
use retold::log::{LogError, Reader, RunEvents};
use retold::parse::Parsers;
use retold::run::{Shortcomings, run_start};
use serde_json::Value;

/// Something that a figure may count.
#[derive(Debug, Clone, Copy)]
pub enum Observation<'a> {
    /// A decision that is in force.
    Decision {
        /// The name of the decision.
        name: &'a str,
        /// The question that it belongs to.
        question: &'a DecidedQuestion,
        /// The value.
        value: &'a Value,
        /// Whether the parser found nothing, so that the value is its last resort.
        is_fallback: bool,
        /// Whether another call of the run was given the answer first.
        is_shared: bool,
        /// Whether a judge made it.
        is_judged: bool,
        /// Whether a simulated judge made it up.
        is_simulated: bool,
        /// Whether the answer was refused.
        is_refused: bool,
    },
    /// An answer, which may have no decision.
    Answer {
        /// The question.
        question: &'a DecidedQuestion,
        /// How it falls short.
        lacks: Shortcomings,
        /// Whether another call of the run was given the answer first.
        is_shared: bool,
    },
    /// A question that has no answer: it failed, or the run ended first.
    Unanswered {
        /// The question.
        question: &'a DecidedQuestion,
    },
    /// A fact.
    Fact {
        /// The fact.
        fact: &'a Value,
    },
}

/// Receives the observations of a run.
type Receive<'a> = dyn FnMut(&mut dyn Reader, Observation<'_>) -> Result<(), LogError> + 'a;

/// Passes on the observations of a run: facts and decisions as they come, then decisions that were accepted since,
/// then questions without an answer. Decisions that are not in force are left out, and so are those after which a
/// study asked again: the answer had no usable value, no fact rests on it, and the next sample of the same call
/// stands for both. All answers are passed on but vectors.
///
/// # Errors
/// [`LogError`] if the log cannot be read or is damaged, or any error of `each`.
pub fn each_observation(
    reader: &mut dyn Reader,
    run: RunId,
    parsers: &Parsers,
    each: &mut Receive<'_>,
) -> Result<(), LogError> {
    let started = run_start(reader, run)?;
    let mut observing = Observing {
        parsers,
        is_study: started.is_of_experiment(),
        end: Seq(0),
        last_resort: None,
        open: OpenQuestions::default(),
        unusable: BTreeMap::new(),
        asked_again: BTreeSet::new(),
        cited: BTreeSet::new(),
        shared: BTreeSet::new(),
        refused: BTreeSet::new(),
    };
    let mut join = observing.pass_on_run(reader, run, each)?;
    let since = join.since(reader)?;
    observing.pass_on_decisions(reader, since, each)?;
    for question in observing.open.questions.into_values() {
        each(reader, Observation::Unanswered { question: &question })?;
    }
    Ok(())
}

/// A decision, and whether the parser found nothing.
struct ObservedDecision {
    joined: JoinedDecision,
    is_fallback: bool,
    is_shared: bool,
    is_refused: bool,
}

impl ObservedDecision {
    fn address(&self) -> (CallPath, Sample) {
        (self.joined.question.call.clone(), self.joined.question.sample)
    }

    /// Whether it, or its answer, is one of these events.
    fn is_among(&self, events: &BTreeSet<Seq>) -> bool {
        events.contains(&self.joined.seq) || events.contains(&self.joined.made.response)
    }

    fn is_usable(&self) -> bool {
        !self.is_fallback && !self.joined.made.details.value.is_null()
    }

    /// Passes it on if it is in force.
    fn pass_on(&self, reader: &mut dyn Reader, each: &mut Receive<'_>) -> Result<(), LogError> {
        let ObservedDecision { joined, is_fallback, is_shared, is_refused } = self;
        let JoinedDecision { made, question, in_force, .. } = joined;
        if !in_force {
            return Ok(());
        }
        let (name, value) = (made.by.decides(), &made.details.value);
        let observation = Observation::Decision {
            name,
            question,
            value,
            is_fallback: *is_fallback,
            is_shared: *is_shared,
            is_judged: made.by.is_by_judge(),
            is_simulated: made.by.is_simulated(),
            is_refused: *is_refused,
        };
        each(reader, observation)
    }
}

/// Questions without an answer so far. One that was asked again after a crash replaces the lost one.
#[derive(Default)]
struct OpenQuestions {
    questions: BTreeMap<Seq, DecidedQuestion>,
    by_address: BTreeMap<(CallPath, Sample), Seq>,
}

impl OpenQuestions {
    fn add(&mut self, seq: Seq, sent: RequestSent) {
        let RequestSent { call, sample, prompt, labels, because } = sent;
        if let Some(lost) = self.by_address.insert((call.clone(), sample), seq) {
            self.questions.remove(&lost);
        }
        let is_dependent = !because.is_empty();
        let question = DecidedQuestion { seq, call, sample, prompt, labels, is_dependent };
        self.questions.insert(seq, question);
    }

    /// A question that is answered.
    fn remove(&mut self, seq: Seq) -> Option<DecidedQuestion> {
        let question = self.questions.remove(&seq)?;
        self.by_address.remove(&(question.call.clone(), question.sample));
        Some(question)
    }
}

struct Observing<'a> {
    parsers: &'a Parsers,
    is_study: bool,
    /// The last event of the run that was read: of a damaged run, the last before the damage.
    end: Seq,
    /// The parser of the last decision, and its last resort: mostly the same as that of the next.
    last_resort: Option<(Value, Option<&'static str>)>,
    open: OpenQuestions,
    /// In a study: decisions without a usable value, until the end, when it is known whether it asked again.
    unusable: BTreeMap<(CallPath, Sample), Vec<ObservedDecision>>,
    /// Answers after which it did.
    asked_again: BTreeSet<(CallPath, Sample)>,
    /// What facts rest on, since the first decision without a usable value.
    cited: BTreeSet<Seq>,
    /// Calls with an answer that another call was given first.
    shared: BTreeSet<(CallPath, Sample)>,
    /// Answers that were refused.
    refused: BTreeSet<Seq>,
}

impl Observing<'_> {
    /// Passes on the facts and decisions of the run itself.
    fn pass_on_run(
        &mut self,
        reader: &mut dyn Reader,
        run: RunId,
        each: &mut Receive<'_>,
    ) -> Result<DecisionJoin, LogError> {
        let mut join = DecisionJoin::new(reader, run)?;
        let mut events = RunEvents::new(run);
        while let Some(stored) = events.next(reader)? {
            self.end = stored.seq;
            if let Some(joined) = join.decision(reader, &stored)? {
                let decided = self.observe(joined.made.response, joined);
                match self.is_study && !decided.is_usable() {
                    true => self.unusable.entry(decided.address()).or_default().push(decided),
                    false => decided.pass_on(reader, each)?,
                }
                continue;
            }
            let event = stored.event().map_err(LogError::from)?;
            let lacks = Shortcomings::of(&event).unwrap_or_default();
            match event {
                Event::RequestSent(sent) => {
                    if let Some(before) = sent.sample.checked_sub(1) {
                        let address = (sent.call.clone(), before);
                        if self.unusable.contains_key(&address) {
                            self.asked_again.insert(address);
                        }
                    }
                    self.open.add(stored.seq, sent);
                }
                Event::ResponseReceived(received) => {
                    let question = self.open.remove(received.request);
                    self.pass_on_answer(reader, &stored, question, lacks, each)?;
                }
                Event::AnswerReused(reused) => {
                    let question = self.open.remove(reused.request);
                    let shared = question.as_ref().filter(|_| reused.from_run == run);
                    self.shared.extend(shared.map(|it| (it.call.clone(), it.sample)));
                    self.pass_on_answer(reader, &stored, question, lacks, each)?;
                }
                Event::Occurred(occurred) => {
                    if !self.unusable.is_empty() {
                        self.cited.extend(&occurred.causes);
                    }
                    each(reader, Observation::Fact { fact: &occurred.fact })?;
                }
                _ => {}
            }
        }
        for (address, decided) in std::mem::take(&mut self.unusable) {
            // Samples on which facts rest are all answers of their own, though others follow.
            if decided.iter().any(|decided| decided.is_among(&self.cited)) {
                self.asked_again.remove(&address);
            }
            if !self.asked_again.contains(&address) {
                decided.iter().try_for_each(|decided| decided.pass_on(reader, each))?;
            }
        }
        Ok(join)
    }

    /// Passes on decisions that were accepted about its answers, as far as these were read.
    fn pass_on_decisions(
        &mut self,
        reader: &mut dyn Reader,
        mut since: DecisionsSince,
        each: &mut Receive<'_>,
    ) -> Result<(), LogError> {
        while let Some(DecisionAbout { answer, joined, .. }) = since.next(reader)? {
            if answer > self.end {
                continue;
            }
            let decided = self.observe(answer, joined);
            if !self.asked_again.contains(&decided.address()) {
                decided.pass_on(reader, each)?;
            }
        }
        Ok(())
    }

    /// Passes on an answer, unless it is not known to which question.
    fn pass_on_answer(
        &mut self,
        reader: &mut dyn Reader,
        answer: &StoredEvent,
        question: Option<DecidedQuestion>,
        lacks: Shortcomings,
        each: &mut Receive<'_>,
    ) -> Result<(), LogError> {
        self.refused.extend((lacks.refused > 0).then_some(answer.seq));
        let is_text = matches!(answer.content, Some(Content::Text(_)));
        let Some(question) = question.filter(|_| is_text) else { return Ok(()) };
        let is_shared = self.is_shared(&question);
        each(reader, Observation::Answer { question: &question, lacks, is_shared })
    }

    fn is_shared(&self, question: &DecidedQuestion) -> bool {
        let address = || (question.call.clone(), question.sample);
        !self.shared.is_empty() && self.shared.contains(&address())
    }

    /// `answer` is the one of the run that the decision is about.
    fn observe(&mut self, answer: Seq, joined: JoinedDecision) -> ObservedDecision {
        let is_fallback = self.is_fallback(&joined.made);
        let is_shared = self.is_shared(&joined.question);
        let is_refused = self.refused.contains(&answer);
        ObservedDecision { joined, is_fallback, is_shared, is_refused }
    }

    /// Whether the parser found nothing.
    fn is_fallback(&mut self, made: &DecisionMade) -> bool {
        let parser = &made.by.parser;
        let known = self.last_resort.as_ref().filter(|(known, _)| known == parser);
        let last_resort = match known {
            Some((_, last_resort)) => *last_resort,
            None => last_resort(parser, self.parsers),
        };
        if known.is_none() {
            self.last_resort = Some((parser.clone(), last_resort));
        }
        last_resort == Some(made.by.method.as_str())
    }
}
