//! The setup of a run, besides its experiment.

use std::sync::Arc;

use serde_json::{Value, json};

use super::budget::Budget;
use super::dry_run::DryRunSettings;
use super::follow::Follower;
use super::mode::Mode;
use super::progress::Progress;
use super::record::run_start;
use super::signal::Signal;
use crate::event::{LookedAt, RunStarted};
use crate::id::RunId;
use crate::log::{Log, LogError};
use crate::model::{Answerer, Prices, RetryPolicy, Throttle};

/// Everything that a run needs besides its experiment: [`record`](Self::record),
/// [`resume`](Self::resume) and [`replay`](Self::replay) make one with the usual limits, and every
/// field can be set.
///
/// ```
/// use std::sync::Arc;
///
/// use retold::id::RunId;
/// use retold::log::Log;
/// use retold::model::simulated::{Dice, Misbehaviour, SimulatedModel};
/// use retold::prompt::Request;
/// use retold::run::{Mode, Setup};
///
/// let player = |_: &Request, _: &mut Dice| "yes".to_owned();
/// let model = Arc::new(SimulatedModel::new(1, Misbehaviour::default(), Box::new(player)));
/// let setup = Setup::record(&Log::in_memory(), RunId::random()?, "survey", model).seed(7);
/// assert_eq!((setup.mode, setup.started.seed), (Mode::Record, 7));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Setup {
    /// The log to read and write.
    pub log: Log,
    /// The run.
    pub run: RunId,
    /// Record, replay, resume or rehearse.
    pub mode: Mode,
    /// The first event of the run: written when recording, otherwise read from the log.
    pub started: RunStarted,
    /// The model that answers; `None` when replaying.
    pub model: Option<Answerer>,
    /// When to try again.
    pub retry: RetryPolicy,
    /// How fast to ask, and how many at once.
    pub throttle: Throttle,
    /// The prices of tokens, needed for a limit on cost.
    pub prices: Prices,
    /// The limits that several runs share, if this one is one of them.
    pub shared_budget: Option<Arc<Budget>>,
    /// Whether questions are held for a batch instead of being put to the model. When there is no other left, the run stops
    /// with [`Stop::Held`](super::Stop::Held).
    pub holds: bool,
    /// The mark after which the run stops, such as `phase_3`, if it is not to go on to its end.
    pub until: Option<String>,
    /// For a run that is merged from shards: the mark with which its shards end. Only after it is a model asked; without it,
    /// every answer is one of theirs.
    pub shards_end: Option<String>,
    /// For a run that continues: the additions to its settings from now on, in their form; null if there are none.
    pub settings_added: Value,
    /// For a rehearsal: what differs besides the experiment's settings.
    pub rehearsal: DryRunSettings,
    /// Asks the run to stop.
    pub signal: Signal,
    /// Called at every step.
    pub on_progress: Box<dyn Fn(Progress)>,
    /// Called at each mark: reads what has come out so far, if somebody asked to see that. It is recorded, and then
    /// [reported](super::Update::Looked).
    pub look: Box<dyn Fn() -> Option<LookedAt>>,
    /// Called at the beginning of the run and for each of its facts.
    pub follow: Follower,
}

impl Setup {
    /// A new run of an experiment, with seed 0 and no settings.
    pub fn record(log: &Log, run: RunId, experiment: &str, model: Answerer) -> Self {
        let info = model.info();
        let started = RunStarted::new(experiment, 0, json!({}), json!(info));
        Setup::new(log, run, Mode::Record, started, Some(model))
    }

    /// Continues a run where it stopped.
    ///
    /// # Errors
    /// [`LogError`] if the log does not have the run's beginning.
    pub fn resume(log: &Log, run: RunId, model: Answerer) -> Result<Self, LogError> {
        let started = run_start(log.reader()?.as_mut(), run)?;
        Ok(Setup::new(log, run, Mode::Resume, started, Some(model)))
    }

    /// Runs a recorded run again, without a model.
    ///
    /// # Errors
    /// [`LogError`] if the log does not have the run's beginning.
    pub fn replay(log: &Log, run: RunId) -> Result<Self, LogError> {
        let started = run_start(log.reader()?.as_mut(), run)?;
        Ok(Setup::new(log, run, Mode::Replay, started, None))
    }

    /// The seed of every random choice of a new run; at most 2^53.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.started.seed = seed;
        self
    }

    /// The settings of a new run: everything that is needed to run it again.
    #[must_use]
    pub fn settings(mut self, settings: Value) -> Self {
        self.started.settings = settings;
        self
    }

    fn new(
        log: &Log,
        run: RunId,
        mode: Mode,
        started: RunStarted,
        model: Option<Answerer>,
    ) -> Self {
        Setup {
            log: log.clone(),
            run,
            mode,
            started,
            model,
            retry: RetryPolicy::default(),
            throttle: Throttle::default(),
            prices: Prices::default(),
            shared_budget: None,
            holds: false,
            until: None,
            shards_end: None,
            settings_added: Value::Null,
            rehearsal: DryRunSettings::default(),
            signal: Signal::default(),
            on_progress: Box::new(|_| {}),
            look: Box::new(|| None),
            follow: Box::new(|_| {}),
        }
    }
}
