//! A study to measure with: questions with prompts and answers of given sizes.

use std::path::Path;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use retold::event::RunStarted;
use retold::id::{CallPath, RunId};
use retold::log::{Log, SqliteBackend, SqliteOptions};
use retold::model::{Ask, Failure, Limits, Model, ModelInfo, Response, RetryPolicy, Throttle};
use retold::prompt::{ChatRequest, Message, Request, Role};
use retold::run::{
    AnyExperiment, ExecutionResult, Experiment, Finish, Mode, Question, Report, Run, Setup, Signal,
    Stop, execute,
};
use retold_game24::parse as game24;
use retold_game24::parse::PuzzleParams;

/// Some prompts, with `samples` answers each.
#[derive(Debug, Clone)]
pub(crate) struct Study {
    pub(crate) prompts: u64,
    pub(crate) samples: u32,
    pub(crate) answer_bytes: usize,
    /// The text that all prompts share, made once, because making it is not part of a replay.
    pub(crate) common: Arc<str>,
}

impl Study {
    pub(crate) fn new(
        prompts: u64,
        samples: u32,
        prompt_bytes: usize,
        answer_bytes: usize,
    ) -> Self {
        Study { prompts, samples, answer_bytes, common: filler(1, prompt_bytes).into() }
    }

    pub(crate) fn exchanges(&self) -> usize {
        self.prompts as usize * self.samples as usize
    }

    pub(crate) fn request(&self, number: u64) -> Request {
        let prompt = format!("Question {number}. {}", self.common);
        let messages = vec![Message::new(Role::User, prompt)];
        let chat = ChatRequest {
            model: "gpt-4".into(),
            messages,
            temperature: Some(0.7),
            ..ChatRequest::default()
        };
        chat.into_request().unwrap()
    }

    pub(crate) fn answer(&self, call: &CallPath, sample: u32) -> String {
        let number: u64 = call.as_str().rsplit('/').next().unwrap().parse().unwrap();
        let steps = filler(number * 1_000_003 + u64::from(sample), self.answer_bytes);
        format!("Steps: {steps}\nAnswer: (10 - 4) * (5 - 1) = 24")
    }
}

/// Text that does not repeat, of about the given number of bytes.
pub(crate) fn filler(seed: u64, bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 16);
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    while text.len() < bytes {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        text.push_str(&(state % 1_000_000).to_string());
        text.push(' ');
    }
    text
}

impl Experiment for Study {
    type Event = ();
    type State = ();

    fn apply(_: &mut (), _: &()) {}

    async fn run(&self, run: &mut Run<Self>) -> Result<(), Stop> {
        let parser = Arc::new(game24::parser(2, PuzzleParams { numbers: vec![10, 4, 5, 1] })?);
        let questions = (0..self.prompts).flat_map(|number| {
            let request = self.request(number);
            let call = CallPath::new(format!("ask/{number}")).unwrap();
            let parser = parser.clone();
            (0..self.samples).map(move |sample| {
                Question::new(call.clone(), request.clone(), parser.clone()).sample(sample)
            })
        });
        run.ask_each(questions, |_, _| Ok(())).await
    }

    fn report(&self, _: &()) -> Report {
        Report::default()
    }
}

impl Model for Study {
    fn info(&self) -> ModelInfo {
        ModelInfo { kind: "simulated".into(), source: None, simulated: true }
    }

    fn answer<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Response, Failure>> {
        let text = Study::answer(self, ask.call, ask.sample);
        async move { Ok(Response::text(text)) }.boxed()
    }
}

pub(crate) const RUN: RunId = RunId([7; 8]);

/// Records or replays a study in a log file.
pub(crate) fn go(study: &Study, path: &Path, mode: Mode) -> ExecutionResult {
    let ended = execute_at(study, Arc::new(study.clone()), 0, path, mode, 64);
    assert_eq!(ended.progress.exchanges as usize, study.exchanges());
    ended
}

/// The same in any log.
pub(crate) fn go_in(study: &Study, log: Log, mode: Mode) {
    let ended = execute_in(log, study, Arc::new(study.clone()), 0, mode, 64);
    assert_eq!(ended.progress.exchanges as usize, study.exchanges());
}

/// Records or replays any experiment in a log file, with the given number of concurrent calls.
pub(crate) fn execute_at(
    experiment: &dyn AnyExperiment,
    model: Arc<dyn Model>,
    seed: u64,
    path: &Path,
    mode: Mode,
    concurrency: usize,
) -> ExecutionResult {
    let backend = SqliteBackend::open_or_create(path, SqliteOptions::default()).unwrap();
    execute_in(Log::new(Arc::new(backend)), experiment, model, seed, mode, concurrency)
}

fn execute_in(
    log: Log,
    experiment: &dyn AnyExperiment,
    model: Arc<dyn Model>,
    seed: u64,
    mode: Mode,
    concurrency: usize,
) -> ExecutionResult {
    let limits = Limits { concurrency, ..Limits::default() };
    let setup = Setup {
        log,
        run: RUN,
        mode,
        started: RunStarted::new(
            "bench",
            seed,
            serde_json::json!({}),
            serde_json::json!({"simulated": true}),
        ),
        model: (mode != Mode::Replay).then_some(model),
        retry: RetryPolicy::default(),
        throttle: Throttle::new(&limits).unwrap(),
        prices: retold::model::Prices::default(),
        shared_budget: None,
        holds: false,
        until: None,
        shards_end: None,
        settings_added: serde_json::Value::Null,
        rehearsal: retold::run::DryRunSettings::default(),
        signal: Signal::default(),
        on_progress: Box::new(|_| {}),
        look: Box::new(|| None),
        follow: Box::new(|_| {}),
    };
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let ended = tokio.block_on(execute(experiment, setup)).unwrap();
    assert!(matches!(ended.finish, Finish::Finished), "{:?}", ended.finish);
    ended
}
