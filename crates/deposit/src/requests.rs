//! The requests of a run, as a paper describes them.

use std::collections::{BTreeMap, BTreeSet};

use retold::escaping::inert_lines;
use retold::event::{Event, call_kind};
use retold::id::RunId;
use retold::log::{LogError, Reader, RunEvents};
use retold::prompt::{Api, Request};
use serde_json::{Map, Value};

/// The most sets of parameters that are kept of a model.
const MOST_PARAMETERS: usize = 10;

/// The longest value of a parameter that is kept; a longer one is a prompt or a schema, which is elsewhere in the deposit.
const LONGEST_VALUE: usize = 120;

/// Parts of a request that are no parameters: they are shown elsewhere.
const NO_PARAMETERS: [&str; 8] = [
    "messages", "model", "http", "input", "system", "systemInstruction", "instructions", "contents",
];

/// Parameters by which a provider keeps earlier turns for the client.
const KEPT_ELSEWHERE: [&str; 3] = ["previous_response_id", "conversation", "thread"];

/// The first prompt of a kind of call.
#[derive(Debug, Clone, PartialEq)]
pub struct FirstPrompt {
    /// Its call.
    pub call: String,
    /// Its messages, with their roles.
    pub messages: Vec<(String, String)>,
    /// How many calls are of the kind.
    pub calls: u64,
}

/// The requests of a run, summed up.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RequestFacts {
    /// How many there are.
    pub requests: u64,
    /// How many have instructions to the system.
    pub with_system: u64,
    /// How many have an earlier answer in them.
    pub with_answers: u64,
    /// How many name earlier turns that the provider keeps.
    pub kept_elsewhere: u64,
    /// The APIs, and the servers that programs asked.
    pub apis: BTreeSet<String>,
    /// By model: its parameters, as JSON.
    pub parameters: BTreeMap<String, BTreeSet<String>>,
    /// By kind of call, its first prompt.
    pub prompts: BTreeMap<String, FirstPrompt>,
}

impl RequestFacts {
    /// Reads the requests of a run.
    ///
    /// # Errors
    /// [`LogError`] if it cannot be read.
    pub fn read(reader: &mut dyn Reader, run: RunId) -> Result<Self, LogError> {
        let (mut facts, mut events) = (RequestFacts::default(), RunEvents::new(run));
        while let Some(stored) = events.next(reader)? {
            if !stored.is_question() {
                continue;
            }
            if let Event::RequestSent(sent) = stored.event()? {
                let Some(request) = reader.request(sent.prompt)? else { continue };
                let kind = call_kind(&sent.labels, &sent.call);
                facts.add(&kind, &sent.call.to_string(), &request);
            }
        }
        Ok(facts)
    }

    fn add(&mut self, kind: &str, call: &str, request: &Request) {
        let body = request.body();
        let messages = request.messages();
        let has = |roles: &[&str]| messages.iter().any(|(role, _)| roles.contains(&role.as_str()));
        self.requests += 1;
        self.with_system += u64::from(has(&["system", "developer"]));
        self.with_answers += u64::from(has(&["assistant", "model"]));
        let is_kept = |name: &&str| body.get(*name).is_some_and(|value| !value.is_null());
        self.kept_elsewhere += u64::from(KEPT_ELSEWHERE.iter().any(is_kept));
        let dialect = body["http"]["dialect"].as_str().and_then(|it| it.split('@').next());
        let plain = match request.api() {
            Api::Embedding => "openai.embeddings",
            _ => "openai.chat",
        };
        let api = dialect.unwrap_or(plain);
        self.apis.insert(match body["http"]["upstream"].as_str() {
            Some(upstream) => format!("{api} at {upstream}"),
            None => api.to_owned(),
        });
        let model = request.model().unwrap_or("not named").to_owned();
        let known = self.parameters.entry(model).or_default();
        if known.len() < MOST_PARAMETERS {
            known.insert(parameters(body.as_object()).to_string());
        }
        let new = || FirstPrompt { call: call.to_owned(), messages, calls: 0 };
        self.prompts.entry(kind.to_owned()).or_insert_with(new).calls += 1;
    }

    /// The first prompt of each kind of call as a text, inert.
    pub fn prompt_text(&self) -> String {
        let mut text = "The first prompt of each kind of call. All prompts are in the recording and in tables/messages.\n"
            .to_owned();
        for (kind, FirstPrompt { call, messages, calls }) in &self.prompts {
            text.push_str(&format!("\n==== {kind}: 1 of {calls}, at {call}\n"));
            for (role, said) in messages {
                text.push_str(&format!("---- {role}\n{}\n", said.trim_end()));
            }
        }
        inert_lines(&text)
    }
}

fn parameters(body: Option<&Map<String, Value>>) -> Value {
    let is_one = |(name, value): &(&String, &Value)| {
        !NO_PARAMETERS.contains(&name.as_str()) && value.to_string().len() <= LONGEST_VALUE
    };
    let kept = body.into_iter().flatten().filter(is_one);
    Value::Object(kept.map(|(name, value)| (name.clone(), value.clone())).collect())
}

/// The templates of a run of a study: the name of a file for each, and its text.
pub fn templates(settings: &Value) -> Vec<(String, String)> {
    let is_plain = |name: &str| !name.starts_with('.') && !name.contains(['/', '\\', ':', '\0']);
    let found = retold_study::templates::template_files(&settings["experiment"]).into_iter();
    found
        .filter(|(name, _)| is_plain(name))
        .map(|(name, text)| (name, inert_lines(&text)))
        .collect()
}
