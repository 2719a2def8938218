//! What attributes say of a request.

use retold::model::providers::{self, Conversation};
use retold::prompt::{Api, Request};
use serde_json::{Map, Value};

use crate::notes::Notes;
use crate::otlp::any_value::{attribute, integer, real, text, texts};
use crate::otlp::message::{message, parts};
use crate::otlp::names::{self, CHOICE_COUNT, PARAMETERS, ParameterKind};

/// Where APIs have the parameters of a request, besides its top.
const WITHIN: [&str; 3] = ["generationConfig", "inferenceConfig", "options"];

/// A request, with its names in the conventions.
pub(super) struct Asked<'a> {
    dialect: &'a str,
    body: &'a Map<String, Value>,
    request: &'a Request,
}

impl<'a> Asked<'a> {
    pub(super) fn new(request: &'a Request) -> Option<Self> {
        let body = request.body().as_object()?;
        let plain = match request.api() {
            Api::Embedding => "openai.embeddings",
            Api::Tool => "tool",
            _ => "openai.chat",
        };
        let named = body.get("http").and_then(|address| address["dialect"].as_str());
        let dialect = named.and_then(|name| name.split('@').next()).unwrap_or(plain);
        Some(Asked { dialect, body, request })
    }

    /// The conventions' name for the operation.
    pub(super) fn operation(&self) -> &'a str {
        // An imported trace has named it.
        let named = self.body.get("http").and_then(|address| address["operation"].as_str());
        named.unwrap_or_else(|| names::operation(self.dialect))
    }

    fn upstream(&self) -> Option<&'a str> {
        self.body.get("http").and_then(|address| address["upstream"].as_str())
    }

    /// The conventions' name for the provider. An unknown server has the name of the provider whose API it has: attributes
    /// are in the form of that.
    fn provider(&self, study_model: Option<&'a str>) -> Option<&'a str> {
        let named = |name: &'a str| names::provider(name).unwrap_or(name);
        if let Some(model) = study_model {
            return Some(named(model));
        }
        let upstream = self.upstream();
        let is_known =
            |name: &&str| names::provider(name).is_some() || providers::provider(name).is_some();
        let of_api = || Some(providers::by_name(self.dialect)?.providers().first()?.name);
        upstream.filter(is_known).or_else(of_api).or(upstream).map(named)
    }

    /// Its attributes, but for its messages.
    pub(super) fn attributes(&self, study_model: Option<&'a str>) -> Vec<Value> {
        let mut all = vec![attribute(names::OPERATION, text(self.operation()))];
        let named = [
            (names::PROVIDER, self.provider(study_model)),
            (names::REQUEST_MODEL, self.request.model()),
            (names::OUTPUT_TYPE, self.output_type()),
            (names::UPSTREAM, self.upstream()),
            (names::TOOL_NAME, self.request.tool()),
            (names::TOOL_CALL_ID, self.request.tool().and_then(|_| self.body.get("id")?.as_str())),
        ];
        all.extend(
            named.into_iter().filter_map(|(name, value)| Some(attribute(name, text(value?)))),
        );
        let arguments = self.request.tool().and_then(|_| self.body.get("arguments"));
        let arguments = arguments.map(|it| attribute(names::TOOL_ARGUMENTS, text(&it.to_string())));
        all.extend(arguments);
        for parameter in &PARAMETERS {
            let names = std::iter::once(&parameter.name).chain(parameter.others);
            let value = names.into_iter().find_map(|name| self.parameter(name));
            let value = value.and_then(|value| parameter_value(parameter.kind, value));
            // One choice is the default.
            let is_usual =
                |value: &Value| parameter.attribute == CHOICE_COUNT && *value == integer(1);
            let value = value.filter(|value| !is_usual(value));
            all.extend(value.map(|value| attribute(parameter.attribute, value)));
        }
        all
    }

    fn parameter(&self, name: &str) -> Option<&'a Value> {
        let within = WITHIN.iter().filter_map(|group| self.body.get(*group)?.get(name));
        self.body.get(name).into_iter().chain(within).find(|value| !value.is_null())
    }

    /// What kind of output the request asks for, if it says so.
    fn output_type(&self) -> Option<&'static str> {
        let format = self.parameter("response_format").map(|format| &format["type"]);
        let format = format.or_else(|| self.body.get("text").map(|text| &text["format"]["type"]));
        let is_json = format
            .and_then(Value::as_str)
            .is_some_and(|kind| ["json_object", "json_schema"].contains(&kind));
        let kind = self.parameter("responseMimeType").and_then(Value::as_str);
        (is_json || kind == Some("application/json")).then_some("json")
    }

    /// Its messages and tools.
    pub(super) fn conversation(&self, place: &str, notes: &mut Notes) -> Vec<Value> {
        let Some(Conversation { messages, tools, lost }) = providers::conversation_of(self.request)
        else {
            let messages = self.body.get("messages").and_then(Value::as_array);
            // A request without messages has none that could be missing.
            if self.request.api() == Api::Chat && !messages.is_some_and(Vec::is_empty) {
                let what = format!(
                    "the messages of a request to an API that is not known ({})",
                    self.dialect
                );
                notes.add(&what, place);
            }
            return Vec::new();
        };
        for what in lost {
            notes.add(&what, place);
        }
        let mut all = Vec::new();
        let mut messages = messages.as_slice();
        // Instructions that the API has apart from the messages stand apart here as well.
        let own_first = self.body.get("messages").and_then(|messages| messages[0]["role"].as_str());
        if let [first, rest @ ..] = messages
            && first["role"] == "system"
            && !own_first.is_some_and(|role| ["system", "developer"].contains(&role))
        {
            let parts = Value::from(parts(first)).to_string();
            all.push(attribute(names::INSTRUCTIONS, text(&parts)));
            messages = rest;
        }
        let messages: Value = messages.iter().map(message).collect();
        all.push(attribute(names::INPUT_MESSAGES, text(&messages.to_string())));
        if !tools.is_empty() {
            all.push(attribute(names::TOOLS, text(&Value::from(tools).to_string())));
        }
        all
    }
}

/// A parameter as OTLP has it; `None` if it is of another kind than its API says.
fn parameter_value(kind: ParameterKind, value: &Value) -> Option<Value> {
    match kind {
        ParameterKind::Real => value.as_f64().map(real),
        ParameterKind::Integer => value.as_i64().map(integer),
        ParameterKind::Texts => match value {
            Value::String(one) => Some(texts([one.as_str()])),
            Value::Array(all) => Some(texts(all.iter().filter_map(Value::as_str))),
            _ => None,
        },
    }
}
