//! Every study, with its shipped config unchanged but for the model, asks what strict APIs accept, and waits for answers that
//! take 130 s now and then. The clock is simulated, so the servers are in the same process: requests are translated and
//! answers read as for a server, and only HTTP is left out, which `cli::model_names` has.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use retold::id::RunId;
use retold::log::Log;
use retold::model::providers::{self, StudyAccess};
use retold::model::simulated::{Misbehaviour, SimulatedModel};
use retold::model::{
    Ask, Content, Failure, FailureKind, Model, ModelInfo, Refusal, RequestForm, Response, answer_in,
};
use retold::prompt::{Api, Request};
use retold::run::{ExecutionResult, Finish, Mode, Setup, Stop, execute};
use retold_study::config::{ApiKind, ModelKind};
use retold_study::study::Study;
use serde_json::{Value, json};

use crate::support::program::{player, studies};
use crate::support::strict::{KINDS, Reader, alternating, reasoning, reply};

/// How long some answers take.
const SLOW: Duration = Duration::from_secs(130);

/// Every so many answers take so long.
const SLOW_EVERY: usize = 20;

/// A strict server of an API.
struct Provider {
    access: &'static StudyAccess,
    read: Reader,
    simulated: SimulatedModel,
    asked: Mutex<usize>,
    refused: Mutex<Vec<String>>,
}

impl Provider {
    fn new(kind: &str, read: Reader, experiment: &str) -> Self {
        let simulated =
            SimulatedModel::new(3, Misbehaviour::default(), player(experiment).unwrap());
        let access = ApiKind::from_name(kind).unwrap().access();
        Provider { access, read, simulated, asked: Mutex::default(), refused: Mutex::default() }
    }

    fn posted(&self, request: &Request) -> Value {
        let body = request.body();
        match self.access.translation {
            Some(translation) => translation(body.as_object().unwrap()).unwrap().body,
            None => body.clone(),
        }
    }

    async fn served(&self, ask: Ask<'_>) -> Result<Response, Failure> {
        let number = {
            let mut asked = self.asked.lock().unwrap();
            *asked += 1;
            *asked
        };
        let slow = number % SLOW_EVERY == SLOW_EVERY / 2;
        tokio::time::sleep(if slow { SLOW } else { Duration::from_millis(700) }).await;
        // Embeddings have a server of their own where an API has none.
        if ask.request.api() == Api::Embedding {
            return self.simulated.answer(ask).await;
        }
        let chat = (self.read)(&self.posted(ask.request)).map_err(|why| {
            self.refused.lock().unwrap().push(why.clone());
            let message = format!("HTTP 400: the request was rejected: {why}");
            Failure { status: Some(400), ..Failure::new(FailureKind::Rejected, message) }
        })?;
        let request = Request::from_body(chat).unwrap();
        let answer = self.simulated.answer(Ask { request: &request, ..ask }).await?;
        let (kind, Content::Text(text)) = (self.access.kind, &answer.content) else { panic!() };
        let dialect = match kind {
            "anthropic" => "anthropic.messages",
            "gemini" => "gemini.content",
            "responses" => "openai.responses",
            _ => return Ok(answer),
        };
        Ok(answer_in(reply(kind, text), providers::by_name(dialect).unwrap()).unwrap())
    }
}

impl Model for Provider {
    fn info(&self) -> ModelInfo {
        ModelInfo { kind: self.access.kind.to_owned(), source: None, simulated: false }
    }

    fn may_refuse(&self) -> bool {
        true
    }

    fn answer<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Response, Failure>> {
        self.served(ask).boxed()
    }
}

/// The shipped configs, the smallest of each study. A hundred puzzles are asked once, not a hundred times.
const CONFIGS: [(&str, &str, &[&str]); 5] = [
    ("game24", "game24.yaml", &["samples=1"]),
    ("deliberation", "deliberation_small.yaml", &[]),
    ("public_goods", "public_goods_small.yaml", &[]),
    ("society", "society_small.yaml", &[]),
    ("adventure", "adventure.yaml", &[]),
];

/// A study as `run CONFIG --model KIND/MODEL` records it.
fn study(experiment: &str, config: &str, settings: &[&str], kind: &str, model: &str) -> Study {
    let path = PathBuf::from(env!("RETOLD_ROOT")).join("config").join(config);
    let settings: Vec<String> = settings.iter().map(|setting| (*setting).to_owned()).collect();
    let mut study = studies().study(&path, Some(experiment), &settings, 1, false).unwrap();
    let rename = |name: &mut String, is_chat: bool| {
        if is_chat {
            model.clone_into(name);
        }
    };
    studies().rename_models(experiment, &mut study.settings.experiment, rename).unwrap();
    let kind = ModelKind::from_name(kind).unwrap();
    let before = std::mem::replace(&mut study.settings.runtime.model.kind, kind);
    studies().pace(experiment, &mut study.settings, before);
    studies().supply(&path, &mut study, &settings, false).unwrap();
    study
}

/// Runs it to its end; a limit that is renamed continues it, as the program does.
async fn run(study: &Study, provider: &Arc<Provider>) -> ExecutionResult {
    let (log, run) = (Log::in_memory(), RunId::random().unwrap());
    let experiment = studies().build(&study.experiment, &study.settings.experiment).unwrap();
    let (mut mode, mut form) = (Mode::Record, study.settings.requests.clone());
    loop {
        let mut setup = Setup::record(&log, run, &study.experiment, provider.clone())
            .seed(study.seed)
            .settings(serde_json::to_value(&study.settings).unwrap());
        setup.retry = study.settings.runtime.retry;
        setup.throttle = retold::model::Throttle::new(&study.settings.runtime.limits).unwrap();
        setup.mode = mode;
        if mode == Mode::Resume {
            setup.settings_added = json!({RequestForm::KEY: form});
        }
        let ended = execute(experiment.as_ref(), setup).await.unwrap();
        let Finish::Stopped(Stop::LimitName { model }) = &ended.finish else { return ended };
        assert!(form.max_completion_tokens.insert(model.clone()), "it is renamed once");
        mode = Mode::Resume;
    }
}

async fn assert_patient(kind: &str, read: Reader, settings: &[&str], taught: usize) {
    for (experiment, config, own) in CONFIGS {
        let provider = Arc::new(Provider::new(kind, read, experiment));
        let settings = [own, settings].concat();
        let study = study(experiment, config, &settings, kind, "the-model");
        let ended = run(&study, &provider).await;
        assert!(
            matches!(ended.finish, Finish::Finished),
            "{experiment} {kind}: {:?}",
            ended.finish
        );
        let refused = provider.refused.lock().unwrap().clone();
        // A study without a limit has none to rename.
        assert!(refused.len() <= taught, "{experiment} {kind}: {refused:?}");
        assert_eq!(ended.progress.failed, 0, "{experiment} {kind}");
        assert!(ended.report.failed.is_none_or(|parts| parts.failed == 0), "{:?}", ended.report);
        assert!(ended.progress.exchanges > SLOW_EVERY as u64, "{experiment}: some were slow");
        // Nothing that was slow was asked again.
        let asked = *provider.asked.lock().unwrap();
        assert!(asked as u64 <= ended.progress.exchanges + taught as u64, "{experiment}: {asked}");
    }
}

#[tokio::test(start_paused = true)]
async fn every_api_gets_what_it_accepts_and_slow_answers_are_waited_for() {
    for (kind, read) in KINDS {
        assert_patient(kind, read, &[], 0).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_reasoning_model_gets_the_limit_under_its_own_name() {
    assert_patient("openai", reasoning, &["request.temperature=null"], 1).await;
}

#[tokio::test(start_paused = true)]
async fn turns_alternate_where_they_have_to() {
    assert_patient("openai", alternating, &["alternate=true"], 0).await;
}

/// Without the setting, a run stops at the first refusal, and says which it is.
#[tokio::test(start_paused = true)]
async fn a_refusal_of_all_requests_stops_a_run() {
    for (experiment, config, own) in CONFIGS {
        let provider = Arc::new(Provider::new("openai", reasoning, experiment));
        let settings = [own, &["request.temperature=0.5"]].concat();
        let ended = run(&study(experiment, config, &settings, "openai", "o3"), &provider).await;
        let Finish::Stopped(Stop::Refused { refusal, model, .. }) = &ended.finish else {
            panic!("{experiment}: {:?}", ended.finish)
        };
        assert_eq!((model.as_str(), refusal), ("o3", &Refusal::Field("temperature".to_owned())));
        assert_eq!(ended.progress.exchanges, 0);
        let refused = provider.refused.lock().unwrap().len();
        // One for the name of the limit, if there is a limit, and one for the temperature.
        assert!(refused <= 2, "{experiment}: {refused}");
        assert_eq!(refused, *provider.asked.lock().unwrap());
    }
}
