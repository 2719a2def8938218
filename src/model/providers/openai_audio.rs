//! Speech, transcriptions and translations of OpenAI's API and the servers that speak it
//! (platform.openai.com/docs/api-reference/audio). A transcription is asked for as a form, whose request is stored as it
//! came.

use serde_json::{Map, Value, json};

use super::dialect::{Dialect, NotRead};
use super::ending::{Ending, error_in};
use super::reply_parts::{TokenCounts, answer_of, append, kind_of};
use crate::members::Members;
use crate::model::Response;
use crate::prompt::Api;

/// Audio. A reply is not recognised by itself: an object with a text may be anything.
#[derive(Debug)]
pub(super) struct OpenAiAudio;

impl Dialect for OpenAiAudio {
    fn name(&self) -> &'static str {
        "openai.audio"
    }

    fn paths(&self) -> &'static [&'static str] {
        &["/audio/speech", "/audio/transcriptions", "/audio/translations"]
    }

    fn transport(&self) -> &'static [(&'static str, &'static str)] {
        &[("stream_format", "how the bytes of the answer travel, not what they say")]
    }

    fn is_streamed(&self, _path: &str, body: &Map<String, Value>) -> bool {
        body.get("stream_format").is_some_and(|format| format == "sse")
    }

    /// The text that is spoken is the message.
    fn prompt(&self, mut body: Map<String, Value>) -> Option<(Api, Map<String, Value>)> {
        let input = body.remove("input").filter(Value::is_string)?;
        let messages = json!([{"role": "user", "content": input}]);
        body.insert("messages".to_owned(), messages).is_none().then_some((Api::Chat, body))
    }

    fn body(
        &self,
        mut prompt: Map<String, Value>,
        _path: &str,
        is_streamed: bool,
    ) -> Map<String, Value> {
        if let Some(mut messages) = prompt.remove("messages") {
            prompt.insert("input".to_owned(), messages.take_at("/0/content"));
        }
        if is_streamed {
            prompt.insert("stream_format".to_owned(), "sse".into());
        }
        prompt
    }

    /// Transcriptions may be texts, and speech is sound.
    fn of_bytes(&self, body: &[u8]) -> Option<Value> {
        if body.trim_ascii_start().starts_with(b"{") {
            return None;
        }
        // Silence is made of zeros.
        let text = std::str::from_utf8(body).ok().filter(|text| !text.contains('\0'));
        Some(match text {
            Some(text) => json!({"text": text}),
            None => json!({"audio": {"bytes": body.len()}}),
        })
    }

    fn is_last(&self, data: &str) -> bool {
        kind_of(data).is_some_and(|kind| kind.ends_with(".done") || kind == "error")
    }

    fn assemble(&self, events: &[Value]) -> Value {
        let (mut reply, mut bytes) = (Map::new(), 0);
        for event in events {
            match event["type"].as_str() {
                Some("transcript.text.delta") => {
                    append(&mut reply, "text", event["delta"].as_str().unwrap_or(""));
                }
                Some("speech.audio.delta") => {
                    let packed = event["audio"].as_str().unwrap_or("");
                    let padding = packed.bytes().rev().take_while(|byte| *byte == b'=').count();
                    bytes += (packed.len() / 4 * 3).saturating_sub(padding);
                    reply.insert("audio".to_owned(), json!({"bytes": bytes}));
                }
                Some("transcript.text.done" | "speech.audio.done") => {
                    for name in ["text", "usage", "logprobs"] {
                        if let Some(value) = event.get(name) {
                            reply.insert(name.to_owned(), value.clone());
                        }
                    }
                }
                Some("error") => drop(reply.insert("error".to_owned(), event["error"].clone())),
                _ => {}
            }
        }
        Value::Object(reply)
    }

    fn ending(&self, reply: &Value, has_end: bool) -> Ending {
        Ending::or(error_in(&reply["error"]), || Ending::by_mark(has_end, "an event that is done"))
    }

    fn answer(&self, reply: Value) -> Result<Response, NotRead> {
        let (text, audio) = (reply["text"].as_str(), &reply["audio"]);
        if text.is_none() && audio.is_null() {
            return Err(NotRead::Missing("text and no sound"));
        }
        let usage = &reply["usage"];
        let counts = TokenCounts {
            prompt: usage["input_tokens"].as_u64(),
            completion: usage["output_tokens"].as_u64(),
            ..TokenCounts::default()
        };
        answer_of(json!({"content": text.unwrap_or(""), "audio": audio, "usage": counts.json(),
            "logprobs": reply["logprobs"]}))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transcription_is_read_as_a_text_as_json_and_streamed() {
        let usage = json!({"type": "tokens", "input_tokens": 14, "output_tokens": 2});
        let events = [
            json!({"type": "transcript.text.delta", "delta": "One "}),
            json!({"type": "transcript.text.delta", "delta": "two"}),
            json!({"type": "transcript.text.done", "text": "One two", "usage": usage}),
        ];
        assert!(
            OpenAiAudio.is_last(&events[2].to_string())
                && !OpenAiAudio.is_last(&events[1].to_string())
        );
        let plain = OpenAiAudio.of_bytes(b"One two").unwrap();
        let whole = json!({"text": "One two", "usage": usage});
        for (reply, tokens) in
            [(OpenAiAudio.assemble(&events), Some(2)), (whole, Some(2)), (plain, None)]
        {
            let answer = OpenAiAudio.answer(reply).unwrap();
            assert_eq!(answer.content.text(), "One two");
            assert_eq!(answer.usage.and_then(|usage| usage.completion_tokens), tokens);
        }
        let cut = OpenAiAudio.assemble(&events[..1]);
        assert_eq!(OpenAiAudio.ending(&cut, false), Ending::CutOff("an event that is done"));
        assert_eq!(OpenAiAudio.of_bytes(b" {\"text\": \"a\"}"), None);
    }

    #[test]
    fn of_speech_it_is_said_how_long_it_is() {
        let sound = OpenAiAudio.of_bytes(b"ID\xFF").unwrap();
        let events = [
            json!({"type": "speech.audio.delta", "audio": "AA=="}),
            json!({"type": "speech.audio.delta", "audio": "AAA="}),
            json!({"type": "speech.audio.done", "usage": {"input_tokens": 1, "output_tokens": 9}}),
        ];
        for reply in [sound, OpenAiAudio.assemble(&events)] {
            let answer = OpenAiAudio.answer(reply).unwrap();
            assert_eq!((answer.content.text(), &answer.extra["audio"]), ("", &json!({"bytes": 3})));
        }
    }
}
