//! A study's chat, which has the form of a chat completion, taken apart for requests of other APIs.

use serde_json::{Map, Value, json};

use super::study::Inexpressible;

/// A chat, taken apart.
pub(super) struct Chat {
    /// The texts of the messages at the beginning that are instructions.
    pub(super) instructions: Vec<String>,
    /// The other messages.
    pub(super) turns: Vec<ChatTurn>,
    /// All other fields.
    pub(super) fields: Map<String, Value>,
}

/// One message.
pub(super) struct ChatTurn {
    /// Its number, from 1.
    pub(super) number: usize,
    pub(super) speaker: ChatSpeaker,
    /// Its texts.
    pub(super) texts: Vec<String>,
    /// Calls of tools: id, name, and arguments as JSON.
    pub(super) calls: Vec<(String, String, Value)>,
}

impl ChatTurn {
    pub(super) fn is_result(&self) -> bool {
        matches!(self.speaker, ChatSpeaker::Tool(_))
    }
}

/// Who speaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ChatSpeaker {
    User,
    Assistant,
    /// The result of the call with this id.
    Tool(String),
}

impl Chat {
    /// Takes a chat apart.
    ///
    /// # Errors
    /// [`Inexpressible`] if a message is not made of texts and calls of functions, or none says
    /// anything.
    pub(super) fn new(chat: &Map<String, Value>) -> Result<Self, Inexpressible> {
        let mut fields = chat.clone();
        let messages = fields.remove("messages");
        let messages = messages.as_ref().and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let (mut instructions, mut turns) = (Vec::new(), Vec::new());
        for (at, message) in messages.iter().enumerate() {
            let number = at + 1;
            let wrong = |what| Inexpressible::Message { number, what };
            let mut said =
                texts(&message["content"]).ok_or_else(|| wrong("has a part that is not a text"))?;
            said.retain(|text| !text.trim().is_empty());
            let speaker = match message["role"].as_str() {
                Some("system" | "developer") if turns.is_empty() => {
                    instructions.extend(said);
                    continue;
                }
                Some("system" | "developer") => {
                    return Err(wrong(
                        "has instructions, which this API has only at the beginning",
                    ));
                }
                Some("user") => ChatSpeaker::User,
                Some("assistant") => ChatSpeaker::Assistant,
                Some("tool") => match message["tool_call_id"].as_str() {
                    Some(id) => ChatSpeaker::Tool(id.to_owned()),
                    None => return Err(wrong("is the result of a call without an id")),
                },
                _ => return Err(wrong("has a role that this API has not")),
            };
            let calls = message["tool_calls"].as_array().into_iter().flatten();
            let calls = calls.map(|call| {
                called(call).ok_or_else(|| wrong("has a call that is not of a function"))
            });
            let turn =
                ChatTurn { number, speaker, texts: said, calls: calls.collect::<Result<_, _>>()? };
            // A message that says nothing is left out: these APIs refuse one.
            if turn.is_result() || !turn.texts.is_empty() || !turn.calls.is_empty() {
                turns.push(turn);
            }
        }
        if instructions.is_empty() && turns.is_empty() {
            let what = "no message has a text";
            return Err(Inexpressible::Value { field: "messages", what });
        }
        Ok(Chat { instructions, turns, fields })
    }

    /// Moves the instructions into a first message of the user's, if no user speaks first. A
    /// moderator who is to ask the first question has instructions alone, and later asks on after an
    /// own question. Anthropic and Gemini refuse both: a conversation of theirs has messages besides
    /// the instructions, the first of them a user's. Only the form in which an API is asked changes,
    /// not the prompt and its hash.
    ///
    /// # Errors
    /// [`Inexpressible`] if the first message is an answer, and there are no instructions.
    pub(super) fn with_a_user_first(mut self) -> Result<Self, Inexpressible> {
        let first = self.turns.first();
        if first.is_some_and(|turn| turn.speaker != ChatSpeaker::Assistant) {
            return Ok(self);
        }
        if self.instructions.is_empty() {
            let what = "is an answer, and this API needs a message of the user's before it";
            return Err(Inexpressible::Message {
                number: first.map_or(1, |turn| turn.number),
                what,
            });
        }
        let texts = std::mem::take(&mut self.instructions);
        let asked = ChatTurn { number: 1, speaker: ChatSpeaker::User, texts, calls: Vec::new() };
        self.turns.insert(0, asked);
        Ok(self)
    }

    /// Removes a field. One that is null says nothing.
    pub(super) fn take(&mut self, field: &str) -> Option<Value> {
        self.fields.remove(field).filter(|value| !value.is_null())
    }

    /// The name of the model.
    pub(super) fn model(&mut self) -> String {
        match self.take("model") {
            Some(Value::String(model)) => model,
            _ => String::new(),
        }
    }

    /// The longest answer, in tokens, in either spelling.
    pub(super) fn max_tokens(&mut self) -> Option<Value> {
        let new = self.take("max_completion_tokens");
        self.take("max_tokens").or(new)
    }

    /// The texts that end an answer.
    pub(super) fn stop(&mut self) -> Option<Value> {
        Some(match self.take("stop")? {
            Value::String(one) => json!([one]),
            several => several,
        })
    }

    /// The functions that the model may call; tools of the provider's own form are passed on.
    pub(super) fn tools(&mut self) -> Vec<Result<Function, Value>> {
        let Some(Value::Array(tools)) = self.take("tools") else { return Vec::new() };
        let function = |tool: Value| match tool["function"]["name"].as_str() {
            Some(name) => Ok(Function {
                name: name.to_owned(),
                description: tool["function"]["description"].clone(),
                parameters: tool["function"]["parameters"].clone(),
            }),
            None => Err(tool),
        };
        tools.into_iter().map(function).collect()
    }

    /// Checks that fields are absent which have no counterpart. `n` may be 1.
    pub(super) fn without(&mut self, fields: &[&'static str]) -> Result<(), Inexpressible> {
        if self.fields.get("n").is_some_and(|n| n.as_f64() == Some(1.0)) {
            self.fields.remove("n");
        }
        match fields.iter().find(|field| self.take(field).is_some()) {
            Some(field) => Err(Inexpressible::Field { field }),
            None => Ok(()),
        }
    }
}

/// A function that a model may call.
pub(super) struct Function {
    pub(super) name: String,
    pub(super) description: Value,
    pub(super) parameters: Value,
}

/// An object of these fields without those that are null.
pub(super) fn object(fields: Value) -> Value {
    match fields {
        Value::Object(fields) => fields.into_iter().filter(|(_, value)| !value.is_null()).collect(),
        other => other,
    }
}

fn texts(content: &Value) -> Option<Vec<String>> {
    match content {
        Value::Null => Some(Vec::new()),
        Value::String(text) => Some(vec![text.clone()]),
        Value::Array(parts) => parts
            .iter()
            .map(|part| {
                (part["type"] == "text").then(|| part["text"].as_str().map(str::to_owned))?
            })
            .collect(),
        _ => None,
    }
}

fn called(call: &Value) -> Option<(String, String, Value)> {
    let function = &call["function"];
    let arguments = function["arguments"].as_str().unwrap_or("{}");
    let arguments =
        serde_json::from_str(if arguments.is_empty() { "{}" } else { arguments }).ok()?;
    Some((call["id"].as_str()?.to_owned(), function["name"].as_str()?.to_owned(), arguments))
}
