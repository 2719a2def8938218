//! An error inside an answer with status 200 is a failure, a stream that was closed before its end is an
//! answer that lacks it, and what had come is kept.

use serde_json::{Value, json};

use super::python::python;
use super::{KEY, program, record_with, replay, replay_with, with};
use crate::support::cli::Place;
use crate::support::server::{Reply, Server};

const EVENTS: &str = "text/event-stream";
const LINES: &str = "application/x-ndjson";
const JSON: &str = "application/json";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Is {
    Answered,
    Unended,
    Failed,
}

/// What a server sends, and what it is.
struct Case {
    path: &'static str,
    kind: &'static str,
    body: String,
    is: Is,
    /// A text that `show` has.
    shows: &'static str,
}

fn case(
    path: &'static str,
    kind: &'static str,
    body: &[Value],
    is: Is,
    shows: &'static str,
) -> Case {
    let line = |event: &Value| match (kind, event.as_str()) {
        (EVENTS, Some(word)) => format!("data: {word}\n\n"),
        (EVENTS, None) => match event["type"].as_str() {
            Some(name) => format!("event: {name}\ndata: {event}\n\n"),
            None => format!("data: {event}\n\n"),
        },
        _ => format!("{event}\n"),
    };
    Case { path, kind, body: body.iter().map(line).collect(), is, shows }
}

fn cases() -> Vec<Case> {
    use Is::{Answered, Failed, Unended};
    let chat = "v1/chat/completions";
    let delta = |text: &str, reason: Value| {
        json!({"id": "c", "object": "chat.completion.chunk", "model": "m",
        "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": reason}]})
    };
    let (begun, stop) = (delta("half a", Value::Null), delta(" text", "stop".into()));
    let openrouter = json!({"id": "c", "object": "chat.completion.chunk", "model": "m",
        "error": {"code": "server_error", "message": "Provider disconnected"},
        "choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}]});
    let whole = |fields: Value| {
        let mut reply = json!({"id": "c", "object": "chat.completion", "model": "m", "choices": [{"index": 0,
            "finish_reason": "length", "message": {"role": "assistant", "content": "a text"}}]});
        reply.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        reply
    };
    let anthropic = "v1/messages";
    let start = json!({"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant",
        "model": "m", "content": [], "usage": {"input_tokens": 1, "output_tokens": 1}}});
    let block = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}});
    let said = json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "half a"}});
    let reason = json!({"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {"output_tokens": 2}});
    let overloaded =
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let responses = "v1/responses";
    let text = json!({"type": "response.output_text.delta", "output_index": 0, "delta": "half a"});
    let response = |status: &str, error: Value| {
        json!({"type": format!("response.{status}"), "response": {"id": "r",
        "status": status, "error": error, "output": []}})
    };
    let bad = json!({"code": "server_error", "message": "It broke"});
    let gemini = "v1beta/models/m:streamGenerateContent";
    let part = |reason: Value| json!({"candidates": [{"content": {"parts": [{"text": "half a"}]}, "finishReason": reason}]});
    let unavailable = json!({"error": {"code": 503, "message": "The model is overloaded", "status": "UNAVAILABLE"}});
    let ollama = "api/chat";
    let token = |done: bool| json!({"model": "m", "message": {"role": "assistant", "content": "half a"}, "done": done});
    let runner = json!({"error": "the runner has stopped"});
    vec![
        case(
            chat,
            EVENTS,
            &[begun.clone(), stop.clone(), "[DONE]".into()],
            Answered,
            "half a text",
        ),
        case(chat, EVENTS, &[begun.clone(), stop], Answered, "half a text"),
        case(chat, EVENTS, &[begun.clone(), "[DONE]".into()], Answered, "half a"),
        case(
            chat,
            EVENTS,
            std::slice::from_ref(&begun),
            Unended,
            "closed without [DONE] or a finish reason",
        ),
        case(chat, EVENTS, &[], Unended, "closed without [DONE]"),
        case(chat, EVENTS, &[begun.clone(), openrouter, "[DONE]".into()], Failed, "half a"),
        case(
            chat,
            EVENTS,
            &[begun, json!({"error": {"message": "gone", "code": 502}})],
            Failed,
            "gone",
        ),
        case(
            chat,
            JSON,
            &[json!({"error": {"message": "no capacity", "code": 503}})],
            Failed,
            "no capacity",
        ),
        case(chat, JSON, &[json!({"error": "no capacity"})], Failed, "no capacity"),
        case(
            chat,
            JSON,
            &[whole(json!({"error": null}))],
            Answered,
            "it had reached the limit of tokens",
        ),
        case(chat, JSON, &[whole(json!({"error": {}}))], Answered, "a text"),
        case(
            anthropic,
            EVENTS,
            &[
                start.clone(),
                block.clone(),
                said.clone(),
                reason.clone(),
                json!({"type": "message_stop"}),
            ],
            Answered,
            "it had reached the limit of tokens",
        ),
        case(
            anthropic,
            EVENTS,
            &[start.clone(), block.clone(), said.clone()],
            Unended,
            "closed without message_stop",
        ),
        case(anthropic, EVENTS, &[start, block, said, overloaded.clone()], Failed, "half a"),
        case(
            anthropic,
            EVENTS,
            std::slice::from_ref(&overloaded),
            Failed,
            "inside HTTP 200: Overloaded",
        ),
        case(anthropic, JSON, &[overloaded], Failed, "inside HTTP 200: Overloaded"),
        case(responses, EVENTS, &[text.clone(), response("failed", bad.clone())], Failed, "half a"),
        case(
            responses,
            EVENTS,
            &[text.clone(), json!({"type": "error", "code": "x", "message": "It broke"})],
            Failed,
            "It broke",
        ),
        case(
            responses,
            EVENTS,
            &[text.clone(), response("incomplete", Value::Null)],
            Answered,
            "half a",
        ),
        case(responses, EVENTS, &[response("in_progress", Value::Null), text], Unended, "half a"),
        case(responses, JSON, &[response("failed", bad)["response"].clone()], Failed, "It broke"),
        case(gemini, EVENTS, &[part(Value::Null), part("STOP".into())], Answered, "half a"),
        case(gemini, EVENTS, &[part(Value::Null)], Unended, "closed without a finishReason"),
        case(gemini, EVENTS, &[part(Value::Null), unavailable.clone()], Failed, "half a"),
        case(
            gemini,
            JSON,
            &[json!([part(Value::Null), unavailable])],
            Failed,
            "The model is overloaded",
        ),
        case(
            gemini,
            JSON,
            &[json!([part("MAX_TOKENS".into())])],
            Answered,
            "it had reached the limit of tokens",
        ),
        case(gemini, JSON, &[json!([part(Value::Null)])], Unended, "closed without a finishReason"),
        case(ollama, LINES, &[token(false), token(true)], Answered, "half a"),
        case(ollama, LINES, &[token(false)], Unended, "closed without \"done\": true"),
        case(ollama, LINES, &[token(false), runner.clone()], Failed, "half a"),
        case(ollama, JSON, std::slice::from_ref(&runner), Failed, "the runner has stopped"),
        case(
            "v1/embeddings",
            JSON,
            std::slice::from_ref(&runner),
            Failed,
            "the runner has stopped",
        ),
        case("v1/anything", JSON, &[runner], Answered, "the runner has stopped"),
    ]
}

/// A request of the API at a path.
fn asks(path: &str) -> &'static str {
    match path {
        "v1/responses" | "v1/embeddings" => r#"{"model":"m","input":"hi"}"#,
        "v1beta/models/m:streamGenerateContent" => r#"{"contents":[]}"#,
        _ => r#"{"model":"m","messages":[]}"#,
    }
}

fn count(cases: &[Case], is: Is) -> usize {
    cases.iter().filter(|case| case.is == is).count()
}

#[test]
fn each_api_says_how_its_answers_ended() {
    let (place, all) = (Place::new(), cases());
    let replies: Vec<Reply> = all
        .iter()
        .map(|case| {
            Reply::new(200, case.body.clone()).header("content-type", case.kind).unannounced()
        })
        .collect();
    let upstream = Server::handler(move |received| {
        let number = received.target.trim_start_matches('/').split('/').next().unwrap();
        replies[number.parse::<usize>().unwrap()].clone()
    });
    let mut script = String::new();
    for (n, case) in all.iter().enumerate() {
        script.push_str(&format!(
            "curl -sS --max-time 20 -H 'x-retold-call: case/{n}' -d '{}' $RETOLD_URL/x/{n}/{}\n",
            asks(case.path),
            case.path
        ));
    }
    script.push_str("exit 3\n");
    let program = ["sh", "-c", &script];
    let args = format!("--upstream x=http://{}", upstream.address());
    let recorded = record_with(&place, &args, "http://127.0.0.1:1", &program, &[]);
    let bodies: String = all.iter().map(|case| case.body.as_str()).collect();
    assert_eq!((recorded.code, &recorded.out), (3, &bodies), "{}", recorded.err);
    for (n, case) in all.iter().enumerate() {
        let is_stream = ["v1beta/models/m:streamGenerateContent", "api/chat"].contains(&case.path);
        let stream = if is_stream { "/stream" } else { "" };
        let shown = place.ok(&format!("show latest case/{n}{stream}"));
        let is = match shown.contains("\nfailed attempt 0") {
            true => Is::Failed,
            false if shown.contains("without its end: the stream was closed") => Is::Unended,
            false => Is::Answered,
        };
        assert_eq!(is, case.is, "case {n}, {}: {shown}", case.body);
        assert!(shown.contains(case.shows), "case {n}, {}: {shown}", case.body);
    }
    let (failed, unended) = (count(&all, Is::Failed), count(&all, Is::Unended));
    let answers = all.len() - failed;
    let said = format!(
        "recorded {answers} answers and {failed} failed attempts ({failed} times an error inside HTTP 200)"
    );
    assert!(recorded.err.contains(&said), "{}", recorded.err);
    let said = format!("{unended} answers lack their end");
    assert!(recorded.err.contains(&said), "{}", recorded.err);
    let (shown, _) = place.json("show latest");
    assert_eq!(shown["failed_attempts"], failed);
    assert_eq!(shown["unended_answers"], unended);
    assert!(place.ok("stats latest").contains(&format!("{unended} without its end")));
    let log = place.ok("log latest --most 200");
    assert_eq!(log.matches(" (without its end)\n").count(), unended, "{log}");
    let replayed = replay(&place, "latest", &program);
    assert_eq!((replayed.code, &replayed.out), (3, &bodies), "{}", replayed.err);
    let skipped = replay(&place, "latest --skip-errors", &program);
    assert!(
        skipped.err.contains(&format!("replayed {answers} recorded answers")),
        "{}",
        skipped.err
    );
    // What was paid for is sent again, and only what failed is asked again.
    let before = upstream.received().len();
    let resumed = with(
        &place,
        &format!("record --resume latest {args}"),
        "http://127.0.0.1:1",
        &program,
        &[],
    );
    assert_eq!((resumed.code, &resumed.out), (3, &bodies), "{}", resumed.err);
    assert_eq!(upstream.received().len() - before, failed, "{}", resumed.err);
    assert!(resumed.err.contains(&said), "{}", resumed.err);
    place.ok("verify");
}

#[test]
fn an_import_says_how_its_answers_ended() {
    let (place, all) = (Place::new(), cases());
    let interactions: Vec<Value> = all
        .iter()
        .enumerate()
        .map(|(n, case)| {
            json!({"request": {"method": "POST", "uri": format!("http://127.0.0.1/{n}/{}", case.path),
                    "headers": {"content-type": ["application/json"]},
                    "body": asks(case.path)},
                "response": {"status": {"code": 200, "message": "OK"}, "headers": {"content-type": [case.kind]},
                    "body": {"string": case.body}}})
        })
        .collect();
    place.write("cassette.yaml", json!({"version": 1, "interactions": interactions}).to_string());
    let (imported, code) = place.json("import cassette.yaml");
    assert_eq!(code, 0, "{imported}");
    let (failed, unended) = (count(&all, Is::Failed), count(&all, Is::Unended));
    let (shown, _) = place.json("show latest");
    assert_eq!(shown["exchanges"], all.len() - failed, "{imported}");
    assert_eq!(
        (&shown["failed_attempts"], &shown["unended_answers"]),
        (&json!(failed), &json!(unended))
    );
}

/// The SDKs do not try again by themselves after an error in a stream.
#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn programs_with_real_sdks_get_past_an_error_in_a_stream() {
    let (python, script) = (python(), program("questions.py"));
    let command = [python.as_str(), script.to_str().unwrap()];
    for sdk in ["openai", "anthropic"] {
        let mut times = 0;
        let upstream = Server::handler(move |received| {
            times += 1;
            let is_anthropic = received.target.ends_with("/v1/messages");
            let wanted = |case: &&Case| {
                case.kind == EVENTS
                    && case.path == if is_anthropic { "v1/messages" } else { "v1/chat/completions" }
            };
            let is = if times == 2 { Is::Failed } else { Is::Answered };
            let all = cases();
            let case = all.iter().filter(wanted).find(|case| case.is == is).unwrap();
            Reply::new(200, case.body.clone()).header("content-type", EVENTS)
        });
        let url = format!("http://{}", upstream.address());
        let set = [
            ("SDK", sdk),
            ("STREAM", "1"),
            ("ANTHROPIC_BASE_URL", url.as_str()),
            ("ANTHROPIC_API_KEY", KEY),
        ];
        let place = Place::new();
        let recorded = record_with(&place, "", &upstream.base_url(), &command, &set);
        assert_eq!((recorded.code, upstream.received().len()), (1, 2), "{}", recorded.err);
        let resumed = with(&place, "record --resume latest", &upstream.base_url(), &command, &set);
        assert_eq!((resumed.code, upstream.received().len()), (0, 4), "{}", resumed.err);
        drop(upstream);
        let replayed = replay_with(&place, "latest", &command, &set);
        assert_eq!((replayed.code, replayed.out), (0, resumed.out), "{}", replayed.err);
    }
}
