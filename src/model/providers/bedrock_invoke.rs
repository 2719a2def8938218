//! Amazon Bedrock's InvokeModel and InvokeModelWithResponseStream, whose bodies are those of the model: its user guide has
//! them under "Inference request parameters and response fields for foundation models". Models that speak the words of
//! another API are read as that API reads them; the others have a text in one place.

use serde_json::{Map, Value, json};

use super::anthropic::Anthropic;
use super::bedrock_converse::{self, BedrockConverse, error_body};
use super::conversation::Conversation;
use super::dialect::{Dialect, NotRead, Problem};
use super::ending::Ending;
use super::openai_chat::OpenAiChat;
use super::reply_parts::{TokenCounts, answer_of, append};
use super::{ids, vectors};
use crate::members::Members;
use crate::model::Response;
use crate::model::parts::OTHER_CHOICES;
use crate::prompt::Api;

/// InvokeModel, with the providers of [`BedrockConverse`]. Its replies are those of other APIs, or of single models.
#[derive(Debug)]
pub(super) struct BedrockInvoke;

/// The field that the last event of a stream has with every model.
const METRICS: &str = "amazon-bedrock-invocationMetrics";

/// Where models without messages have their prompt: Titan the second, the others the first.
const PROMPTS: [&str; 2] = ["prompt", "inputText"];

/// Where models without messages have their text: Llama, Titan (whole, streamed), Mistral, Cohere's Command, AI21's
/// Jurassic, Claude 2.
const TEXTS: [&str; 8] = [
    "/generation",
    "/results/0/outputText",
    "/outputText",
    "/outputs/0/text",
    "/generations/0/text",
    "/completions/0/data/text",
    "/completion",
    "/text",
];

/// Where they say why it ended.
const REASONS: [&str; 7] = [
    "/stop_reason",
    "/results/0/completionReason",
    "/completionReason",
    "/outputs/0/stop_reason",
    "/generations/0/finish_reason",
    "/completions/0/finishReason/reason",
    "/finish_reason",
];

impl Dialect for BedrockInvoke {
    fn name(&self) -> &'static str {
        "bedrock.invoke"
    }

    fn paths(&self) -> &'static [&'static str] {
        &["/model/*/invoke", "/model/*/invoke-with-response-stream"]
    }

    fn is_streamed(&self, path: &str, _body: &Map<String, Value>) -> bool {
        path.ends_with("-stream")
    }

    /// Those of Anthropic's models.
    fn invented_ids(&self, body: &mut Value, each: &mut dyn FnMut(&mut String)) {
        ids::at(body, &["messages", "*", "content", "*", "id"], each);
        ids::at(body, &["messages", "*", "content", "*", "tool_use_id"], each);
    }

    fn prompt(&self, mut body: Map<String, Value>) -> Option<(Api, Map<String, Value>)> {
        // Cohere's embeddings have many.
        if let Some(texts) = body.remove("texts") {
            let is_new = body.insert("input".to_owned(), texts).is_none();
            return (is_new && body["input"].is_array()).then_some((Api::Embedding, body));
        }
        let Some(name) = PROMPTS.into_iter().find(|name| body.contains_key(*name)) else {
            return body.get("messages").is_some_and(Value::is_array).then_some((Api::Chat, body));
        };
        // Marks the field that had the text.
        let text = body.insert(name.to_owned(), "text".into()).filter(Value::is_string)?;
        let messages = json!([{"role": "user", "content": text}]);
        body.insert("messages".to_owned(), messages).is_none().then_some((Api::Chat, body))
    }

    fn body(&self, mut prompt: Map<String, Value>, _: &str, _: bool) -> Map<String, Value> {
        let marked = PROMPTS.into_iter().find(|name| prompt.contains_key(*name));
        if let Some(name) = marked
            && let Some(mut messages) = prompt.remove("messages")
        {
            prompt.insert(name.to_owned(), messages.take_at("/0/content"));
        }
        if let Some(texts) = prompt.remove("input") {
            prompt.insert("texts".to_owned(), texts);
        }
        prompt
    }

    fn converse(&self, body: &Map<String, Value>, messages: &[Value], chat: &mut Conversation) {
        let is = |name: &str| body.contains_key(name);
        match () {
            () if is("anthropic_version") => Anthropic.converse(body, messages, chat),
            () if is("schemaVersion") || is("inferenceConfig") || is("toolConfig") => {
                BedrockConverse.converse(body, messages, chat);
            }
            () => OpenAiChat.converse(body, messages, chat),
        }
    }

    fn is_last(&self, data: &str) -> bool {
        data.contains(METRICS)
            || data.contains("\"error\"")
                && serde_json::from_str(data).is_ok_and(|event: Value| event["error"].is_object())
    }

    fn assemble(&self, events: &[Value]) -> Value {
        let has = |place: &str| events.iter().any(|event| event.pointer(place).is_some());
        let is = |kind: &str| events.iter().any(|event| event["type"] == kind);
        let mut reply = match () {
            () if is("message_start") => Anthropic.assemble(events),
            () if has("/messageStart") || has("/contentBlockDelta") => {
                bedrock_converse::assemble(events)
            }
            () if has("/choices") => OpenAiChat.assemble(events),
            () => with_whole_text(events),
        };
        for event in events {
            for name in [METRICS, "error"] {
                if let Some(value) = event.get(name) {
                    reply.set(name, value.clone());
                }
            }
        }
        reply
    }

    fn ending(&self, reply: &Value, has_end: bool) -> Ending {
        let failed = bedrock_converse::failure(reply);
        Ending::or(failed, || Ending::by_mark(has_end, "the metrics of its invocation"))
    }

    fn answer(&self, mut reply: Value) -> Result<Response, NotRead> {
        let metrics = reply.as_object_mut().and_then(|reply| reply.remove(METRICS));
        if reply["type"] == "message" {
            return Anthropic.answer(reply);
        }
        if reply["output"].is_object() {
            return BedrockConverse.answer(reply);
        }
        if reply["choices"].is_array() {
            return OpenAiChat.answer(reply);
        }
        if reply["embeddings"].is_array() || reply["embeddings"].is_object() {
            return vectors::of_lists(&reply, &metrics.unwrap_or_default()["inputTokenCount"]);
        }
        // Titan's second version has them by their types, and as one vector if floats were asked for.
        if reply["embedding"].is_null()
            && let Some(types) = reply["embeddingsByType"].as_object()
            && let Some(vector) = types.get("float").or_else(|| types.values().next())
        {
            reply.set("embedding", vector.clone());
        }
        if reply["embedding"].is_array() {
            let counted = &reply["inputTextTokenCount"];
            let data = json!({"data": [{"embedding": reply["embedding"]}], "usage": {"prompt_tokens": counted}});
            return vectors::of_reply(&data);
        }
        let text = |places: &[&str]| {
            places.iter().find_map(|place| reply.pointer(place)?.as_str().map(str::to_owned))
        };
        let said =
            text(&TEXTS).ok_or(NotRead::Missing("text of a model whose replies are known"))?;
        let metrics = metrics.unwrap_or_default();
        let count =
            |of: [(&Value, &str); 3]| of.into_iter().find_map(|(of, name)| of[name].as_u64());
        let counts = TokenCounts {
            prompt: count([
                (&reply, "prompt_token_count"),
                (&reply, "inputTextTokenCount"),
                (&metrics, "inputTokenCount"),
            ]),
            completion: count([
                (&reply, "generation_token_count"),
                (&reply["results"][0], "tokenCount"),
                (&metrics, "outputTokenCount"),
            ]),
            ..TokenCounts::default()
        };
        let mut fields = json!({"content": said, "finish_reason": text(&REASONS), "id": reply["id"],
            "usage": counts.json()});
        let others: Vec<Value> = (1..).map_while(|index| other_choice(&reply, index)).collect();
        if !others.is_empty() {
            fields.set(OTHER_CHOICES, others.into());
        }
        answer_of(fields)
    }

    fn error(&self, problem: &Problem<'_>) -> Value {
        error_body(problem)
    }
}

/// One of the texts after the first, as a choice of chat completions (`num_generations` of Command, `numResults` of
/// Jurassic).
fn other_choice(reply: &Value, index: u64) -> Option<Value> {
    let at = |places: &[&str]| {
        let others = places.iter().filter(|place| place.contains("/0/"));
        let places = others.map(|place| place.replace("/0/", &format!("/{index}/")));
        places.into_iter().find_map(|place| Some(reply.pointer(&place)?.as_str()?.to_owned()))
    };
    let text = at(&TEXTS)?;
    Some(json!({"index": index, "finish_reason": at(&REASONS), "message": {"content": text}}))
}

/// The last event of a model without messages, with the text of all.
fn with_whole_text(events: &[Value]) -> Value {
    let mut whole = Map::new();
    let mut text = Map::new();
    for event in events {
        whole.extend(event.as_object().cloned().unwrap_or_default());
        if let Some(more) = TEXTS.iter().find_map(|place| event.pointer(place)?.as_str()) {
            append(&mut text, "text", more);
        }
    }
    let mut whole = Value::Object(whole);
    if let Some(text) = text.remove("text") {
        match TEXTS.iter().find(|place| whole.pointer(place).is_some_and(Value::is_string)) {
            Some(place) => whole.pointer_mut(place).map_or((), |said| *said = text),
            None => whole.set("text", text),
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Content, Usage};

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn models_without_messages_are_read_streamed_or_not() {
        let counted = |prompt, completion| {
            Some(Usage { prompt_tokens: prompt, completion_tokens: completion, ..Usage::default() })
        };
        let llama = json!({"generation": "One two", "prompt_token_count": 3, "generation_token_count": 2,
            "stop_reason": "stop"});
        let titan = json!({"inputTextTokenCount": 3, "results": [{"tokenCount": 2, "outputText": "One two",
            "completionReason": "stop"}]});
        let mistral = json!({"outputs": [{"text": "One two", "stop_reason": "stop"}]});
        let command = json!({"id": "i", "generations": [{"id": "g", "text": "One two", "finish_reason": "stop"}]});
        for (reply, usage) in [
            (llama, counted(Some(3), Some(2))),
            (titan, counted(Some(3), Some(2))),
            (mistral, None),
            (command, None),
        ] {
            let answer = BedrockInvoke.answer(reply).unwrap();
            assert_eq!(answer.content, Content::from("One two"));
            assert_eq!((answer.finish_reason.as_deref(), answer.usage), (Some("stop"), usage));
        }
        let metrics = json!({"inputTokenCount": 3, "outputTokenCount": 2});
        let two = json!({"generations": [{"text": "One two"}, {"text": "three", "finish_reason": "MAX_TOKENS"}]});
        assert_eq!(
            BedrockInvoke.answer(two).unwrap().extra["other_choices"],
            json!([{"index": 1, "finish_reason": "MAX_TOKENS", "message": {"content": "three"}}])
        );
        for (first, last) in [
            (json!({"generation": "One "}), json!({"generation": "two", "stop_reason": "stop"})),
            (
                json!({"outputText": "One "}),
                json!({"outputText": "two", "completionReason": "stop"}),
            ),
            (
                json!({"outputs": [{"text": "One "}]}),
                json!({"outputs": [{"text": "two", "stop_reason": "stop"}]}),
            ),
            (json!({"text": "One two"}), json!({"is_finished": true, "finish_reason": "stop"})),
        ] {
            let mut last = last;
            last[METRICS] = metrics.clone();
            assert!(
                BedrockInvoke.is_last(&last.to_string())
                    && !BedrockInvoke.is_last(&first.to_string())
            );
            let answer = BedrockInvoke.answer(BedrockInvoke.assemble(&[first, last])).unwrap();
            assert_eq!(answer.content, Content::from("One two"));
            assert_eq!(answer.finish_reason.as_deref(), Some("stop"));
            assert_eq!(answer.usage, counted(Some(3), Some(2)));
        }
    }

    #[test]
    fn models_that_speak_another_api_are_read_as_it_is() {
        let anthropic = [
            json!({"type": "message_start", "message": {"type": "message", "id": "m", "content": [], "usage": {"input_tokens": 3}}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "One two"}}),
            json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}}),
            json!({"type": "message_stop", METRICS: {"inputTokenCount": 3}}),
        ];
        let nova = [
            json!({"messageStart": {"role": "assistant"}}),
            json!({"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "One two"}}}),
            json!({"messageStop": {"stopReason": "end_turn"}}),
            json!({"metadata": {"usage": {"inputTokens": 3, "outputTokens": 2}}, METRICS: {"inputTokenCount": 3}}),
        ];
        let chat = [
            json!({"choices": [{"index": 0, "delta": {"content": "One two"}}]}),
            json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "end_turn"}],
                "usage": {"prompt_tokens": 3, "completion_tokens": 2}, METRICS: {"inputTokenCount": 3}}),
        ];
        for events in [&anthropic[..], &nova, &chat] {
            let reply = BedrockInvoke.assemble(events);
            assert_eq!(BedrockInvoke.ending(&reply, true), Ending::Answered);
            let answer = BedrockInvoke.answer(reply).unwrap();
            assert_eq!(answer.content, Content::from("One two"));
            assert_eq!(answer.finish_reason.as_deref(), Some("end_turn"));
            assert_eq!(answer.usage.unwrap().completion_tokens, Some(2));
        }
        for vectors in [
            json!({"embedding": [1.0, 2.0], "inputTextTokenCount": 3}),
            json!({"embeddings": [[1.0, 2.0]], "response_type": "embeddings_floats"}),
            json!({"embeddingsByType": {"binary": [1, 2]}, "inputTextTokenCount": 3}),
        ] {
            let answer = BedrockInvoke.answer(vectors).unwrap();
            assert_eq!(answer.content, Content::Vector([1.0, 2.0].into()));
        }
        let error = BedrockInvoke.answer(json!({"images": ["AAAA"]})).unwrap_err().to_string();
        assert_eq!(error, "it has no text of a model whose replies are known");
    }

    #[test]
    fn a_prompt_is_a_message_and_given_back() {
        for body in [
            json!({"prompt": "hi", "max_gen_len": 9}),
            json!({"inputText": "hi", "textGenerationConfig": {}}),
            json!({"anthropic_version": "bedrock-2023-05-31", "messages": [{"role": "user", "content": "hi"}]}),
        ] {
            let (_, prompt) = BedrockInvoke.prompt(object(body.clone())).unwrap();
            assert_eq!(prompt["messages"], json!([{"role": "user", "content": "hi"}]));
            assert_eq!(Value::Object(BedrockInvoke.body(prompt, "", true)), body);
        }
        let body = json!({"texts": ["a"], "input_type": "clustering"});
        let (api, prompt) = BedrockInvoke.prompt(object(body.clone())).unwrap();
        assert_eq!((api, &prompt["input"]), (Api::Embedding, &json!(["a"])));
        assert_eq!(Value::Object(BedrockInvoke.body(prompt, "", false)), body);
        for other in [
            json!({"texts": "a"}),
            json!({"prompt": "a", "messages": []}),
            json!({"prompt": ["a"]}),
        ] {
            assert!(BedrockInvoke.prompt(object(other)).is_none());
        }
    }
}
