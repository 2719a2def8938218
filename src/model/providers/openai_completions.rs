//! Completions of one text: OpenAI's legacy endpoint and the servers that speak it (vLLM, llama.cpp, Together), and
//! Mistral's completions in the middle (docs.mistral.ai, "FIM"), whose replies are chat completions. Each choice is read
//! as that of a chat. Writer's streams have a text per event, and no end (dev.writer.com, "Text generation").

use serde_json::{Map, Value, json};

use super::conversation::Conversation;
use super::dialect::{Dialect, NotRead};
use super::ending::Ending;
use super::openai_chat::OpenAiChat;
use crate::members::Members;
use crate::model::Response;
use crate::prompt::Api;

/// Completions. A reply is not recognised by itself: one of a chat has its field.
#[derive(Debug)]
pub(super) struct OpenAiCompletions;

impl Dialect for OpenAiCompletions {
    fn name(&self) -> &'static str {
        "openai.completions"
    }

    fn paths(&self) -> &'static [&'static str] {
        &["/completions", "/fim/completions"]
    }

    fn transport(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("stream", "how the bytes of the answer travel, not what they say"),
            ("stream_options", "asks for usage figures at the end of a stream"),
        ]
    }

    /// The prompt is a text, or a list of texts or tokens.
    fn prompt(&self, mut body: Map<String, Value>) -> Option<(Api, Map<String, Value>)> {
        let prompt = body.remove("prompt").filter(|it| it.is_string() || it.is_array())?;
        let messages = json!([{"role": "user", "content": prompt}]);
        body.insert("messages".to_owned(), messages).is_none().then_some((Api::Chat, body))
    }

    fn body(
        &self,
        mut prompt: Map<String, Value>,
        _path: &str,
        is_streamed: bool,
    ) -> Map<String, Value> {
        if let Some(mut messages) = prompt.remove("messages") {
            prompt.insert("prompt".to_owned(), messages.take_at("/0/content"));
        }
        if is_streamed {
            prompt.insert("stream".to_owned(), true.into());
        }
        prompt
    }

    fn converse(&self, body: &Map<String, Value>, messages: &[Value], chat: &mut Conversation) {
        OpenAiChat.converse(body, messages, chat);
        if body.get("suffix").is_some_and(Value::is_string) {
            chat.lost.push("the text after the answer (suffix)".to_owned());
        }
    }

    fn is_last(&self, data: &str) -> bool {
        OpenAiChat.is_last(data)
    }

    fn assemble(&self, events: &[Value]) -> Value {
        let of_writer: Vec<&str> = events.iter().filter_map(|it| it["value"].as_str()).collect();
        if !of_writer.is_empty() {
            return json!({"value": of_writer.concat()});
        }
        let events: Vec<Value> =
            events.iter().map(|event| as_chat(event.clone(), "delta")).collect();
        OpenAiChat.assemble(&events)
    }

    fn ending(&self, reply: &Value, has_end: bool) -> Ending {
        OpenAiChat.ending(reply, has_end || reply["value"].is_string())
    }

    fn answer(&self, reply: Value) -> Result<Response, NotRead> {
        match reply["value"].as_str() {
            Some(text) => Ok(Response::text(text)),
            None => OpenAiChat.answer(as_chat(reply, "message")),
        }
    }
}

/// A reply, or an event of one, with the text of each choice where a chat has it.
fn as_chat(mut reply: Value, place: &str) -> Value {
    for choice in reply.get_mut("choices").and_then(Value::as_array_mut).into_iter().flatten() {
        let text = choice.as_object_mut().and_then(|choice| choice.remove("text"));
        if let Some(text) = text {
            choice.set(place, json!({"content": text}));
        }
    }
    if reply["object"] == "text_completion" {
        reply.set("object", "chat.completion".into());
    }
    reply
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Content;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn a_completion_is_read_streamed_or_not() {
        let event = |choice: Value| json!({"id": "c", "object": "text_completion", "model": "m", "choices": [choice]});
        let mut last = event(json!({"text": "four", "index": 0, "finish_reason": "length"}));
        last["usage"] = json!({"prompt_tokens": 2, "completion_tokens": 3, "total_tokens": 5});
        let events =
            [event(json!({"text": "three, ", "index": 0, "finish_reason": null})), last.clone()];
        let mut whole = last;
        whole["choices"][0]["text"] = "three, four".into();
        for reply in [OpenAiCompletions.assemble(&events), whole] {
            assert_eq!(OpenAiCompletions.ending(&reply, false), Ending::Answered);
            let answer = OpenAiCompletions.answer(reply).unwrap();
            assert_eq!(answer.content, Content::from("three, four"));
            assert_eq!(answer.finish_reason.as_deref(), Some("length"));
            assert_eq!(answer.usage.unwrap().completion_tokens, Some(3));
            assert_eq!(answer.extra, Map::new());
        }
    }

    #[test]
    fn a_stream_of_writer_has_a_text_and_no_end() {
        let reply =
            OpenAiCompletions.assemble(&[json!({"value": "One "}), json!({"value": "two"})]);
        assert_eq!(OpenAiCompletions.ending(&reply, false), Ending::Answered);
        assert_eq!(OpenAiCompletions.answer(reply).unwrap().content, Content::from("One two"));
    }

    #[test]
    fn a_completion_in_the_middle_has_the_reply_of_a_chat() {
        let reply = json!({"object": "chat.completion", "choices": [{"index": 0, "finish_reason": "stop",
            "message": {"role": "assistant", "content": "a + b"}}]});
        assert_eq!(OpenAiCompletions.answer(reply).unwrap().content, Content::from("a + b"));
        let body = json!({"prompt": "def f(a, b):", "suffix": "return c"});
        let (_, prompt) = OpenAiCompletions.prompt(object(body)).unwrap();
        let mut chat = Conversation::default();
        OpenAiCompletions.converse(&prompt, prompt["messages"].as_array().unwrap(), &mut chat);
        assert_eq!(chat.messages, [json!({"role": "user", "content": "def f(a, b):"})]);
        assert_eq!(chat.lost, ["the text after the answer (suffix)"]);
    }

    #[test]
    fn a_prompt_is_a_message_and_given_back() {
        for prompt in [json!("One"), json!(["One", "Two"]), json!([[1, 2], [3]])] {
            let body = json!({"model": "m", "prompt": prompt, "suffix": "x"});
            let (_, stored) = OpenAiCompletions.prompt(object(body.clone())).unwrap();
            assert_eq!(stored["messages"][0]["content"], prompt);
            assert_eq!(Value::Object(OpenAiCompletions.body(stored, "", false)), body);
        }
        assert!(OpenAiCompletions.prompt(object(json!({"model": "m"}))).is_none());
    }
}
