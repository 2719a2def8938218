//! URLs in the bodies of answers: documented ones lead through retold, as those in headers do.

use super::python::python;
use super::{KEY, assert_no_key, record, record_with, replay, replay_with};
use crate::support::cli::Place;
use crate::support::server::{Received, Reply, Server};

/// A server with batches of Anthropic, whose results are at another URL.
fn batches(results: impl Fn(&str) -> String + Send + 'static) -> Server {
    Server::handler(move |received| {
        let host = received.header("host").unwrap();
        if received.target.contains("/results") {
            let message = serde_json::json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "m",
                "content": [{"type": "text", "text": "Blue."}], "stop_reason": "end_turn", "stop_sequence": null,
                "usage": {"input_tokens": 3, "output_tokens": 2}});
            let line = |id: &str| {
                let result = serde_json::json!({"custom_id": id, "result": {"type": "succeeded", "message": message}});
                format!("{result}\n")
            };
            return Reply::new(200, line("a") + &line("b"))
                .header("content-type", "application/x-jsonl");
        }
        let url = (received.method == "GET").then(|| results(host));
        let batch = serde_json::json!({"id": "msgbatch_1", "type": "message_batch", "created_at": "2026-11-30T00:00:00Z",
            "expires_at": "2026-12-01T00:00:00Z", "processing_status": if url.is_some() { "ended" } else { "in_progress" },
            "request_counts": {"processing": 0, "succeeded": 2, "errored": 0, "canceled": 0, "expired": 0},
            "results_url": url});
        Reply::new(200, batch.to_string())
    })
}

const BATCHES: &str = r#"
from anthropic import Anthropic
client = Anthropic(max_retries=0)
asked = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Color?"}]}
batch = client.messages.batches.create(requests=[{"custom_id": id, "params": asked} for id in "ab"])
print(batch.processing_status, batch.results_url)
for result in client.messages.batches.results(batch.id):
    print(result.custom_id, result.result.message.content[0].text)
"#;

#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn anthropic_s_sdk_gets_the_results_of_a_batch_again() {
    let (place, python) = (Place::new(), python());
    let upstream = batches(|host| {
        format!("http://{host}/v1/messages/batches/msgbatch_1/results?key={KEY}&x=y")
    });
    let url = format!("http://{}", upstream.address());
    let set = [("ANTHROPIC_BASE_URL", url.as_str()), ("ANTHROPIC_API_KEY", KEY)];
    let program = [python.as_str(), "-c", BATCHES];
    let recorded = record_with(&place, "", "http://127.0.0.1:1", &program, &set);
    assert_eq!(
        (recorded.code, &*recorded.out),
        (0, "in_progress None\na Blue.\nb Blue.\n"),
        "{}",
        recorded.err
    );
    assert!(recorded.err.contains("recorded 3 answers"), "{}", recorded.err);
    assert!(!recorded.err.contains("led the program"), "{}", recorded.err);
    let results = &upstream.received()[2];
    // The upstream's own host gets the key.
    assert_eq!(results.target, format!("/v1/messages/batches/msgbatch_1/results?key={KEY}&x=y"));
    let bearer = format!("Bearer {KEY}");
    assert_eq!(results.header("authorization"), Some(&*bearer));
    drop(upstream);
    assert_no_key(&place, &recorded);
    // The log has the URL that the server sent, and beside it where it leads.
    let exported = place.ok("export latest");
    assert!(
        exported.contains(&format!("{url}/v1/messages/batches/msgbatch_1/results?")),
        "{exported}"
    );
    let leads = r#""leads":["/anthropic/v1/messages/batches/msgbatch_1/results?x=y"]"#;
    assert!(exported.contains(leads), "{exported}");
    let replayed = replay_with(&place, "latest", &program, &[("ANTHROPIC_API_KEY", "none")]);
    assert_eq!((replayed.code, &replayed.out), (0, &recorded.out), "{}", replayed.err);
    assert!(!replayed.err.contains("never asked"), "{}", replayed.err);
}

#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn results_at_another_host_are_named_and_refused_in_a_replay() {
    let (place, python, other) = (Place::new(), python(), batches(|_| String::new()));
    let to = format!("http://{}/results", other.address());
    let upstream = batches(move |_| to.clone());
    let url = format!("http://{}", upstream.address());
    let set = [("ANTHROPIC_BASE_URL", url.as_str()), ("ANTHROPIC_API_KEY", KEY)];
    let program = [python.as_str(), "-c", BATCHES];
    let recorded = record_with(&place, "", "http://127.0.0.1:1", &program, &set);
    assert!(recorded.out.contains("a Blue."), "{}{}", recorded.out, recorded.err);
    let led = format!("an answer led the program to {}, past its upstreams", other.address());
    assert!(recorded.err.contains(&led), "{}", recorded.err);
    let asked = other.received().len();
    let replayed = replay_with(&place, "latest", &program, &[("ANTHROPIC_API_KEY", "none")]);
    let refused =
        format!("a recorded answer leads to {}, of which nothing is recorded", other.address());
    assert!(replayed.err.contains(&refused), "{}", replayed.err);
    assert_eq!((replayed.code, other.received().len()), (1, asked), "{}", replayed.err);
    // A host that is named is recorded, and gets no key of another.
    let named = format!("--upstream other=http://{}", other.address());
    let recorded = record_with(&place, &named, "http://127.0.0.1:1", &program, &set);
    assert!(!recorded.err.contains("led the program"), "{}", recorded.err);
    let key = |it: &Received| it.header("authorization").is_some();
    assert_eq!(other.received().iter().map(key).collect::<Vec<_>>(), [true, false]);
    drop((upstream, other));
    let replayed = replay_with(&place, "latest", &program, &[("ANTHROPIC_API_KEY", "none")]);
    assert_eq!((replayed.code, &replayed.out), (0, &recorded.out), "{}", replayed.err);
}

/// A program asks for the video at the URL that an operation of Gemini has, and puts the URL into a prompt.
const VIDEO: &str = r#"
ask() { curl -sS --max-time 20 -H "x-goog-api-key: $GEMINI_API_KEY" "$@"; }
operation=$GOOGLE_GEMINI_BASE_URL/v1beta/models/veo/operations/1
uri=$(ask $operation | sed -n 's/.*"uri": *"\([^"]*\)".*/\1/p')
ask "$uri"; echo
ask -H 'content-type: application/json' $GOOGLE_GEMINI_BASE_URL/v1beta/models/m:generateContent \
    -d "{\"contents\":[{\"parts\":[{\"text\":\"Describe $uri.\"}]}]}"; echo
ask -H 'x-goog-api-client: google-genai-sdk/3.4.0' $operation; echo
"#;

#[test]
fn a_video_of_gemini_is_recorded_and_its_url_comes_back_as_it_was() {
    let place = Place::new();
    let upstream = Server::handler(|received| {
        let host = received.header("host").unwrap();
        if received.target.contains("operations") {
            let video = format!("{{\"uri\": \"http://{host}/v1beta/files/f:download?alt=media\"}}");
            return Reply::new(
                200,
                format!(
                    "{{\"name\": \"operations/1\",  \"done\": true, \"response\": {{\"generateVideoResponse\": \
                     {{\"generatedSamples\": [{{\"video\": {video}}}]}}}}}}"
                ),
            );
        }
        if received.method == "GET" {
            return Reply::new(200, format!("the video at {}", received.target))
                .header("content-type", "video/mp4");
        }
        let said = received.json()["contents"][0]["parts"][0]["text"].as_str().unwrap().to_owned();
        let answer = serde_json::json!({"candidates": [{"content": {"role": "model", "parts": [{"text": said}]},
            "finishReason": "STOP", "index": 0}]});
        Reply::new(200, answer.to_string())
    });
    let url = format!("http://{}", upstream.address());
    let set = [("GOOGLE_GEMINI_BASE_URL", url.as_str()), ("GEMINI_API_KEY", KEY)];
    let program = ["sh", "-c", VIDEO];
    let recorded = record_with(&place, "", "http://127.0.0.1:1", &program, &set);
    assert_eq!(recorded.code, 0, "{}{}", recorded.out, recorded.err);
    assert!(recorded.err.contains("recorded 4 answers"), "{}{}", recorded.out, recorded.err);
    let lines: Vec<&str> = recorded.out.lines().collect();
    assert_eq!(lines[0], "the video at /v1beta/files/f:download?alt=media");
    // Neither the model nor the log gets our address.
    let real = format!("{url}/v1beta/files/f:download?alt=media");
    assert!(lines[1].contains(&format!("Describe {real}.")), "{}", lines[1]);
    assert!(!place.ok("export latest").contains("/token/"));
    // Google's SDKs read a name out of the URL.
    assert!(
        lines[2].contains(&real) && lines[2].contains("\"operations/1\",  \"done\""),
        "{}",
        lines[2]
    );
    drop(upstream);
    assert_no_key(&place, &recorded);
    let replayed = replay(&place, "latest", &program);
    assert_eq!((replayed.code, &replayed.out), (0, &recorded.out), "{}", replayed.err);
}

/// An image that is somewhere else may be anywhere: it is named, and nothing else in the answer is changed.
#[test]
fn an_image_at_another_host_is_named() {
    let place = Place::new();
    let answer = r#"{"created":1, "data":[{"url":"https://images.example.test/1?sig=a%2Fb","revised_prompt":"https://x.example"}]}"#;
    let upstream = Server::handler(move |_| Reply::new(200, answer));
    let ask = "curl -sS --max-time 20 -H 'content-type: application/json' $OPENAI_BASE_URL/images/generations \
        -d '{\"model\":\"m\",\"prompt\":\"a hat\"}' | sed \"s#$RETOLD_URL#HERE#\"";
    let program = ["sh", "-c", ask];
    let recorded = record(&place, "", &upstream.base_url(), &program);
    assert_eq!(recorded.out, answer, "{}", recorded.err);
    assert!(recorded.err.contains("led the program to images.example.test"), "{}", recorded.err);
    assert!(!recorded.err.contains("x.example"), "{}", recorded.err);
    drop(upstream);
    let replayed = replay(&place, "latest", &program);
    let due = answer.replace("https://images", "HERE/_elsewhere/images");
    assert_eq!((replayed.code, replayed.out), (0, due), "{}", replayed.err);
}
