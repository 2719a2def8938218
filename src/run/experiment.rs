//! The trait of an experiment, and the [`Run`] that it receives.

use futures::future::LocalBoxFuture;
use rand_chacha::ChaCha12Rng;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::because::{DecisionRef, FactRef};
use super::core::SharedCore;
use super::folding::{Folding, StateOf};
use super::output::{OutputError, OutputFile};
use super::record::RunRecord;
use super::rng::rng_for;
use super::stop::Stop;
use crate::id::Seq;
use crate::prompt::canonical;

/// What an experiment reports about its final state.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Report {
    /// For programs.
    pub json: Value,
    /// For people: lines of plain text.
    pub text: String,
    /// Set when the run finished but produced nothing usable, for example when no participant
    /// completed it.
    pub empty_because: Option<String>,
    /// The parts that failed, such as participants, if the experiment has any.
    pub failed: Option<FailedParts>,
}

/// The parts of an experiment that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailedParts {
    /// How many failed.
    pub failed: u64,
    /// How many there are.
    pub of: u64,
    /// The name of the parts: `participants`.
    pub what: &'static str,
}

/// An experiment: ordinary sequential async code plus a pure fold.
///
/// `run` must be deterministic: no clock, no thread RNG, no hash-map order. Everything that it
/// decides by belongs in the state, because no digest covers data that is kept elsewhere. It can
/// then be executed again from its log, which is how a run is replayed and resumed.
///
/// ```
/// use std::collections::BTreeMap;
/// use std::sync::Arc;
///
/// use retold::id::CallPath;
/// use retold::parse::vote::VoteParser;
/// use retold::prompt::ChatRequest;
/// use retold::run::{Experiment, Question, Report, Run, Stop};
///
/// /// Twenty people vote, all at once.
/// struct Poll(Arc<VoteParser>);
///
/// impl Experiment for Poll {
///     type Event = Option<String>;
///     type State = BTreeMap<String, u32>;
///
///     fn apply(votes: &mut BTreeMap<String, u32>, vote: &Option<String>) {
///         let option = vote.clone().unwrap_or("no vote".to_owned());
///         *votes.entry(option).or_default() += 1;
///     }
///
///     async fn run(&self, run: &mut Run<Self>) -> Result<(), Stop> {
///         let mut questions = Vec::new();
///         for person in 1..=20 {
///             let request = ChatRequest::new("gpt-4o", "Tea or coffee?").into_request()?;
///             let call = CallPath::new(format!("vote/p_{person:04}"))?;
///             let question = Question::new(call, request, self.0.clone());
///             questions.push(question.label("participant", person));
///         }
///         // The answers come in the order of the questions, whichever was faster.
///         for answer in run.ask_all(questions).await?.into_iter().flatten() {
///             run.record(answer.value, &[answer.decision])?;
///         }
///         Ok(())
///     }
///
///     fn report(&self, votes: &BTreeMap<String, u32>) -> Report {
///         Report { text: format!("{votes:?}\n"), ..Report::default() }
///     }
/// }
/// ```
pub trait Experiment {
    /// Its own facts, in the past tense.
    type Event: Serialize + DeserializeOwned;
    /// The state that they fold into. A digest of each of its top-level entries is recorded, and
    /// compared when the run is run again. Everything in it must have a JSON form that does not
    /// depend on chance: ordered maps, with texts or numbers as keys.
    type State: Default + Clone + Serialize + Send + 'static;

    /// Folds a fact into the state: only consequences, no rules, no failure.
    fn apply(state: &mut Self::State, event: &Self::Event);

    /// Asks, parses, records facts.
    ///
    /// # Errors
    /// [`Stop`] if the run cannot continue: pass on what [`Run`] returns.
    fn run(&self, run: &mut Run<Self>) -> impl Future<Output = Result<(), Stop>>;

    /// The report about the state, for people and programs.
    fn report(&self, state: &Self::State) -> Report;

    /// The files of a folder that the state provides to other programs. By default there are none.
    ///
    /// # Errors
    /// [`OutputError`] if the record lacks something that they are made from.
    fn outputs(
        &self,
        _state: &Self::State,
        _record: &mut RunRecord<'_>,
    ) -> Result<Vec<OutputFile>, OutputError> {
        Ok(Vec::new())
    }

    /// The name of the folder for [`outputs`](Self::outputs), if the settings name one.
    fn output_name(&self) -> Option<String> {
        None
    }

    /// Everything about one part of the state, such as a participant; `None` if there is no such
    /// part.
    ///
    /// # Errors
    /// [`OutputError`] if the record lacks something that it is made from.
    fn story(
        &self,
        _state: &Self::State,
        _part: &str,
        _record: &mut RunRecord<'_>,
    ) -> Result<Option<Report>, OutputError> {
        Ok(None)
    }

    /// The names of the decisions that it derived from earlier answers without asking a model, such as
    /// `p_0001/cluster`.
    fn derived_names(&self, _state: &Self::State) -> Vec<String> {
        Vec::new()
    }

    /// How such a decision came about, computed again from the facts before it; `None` if there is none with
    /// this name.
    ///
    /// # Errors
    /// [`OutputError::Fact`]: what in the record is not a fact of this experiment.
    fn derivation(
        &self,
        _name: &str,
        _record: &RunRecord<'_>,
    ) -> Result<Option<Report>, OutputError> {
        Ok(None)
    }
}

/// What an experiment receives: the only way to ask, and the only way to change its state.
pub struct Run<E: Experiment + ?Sized> {
    pub(super) core: SharedCore,
    state: E::State,
}

impl<E: Experiment + ?Sized> Run<E> {
    pub(super) fn new(core: SharedCore) -> Self {
        Run { core, state: E::State::default() }
    }

    /// The state so far.
    pub fn state(&self) -> &E::State {
        &self.state
    }

    /// Records a fact and the decisions that caused it, and folds it into the state.
    ///
    /// # Errors
    /// [`Stop`] if it cannot be logged, or differs from the logged one.
    pub fn record(&mut self, fact: E::Event, causes: &[DecisionRef]) -> Result<(), Stop> {
        self.log_fact(&fact, causes).map(drop)
    }

    /// Records a fact as [`record`](Self::record) does, and returns it as a
    /// [source](super::Question::because) for later prompts.
    ///
    /// # Errors
    /// As [`record`](Self::record).
    pub fn record_ref(&mut self, fact: E::Event, causes: &[DecisionRef]) -> Result<FactRef, Stop> {
        self.log_fact(&fact, causes).map(FactRef::at)
    }

    fn log_fact(&mut self, fact: &E::Event, causes: &[DecisionRef]) -> Result<Seq, Stop> {
        let seq = self.core.occur(causes, &canonical(fact)?)?;
        self.fold(fact);
        Ok(seq)
    }

    /// Folds a logged fact into the state.
    pub(super) fn fold(&mut self, fact: &E::Event) {
        E::apply(&mut self.state, fact);
    }

    /// Marks a point in the run, such as the end of a phase, which is [reported](super::Update::Marked): the state's digest at that point is
    /// recorded, so that a replay that differs reports from which mark on. Each mark serialises the
    /// state once. A run that is to go no further than this mark ends here.
    ///
    /// # Errors
    /// [`Stop::Reached`] if it ends here; [`Stop::Invalid`] if the state has no JSON form; [`Stop::Log`] if the record cannot be read.
    pub fn mark(&mut self, name: &str) -> Result<(), Stop> {
        self.core.states.mark(name, &self.state)?;
        self.core.tell_mark(name)?;
        self.core.phases.pass(name, self.core.progress.get())
    }

    /// Marks the end of step `n` of `of` equal steps, such as rounds, as `STEP_N`. If there are
    /// many, only ten of them are marked, at even distances, because marking a state that grows
    /// with every step would take longer and longer.
    ///
    /// # Errors
    /// [`Stop::Invalid`] if the state has no JSON form.
    pub fn mark_step(&mut self, step: &str, n: u32, of: u32) -> Result<(), Stop> {
        let tenth = |n: u32| u64::from(n) * 10 / u64::from(of.max(1));
        let name = format!("{step}_{n}");
        if n == 0 || tenth(n) > tenth(n - 1) {
            self.mark(&name)
        } else {
            self.core.phases.pass(&name, self.core.progress.get())
        }
    }

    /// A stream of random numbers that depends only on the run's seed and the name.
    pub fn rng(&self, name: &str) -> ChaCha12Rng {
        rng_for(self.core.setup.started.seed, name)
    }

    /// Announces how many answers the run will need in all, for the progress display.
    pub fn expect(&mut self, exchanges: u64) {
        self.core.update(|p| p.expected = exchanges);
    }
}

/// An [`Experiment`] with its types hidden: the registry and the command line work with this.
pub trait AnyExperiment {
    /// Runs to the end or to the reason why it stopped; there is a report in either case.
    fn run_any<'a>(&'a self, core: Handle) -> LocalBoxFuture<'a, (Result<(), Stop>, Report)>;

    /// The report of recorded facts, folded without running anything.
    ///
    /// # Errors
    /// [`OutputError::Fact`]: what in them is not a fact of this experiment.
    fn fold(&self, facts: &[Value]) -> Result<Report, OutputError>;

    /// The state before the first fact, to be followed through a recorded run.
    fn folding(&self) -> Box<dyn Folding>;

    /// The output files of a recorded run, folded without running anything.
    ///
    /// # Errors
    /// [`OutputError`].
    fn outputs_any(&self, record: &mut RunRecord<'_>) -> Result<Vec<OutputFile>, OutputError>;

    /// The name of their folder, if the settings name one.
    fn output_name_any(&self) -> Option<String>;

    /// Everything about one part of a recorded run's state; `None` if there is no such part.
    ///
    /// # Errors
    /// [`OutputError`].
    fn story_any(
        &self,
        part: &str,
        record: &mut RunRecord<'_>,
    ) -> Result<Option<Report>, OutputError>;

    /// The names of the decisions that it derived from earlier answers without asking a model.
    ///
    /// # Errors
    /// [`OutputError::Fact`]: what in them is not a fact of this experiment.
    fn derived_names_any(&self, facts: &[Value]) -> Result<Vec<String>, OutputError>;

    /// How such a decision came about; `None` if there is none with this name.
    ///
    /// # Errors
    /// [`OutputError::Fact`]: what in the record is not a fact of this experiment.
    fn derived_any(
        &self,
        name: &str,
        record: &RunRecord<'_>,
    ) -> Result<Option<Report>, OutputError>;
}

/// The inside of a run, passed from [`execute`](super::execute()) to the experiment.
pub struct Handle(pub(super) SharedCore);

impl<E: Experiment + 'static> AnyExperiment for E {
    fn run_any<'a>(&'a self, core: Handle) -> LocalBoxFuture<'a, (Result<(), Stop>, Report)> {
        Box::pin(async move {
            let mut run = Run::new(core.0);
            let result = self.run(&mut run).await;
            let result = result.and_then(|()| run.core.states.end(&run.state));
            let report = self.report(&run.state);
            (result, report)
        })
    }

    fn fold(&self, facts: &[Value]) -> Result<Report, OutputError> {
        Ok(self.report(&fold_facts::<E>(facts)?))
    }

    fn outputs_any(&self, record: &mut RunRecord<'_>) -> Result<Vec<OutputFile>, OutputError> {
        self.outputs(&fold_facts::<E>(&record.facts)?, record)
    }

    fn output_name_any(&self) -> Option<String> {
        self.output_name()
    }

    fn story_any(
        &self,
        part: &str,
        record: &mut RunRecord<'_>,
    ) -> Result<Option<Report>, OutputError> {
        self.story(&fold_facts::<E>(&record.facts)?, part, record)
    }

    fn derived_names_any(&self, facts: &[Value]) -> Result<Vec<String>, OutputError> {
        Ok(self.derived_names(&fold_facts::<E>(facts)?))
    }

    fn derived_any(
        &self,
        name: &str,
        record: &RunRecord<'_>,
    ) -> Result<Option<Report>, OutputError> {
        self.derivation(name, record)
    }

    fn folding(&self) -> Box<dyn Folding> {
        Box::new(StateOf::<E>::default())
    }
}

/// The state that recorded facts of an experiment fold into.
///
/// # Errors
/// [`OutputError::Fact`]: what in them is not a fact of this experiment.
pub fn fold_facts<E: Experiment + 'static>(facts: &[Value]) -> Result<E::State, OutputError> {
    let mut folding = StateOf::<E>::default();
    facts.iter().try_for_each(|fact| folding.add(fact))?;
    Ok(folding.state)
}
