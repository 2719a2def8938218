//! What goes wrong at an upstream or in a client, one row each: the client gets an error in the shape of
//! its API, or the answer if there is one; the log has a line; the next request is served. A replay does
//! the same without the upstream.

use std::io::{Read, Write};
use std::net::TcpListener;

use serde_json::Value;

use super::{record, record_with, replay, replay_with};
use crate::support::cli::{Place, Said};
use crate::support::server::{Reply, Server, nobody};
use crate::support::tls::Front;

/// Asks the server with the mishap in the words of five APIs and of none, then a sound one.
const ASK: &str = r#"
case $WHERE in bad) base=$BAD_BASE_URL;; *) base=$RETOLD_URL/$WHERE;; esac
ask() {
    curl -sS --path-as-is --max-time 60 -w '\t%{http_code}\n' -H 'content-type: application/json' -H 'expect:' \
        $HOW --data-binary "${BODY:-$2}" "$1" 2>&1
}
chat='{"model":"m","messages":[{"role":"user","content":"hi"}]}'
ask $base/chat/completions "$chat"
ask $base/responses '{"model":"m","input":"hi"}'
ask $base/v1/messages "$chat"
ask $base/v1beta/models/m:generateContent '{"contents":[{"parts":[{"text":"hi"}]}]}'
ask $base/api/chat "$chat"
ask $base/anything "$chat"
unset HOW BODY
ask $GOOD_BASE_URL/chat/completions "$chat"
"#;

/// The places in the replies of these APIs where the message is.
const MESSAGES: [&str; 6] = [
    "/error/message", "/error/message", "/error/message", "/error/message", "/error",
    "/error/message",
];

/// Which kind of mistake it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gets {
    /// An error in the shape of the API.
    Error,
    /// An answer, which is none of ours.
    Answer,
}

/// Something that goes wrong.
struct Mishap {
    name: &'static str,
    /// The server that is asked.
    upstream: String,
    /// Options of curl.
    how: &'static str,
    /// What is sent instead of a sound body.
    body: &'static str,
    /// The name of the upstream that is asked.
    at: &'static str,
    gets: Gets,
    status: &'static str,
    /// What the client and the log are told.
    says: &'static str,
}

impl Mishap {
    /// A server that makes a mistake.
    fn of_server(
        name: &'static str,
        upstream: String,
        status: &'static str,
        says: &'static str,
    ) -> Self {
        Mishap { name, upstream, how: "", body: "", at: "bad", gets: Gets::Error, status, says }
    }

    fn answers(self) -> Self {
        Mishap { gets: Gets::Answer, ..self }
    }
}

/// A server that answers each connection with these bytes, whatever is asked.
fn raw(bytes: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    // It ends with the process.
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut stream = stream;
            // The beginning of a request, or of a handshake.
            let _ = stream.read(&mut [0; 1 << 16]);
            // The client may be satisfied before the end.
            let _ = stream.write_all(bytes);
            // What it has sent is read, so that closing is no reset.
            let _ = stream.shutdown(std::net::Shutdown::Write);
            let _ = stream.read_to_end(&mut Vec::new());
        }
    });
    url
}

/// What the program printed: replies and their statuses.
fn replies(said: &Said) -> Vec<(String, String)> {
    let pair = |line: &str| {
        let (body, status) = line.rsplit_once('\t').unwrap_or((line, ""));
        (body.to_owned(), status.to_owned())
    };
    said.out.lines().map(pair).collect()
}

/// Records the program with this mistake, stops the upstreams, and replays it.
fn check(mishap: Mishap) {
    let Mishap { name, upstream, how, body, at, gets, status, says } = mishap;
    let place = Place::new();
    let good = Server::handler(|_| Reply::chat("sound"));
    std::fs::File::create(place.path("big")).unwrap().set_len(100 << 20).unwrap();
    let args = format!("--upstream bad={upstream} --upstream good={}", good.base_url());
    let program = ["sh", "-c", ASK];
    let set = [("HOW", how), ("BODY", body), ("WHERE", at), ("RETOLD_LONGEST_BODY", "16")];
    let recorded = record_with(&place, &args, "http://127.0.0.1:1", &program, &set);
    drop(good);
    let replayed = replay_with(&place, "latest", &program, &set);
    for (said, mode) in [(&recorded, "record"), (&replayed, "replay")] {
        assert_eq!(said.code, 0, "{name}, {mode}: {}{}", said.out, said.err);
        assert!(!said.err.contains("never asked"), "{name}, {mode}: {}", said.err);
        let replies = replies(said);
        let (good, bad) = replies.split_last().unwrap();
        assert_eq!(bad.len(), MESSAGES.len(), "{name}, {mode}: {replies:?}");
        for ((body, code), pointer) in bad.iter().zip(MESSAGES) {
            assert_eq!(code, status, "{name}, {mode}: {body}");
            if gets == Gets::Answer {
                assert!(body.contains(says), "{name}, {mode}: {body}");
                continue;
            }
            let body: Value = serde_json::from_str(body).unwrap();
            let message = body.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
            assert!(message.contains(says), "{name}, {mode}: {body}");
        }
        if gets == Gets::Error {
            assert!(bad[2].0.contains(r#""type":"error""#), "Anthropic's shape: {}", bad[2].0);
        }
        assert!(
            good.0.contains("sound") && good.1 == "200",
            "{name}, {mode}: not healthy: {good:?}"
        );
    }
    assert_eq!(replayed.out, recorded.out, "{name}");
    // Six lines for the mishap, one for the sound answer.
    let log = place.ok("log latest --most 100");
    let lines = |kind: &str| log.lines().filter(|line| line.contains(kind)).count();
    let (failed, received) = (lines("  failed attempt "), lines("  answer  "));
    let due = if gets == Gets::Error || status != "200" { (6, 1) } else { (0, 7) };
    assert_eq!((failed, received), due, "{name}: {log}");
    let events = place.json("log latest --most 100").0.to_string();
    assert!(events.contains(&says.replace('"', "\\\"")), "{name}: {events}");
    place.ok("verify");
}

/// Number 7 of what recording at the wire must show.
#[test]
fn a_mishap_is_an_error_in_the_words_of_the_api_and_a_line_in_the_log() {
    let gzip = {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(&vec![b' '; 40 << 20]).unwrap();
        encoder.finish().unwrap()
    };
    let bomb =
        Server::handler(move |_| Reply::new(200, gzip.clone()).header("content-encoding", "gzip"));
    let long = Server::handler(|_| Reply::new(200, vec![b'x'; 100 << 20]));
    let endless = Server::handler(|_| Reply::new(200, vec![b'x'; 100 << 20]).unannounced());
    let (refusing, _socket) = nobody();
    let sound = Server::handler(|received| Reply::chat(&format!("{} bytes", received.body.len())));
    let lost = Server::handler(|_| Reply::error(404, "not_found", "Unknown request URL"));
    let nonsense = Server::handler(|_| Reply::new(200, r#"{"choices": [{"mess"#));
    let not_tls = raw(b"HTTP/1.1 400 Bad Request\r\n\r\n").replace("http:", "https:");
    let untrusted = Front::new(&sound);
    let at = |server: &Server| format!("http://{}", server.address());
    let server = Mishap::of_server;
    let client = |name, how, status, says| Mishap { how, ..server(name, at(&sound), status, says) };
    let refused = "http://nowhere.invalid".to_owned();
    let old =
        raw(b"HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n{\"until\": \"the end\"}");
    let chunked = raw(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nnonsense\r\n");
    let upgrade = "-X GET -H connection:upgrade -H upgrade:websocket";
    let too_long = "longer than 16 MiB";
    let mishaps = [
        server("the upstream refuses", refusing, "502", "cannot connect"),
        server("DNS fails", refused, "502", "cannot connect"),
        server("no TLS", not_tls, "502", "cannot connect"),
        server(
            "a certificate of nobody",
            untrusted.base_url(),
            "502",
            "the certificate is not trusted",
        ),
        server("an upstream of HTTP/1.0", old, "200", r#"{"until": "the end"}"#).answers(),
        client("a client of HTTP/1.0", "--http1.0", "200", " bytes").answers(),
        server("chunked garbage", chunked, "502", "broke off its answer after 0 bytes"),
        server("an answer of 100 MB", at(&long), "502", too_long),
        server("an answer of 100 MB that does not say so", at(&endless), "502", too_long),
        Mishap { body: "@big", ..client("a request of 100 MB", "", "413", "more than 16 MiB") },
        server("a gzip bomb", at(&bomb), "502", too_long),
        Mishap {
            body: r#"{"messages": [}"#,
            ..client("a request of invalid JSON", "", "200", "15 bytes")
        }
        .answers(),
        server("an answer of invalid JSON", at(&nonsense), "200", r#"{"choices": [{"mess"#)
            .answers(),
        server("an unknown path", at(&lost), "404", "Unknown request URL").answers(),
        Mishap {
            at: "elsewhere",
            ..client("an unknown upstream", "", "404", "name another upstream with --upstream")
        },
        client("a WebSocket", upgrade, "426", "does not record WebSockets"),
        server("not HTTP", raw(b"220 mail.example ESMTP\r\n"), "502", "broke the connection"),
        server("silence", raw(b""), "502", "broke the connection"),
    ];
    for mishap in mishaps {
        check(mishap);
    }
}

/// Bytes that no library would send.
const RAW: &str = r#"
import os, socket, urllib.parse
retold = urllib.parse.urlsplit(os.environ["RETOLD_URL"])
def ask(path, rest):
    it = socket.create_connection((retold.hostname, retold.port))
    it.sendall(f"POST {retold.path}{path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n".encode() + rest)
    head, _, body = b"".join(iter(lambda: it.recv(65536), b"")).decode().partition("\r\n\r\n")
    print(head.split(" ")[1], body)
garbage = b"transfer-encoding: chunked\r\n\r\nzz\r\nfoo\r\n"
ask("/openai/chat/completions", garbage)
ask("/anthropic/v1/messages", garbage)
ask("/openai/chat/completions", b"x-retold-call: a//b\r\ncontent-length: 2\r\n\r\n{}")
ask("/openai/chat/completions", b"x-retold-call: \xfc\r\ncontent-length: 2\r\n\r\n{}")
ask("/openai/models", b"x-retold-call: \xc3\xbc\r\ncontent-length: 2\r\n\r\n{}")
"#;

#[test]
fn a_request_that_is_not_http_is_refused_and_recorded() {
    let place = Place::new();
    let upstream = Server::handler(|_| Reply::chat("sound"));
    let program = ["python3", "-c", RAW];
    let recorded = record(&place, "", &upstream.base_url(), &program);
    drop(upstream);
    let replayed = replay(&place, "latest", &program);
    for said in [&recorded, &replayed] {
        assert_eq!(said.code, 0, "{}{}", said.out, said.err);
        let lines: Vec<&str> = said.out.lines().collect();
        for garbage in &lines[..2] {
            assert!(garbage.starts_with("400 ") && garbage.contains("is not HTTP: "), "{garbage}");
        }
        assert!(lines[1].contains(r#""type":"error""#), "Anthropic's shape: {}", lines[1]);
        assert!(lines[2].starts_with("400 ") && lines[2].contains("empty part"), "{}", lines[2]);
        assert!(lines[3].starts_with("400 ") && lines[3].contains("UTF-8"), "{}", lines[3]);
        assert!(lines[4].starts_with("200 ") && lines[4].contains("sound"), "{}", lines[4]);
        assert!(!said.err.contains("never asked"), "{}", said.err);
    }
    assert_eq!(replayed.out, recorded.out);
    let log = place.ok("log latest");
    assert_eq!(log.matches("  failed attempt ").count(), 4);
    assert!(log.contains(" ü#0"), "{log}");
    // What was not refused before is not as recorded.
    let socket =
        "curl -sS -H 'connection: upgrade' -H 'upgrade: websocket' $OPENAI_BASE_URL/realtime";
    let other = replay(&place, "latest", &["sh", "-c", socket]);
    assert_eq!(other.code, 1, "{}", other.err);
    assert!(
        other.err.contains("is not recorded: retold does not record WebSockets"),
        "{}",
        other.err
    );
    place.ok("verify");
}

/// A request that is not what its content type says is recorded as the bytes that it is.
#[test]
fn a_body_that_is_not_json_is_recorded_as_it_is() {
    let place = Place::new();
    let upstream =
        Server::handler(|received| Reply::chat(&format!("{} bytes", received.body.len())));
    let ask = r#"
ask() { curl -sS --max-time 20 -H 'content-type: application/json' "$@"; echo; }
ask $OPENAI_BASE_URL/chat/completions -d '{"model": "m", "messages": [}'
printf '\377\000{' | ask $OPENAI_BASE_URL/chat/completions --data-binary @-
ask $OPENAI_BASE_URL/chat/completions -d '{"model": "m", "messages": 7}'"#;
    let program = ["sh", "-c", ask];
    let recorded = super::record(&place, "", &upstream.base_url(), &program);
    let bodies: Vec<Vec<u8>> = upstream.received().into_iter().map(|it| it.body).collect();
    drop(upstream);
    assert_eq!(bodies[1], b"\xff\x00{");
    assert!(
        recorded.out.contains("3 bytes") && recorded.out.contains("29 bytes"),
        "{}",
        recorded.out
    );
    let replayed = super::replay(&place, "latest", &program);
    assert_eq!((replayed.code, replayed.out), (0, recorded.out), "{}", replayed.err);
    let log = place.ok("export latest");
    assert!(log.contains("/wB7"), "base64 of the bytes: {log}");
    place.ok("verify");
}

/// A client that sends nothing, and one that reads nothing, hold up nobody.
#[test]
fn slow_clients_do_not_hold_up_others() {
    let place = Place::new();
    let events = super::upstream::stream(&"many words ".repeat(20_000), 1);
    let upstream = Server::handler(move |received| match received.json()["stream"] == true {
        true => Reply::new(200, events.clone()).header("content-type", "text/event-stream"),
        false => Reply::chat("at once"),
    });
    // A hundred clients send half a head, and twenty ask for a stream that they do not read; the last
    // one asks like any other.
    let script = r#"
import os, socket, urllib.request, json
from urllib.parse import urlparse
base = urlparse(os.environ["OPENAI_BASE_URL"])
def connect(text):
    it = socket.create_connection((base.hostname, base.port)); it.sendall(text); return it
def asks(stream):
    return json.dumps({"model": "m", "stream": stream, "messages": [{"role": "user", "content": "hi"}]}).encode()
held = [connect(b"POST " + base.path.encode() + b"/chat") for _ in range(100)]
body = asks(True)
head = f"POST {base.path}/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: {len(body)}\r\n\r\n".encode()
held += [connect(head + body) for _ in range(20)]
for reader in held[100:]:
    assert reader.recv(10).startswith(b"HTTP/1.1 2")
with urllib.request.urlopen(urllib.request.Request(base.geturl() + "/chat/completions", asks(False))) as reply:
    print(json.load(reply)["choices"][0]["message"]["content"])
"#;
    let program = ["python3", "-c", script];
    let recorded = super::record(&place, "", &upstream.base_url(), &program);
    assert_eq!((recorded.code, recorded.out.as_str()), (0, "at once\n"), "{}", recorded.err);
    place.ok("verify");
}

/// Reads streams longer than what is kept, eight at a time, and prints how much memory the server has
/// taken: after the first eight, and after all.
const LONG: &str = r#"
import concurrent.futures, http.client, json, os, urllib.parse
url = urllib.parse.urlsplit(os.environ["OPENAI_BASE_URL"])
def peak():
    with open(f"/proc/{os.getppid()}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
def ask(n):
    it = http.client.HTTPConnection(url.hostname, url.port, timeout=60)
    it.request("POST", url.path + "/chat/completions", json.dumps({"model": "m", "stream": True, "messages": []}))
    reply, read = it.getresponse(), 0
    try:
        while more := reply.read1(1 << 16):
            read += len(more)
        return f"{read} whole"
    except http.client.IncompleteRead as error:
        return f"{(read + len(error.partial)) >> 20} broken off"
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    first, before = list(pool.map(ask, range(8))), peak()
    rest = list(pool.map(ask, range(8)))
    print(sorted(set(first + rest)), before, peak())
"#;

/// Memory does not grow with the length of a stream: what is longer than an answer may be is broken off.
#[test]
fn a_stream_without_end_takes_a_bounded_memory() {
    let place = Place::new();
    let event = format!("data: {{\"x\":\"{}\"}}\n\n", "x".repeat(60_000));
    let events = event.repeat((18 << 20) / event.len());
    let ends = (1..events.len()).step_by(1 << 16).collect::<Vec<_>>();
    let upstream = Server::handler(move |_| {
        Reply::new(200, events.clone())
            .header("content-type", "text/event-stream")
            .chunks(ends.clone(), std::time::Duration::ZERO)
    });
    let set = [("RETOLD_LONGEST_BODY", "16")];
    let said = record_with(&place, "", &upstream.base_url(), &["python3", "-c", LONG], &set);
    drop(upstream);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let (what, peaks) = said.out.rsplit_once("] ").unwrap();
    assert!(what.ends_with(" broken off'"), "{what}");
    let peaks: Vec<u64> = peaks.split_whitespace().map(|peak| peak.parse().unwrap()).collect();
    eprintln!("{peaks:?} kB after 8 and after 16 streams of 18 MiB");
    assert!(peaks[1] < peaks[0] + 100_000 && peaks[1] < 900_000, "{peaks:?}");
    assert_eq!(place.json("show latest").0["failed_attempts"], 16);
    place.ok("verify");
}
