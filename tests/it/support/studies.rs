//! The five studies, small, and a server that answers them like the simulated model.

use crate::support::program as registry;
use futures::FutureExt;
use retold::id::CallPath;
use retold::model::simulated::{Misbehaviour, SimulatedModel};
use retold::model::{Ask, Content, Model, Response};
use retold::prompt::Request;
use serde_json::{Value, json};

use super::cli::Place;
use super::server::{Received, Reply};

/// A study: its name, its config, and flags that make it small and its retries quick.
pub(crate) struct Small {
    pub(crate) name: &'static str,
    config: &'static str,
    flags: &'static str,
}

/// Each of the five.
pub(crate) const STUDIES: [Small; 5] = [
    Small {
        name: "game24",
        config: "",
        flags: "--set puzzles.rows=0..30 --set samples=1 --set retry.base_seconds=0.01",
    },
    Small {
        name: "deliberation",
        config: "deliberation_small.yaml",
        flags: "--set participants_per_condition=1 --set api_sleep_seconds=0 \
                --set api_retry_base_seconds=0.01",
    },
    Small {
        name: "public_goods",
        config: "public_goods_small.yaml",
        flags: "--set retry.base_seconds=0.01",
    },
    Small {
        name: "society",
        config: "society_small.yaml",
        flags: "--set agents=5 --set days=3 --set retry.base_seconds=0.01",
    },
    Small {
        name: "adventure",
        config: "adventure.yaml",
        flags: "--set player=first --set games=2 --set turns=4 --set retry.base_seconds=0.01",
    },
];

impl Small {
    /// The command that records a run of it.
    pub(crate) fn run(&self) -> String {
        let config = match self.config {
            "" => "small.yaml".to_owned(),
            name => format!("{}/config/{name}", env!("RETOLD_ROOT")),
        };
        let Small { name, flags, .. } = self;
        format!("run {config} --experiment {name} --quiet --no-outputs {flags}")
    }

    /// The outcome digest of a run that a server answers.
    pub(crate) fn digest(&self, base_url: &str) -> Value {
        let (whole, code) = Place::new().json(&format!("{} --base-url {base_url}", self.run()));
        assert_eq!(code, 0, "{}: {whole}", self.name);
        assert_eq!(whole["failed_calls"], 0, "{}: {whole}", self.name);
        whole["outcome_digest"].clone()
    }
}

/// Answers like the simulated model of an experiment. The answer depends on the body alone.
pub(crate) fn answers(experiment: &str) -> impl Fn(&Received) -> Reply + Send + 'static {
    let player = registry::player(experiment).unwrap();
    let model = SimulatedModel::new(3, Misbehaviour::default(), player);
    move |received| {
        let body = received.json();
        let Some(texts) = body["input"].as_array() else { return reply(&model, body) };
        // A batch of embeddings.
        let data = texts.iter().enumerate().map(|(index, text)| {
            let mut single = body.clone();
            single["input"] = text.clone();
            json!({"index": index, "embedding": vector(&ask(&model, single))})
        });
        let data: Vec<Value> = data.collect();
        Reply::new(200, json!({"data": data, "usage": {"prompt_tokens": 5}}).to_string())
    }
}

fn reply(model: &SimulatedModel, body: Value) -> Reply {
    let response = ask(model, body);
    match &response.content {
        Content::Text(text) => Reply::chat(text),
        Content::Vector(_) => {
            let data = json!([{"index": 0, "embedding": vector(&response)}]);
            Reply::new(200, json!({"data": data, "usage": {"prompt_tokens": 5}}).to_string())
        }
    }
}

fn ask(model: &SimulatedModel, body: Value) -> Response {
    let request = Request::from_body(body).unwrap();
    let call = CallPath::new("any").unwrap();
    let ask = Ask { request: &request, call: &call, sample: 0, attempt: 0 };
    model.answer(ask).now_or_never().unwrap().unwrap()
}

fn vector(response: &Response) -> Vec<f32> {
    match &response.content {
        Content::Vector(vector) => vector.to_vec(),
        Content::Text(text) => panic!("a text: {text}"),
    }
}
