//! What goes wrong at an upstream, one by one: each client gets an error in the shape of its API, the
//! log has a line, and the next request is served.

use std::io::{Read, Write};
use std::net::TcpListener;

use serde_json::Value;

use super::retold;
use crate::support::cli::{Place, Said};
use crate::support::server::{Reply, Server, nobody};
use crate::support::tls::Front;

/// Asks the server with the mishap in the words of five APIs and of none, then a sound one.
const ASK: &str = r#"
ask() { curl -sS --max-time 60 -w '\t%{http_code}\n' -H 'content-type: application/json' "$@" 2>&1; }
chat='{"model":"m","messages":[{"role":"user","content":"hi"}]}'
ask $BAD_BASE_URL/chat/completions -d "$chat"
ask $BAD_BASE_URL/responses -d '{"model":"m","input":"hi"}'
ask $BAD_BASE_URL/v1/messages -d "$chat"
ask $BAD_BASE_URL/v1beta/models/m:generateContent -d '{"contents":[{"parts":[{"text":"hi"}]}]}'
ask $BAD_BASE_URL/api/chat -d "$chat"
ask $BAD_BASE_URL/anything
ask $GOOD_BASE_URL/chat/completions -d "$chat"
"#;

/// The places in the replies of these APIs where the message is.
const MESSAGES: [&str; 6] = [
    "/error/message",
    "/error/message",
    "/error/message",
    "/error/message",
    "/error",
    "/error/message",
];

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

/// Runs the program, and returns its replies and statuses, and what was said.
fn asked(place: &Place, bad: &str) -> (Vec<(String, String)>, Said) {
    let good = Server::handler(|_| Reply::chat("sound"));
    let upstreams = format!("record --upstream bad={bad} --upstream good={}", good.base_url());
    let mut command = retold(place, &upstreams, &["sh", "-c", ASK]);
    let said = Said::of(command.env("OPENAI_BASE_URL", "http://127.0.0.1:1").output().unwrap());
    let pair = |line: &str| {
        let (body, status) = line.rsplit_once('\t').unwrap_or((line, ""));
        (body.to_owned(), status.to_owned())
    };
    (said.out.lines().map(pair).collect(), said)
}

#[test]
fn an_error_has_the_shape_of_the_api_and_a_line_in_the_log() {
    let gzip = {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(&vec![b' '; 40 << 20]).unwrap();
        encoder.finish().unwrap()
    };
    let bomb =
        Server::handler(move |_| Reply::new(200, gzip.clone()).header("content-encoding", "gzip"));
    let long = Server::handler(|_| Reply::new(200, vec![b'x'; 100 << 20]));
    let (refusing, _socket) = nobody();
    let plain = Server::handler(|_| Reply::chat("never"));
    let not_tls = raw(b"HTTP/1.1 400 Bad Request\r\n\r\n").replace("http:", "https:");
    let untrusted = Front::of(&plain);
    let cases: [(&str, String, &str, &str); 9] = [
        ("refused", refusing, "502", "cannot connect"),
        ("no such name", "http://nowhere.invalid".to_owned(), "502", "cannot connect"),
        ("no TLS", not_tls, "502", "cannot connect"),
        ("a certificate of nobody", untrusted.base_url(), "502", "the certificate is not trusted"),
        ("not HTTP", raw(b"220 mail.example ESMTP\r\n"), "502", "broke the connection"),
        (
            "chunked garbage",
            raw(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nnonsense\r\n"),
            "502",
            "broke off its answer after 0 bytes",
        ),
        ("100 MB", format!("http://{}", long.address()), "502", "longer than 16 MiB"),
        ("a bomb", format!("http://{}", bomb.address()), "502", "longer than 16 MiB"),
        ("silence", raw(b""), "502", "broke the connection"),
    ];
    for (name, url, status, part) in cases {
        let place = Place::new();
        let (replies, said) = asked(&place, &url);
        assert_eq!(said.code, 0, "{name}: {}", said.err);
        let (good, bad) = replies.split_last().unwrap();
        assert_eq!(bad.len(), 6, "{name}: {replies:?}");
        for ((body, code), pointer) in bad.iter().zip(MESSAGES) {
            assert_eq!(code, status, "{name}: {body}");
            let body: Value = serde_json::from_str(body).unwrap();
            let message = body.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
            assert!(message.contains(part), "{name}: {body}");
        }
        assert_eq!(bad[2].0.starts_with(r#"{"error":"#), bad[2].0.contains(r#""type":"error""#));
        assert!(good.0.contains("sound") && good.1 == "200", "{name}: it is not healthy: {good:?}");
        let shown = place.json("show latest").0;
        let counts = (&shown["exchanges"], &shown["failed_attempts"]);
        assert_eq!(counts, (&1.into(), &6.into()), "{name}: {shown}");
        place.ok("verify");
    }
}

/// What is unusual and can be read is passed on.
#[test]
fn an_answer_of_http_1_0_is_an_answer() {
    let place = Place::new();
    let (replies, said) = asked(
        &place,
        &raw(b"HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n{\"until\": \"the end\"}"),
    );
    assert_eq!(said.code, 0, "{}", said.err);
    for (body, code) in &replies[..6] {
        assert_eq!((body.as_str(), code.as_str()), ("{\"until\": \"the end\"}", "200"));
    }
    assert!(said.err.contains("recorded 7 answers"), "{}", said.err);
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
