//! Answers of every shape, at every path: what was paid for is on disk, goes to the program as it came, and comes again.

use std::io::Write;

use super::{record, replay};
use crate::support::cli::Place;
use crate::support::server::{Reply, Server};

/// Paths of the APIs, below the base URL.
const PATHS: &[&str] = &[
    "/chat/completions",
    "/completions",
    "/fim/completions",
    "/embeddings",
    "/responses",
    "/images/generations",
    "/audio/speech",
    "/audio/transcriptions",
    "/messages",
    "/v1/messages",
    "/models/m:generateContent",
    "/models/m:streamGenerateContent",
    "/models/m:embedContent",
    "/api/chat",
    "/v2/chat",
    "/v1/chat",
    "/v2/embed",
    "/v1/rerank",
    "/model/m/converse",
    "/model/m/invoke",
    "/model/m/invoke-with-response-stream",
    "/anything",
];

/// Bodies that no reader may stop at, each with its content type.
const BODIES: &[(&str, &str)] = &[
    ("application/json", r#"[{"a":1}]"#),
    ("application/json", r#"[{"error":{"code":400,"message":"bad"}}]"#),
    ("application/json", r#""text""#),
    ("application/json", "7"),
    ("application/json", "null"),
    ("application/json", "[]"),
    (
        "application/json",
        r#"{"choices":[1],"content":[1],"candidates":7,"output":[[]],"data":[null]}"#,
    ),
    (
        "application/json",
        r#"{"choices":[{"message":[{"content":[{"type":"thinking","thinking":["x"]}]}]}]}"#,
    ),
    ("text/event-stream", "data: [1]\n\ndata: \"x\"\n\ndata: null\n\ndata: [DONE]\n\n"),
    (
        "text/event-stream",
        "data: {\"choices\":[{\"logprobs\":\"x\",\"delta\":{\"tool_calls\":[7]}}]}\n\ndata: {\"choices\":[{\"logprobs\":{\"content\":[]},\"delta\":7}]}\n\ndata: [DONE]\n\n",
    ),
    ("application/x-ndjson", "[1]\n\"x\"\n{\"message\":[1]}\n"),
];

#[test]
fn a_paid_answer_of_any_shape_is_kept_and_comes_again() {
    let place = Place::new();
    let upstream = Server::handler(|received| {
        let (kind, body) = BODIES[received.header("x-case").unwrap().parse::<usize>().unwrap()];
        Reply::new(200, body).header("content-type", kind)
    });
    // One process asks for everything: a config of curl's.
    let mut asked = String::new();
    for path in PATHS {
        for case in 0..BODIES.len() {
            let next = if asked.is_empty() { "" } else { "next\n" };
            asked += &format!(
                "{next}url = \"$OPENAI_BASE_URL{path}\"\nheader = \"x-case: {case}\"\nheader = \"content-type: application/json\"\n\
                 data = \"{{\\\"model\\\":\\\"m\\\",\\\"case\\\":{case},\\\"input\\\":\\\"x\\\",\\\"messages\\\":[]}}\"\nwrite-out = \" %{{http_code}}\\n\"\n"
            );
        }
    }
    std::fs::write(place.path("asked"), asked).unwrap();
    let ask = "sed \"s|[$]OPENAI_BASE_URL|$OPENAI_BASE_URL|\" asked | curl -sS --max-time 60 -K -";
    let program = ["sh", "-c", ask];
    let recorded = record(&place, "", &upstream.base_url(), &program);
    assert_eq!(recorded.code, 0, "{}{}", recorded.out, recorded.err);
    assert!(
        !recorded.out.contains("retold") && !recorded.err.contains("panicked"),
        "{}",
        recorded.err
    );
    let due: String =
        PATHS.iter().flat_map(|_| BODIES).map(|(_, body)| format!("{body} 200\n")).collect();
    assert_eq!(recorded.out, due);
    let again = replay(&place, "latest", &program);
    assert_eq!((again.code, again.out), (0, recorded.out), "{}", again.err);
    let (shown, _) = place.json("show latest");
    let (answers, failed) = (&shown["exchanges"], &shown["failed_attempts"]);
    let all = answers.as_u64().unwrap() + failed.as_u64().unwrap();
    assert_eq!(all, (PATHS.len() * BODIES.len()) as u64, "{shown}");
    for command in ["verify", "log latest", "export latest all.jsonl", "table latest"] {
        place.ok(command);
    }
}

/// As the list of `shared/data/cases/wire`.
#[test]
fn a_list_in_place_of_a_completion_is_one_answer_that_could_not_be_read() {
    let place = Place::new();
    let upstream = Server::handler(|_| {
        Reply::new(200, r#"[{"a":1}]"#).header("content-type", "application/json")
    });
    let ask = "curl -sS $OPENAI_BASE_URL/chat/completions -d '{\"model\":\"m\",\"messages\":[]}'";
    let recorded = record(&place, "", &upstream.base_url(), &["sh", "-c", ask]);
    assert_eq!((recorded.code, &*recorded.out), (0, r#"[{"a":1}]"#), "{}", recorded.err);
    let due = "warning: 1 answer is kept, but could not be read whole: seq 3: ";
    assert!(recorded.err.contains(due), "{}", recorded.err);
    let (shown, _) = place.json("show latest");
    assert_eq!(
        (&shown["exchanges"], &shown["unreadable_answers"]),
        (&1.into(), &1.into()),
        "{shown}"
    );
}

/// Encodings one after the other, and what is not what its label says.
#[test]
fn a_body_with_several_content_encodings_is_decoded_in_order() {
    let gzip = |bytes: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let whole = Reply::chat("decoded").text().into_bytes();
    let events = b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"decoded\"}}]}\n\ndata: [DONE]\n\n";
    let both = |bytes: &[u8]| zstd::stream::encode_all(&gzip(bytes)[..], 3).unwrap();
    let mut replies = vec![
        Reply::new(200, both(&whole)).header("content-encoding", "gzip, zstd"),
        Reply::new(200, both(events))
            .header("content-type", "text/event-stream")
            .header("content-encoding", "gzip,zstd"),
        Reply::new(200, gzip(&whole)).header("content-encoding", "gzip, gzip"),
        Reply::new(200, whole.clone()).header("content-encoding", "br, gzip"),
        Reply::new(200, gzip(&gzip(b"kept"))).header("content-encoding", "gzip, compress, gzip"),
    ]
    .into_iter();
    let upstream = Server::handler(move |_| replies.next().unwrap());
    let ask = "for n in 1 2 3 4 5; do curl -sS -D - $OPENAI_BASE_URL/chat/completions -d \"{\\\"model\\\":\\\"m\\\",\\\"n\\\":$n,\\\"messages\\\":[]}\" \
        | grep -aE 'HTTP|content-encoding|decoded|DONE' | tr -d '\\r' | base64 -w0; echo; done";
    let place = Place::new();
    let recorded = record(&place, "", &upstream.base_url(), &["sh", "-c", ask]);
    let said: Vec<String> = recorded
        .out
        .lines()
        .map(|line| {
            String::from_utf8_lossy(&data_encoding::BASE64.decode(line.as_bytes()).unwrap())
                .into_owned()
        })
        .collect();
    for said in &said {
        assert!(said.starts_with("HTTP/1.1 200"), "{said}");
    }
    for said in &said[..4] {
        assert!(said.contains("decoded") && !said.contains("content-encoding"), "{said}");
    }
    assert!(said[4].contains("content-encoding: gzip, compress"), "{}", said[4]);
    let again = replay(&place, "latest", &["sh", "-c", ask]);
    assert_eq!((again.code, again.out), (0, recorded.out), "{}", again.err);
}
