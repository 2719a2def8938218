//! `retold proxy`: programs that are started elsewhere, several at once.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::upstream::{Failing, server};
use super::{KEY, PATH, assert_no_key};
use crate::support::cli::{Place, Said};
use crate::support::users::other_user;
use crate::support::waiting::ended;

/// A proxy that listens.
pub(super) struct Proxy {
    child: Child,
    pub(super) url: String,
}

impl Proxy {
    pub(super) fn start(place: &Place, args: &str) -> Self {
        let mut command = place.command();
        command.arg("proxy").args(args.split_whitespace());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut url).unwrap();
        let url = url.trim().to_owned();
        if url.is_empty() {
            let said = Said::new(ended(child));
            panic!("exit {}: {}", said.code, said.err);
        }
        Proxy { child, url }
    }

    /// Sends a signal, and waits for the end.
    pub(super) fn end(self, signal: Signal) -> Said {
        let pid = Pid::from_raw(self.child.id().cast_signed()).unwrap();
        kill_process(pid, signal).unwrap();
        Said::new(ended(self.child))
    }
}

/// What curl gets: the body, a space, and the status.
pub(super) fn curl(args: &[&str]) -> String {
    let mut command = Command::new("curl");
    command.args(["-sS", "--max-time", "20", "-w", " %{http_code}"]).args(args);
    command.env_clear().env("PATH", PATH);
    let said = Said::ended(&mut command);
    format!("{}{}", said.out, said.err)
}

/// Asks a question below a base URL.
pub(super) fn ask(base: &str, question: &str, more: &[&str]) -> String {
    let url = format!("{base}/chat/completions");
    let body = format!(r#"{{"model":"m","messages":[{{"role":"user","content":"{question}"}}]}}"#);
    let authorization = format!("authorization: Bearer {KEY}");
    curl(&[&[url.as_str(), "-d", &body, "-H", &authorization], more].concat())
}

#[test]
fn several_programs_are_recorded_and_replayed_at_once() {
    let (place, upstream) = (Place::new(), server(Failing { one_in: 0 }));
    let record = format!("--mode record --upstream openai={}", upstream.base_url());
    let proxy = Proxy::start(&place, &record);
    let all: Vec<String> = std::thread::scope(|scope| {
        let asking = (0..6).map(|n| {
            let base = format!("{}/run/study-{}/openai", proxy.url, n % 3);
            scope.spawn(move || ask(&base, &format!("question {n}"), &[]))
        });
        let asking: Vec<_> = asking.collect();
        asking.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert!(all.iter().all(|reply| reply.ends_with(" 200")), "{all:?}");
    // The name may be in a header, and a fact is one of its run.
    let base = format!("{}/openai", proxy.url);
    let in_header = ask(&base, "question 0", &["-H", "x-retold-run: study-9"]);
    assert!(in_header.contains("Answer 2"), "{in_header}");
    let facts = format!("{}/run/study-0/_retold/facts", proxy.url);
    let fact = curl(&[&facts, "-d", r#"{"name":"done","value":true}"#]);
    assert!(fact.ends_with(" 200"), "{fact}");
    // A run can be finished while the others go on.
    let finish = format!("{}/run/study-1/_retold/finish", proxy.url);
    let finished = curl(&["-X", "POST", &finish]);
    assert!(finished.contains(r#""recorded":2"#) && finished.ends_with(" 200"), "{finished}");
    assert!(curl(&["-X", "POST", &finish]).ends_with(" 404"));
    let unnamed = curl(&[&format!("{}/elsewhere/x", proxy.url)]);
    assert!(unnamed.contains("name another upstream") && unnamed.ends_with(" 404"), "{unnamed}");
    let said = proxy.end(Signal::TERM);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("study-2: recorded 2 answers as run"), "{}", said.err);
    drop(upstream);
    assert_no_key(&place, &said);
    let runs = place.json("log").0["runs"].as_array().unwrap().clone();
    assert_eq!(
        runs.len(),
        5,
        "three studies, one in a header, and the one without a name: {runs:?}"
    );
    assert!(runs.iter().all(|run| run["outcome"] == "finished"), "{runs:?}");
    place.ok("verify");

    let proxy = Proxy::start(&place, "--mode replay");
    for (n, recorded) in all.iter().enumerate() {
        let base = format!("{}/run/study-{}/openai", proxy.url, n % 3);
        assert_eq!(ask(&base, &format!("question {n}"), &[]), *recorded);
    }
    let nobody = ask(&format!("{}/run/study-7/openai", proxy.url), "question 0", &[]);
    assert!(nobody.contains("no run in") && nobody.ends_with(" 404"), "{nobody}");
    // Finished and asked again, a replay begins anew.
    curl(&["-X", "POST", &format!("{}/run/study-0/_retold/finish", proxy.url)]);
    let base = format!("{}/run/study-0/openai", proxy.url);
    assert_eq!(ask(&base, "question 0", &[]), all[0]);
    let missing = ask(&base, "question 8", &[]);
    assert!(missing.contains("is not recorded") && missing.ends_with(" 404"), "{missing}");
    let said = proxy.end(Signal::INT);
    assert_eq!(said.code, 1, "{}", said.err);
    assert!(said.err.contains("first difference at messages.0.content"), "{}", said.err);
}

/// Sends a request on a connection, the body after the head, and returns the head of the reply.
fn on_connection(stream: &mut TcpStream, path: &str, body: &str) -> String {
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    // What does not wait for the body answers now.
    std::thread::sleep(Duration::from_millis(100));
    stream.write_all(body.as_bytes()).unwrap();
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        assert!(reader.read_line(&mut line).unwrap() > 0, "{path}: closed after {head:?}");
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.trim().parse().unwrap();
        }
        if line == "\r\n" {
            break;
        }
        head += &line;
    }
    reader.read_exact(&mut vec![0; length]).unwrap();
    head
}

#[test]
fn a_connection_is_used_again_after_a_request_whose_body_nobody_needs() {
    let (place, upstream) = (Place::new(), server(Failing { one_in: 0 }));
    let named = format!("--upstream openai={}", upstream.base_url());
    let proxy = Proxy::start(&place, &format!("--mode record --no-token {named}"));
    let address = proxy.url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let fact = r#"{"name":"done","value":true}"#;
    for (path, status) in [
        ("/run/a/_retold/facts", "200"),
        ("/run/a/_retold/finish", "200"),
        ("/run/a/_retold/finish", "404"),
        ("/run/b/elsewhere/v1/chat", "404"),
        ("/run/b/_retold/nothing", "404"),
        ("/run/b/_retold/finish", "200"),
        ("/run/c/_retold/facts", "200"),
    ] {
        let head = on_connection(&mut stream, path, fact);
        assert!(head.starts_with(&format!("HTTP/1.1 {status}")), "{path}: {head}");
        assert!(!head.to_ascii_lowercase().contains("connection: close"), "{path}: {head}");
    }
    assert_eq!(proxy.end(Signal::TERM).code, 0);
}

/// Programs keep their connections open, and these the log.
#[test]
fn every_signal_that_ends_a_proxy_leaves_the_whole_log_in_its_file() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let (place, upstream) = (Place::new(), server(Failing { one_in: 0 }));
        let named = format!("--upstream openai={}", upstream.base_url());
        let proxy = Proxy::start(&place, &format!("--mode record --no-token {named}"));
        let address = proxy.url.strip_prefix("http://").unwrap().to_owned();
        let fact = r#"{"name":"done","value":true}"#;
        let mut kept = Vec::new();
        for run in 0..20 {
            let mut stream = TcpStream::connect(&address).unwrap();
            on_connection(&mut stream, &format!("/run/study-{run}/_retold/facts"), fact);
            kept.push(stream);
        }
        assert_eq!(proxy.end(signal).code, 0);
        assert!(!place.path("retold.db-wal").exists(), "{signal:?}");
        std::fs::copy(place.path("retold.db"), place.path("alone.db")).unwrap();
        let runs = place.json("--log alone.db log").0["runs"].as_array().unwrap().len();
        assert_eq!(runs, 20, "{signal:?}");
        drop(kept);
    }
}

#[test]
fn a_proxy_that_was_killed_is_resumed() {
    let (place, upstream) = (Place::new(), server(Failing { one_in: 0 }));
    let named = format!("--upstream openai={}", upstream.base_url());
    let proxy = Proxy::start(&place, &format!("--mode record {named}"));
    let first = ask(&format!("{}/run/a/openai", proxy.url), "question", &[]);
    proxy.end(Signal::KILL);
    assert_eq!(place.json("log").0["runs"][0]["outcome"], "unfinished");
    let proxy = Proxy::start(&place, &format!("--mode resume {named}"));
    let base = format!("{}/run/a/openai", proxy.url);
    assert_eq!(ask(&base, "question", &[]), first);
    assert!(ask(&base, "question", &[]).contains("Answer 2"));
    let new = ask(&format!("{}/run/b/openai", proxy.url), "another question", &[]);
    assert!(new.ends_with(" 200"), "{new}");
    assert_eq!(proxy.end(Signal::TERM).code, 0);
    assert_eq!(upstream.received().len(), 3);
    let proxy = Proxy::start(&place, &format!("--mode resume {named}"));
    let finished = ask(&format!("{}/run/a/openai", proxy.url), "question", &[]);
    assert!(
        finished.contains("nothing is added to it") && finished.ends_with(" 404"),
        "{finished}"
    );
    proxy.end(Signal::TERM);
    place.ok("verify");
}

#[test]
fn other_machines_need_a_token() {
    let (place, upstream) = (Place::new(), server(Failing { one_in: 0 }));
    let token = "a-token-of-24-characters";
    for (ignored, why) in [
        ("--mode replay --redact a", "a replay uses what was recorded"),
        ("--mode record --upstream a=http://127.0.0.1:1 --skip-errors", "are for --mode replay"),
    ] {
        let said = place.run(&format!("proxy {ignored}"));
        assert!(said.code == 2 && said.err.contains(why), "{}", said.err);
    }
    let record =
        format!("--mode record --upstream openai={} --listen 0.0.0.0:0", upstream.base_url());
    let open = place.run(&format!("proxy {record} --no-token"));
    assert_eq!(open.code, 2, "{}", open.err);
    assert!(open.err.contains("there is no token"), "{}", open.err);
    place.write("short", "secret");
    let short = place.run(&format!("proxy {record} --token-file short"));
    assert_eq!(short.code, 2);
    assert!(short.err.contains("at least 16") && !short.err.contains("secret"), "{}", short.err);
    place.write("token", format!("{token}\n"));
    let proxy = Proxy::start(&place, &format!("{record} --token-file token -vvv"));
    // Whatever name this machine is reached by.
    let host = ["-H", "host: box.example"];
    let base = format!("{}/openai", proxy.url);
    let without = ask(&base, "hi", &host);
    assert!(without.contains("X-Retold-Token") && without.ends_with(" 401"), "{without}");
    let wrong = ask(&base, "hi", &["-H", "x-retold-token: a-token-of-24-charactres"]);
    assert!(wrong.ends_with(" 401"), "{wrong}");
    let header = format!("x-retold-token: {token}");
    assert!(ask(&base, "hi", &[&["-H", &header][..], &host].concat()).ends_with(" 200"));
    let in_path = format!("{}/token/{token}/run/a/openai", proxy.url);
    assert!(ask(&in_path, "hi", &host).ends_with(" 200"));
    let said = proxy.end(Signal::TERM);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(upstream.received().iter().all(|request| request.header("x-retold-token").is_none()));
    let log = std::fs::read(place.path("retold.db")).unwrap();
    for bytes in [&log, said.out.as_bytes(), said.err.as_bytes()] {
        assert!(memchr::memmem::find(bytes, token.as_bytes()).is_none());
    }
}

#[test]
fn whoever_does_not_know_the_url_records_nothing() {
    let (place, upstream) = (Place::new(), server(Failing { one_in: 0 }));
    let named = format!("--upstream openai={0} --upstream anthropic={0}", upstream.base_url());
    let proxy = Proxy::start(&place, &format!("--mode record {named}"));
    let (open, token) = proxy.url.split_once("/token/").unwrap();
    assert_eq!(token.len(), 32);
    let own = format!("{}/run/a", proxy.url);
    assert!(ask(&format!("{own}/openai"), "mine", &[]).ends_with(" 200"));
    for base in [open.to_owned(), format!("{open}/token/{}", "0".repeat(32))] {
        // In the words of each API.
        let openai = ask(&format!("{base}/run/a/openai"), "theirs", &[]);
        assert!(openai.contains(r#""error":{"#) && openai.contains("wants its token"), "{openai}");
        let claude = curl(&[&format!("{base}/run/a/anthropic/v1/messages"), "-d", "{}"]);
        assert!(claude.contains(r#""type":"error""#) && claude.ends_with(" 401"), "{claude}");
        for (path, body) in [("facts", r#"{"name":"x","value":1}"#), ("finish", "")] {
            let own = curl(&[&format!("{base}/run/a/_retold/{path}"), "-d", body]);
            assert!(own.contains("wants its token") && own.ends_with(" 401"), "{own}");
        }
    }
    assert_eq!(upstream.received().len(), 1);
    let said = proxy.end(Signal::TERM);
    assert_eq!(said.code, 0, "{}", said.err);
    let runs = place.json("log").0["runs"].as_array().unwrap().clone();
    assert_eq!((runs.len(), &runs[0]["outcome"]), (1, &"finished".into()), "{runs:?}");
    let events = place.ok("log latest --json");
    assert!(!events.contains("theirs") && !events.contains(r#""name":"x""#), "{events}");
    let log = std::fs::read(place.path("retold.db")).unwrap();
    assert!(memchr::memmem::find(&log, token_of(&own).as_bytes()).is_none());
}

/// The token in a URL.
fn token_of(url: &str) -> &str {
    url.split('/').skip_while(|part| *part != "token").nth(1).unwrap()
}

#[test]
fn a_proxy_without_a_token_says_what_it_gives_away() {
    let (place, upstream) = (Place::new(), server(Failing { one_in: 0 }));
    let named = format!("--upstream openai={}", upstream.base_url());
    let proxy = Proxy::start(&place, &format!("--mode record {named} --no-token"));
    assert!(!proxy.url.contains("token"), "{}", proxy.url);
    assert!(ask(&format!("{}/openai", proxy.url), "hi", &[]).ends_with(" 200"));
    let said = proxy.end(Signal::TERM);
    let due = "there is no token: every user and program of this machine can ask";
    assert!(said.err.contains(due), "{}", said.err);
}

#[cfg_attr(not(other_users), ignore = "only root can act as another user")]
#[test]
fn another_user_adds_nothing_and_ends_nothing() {
    let (place, upstream) = (Place::new(), server(Failing { one_in: 0 }));
    let named = format!("--upstream openai={}", upstream.base_url());
    let proxy = Proxy::start(&place, &format!("--mode record {named}"));
    assert!(ask(&format!("{}/run/a/openai", proxy.url), "mine", &[]).ends_with(" 200"));
    let (open, token) = proxy.url.split_once("/token/").unwrap();
    for path in ["openai/chat/completions", "_retold/facts", "_retold/finish"] {
        let url = format!("{open}/run/a/{path}");
        let got = other_user(&["curl", "-sS", "-w", " %{http_code}", "-d", "{}", &url]);
        assert!(got.contains("wants its token") && got.ends_with(" 401"), "{path}: {got}");
    }
    let listed = other_user(&["sh", "-c", "cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>&1"]);
    assert!(!listed.contains(token));
    let said = proxy.end(Signal::TERM);
    assert!(said.err.contains("a: recorded 1 answer as run"), "{}", said.err);
    assert_eq!(upstream.received().len(), 1);
}

/// A page from the web may have a name that leads here, and any program may take us for a proxy.
#[test]
fn requests_for_other_hosts_are_refused() {
    let (place, upstream) = (Place::new(), server(Failing { one_in: 0 }));
    let record = format!("--mode record --upstream openai={} --no-token", upstream.base_url());
    let proxy = Proxy::start(&place, &record);
    let rebound = ask(&format!("{}/openai", proxy.url), "hi", &["-H", "host: rebound.example"]);
    assert!(rebound.contains("127.0.0.1 and localhost") && rebound.ends_with(" 403"), "{rebound}");
    let other = curl(&["-x", &proxy.url, "http://api.example/openai/models"]);
    assert!(other.ends_with(" 403"), "{other}");
    let tunnel = curl(&["-x", &proxy.url, "https://api.example/"]);
    assert!(tunnel.contains("40"), "{tunnel}");
    assert_eq!(proxy.end(Signal::TERM).code, 0);
    assert!(upstream.received().is_empty());
}
