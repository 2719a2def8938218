//! Where the requests of a run that is continued go: only to servers that are named for it.

use std::io::Read;
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use super::commands::{type_in, typed};
use super::upstream::{Failing, server};
use super::{KEY, retold};
use crate::support::cli::{Place, Said};
use crate::support::server::{Reply, Server};

/// What a client asks a proxy for.
struct Proxy {
    url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    /// A proxy that hangs up on everybody.
    fn new() -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let noted = asked.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut head = [0; 1000];
                let length = stream.unwrap().read(&mut head).unwrap_or(0);
                let head = String::from_utf8_lossy(&head[..length]).into_owned();
                noted.lock().unwrap().push(head.lines().next().unwrap_or_default().to_owned());
            }
        });
        Proxy { url, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// A program that asks once, and fails.
fn ask(variable: &str, text: &str) -> String {
    format!(
        "curl -sS --max-time 20 ${variable}/chat/completions \
         -d '{{\"model\":\"m\",\"messages\":[{{\"role\":\"user\",\"content\":\"{text}\"}}]}}'; exit 3"
    )
}

fn local() -> Server {
    Server::handler(|_| Reply::chat("yes"))
}

/// Runs `retold` on a shell script; all other hosts are behind the proxy.
fn run(place: &Place, proxy: &Proxy, args: &str, script: &str, set: &[(&str, &str)]) -> Said {
    let mut command = retold(place, args, &["sh", "-c", script]);
    for name in ["HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"] {
        command.env(name, &proxy.url);
    }
    Said::ended(command.env("OPENAI_API_KEY", KEY).envs(set.iter().copied()))
}

fn events(place: &Place) -> usize {
    place.ok("log latest").lines().count()
}

/// However the server was named when the run was recorded, it is named again before it, or any other, is asked.
#[test]
fn no_server_is_asked_that_is_not_named_again() {
    let (local, proxy) = (local(), Proxy::new());
    let url = local.base_url();
    let named = format!("record --upstream openai={url}");
    for (record, set) in [(named.as_str(), None), ("record", Some(("OPENAI_BASE_URL", &*url)))] {
        let place = Place::new();
        let script = ask("OPENAI_BASE_URL", "hi");
        let set: Vec<(&str, &str)> = set.into_iter().collect();
        let recorded = run(&place, &proxy, record, &script, &set);
        assert_eq!((recorded.code, proxy.asked().len()), (3, 0), "{}", recorded.err);
        let (before, received) = (events(&place), local.received().len());
        let other = ask("OPENAI_BASE_URL", "ho");
        for verb in ["record --resume", "fork"] {
            let said = run(&place, &proxy, &format!("{verb} latest"), &other, &[]);
            assert_eq!(said.code, 2, "{}", said.err);
            let typed = typed(&said.err, &format!("retold {verb}"));
            assert!(typed.contains(&format!(" --upstream openai={url} -- sh -c ")), "{typed}");
            assert!(said.err.contains("the recorded command was: sh -c "), "{}", said.err);
        }
        assert_eq!(proxy.asked(), [""; 0]);
        assert_eq!((events(&place), local.received().len()), (before, received));
        // Each hint is what to type.
        let shown = place.ok("show latest");
        assert!(shown.contains(&format!("  openai: {url}\n")), "{shown}");
        let listed = place.run("replay latest");
        for hints in [&recorded.err, &shown, &listed.err] {
            let resumed = type_in(&place, typed(hints, "retold record --resume"));
            assert_eq!((resumed.code, &resumed.out), (3, &recorded.out), "{}", resumed.err);
        }
        let said = run(&place, &proxy, "record --resume latest", &other, &[]);
        let resumed = type_in(&place, typed(&said.err, "retold record --resume"));
        assert!(resumed.err.contains("recorded 1 answer"), "{}", resumed.err);
        assert_eq!(local.received().len(), received + 1);
    }
}

/// The provider's own server is asked again if it was asked before, and no other is named now.
#[test]
fn a_provider_is_asked_again_if_the_run_has_asked_it() {
    let (place, proxy, local) = (Place::new(), Proxy::new(), local());
    let script = ask("OPENAI_BASE_URL", "hi");
    let asked = |n: usize| vec!["CONNECT api.openai.com:443 HTTP/1.1".to_owned(); n];
    let recorded = run(&place, &proxy, "record", &script, &[]);
    assert_eq!((recorded.code, proxy.asked()), (3, asked(1)), "{}", recorded.err);
    let command = typed(&recorded.err, "retold record --resume");
    assert!(!command.contains("--upstream"), "{command}");
    let resumed = run(&place, &proxy, "record --resume latest", &ask("OPENAI_BASE_URL", "ho"), &[]);
    assert_eq!(proxy.asked(), asked(2), "{}", resumed.err);
    let url = local.base_url();
    let set = [("OPENAI_BASE_URL", url.as_str())];
    let resumed =
        run(&place, &proxy, "record --resume latest", &ask("OPENAI_BASE_URL", "hu"), &set);
    assert_eq!((proxy.asked().len(), local.received().len()), (2, 1), "{}", resumed.err);
}

/// What the run has not asked and the user does not name is refused, not asked: also where an import or
/// a log of an earlier release names no server for it.
#[test]
fn other_providers_are_refused_when_a_run_is_continued() {
    let (place, proxy, local) = (Place::new(), Proxy::new(), local());
    let url = local.base_url();
    let cassette = format!(
        "version: 1\ninteractions:\n- request:\n    method: POST\n    uri: {url}/chat/completions\n    headers: {{}}\n    \
         body: '{{\"model\":\"m\",\"messages\":[{{\"role\":\"user\",\"content\":\"hi\"}}]}}'\n  response:\n    \
         status: {{code: 200, message: OK}}\n    headers: {{}}\n    \
         body: {{string: '{{\"choices\":[{{\"message\":{{\"content\":\"yes\"}}}}]}}'}}\n"
    );
    place.write("cassette.yaml", cassette);
    place.ok(&format!("import cassette.yaml --upstream openai={url}"));
    let said = run(&place, &proxy, "fork latest", &ask("OPENAI_BASE_URL", "hi"), &[]);
    assert!(
        said.code == 2 && said.err.contains(&format!("--upstream openai={url} -- ")),
        "{}",
        said.err
    );
    let set = [("OPENAI_BASE_URL", url.as_str())];
    let other = ask("ANTHROPIC_BASE_URL", "hi");
    let said = run(&place, &proxy, "fork latest", &other, &set);
    assert!(said.out.contains("name another upstream with --upstream NAME=URL"), "{}", said.out);
    assert_eq!((proxy.asked(), local.received().len()), (Vec::<String>::new(), 0));
}

/// A cassette leads where the requests of its run went, and nobody else is asked because of it.
#[test]
fn an_exported_cassette_leads_where_the_requests_went() {
    let (place, proxy, local) = (Place::new(), Proxy::new(), local());
    let (url, script) = (local.base_url(), ask("OPENAI_BASE_URL", "hi"));
    let recorded = run(&place, &proxy, &format!("record --upstream openai={url}"), &script, &[]);
    assert_eq!(recorded.code, 3, "{}", recorded.err);
    let recorded_run = place.json("show latest").0["run"].as_str().unwrap().to_owned();
    for name in ["out.yaml", "out.json"] {
        let exported = place.ok(&format!("export {recorded_run} {name} --as vcrpy"));
        assert!(!exported.contains("not represented"), "{exported}");
        let written = place.read(name);
        assert!(written.contains(&format!("{url}/chat/completions")), "{written}");
        assert!(!written.contains("api.openai.com"), "{written}");
        let typed_in = type_in(&place, typed(&exported, "retold import"));
        assert_eq!(typed_in.code, 0, "{exported}{}", typed_in.err);
        let replayed = run(&place, &proxy, "replay latest", &script, &[]);
        assert_eq!((replayed.code, &replayed.out), (3, &recorded.out), "{}", replayed.err);
        assert!(!replayed.err.contains("never asked"), "{}", replayed.err);
        let said = run(&place, &proxy, "fork latest", &ask("OPENAI_BASE_URL", "ho"), &[]);
        assert_eq!(said.code, 2, "{}", said.err);
        let hint = typed(&said.err, "retold fork");
        assert!(hint.contains(&format!(" --upstream openai={url} -- ")), "{hint}");
        // Its host has a name of its own, and nobody is asked in its place.
        place.ok(&format!("import {name}"));
        let said = run(&place, &proxy, "fork latest", &ask("OPENAI_BASE_URL", "ho"), &[]);
        assert_eq!(said.code, 2, "{}", said.err);
        assert!(!said.err.contains("api.openai.com"), "{}", said.err);
    }
    let elsewhere = "export latest given.yaml --as vcrpy --upstream openai=http://h.example/v1";
    place.ok(&elsewhere.replace("latest", &recorded_run));
    assert!(place.read("given.yaml").contains("http://h.example/v1/chat/completions"));
    assert_eq!((proxy.asked(), local.received().len()), (Vec::<String>::new(), 1));
}

/// What may be secret in a URL is neither recorded nor printed.
#[test]
fn secrets_in_urls_are_left_out() {
    let (place, proxy, local) = (Place::new(), Proxy::new(), local());
    let address = local.address();
    let url = format!("http://user:hunter2@{address}/sk-pathpathpathpath/v1?code=zyxwvu99");
    let script =
        format!("{} # http://other:hunter3@h.example/?sig=tsrqpo88", ask("OPENAI_BASE_URL", "hi"));
    let recorded = run(&place, &proxy, &format!("record --upstream openai={url}"), &script, &[]);
    assert!(recorded.err.contains(" --upstream openai=URL -- "), "{}", recorded.err);
    let received = local.received();
    assert!(received[0].target.contains("/sk-pathpathpathpath/v1/chat/completions?code=zyxwvu99"));
    let shown = place.ok("show latest");
    let stopped = run(&place, &proxy, "record --resume latest", &script, &[]);
    assert_eq!(stopped.code, 2, "{}", stopped.err);
    let exported = place.run("export latest out.yaml --as vcrpy");
    assert_eq!(exported.code, 2, "{}", exported.err);
    assert!(exported.err.contains("name its base URL with --upstream"), "{}", exported.err);
    let log = std::fs::read(place.path("retold.db")).unwrap();
    let wal = std::fs::read(place.path("retold.db-wal")).unwrap_or_default();
    let texts = [&*log, &*wal, recorded.err.as_bytes(), shown.as_bytes(), stopped.err.as_bytes()];
    for secret in ["hunter2", "hunter3", "pathpath", "zyxwvu99", "tsrqpo88"] {
        let is_in = |text: &&[u8]| memchr::memmem::find(text, secret.as_bytes()).is_some();
        assert_eq!(texts.iter().position(is_in), None, "{secret}");
    }
    assert!(shown.contains(&format!("  openai: http://{address}/[key]/v1[key]\n")), "{shown}");
}

/// Hosts that were led elsewhere are named again with where they were led.
#[test]
fn hosts_that_were_intercepted_are_named_again() {
    let (place, proxy, local) = (Place::new(), Proxy::new(), local());
    let host = format!("--host api.example.test=http://{}", local.address());
    let record = format!("record --intercept {host}");
    let said = run(&place, &proxy, &record, "exit 3", &[]);
    assert_eq!(said.code, 3, "{}", said.err);
    for given in ["", "--intercept", "--intercept --host other.example.test"] {
        let said = run(&place, &proxy, &format!("record --resume latest {given}"), "exit 3", &[]);
        assert_eq!(said.code, 2, "{given}: {}", said.err);
        let command = typed(&said.err, "retold record --resume");
        assert!(command.contains(" --intercept ") && command.contains(&host), "{command}");
        assert_eq!(command.contains("other.example.test"), given.contains("other"), "{command}");
    }
    let said =
        run(&place, &proxy, &format!("record --resume latest --intercept {host}"), "exit 3", &[]);
    assert_eq!(said.code, 3, "{}", said.err);
    assert_eq!(proxy.asked(), [""; 0]);
}

/// An SDK that reads its variable asks the same server as one that has the host written into it.
#[test]
fn a_host_that_is_led_elsewhere_is_led_there_for_the_variable_too() {
    let (place, upstream) = (Place::new(), server(Failing { one_in: 0 }));
    let url = upstream.base_url().replace("/v1", "");
    let ask = "curl -sS --max-time 20 -d '{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}' $OPENAI_BASE_URL/chat/completions";
    let mut command = super::retold(
        &place,
        &format!("record --intercept --host api.openai.com={url}"),
        &["sh", "-c", ask],
    );
    let recorded = Said::ended(command.env("OPENAI_API_KEY", super::KEY));
    assert_eq!((recorded.code, upstream.received().len()), (0, 1), "{}", recorded.err);
    assert_eq!(upstream.received()[0].target, "/v1/chat/completions");
}

#[test]
fn a_replay_of_a_run_that_was_cut_off_suggests_to_continue_it() {
    let (place, upstream) = (Place::new(), server(Failing { one_in: 0 }));
    let ask = "for n in $N; do curl -sS --max-time 20 -d '{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"'$n'\"}]}' $OPENAI_BASE_URL/chat/completions; done; exit $CODE";
    let program = ["sh", "-c", ask];
    let cut_off = super::record_with(
        &place,
        "",
        &upstream.base_url(),
        &program,
        &[("N", "1"), ("CODE", "3")],
    );
    assert_eq!(cut_off.code, 3);
    let missed = super::replay_with(&place, "latest", &program, &[("N", "1 2"), ("CODE", "0")]);
    assert_eq!(missed.code, 1);
    assert!(
        missed.err.contains("the run was not finished: `retold record --resume "),
        "{}",
        missed.err
    );
}
