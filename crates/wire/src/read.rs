//! Reads an answer out of what an upstream sent.

use hyper::http::{HeaderMap, StatusCode};
use retold::model::providers::{Dialect, Ending, NotRead, OTHER, try_read};
use retold::model::{Failure, Response, UNENDED, UNREADABLE, Unreadable, answer_in};
use serde_json::json;

use crate::failures::{failure_of, inside};
use crate::framing::Framing;
use crate::limits::LONGEST_READ;
use crate::reply_reading::ReplyReading;

/// What an upstream sent.
pub(crate) enum UpstreamReading {
    /// An answer. If its stream was closed before its end, it says so.
    Answer(Box<Response>),
    /// A failure.
    Failed {
        /// Why.
        failure: Failure,
        /// What had come of an answer.
        text: Option<String>,
    },
}

/// What a whole body is. If an answer cannot be read, it says so; its bytes are kept in any case.
pub(crate) fn whole(
    dialect: &dyn Dialect,
    framing: Framing,
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
) -> UpstreamReading {
    if !status.is_success() {
        let failure = failure_of(dialect, status, body, headers);
        return UpstreamReading::Failed { failure, text: None };
    }
    if body.len() > LONGEST_READ {
        let mut response = Response::text("");
        let longest = LONGEST_READ >> 20;
        let reason = format!("it is longer than the {longest} MiB that are read");
        add_reason(&mut response, body, reason);
        return UpstreamReading::Answer(Box::new(response));
    }
    let (mut response, ending) = response(dialect, framing, body);
    match ending {
        Ending::Failed(failure) => {
            UpstreamReading::Failed { failure: inside(status, failure), text: text_of(response) }
        }
        Ending::CutOff(mark) => {
            let said = format!("the stream was closed without {mark}");
            response.extra.insert(UNENDED.to_owned(), said.into());
            UpstreamReading::Answer(Box::new(response))
        }
        Ending::Answered => UpstreamReading::Answer(Box::new(response)),
    }
}

/// What can be read of an answer that broke off.
pub(crate) fn partial_text(dialect: &dyn Dialect, framing: Framing, body: &[u8]) -> Option<String> {
    // The text of any other body is the body.
    if dialect.name() == OTHER.name() || body.len() > LONGEST_READ {
        None
    } else {
        text_of(response(dialect, framing, body).0)
    }
}

fn text_of(response: Response) -> Option<String> {
    Some(response.content.text().to_owned()).filter(|text| !text.is_empty())
}

/// The answer in a body, and how it ended. Everything that is read of what an upstream sent is read here.
fn response(dialect: &dyn Dialect, framing: Framing, body: &[u8]) -> (Response, Ending) {
    if dialect.name() == OTHER.name() {
        // Bytes have no text.
        let text = std::str::from_utf8(body).unwrap_or_default();
        return (Response::text(text), Ending::Answered);
    }
    try_read(dialect.name(), || reply(dialect, framing, body)).unwrap_or_else(|fault| {
        let mut response = Response::text("");
        add_reason(&mut response, body, fault.to_string());
        (response, Ending::Answered)
    })
}

/// Says of an answer why it could not be read, or what of it.
pub(crate) fn add_reason(response: &mut Response, body: &[u8], reason: String) {
    let unreadable = Unreadable { body: None, length: body.len() as u64, reason };
    response.extra.insert(UNREADABLE.to_owned(), json!(unreadable));
}

fn reply(dialect: &dyn Dialect, framing: Framing, body: &[u8]) -> (Response, Ending) {
    let unreadable = |reason: String| {
        let mut response = Response::text("");
        add_reason(&mut response, body, reason);
        response
    };
    let reading = match ReplyReading::of(dialect, framing, body) {
        Ok(reading) => reading,
        Err(error) => return (unreadable(error.to_string()), Ending::Answered),
    };
    let ReplyReading { reply, has_end, wrong, longer } = reading;
    let ending = dialect.ending(&reply, has_end);
    let mut response = answer_in(reply, dialect).unwrap_or_else(|error| match error {
        NotRead::Several(_) | NotRead::Undescribed => {
            Response::text(std::str::from_utf8(body).unwrap_or_default())
        }
        error => unreadable(error.to_string()),
    });
    if let Some(mark) = longer {
        mark.give_back_digits(&mut response);
    }
    if !wrong.is_empty() && !response.extra.contains_key(UNREADABLE) {
        add_reason(&mut response, body, wrong.join("; "));
    }
    (response, ending)
}

#[cfg(test)]
mod tests {
    use retold::model::Usage;
    use retold::model::providers;
    use serde_json::Value;

    use super::*;

    const SSE: &str = "text/event-stream";
    const CHAT: &str = "/v1/chat/completions";
    const RESPONSES: &str = "/v1/responses";

    fn read(path: &str, content_type: &str, body: &[u8]) -> Response {
        let framing = Framing::of_body(content_type, body);
        match whole(providers::at(path), framing, StatusCode::OK, &HeaderMap::new(), body) {
            UpstreamReading::Answer(response) => *response,
            UpstreamReading::Failed { failure, .. } => panic!("{failure}"),
        }
    }

    /// Text, and why it was not read as it is, if so.
    fn text(path: &str, content_type: &str, body: &[u8]) -> (String, Option<String>) {
        let response = read(path, content_type, body);
        let reason = Unreadable::new(&response.extra).map(|it| it.reason);
        (response.content.text().to_owned(), reason)
    }

    /// A stream of chat completions whose texts are these, which may have escapes of JSON.
    fn chat(texts: &[&str]) -> String {
        let event = |text: &&str| {
            format!(
                r#"data: {{"id":"c","object":"chat.completion.chunk","choices":[{{"index":0,"delta":{{"content":"{text}"}}}}]}}"#
            )
        };
        let mut events: Vec<String> = texts.iter().map(event).collect();
        events.push("data: [DONE]".to_owned());
        events.join("\n\n") + "\n\n"
    }

    fn completion(text: &str) -> String {
        format!(
            r#"{{"object":"chat.completion","choices":[{{"index":0,"finish_reason":"stop","message":{{"role":"assistant","content":"{text}"}}}}]}}"#
        )
    }

    #[test]
    fn halves_of_a_character_in_two_deltas_are_joined_and_one_alone_is_named() {
        let joined = text(CHAT, SSE, chat(&["a \\ud83d", "\\ude00 b"]).as_bytes());
        assert_eq!(joined, ("a \u{1f600} b".to_owned(), None));
        let (read, why) = text(CHAT, SSE, chat(&["a \\ud83d", " b"]).as_bytes());
        assert_eq!((&*read, why.as_deref()), ("a \u{fffd} b", Some("half a surrogate pair")));
        let (read, why) = text(CHAT, "application/json", completion("\\udc00x").as_bytes());
        assert_eq!((&*read, why.as_deref()), ("\u{fffd}x", Some("half a surrogate pair")));
    }

    #[test]
    fn private_characters_are_left_as_they_are() {
        for said in ["a \u{10f800}\u{10ffff}", "\u{10fc00}"] {
            let body = chat(&[said]);
            assert_eq!(text(CHAT, SSE, body.as_bytes()), (said.to_owned(), None));
            let body = completion(said);
            assert_eq!(text(CHAT, "application/json", body.as_bytes()), (said.to_owned(), None));
        }
        let body = chat(&["\u{10f800} \\ud83d", "\\ude00"]);
        let (read, why) = text(CHAT, SSE, body.as_bytes());
        assert_eq!(read, "\u{10f800} \u{fffd}\u{fffd}");
        assert_eq!(why.unwrap(), "event 1: half a surrogate pair; event 2: half a surrogate pair");
    }

    #[test]
    fn numbers_that_are_not_finite_do_not_lose_the_text() {
        let body = completion("yes").replace(
            r#""finish_reason""#,
            r#""logprobs":{"content":[{"token":"yes","logprob":-Infinity,"top_logprobs":[],"n":12345678901234567890}]},"finish_reason""#,
        );
        let (read, why) = text(CHAT, "application/json", body.as_bytes());
        assert_eq!((&*read, why.as_deref()), ("yes", Some("a number that is not finite")));
    }

    #[test]
    fn bodies_with_a_byte_order_mark_and_in_utf_16_are_read() {
        let expected = ("\u{20ac}".to_owned(), None);
        let marked = format!("\u{feff}{}", completion("\u{20ac}"));
        assert_eq!(text(CHAT, "application/json", marked.as_bytes()), expected);
        let marked = format!("\u{feff}{}", chat(&["\u{20ac}"]));
        assert_eq!(text(CHAT, SSE, marked.as_bytes()), expected);
        let units: Vec<u16> = completion("\u{20ac}").encode_utf16().collect();
        let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let big: Vec<u8> =
            [0xFEFF].iter().chain(&units).flat_map(|unit| unit.to_be_bytes()).collect();
        assert_eq!(text(CHAT, "application/json", &little), expected);
        assert_eq!(text(CHAT, "application/json", &big), expected);
    }

    #[test]
    fn an_event_that_cannot_be_read_does_not_lose_the_others() {
        let body = chat(&["a", "b"]);
        let after = body.clone() + "data: that was all\n\n";
        assert_eq!(text(CHAT, SSE, after.as_bytes()), ("ab".to_owned(), None));
        let between = body.replacen("\n\n", "\n\ndata: : keepalive\n\n", 1);
        let (read, why) = text(CHAT, SSE, between.as_bytes());
        assert_eq!((&*read, &why.unwrap()[..23]), ("ab", "event 2 is not JSON: ex"));
        let torn = &body[..body.find("data: [DONE]").unwrap() - 20];
        let (read, why) = text(CHAT, SSE, torn.as_bytes());
        assert_eq!((&*read, why), ("a", None));
        let nothing = text(CHAT, SSE, b"data: nonsense\n\n").1.unwrap();
        assert!(nothing.starts_with("it is not JSON: "), "{nothing}");
    }

    #[test]
    fn what_a_body_is_follows_from_the_body() {
        let (stream, one) = (chat(&["a", "b"]), completion("ab"));
        for label in ["", "text/plain", "application/json", "application/x-ndjson", SSE] {
            assert_eq!(text(CHAT, label, stream.as_bytes()), ("ab".to_owned(), None), "{label}");
            // One line of JSON that is labelled as lines is a stream that was closed after the first.
            if label != "application/x-ndjson" {
                assert_eq!(text(CHAT, label, one.as_bytes()), ("ab".to_owned(), None), "{label}");
            }
        }
        let pretty = serde_json::from_str::<Value>(&one).unwrap();
        let pretty = serde_json::to_string_pretty(&pretty).unwrap();
        assert_eq!(text(CHAT, SSE, pretty.as_bytes()), ("ab".to_owned(), None));
        let line = |text: &str, done: bool| json!({"model": "m", "message": {"role": "assistant", "content": text}, "done": done});
        let lines = format!("{}\n{}\n", line("a", false), line("b", true));
        for label in ["", "text/plain", "application/json", SSE] {
            assert_eq!(text("/api/chat", label, lines.as_bytes()).0, "ab", "{label}");
        }
    }

    /// Gemini streams a list if it is not asked for events.
    #[test]
    fn a_list_of_events_is_read_as_far_as_it_came() {
        let path = "/v1beta/models/m:streamGenerateContent";
        let event = |text: &str| {
            format!(r#"{{"candidates":[{{"content":{{"parts":[{{"text":"{text}"}}]}}}}]}}"#)
        };
        let last =
            r#"{"candidates":[{"content":{"parts":[{"text":"]!"}]},"finishReason":"STOP"}]}"#;
        let whole = format!(" [{}\n,\r\n{},{last}]\n", event("One [\\ud83d"), event("\\ude00, "));
        let said = "One [\u{1f600}, ]!".to_owned();
        assert_eq!(text(path, "application/json", whole.as_bytes()), (said, None));
        let cut = &whole[..whole.len() - 20];
        let response = read(path, "application/json", cut.as_bytes());
        assert_eq!(response.content.text(), "One [\u{1f600}, ");
        assert!(response.extra.contains_key(UNENDED));
        let nothing = text(path, "application/json", b"[{\"candidates\":[").1.unwrap();
        assert!(nothing.starts_with("it is not JSON: "), "{nothing}");
    }

    /// SDKs raise what is called an error, whatever it says.
    #[test]
    fn an_event_that_is_called_an_error_is_a_failure() {
        let begun = r#"data: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"model":"m"}}"#;
        let stop = r#"data: {"type":"message_stop"}"#;
        for error in [
            r#"data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            r#"data: {"error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            "data: Overloaded",
        ] {
            for body in [
                format!("{begun}\n\nevent: error\n{error}\n\n"),
                format!("event: error\n{error}\n\n{begun}\n\n{stop}\n\n"),
            ] {
                let framing = Framing::of_body(SSE, body.as_bytes());
                let dialect = providers::at("/v1/messages");
                let read =
                    whole(dialect, framing, StatusCode::OK, &HeaderMap::new(), body.as_bytes());
                let UpstreamReading::Failed { failure, .. } = read else { panic!("{body}") };
                assert!(failure.message.contains("Overloaded"), "{}", failure.message);
            }
        }
        for error in ["500", "[\"boo\"]", "true", "\"boo\""] {
            let body = format!("data: {{\"error\": {error}}}\n\n");
            let framing = Framing::of_body(SSE, body.as_bytes());
            let read = whole(
                providers::at(CHAT),
                framing,
                StatusCode::OK,
                &HeaderMap::new(),
                body.as_bytes(),
            );
            assert!(matches!(read, UpstreamReading::Failed { .. }), "{error}");
        }
    }

    #[test]
    fn what_a_response_says_in_other_items_is_read() {
        let event = |event: Value| format!("data: {event}\n\n");
        let body = [
            event(json!({"type": "response.reasoning_text.delta", "output_index": 0, "delta": "h"})),
            event(json!({"type": "response.reasoning_text.delta", "output_index": 0, "delta": "m"})),
            event(json!({"type": "response.output_item.added", "output_index": 1,
                "item": {"type": "custom_tool_call", "call_id": "c", "name": "f", "input": ""}})),
            event(json!({"type": "response.custom_tool_call_input.delta", "output_index": 1, "delta": "ls"})),
            event(json!({"type": "response.output_text.done", "output_index": 2, "text": "One"})),
        ]
        .concat();
        let response = read(RESPONSES, SSE, body.as_bytes());
        assert_eq!(response.content.text(), "One");
        assert_eq!(response.extra["reasoning"], "hm");
        assert_eq!(response.extra["tool_calls"][0]["custom"], json!({"name": "f", "input": "ls"}));
    }

    #[test]
    fn calls_with_one_index_and_their_own_ids_are_several() {
        let piece = |call: Value| {
            let delta = json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]});
            format!("data: {delta}\n\n")
        };
        let call = |index: Value, id: &str, arguments: &str| {
            piece(
                json!({"index": index, "id": id, "function": {"name": "f", "arguments": arguments}}),
            )
        };
        let more =
            |arguments: &str| piece(json!({"index": 0, "function": {"arguments": arguments}}));
        for (body, expected) in [
            (
                call(json!(0), "x", "{}") + &call(json!(0), "y", "[]"),
                vec![("x", "{}"), ("y", "[]")],
            ),
            (
                call(Value::Null, "x", "{}") + &call(Value::Null, "y", "[]"),
                vec![("x", "{}"), ("y", "[]")],
            ),
            (
                call(json!(0), "x", "{") + &more("}") + &call(json!(0), "y", "[") + &more("]"),
                vec![("x", "{}"), ("y", "[]")],
            ),
            (
                call(json!(1), "y", "[]") + &call(json!(0), "x", "{}"),
                vec![("x", "{}"), ("y", "[]")],
            ),
            (call(json!(0), "x", "{") + &call(json!(0), "x", "}"), vec![("x", "{}")]),
        ] {
            let response = read(CHAT, SSE, body.as_bytes());
            let calls = response.extra["tool_calls"].as_array().unwrap();
            let calls: Vec<(&str, &str)> = calls
                .iter()
                .map(|call| {
                    (call["id"].as_str().unwrap(), call["function"]["arguments"].as_str().unwrap())
                })
                .collect();
            assert_eq!(calls, expected, "{body}");
        }
    }

    #[test]
    fn a_stream_of_responses_without_its_last_event_has_what_came() {
        let event =
            |event: Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
        let of = |kind: &str, at: u64, delta: &str| {
            event(
                json!({"type": format!("response.{kind}.delta"), "output_index": at, "delta": delta}),
            )
        };
        let body = [
            event(json!({"type": "response.created", "response": {"id": "r", "status": "in_progress", "output": []}})),
            of("reasoning_summary_text", 0, "because"),
            of("output_text", 1, "half "),
            of("output_text", 1, "a text"),
            event(json!({"type": "response.output_item.added", "output_index": 2,
                "item": {"type": "function_call", "call_id": "c", "name": "f", "arguments": ""}})),
            of("function_call_arguments", 2, "{\"a\":1}"),
        ]
        .concat();
        let response = read(RESPONSES, SSE, body.as_bytes());
        assert_eq!(response.content.text(), "half a text");
        assert!(response.extra.contains_key(UNENDED));
        let shown = Value::Object(response.extra).to_string();
        assert!(shown.contains("because") && shown.contains(r#"{\"a\":1}"#), "{shown}");
    }

    #[test]
    fn usage_is_counted_where_servers_put_it() {
        let counted =
            Some(Usage { prompt_tokens: Some(3), completion_tokens: Some(2), ..Usage::default() });
        let usage = json!({"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5});
        let event = json!({"id": "c", "choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": "stop"}],
            "x_groq": {"id": "g", "usage": usage}});
        let body = format!("data: {event}\n\ndata: [DONE]\n\n");
        assert_eq!(read(CHAT, SSE, body.as_bytes()).usage, counted);
        let event = json!({"id": "c", "choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": "stop",
            "usage": usage}]});
        let body = format!("data: {event}\n\ndata: [DONE]\n\n");
        assert_eq!(read(CHAT, SSE, body.as_bytes()).usage, counted);
    }
}
