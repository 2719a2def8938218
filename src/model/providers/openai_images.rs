//! Images made by OpenAI's API and the servers that speak it (platform.openai.com/docs/api-reference/images). The images
//! are in the body, which is kept; of each, the answer says where it is or how long.

use serde_json::{Map, Value, json};

use super::dialect::{Dialect, NotRead};
use super::ending::{Ending, error_in};
use super::reply_parts::{TokenCounts, answer_of, kind_of};
use super::url_fields::UrlFields;
use crate::members::Members;
use crate::model::Response;
use crate::prompt::Api;

/// Images. A reply is not recognised by itself: a list of data may also be of embeddings.
#[derive(Debug)]
pub(super) struct OpenAiImages;

impl Dialect for OpenAiImages {
    fn name(&self) -> &'static str {
        "openai.images"
    }

    fn paths(&self) -> &'static [&'static str] {
        &["/images/generations", "/images/edits", "/images/variations"]
    }

    /// Images that are not in the answer itself.
    fn url_fields(&self) -> &'static [UrlFields] {
        const FIELDS: &[UrlFields] = &[
            UrlFields::new("/images/generations", &["data.*.url"]),
            UrlFields::new("/images/edits", &["data.*.url"]),
            UrlFields::new("/images/variations", &["data.*.url"]),
        ];
        FIELDS
    }

    fn transport(&self) -> &'static [(&'static str, &'static str)] {
        &[("stream", "how the bytes of the answer travel, not what they say")]
    }

    fn prompt(&self, mut body: Map<String, Value>) -> Option<(Api, Map<String, Value>)> {
        let prompt = body.remove("prompt").filter(Value::is_string)?;
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

    fn is_last(&self, data: &str) -> bool {
        kind_of(data).is_some_and(|kind| kind.ends_with(".completed") || kind == "error")
    }

    /// The events before the last have images that are not finished.
    fn assemble(&self, events: &[Value]) -> Value {
        let mut reply = json!({"data": []});
        for event in events {
            match event["type"].as_str() {
                Some("error") => reply.set("error", event["error"].clone()),
                Some(kind) if kind.ends_with(".completed") => {
                    reply.set("data", json!([{"b64_json": event["b64_json"]}]));
                    reply.set("usage", event["usage"].clone());
                }
                _ => {}
            }
        }
        reply
    }

    fn ending(&self, reply: &Value, has_end: bool) -> Ending {
        Ending::or(error_in(&reply["error"]), || Ending::by_mark(has_end, "a finished image"))
    }

    fn answer(&self, reply: Value) -> Result<Response, NotRead> {
        let data = reply["data"].as_array().ok_or(NotRead::Missing("data"))?;
        let images: Vec<Value> = data.iter().map(image).collect();
        let usage = &reply["usage"];
        let counts = TokenCounts {
            prompt: usage["input_tokens"].as_u64(),
            completion: usage["output_tokens"].as_u64(),
            ..TokenCounts::default()
        };
        answer_of(json!({"content": "", "images": images, "usage": counts.json()}))
    }
}

/// The fields of an image that are kept, with the number of its bytes instead of them.
fn image(image: &Value) -> Value {
    let mut said = Map::new();
    for name in ["url", "revised_prompt"] {
        if let Some(text) = image[name].as_str() {
            said.insert(name.to_owned(), text.into());
        }
    }
    if let Some(packed) = image["b64_json"].as_str() {
        let padding = packed.bytes().rev().take_while(|byte| *byte == b'=').count();
        said.insert("bytes".to_owned(), (packed.len() / 4 * 3).saturating_sub(padding).into());
    }
    Value::Object(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_named_streamed_or_not() {
        let usage = json!({"input_tokens": 3, "output_tokens": 200});
        let events = [
            json!({"type": "image_generation.partial_image", "b64_json": "AAAA"}),
            json!({"type": "image_generation.completed", "b64_json": "AAAAAA==", "usage": usage}),
        ];
        assert!(
            OpenAiImages.is_last(&events[1].to_string())
                && !OpenAiImages.is_last(&events[0].to_string())
        );
        let whole = json!({"data": [{"b64_json": "AAAAAA=="}], "usage": usage});
        for reply in [OpenAiImages.assemble(&events), whole] {
            let answer = OpenAiImages.answer(reply).unwrap();
            assert_eq!(answer.extra["images"], json!([{"bytes": 4}]));
            assert_eq!(answer.usage.unwrap().completion_tokens, Some(200));
        }
        let linked =
            json!({"data": [{"url": "https://i.example/1", "revised_prompt": "a red hat"}]});
        let answer = OpenAiImages.answer(linked.clone()).unwrap();
        assert_eq!(answer.extra["images"], linked["data"]);
        let cut = OpenAiImages.ending(&OpenAiImages.assemble(&events[..1]), false);
        assert_eq!(cut, Ending::CutOff("a finished image"));
    }
}
