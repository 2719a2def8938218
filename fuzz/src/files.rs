//! What is checked of files and answers that others have written: a reader that reads the same bytes
//! twice finds the same, or refuses them with the same words, and never panics.

use std::path::{Path, PathBuf};

use retold::id::{CallPath, Time};
use retold::model::{HTTP, Secrets, command_without_keys, providers};
use retold::parse::ParserSpec;
use retold_study::parser_file::{FileDecision, ParserFile};
use retold_traffic::{Format, Options, import_bytes};
use retold_wire::http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use retold_wire::http::{Method, StatusCode};
use retold_wire::{Elsewhere, Incoming, LoggedOutcome, RestoredBody, Rules, Transmission, restore};

/// Checks one input of a target: `vcrpy`, `har`, `nock`, `batch`, `inspect`, `otlp`, `parser_file`, `keys`, `wire_answer`, `wire_shape`.
///
/// # Panics
/// If a reader does, or if it finds different things in the same bytes.
pub fn fuzz_file(target: &str, data: &[u8]) {
    let twice = match target {
        "vcrpy" => [(); 2].map(|()| imported(Format::Vcrpy, data)),
        "har" => [(); 2].map(|()| imported(Format::Har, data)),
        "nock" => [(); 2].map(|()| imported(Format::Nock, data)),
        "batch" => [(); 2].map(|()| imported(Format::Batch, data)),
        "otlp" => [(); 2].map(|()| imported(Format::Otlp, data)),
        "inspect" => [(); 2].map(|()| imported(Format::Inspect, data)),
        "parser_file" => [(); 2].map(|()| parsed(data)),
        "wire_shape" => [(); 2].map(|()| shaped(data)),
        "keys" => [(); 2].map(|()| without_keys(data)),
        _ => [(); 2].map(|()| answered(data)),
    };
    let [first, second] = twice;
    assert_eq!(first, second, "{target} reads the same bytes differently");
    // Recognising a format is total, too.
    let _ = Format::recognise(data);
}

/// What a file of another tool becomes, in words.
fn imported(format: Format, data: &[u8]) -> String {
    let path = PathBuf::from("file");
    match import_bytes(format, path, data.to_vec(), Options::default(), Time(0)) {
        Ok(read) => {
            let notes: Vec<_> = read.notes.all().collect();
            let counts = (read.questions, read.answers, read.failed, read.unanswered);
            assert!(read.questions > 0 && read.answers <= read.questions, "{counts:?}");
            format!("{counts:?} {:?} {notes:?}", read.urls)
        }
        Err(error) => error.to_string(),
    }
}

/// A command, a word per line, without its keys.
fn without_keys(data: &[u8]) -> String {
    let text = String::from_utf8_lossy(data);
    let words = text.split('\n').map(str::to_owned);
    command_without_keys(words, &Secrets::default()).join("\n")
}

/// A parser file, and after a line `===` a text for all of its parsers.
fn parsed(data: &[u8]) -> String {
    let text = String::from_utf8_lossy(data);
    let (file, text) = text.split_once("\n===\n").unwrap_or((&text, "yes 3 <a>x</a> {\"a\": [1]}"));
    let parsers = match ParserFile::new(Path::new("parsers.yaml"), file) {
        Ok(parsers) => parsers,
        Err(error) => return error.to_string(),
    };
    let mut said = String::new();
    for parser in parsers.decisions().iter().flat_map(FileDecision::parsers) {
        let (decision, _) = parser.parse_any(text);
        let ParserSpec { name, version, .. } = parser.spec();
        said += &format!("{name}@{version} {decision:?}\n");
    }
    said
}

/// A request to one of the APIs and its answer: a byte for the path, one for the content type, the body
/// of the request, a zero byte, and the body of the answer.
fn answered(data: &[u8]) -> String {
    const PATHS: [&str; 9] = [
        "/chat/completions",
        "/embeddings",
        "/responses",
        "/v1/messages",
        "/v1/messages/count_tokens",
        "/v1beta/models/m:generateContent",
        "/v1beta/models/m:streamGenerateContent",
        "/api/chat",
        "/other",
    ];
    let [path, kind, rest @ ..] = data else { return String::new() };
    let path = PATHS[usize::from(*path) % PATHS.len()];
    exchanged(path, TYPES[usize::from(*kind) % 4], StatusCode::OK, rest)
}

const TYPES: [&str; 6] = [
    "application/json",
    "text/event-stream",
    "application/x-ndjson",
    "text/plain",
    "application/vnd.amazon.eventstream",
    "audio/mpeg",
];

/// The same for every path of every API, in every status: a byte for each of these, and then as above.
fn shaped(data: &[u8]) -> String {
    const STATUSES: [u16; 8] = [200, 200, 200, 201, 400, 429, 500, 529];
    let [path, kind, status, rest @ ..] = data else { return String::new() };
    let paths: Vec<String> = providers::paths().map(|path| path.replace('*', "m")).collect();
    let path = &paths[usize::from(*path) % paths.len()];
    let status = StatusCode::from_u16(STATUSES[usize::from(*status) % STATUSES.len()]);
    let kind = TYPES[usize::from(*kind) % TYPES.len()];
    exchanged(path, kind, status.expect("it is one"), rest)
}

fn exchanged(path: &str, kind: &'static str, status: StatusCode, data: &[u8]) -> String {
    let mut parts = data.splitn(2, |byte| *byte == 0);
    let asked = parts.next().unwrap_or_default().to_vec();
    let body = parts.next().unwrap_or_default().to_vec();
    let incoming = Incoming {
        is_led: false,
        upstream: "openai".to_owned(),
        method: Method::POST,
        path: path.to_owned(),
        query: None,
        headers: HeaderMap::new(),
        body: asked.into(),
    };
    let rules = Rules::default();
    let asked = match incoming.wire_request(&rules) {
        Ok(asked) => asked,
        Err(error) => return error.to_string(),
    };
    again(&incoming, &asked.request, &asked.key.call, &rules);
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    let answer = Elsewhere { status, headers, body: body.clone().into() };
    let (http, content, said) = match answer.outcome(&incoming, &asked, 0, &rules) {
        Ok(LoggedOutcome::Answer(response)) => {
            let said = format!("{:?} {response:?}", asked.key);
            (response.extra.get(HTTP).cloned(), Some(response.content), said)
        }
        Ok(LoggedOutcome::Failed { details }) => {
            let said = format!("{:?} {details:?}", asked.key);
            (details.http, None, said)
        }
        Err(error) => return error.to_string(),
    };
    // What came is kept, whatever was read of it, and no reader stopped at it.
    let kept = http.as_ref().and_then(Transmission::read).expect("it is how it travelled");
    assert_eq!(kept.bytes(content.as_ref()).expect("it has a body"), body);
    assert!(!said.contains("a mistake in retold's reader"), "{said}");
    said
}

/// A request that is put together again from the log asks for the same.
fn again(incoming: &Incoming, request: &retold::prompt::Request, call: &CallPath, rules: &Rules) {
    let restored = restore(request, call).expect("it was sent over HTTP");
    let body = match restored.body {
        RestoredBody::Empty => Vec::new(),
        RestoredBody::Json(value) => value.to_string().into_bytes(),
        RestoredBody::Bytes(bytes) => bytes,
    };
    let again = Incoming {
        method: restored.method,
        path: restored.path,
        query: restored.query,
        body: body.into(),
        ..incoming.clone()
    };
    let again = again.wire_request(rules).expect("it was asked before");
    assert_eq!((&again.key.call, again.request.hash()), (call, request.hash()));
}
