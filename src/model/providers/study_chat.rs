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
                call_parts(call).ok_or_else(|| wrong("has a call that is not of a function"))
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

/// Adds the parts of a role's message to messages that alternate: consecutive messages of one role, such as the results of
/// several calls, are one message. `key` is the field in which the API has the parts of a message.
pub(super) fn push_turn(messages: &mut Vec<Value>, role: &str, key: &str, parts: Vec<Value>) {
    match messages.last_mut() {
        Some(last) if last["role"] == role => {
            if let Some(said) = last.get_mut(key).and_then(Value::as_array_mut) {
                said.extend(parts);
            }
        }
        _ => messages.push(json!({"role": role, key: parts})),
    }
}

/// The messages of a chat for a server with the demands of Anthropic and Gemini: instructions only at the beginning, then
/// turns that alternate, a user's first. `None` if they have this form already: the prompt stays unchanged.
///
/// # Errors
/// [`Inexpressible`] if they cannot be brought into that form.
pub fn alternating(chat: &Map<String, Value>) -> Result<Option<Vec<Value>>, Inexpressible> {
    if chat.get("messages").and_then(Value::as_array).is_some_and(|messages| alternates(messages)) {
        return Ok(None);
    }
    let Chat { instructions, turns, .. } = Chat::new(chat)?.with_a_user_first()?;
    let mut messages = Vec::new();
    if !instructions.is_empty() {
        messages.push(json!({"role": "system", "content": instructions.join(BETWEEN)}));
    }
    let first = messages.len();
    for ChatTurn { speaker, texts, calls, .. } in turns {
        let texts = texts.into_iter().map(Value::String);
        let calls = calls.into_iter().map(|(id, name, arguments)| {
            let arguments = arguments.to_string();
            json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
        });
        match speaker {
            ChatSpeaker::User => push_turn(&mut messages, "user", "content", texts.collect()),
            ChatSpeaker::Assistant => {
                push_turn(&mut messages, "assistant", "content", texts.chain(calls).collect());
            }
            // Each names its call, so they stay apart.
            ChatSpeaker::Tool(id) => messages.push(
                json!({"role": "tool", "tool_call_id": id, "content": texts.collect::<Vec<_>>()}),
            ),
        }
    }
    for message in messages.iter_mut().skip(first).filter_map(Value::as_object_mut) {
        let Some(Value::Array(parts)) = message.remove("content") else { continue };
        let (texts, calls): (Vec<_>, Vec<_>) = parts.into_iter().partition(Value::is_string);
        let texts: Vec<&str> = texts.iter().filter_map(Value::as_str).collect();
        let content = if texts.is_empty() && !calls.is_empty() {
            Value::Null
        } else {
            texts.join(BETWEEN).into()
        };
        message.insert("content".to_owned(), content);
        if !calls.is_empty() {
            message.insert("tool_calls".to_owned(), calls.into());
        }
    }
    Ok(Some(messages))
}

/// The separator between the texts of messages that become one.
const BETWEEN: &str = "\n\n";

/// Whether messages have instructions only at the beginning, and then turns that alternate, a user's first, none of them
/// blank.
fn alternates(messages: &[Value]) -> bool {
    let is_of = |message: &Value, role: &str| message["role"] == role;
    let turns = match messages.split_first() {
        Some((first, turns)) if is_of(first, "system") => turns,
        _ => messages,
    };
    let is_due = |(at, turn): (usize, &Value)| {
        is_of(turn, if at % 2 == 0 { "user" } else { "assistant" })
            && texts(&turn["content"])
                .is_none_or(|all| all.iter().any(|text| !text.trim().is_empty()))
    };
    !turns.is_empty() && turns.iter().enumerate().all(is_due)
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

fn call_parts(call: &Value) -> Option<(String, String, Value)> {
    let function = &call["function"];
    let arguments = function["arguments"].as_str().unwrap_or("{}");
    let arguments =
        serde_json::from_str(if arguments.is_empty() { "{}" } else { arguments }).ok()?;
    Some((call["id"].as_str()?.to_owned(), function["name"].as_str()?.to_owned(), arguments))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(turns: &[(&str, &str)]) -> Map<String, Value> {
        let turns: Vec<Value> =
            turns.iter().map(|(role, text)| json!({"role": role, "content": text})).collect();
        Map::from_iter([("messages".to_owned(), turns.into())])
    }

    #[test]
    fn turns_alternate_with_a_user_s_first() {
        for (given, due) in [
            // A moderator who is to ask the first question, and later asks on after an own one.
            (&[("system", "s")][..], &[("user", "s")][..]),
            (
                &[("system", "s"), ("assistant", "q"), ("user", "a")],
                &[("user", "s"), ("assistant", "q"), ("user", "a")],
            ),
            (
                &[("system", "s"), ("system", "t"), ("user", "a"), ("user", "b"), ("user", " ")],
                &[("system", "s\n\nt"), ("user", "a\n\nb")],
            ),
            (
                &[("user", "a"), ("assistant", "b"), ("assistant", "c"), ("user", "d")],
                &[("user", "a"), ("assistant", "b\n\nc"), ("user", "d")],
            ),
        ] {
            let changed = alternating(&messages(given)).unwrap().unwrap();
            assert_eq!(Value::from(changed), messages(due)["messages"], "{given:?}");
            // Doing it again changes nothing, nor does it change what is fine: its answers are shared.
            assert_eq!(alternating(&messages(due)), Ok(None));
        }
        let parts = json!([{"role": "user", "content": [{"type": "text", "text": "a"}]}]);
        assert_eq!(alternating(&Map::from_iter([("messages".to_owned(), parts)])), Ok(None));
        assert!(alternating(&messages(&[("assistant", "q"), ("user", "a")])).is_err());
    }
}
