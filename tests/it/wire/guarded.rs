//! Whose requests are answered: those of the program alone, and none of a page that a browser has open.

use std::path::Path;

use serde_json::Value;

use super::proxies::{Proxy, ask, curl};
use super::upstream::{Failing, server};
use super::{KEY, PATH, record, replay, retold};
use crate::support::cli::{Place, Said};
use rustix::process::Signal;

/// Asks without the secret and under other names, then once as it should.
const ASK: &str = r#"
import http.client, json, os, urllib.parse
retold = urllib.parse.urlsplit(os.environ["RETOLD_URL"])
secret = retold.path.removeprefix("/token/")
body = b'{"model": "m", "messages": [{"role": "user", "content": "hi"}]}'
def ask(what, prefix, *headers, target="/openai/chat/completions", host=retold.netloc.encode()):
    it = http.client.HTTPConnection(retold.hostname, retold.port, timeout=60)
    it.putrequest("POST", prefix + target, skip_host=True, skip_accept_encoding=True)
    for name, value in [("host", host), ("content-length", str(len(body))), *headers]:
        if value is not None:
            it.putheader(name, value)
    it.endheaders(body)
    reply = it.getresponse()
    text = reply.read().decode()
    assert secret not in text, text
    print(what, reply.status, *([] if reply.status == 200 else [json.loads(text)["error"]["message"]]), sep=" | ")
ours = retold.path
ask("without a secret", "")
ask("without a secret, a fact", "", target="/_retold/facts")
ask("half a secret", ours[:-1])
ask("two secrets", "", ("x-retold-token", secret), ("x-retold-token", secret))
ask("another site's name", ours, host=b"rebound.example:" + str(retold.port).encode())
ask("two hosts", ours, ("host", retold.netloc))
ask("a host that is not ASCII", ours, host="l\u00f6calhost".encode())
ask("another host in the target", "http://api.example" + ours)
ask("another page", ours, ("origin", "http://localhost:3000"))
ask("a page without an origin", ours, ("sec-fetch-site", "cross-site"))
ask("a run that is not UTF-8", ours, ("x-retold-run", b"\xfc"))
ask("a run that is not a name", ours, ("x-retold-run", "a/b"))
ask("two runs", ours, ("x-retold-run", "a"), ("x-retold-run", "a"))
ask("a run of a proxy", ours, ("x-retold-run", "a"))
ask("Node's fetch", ours, ("sec-fetch-mode", "cors"))
with open("secret", "w") as file:
    file.write(secret)
"#;

/// A request that is not let in is in no run, uses no answer up, and is not counted.
#[test]
fn only_the_program_of_a_command_is_answered() {
    let (place, upstream) = (Place::new(), server(Failing { one_in: 0 }));
    let program = ["python3", "-c", ASK];
    let recorded = record(&place, "-vvv", &upstream.base_url(), &program);
    assert_eq!(upstream.received().len(), 1, "{}{}", recorded.out, recorded.err);
    drop(upstream);
    let mut secrets = vec![place.read("secret")];
    let replayed = replay(&place, "-vvv latest", &program);
    secrets.push(place.read("secret"));
    for said in [&recorded, &replayed] {
        assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    }
    assert_eq!(replayed.out, recorded.out);
    insta::assert_snapshot!("requests_that_are_not_let_in", recorded.out);
    let shown = place.json("show latest").0;
    assert_eq!((&shown["exchanges"], &shown["failed_attempts"]), (&1.into(), &0.into()), "{shown}");
    // Each command has its own, and it is nowhere.
    assert_ne!(secrets[0], secrets[1]);
    let log = std::fs::read(place.path("retold.db")).unwrap();
    let said = [&recorded, &replayed].map(|said| format!("{}{}", said.out, said.err));
    for secret in secrets {
        assert_eq!(secret.len(), 32);
        for bytes in [&log, said[0].as_bytes(), said[1].as_bytes()] {
            assert!(memchr::memmem::find(bytes, secret.as_bytes()).is_none());
        }
    }
}

/// The proxy of `--intercept` opens connections for its own program alone.
#[test]
fn only_the_program_gets_through_the_proxy() {
    let (place, upstream) = (Place::new(), server(Failing { one_in: 0 }));
    let elsewhere = format!("{}/models", upstream.base_url());
    let ask = format!(
        "code() {{ curl -sS -o /dev/null -k --noproxy none --max-time 20 -w '%{{http_connect}}\\n' \"$@\" 2>/dev/null; }}
bare=http://${{HTTPS_PROXY#*@}}
code -p -x $bare https://api.example.test/v1/models
code -p -x http://retold:0123456789abcdef@${{bare#http://}} https://api.example.test/v1/models
code -p -x $bare {elsewhere}
code -x $HTTPS_PROXY -H 'x-retold-run: a' https://api.example.test/v1/models
code -x $HTTPS_PROXY https://api.example.test/v1/models"
    );
    let options = format!("--intercept --host api.example.test=http://{}", upstream.address());
    let said = record(&place, &options, "http://127.0.0.1:1", &["sh", "-c", &ask]);
    let codes: Vec<&str> = said.out.lines().collect();
    assert_eq!(codes, ["407", "407", "407", "200", "200"], "{}{}", said.out, said.err);
    assert_eq!(upstream.received().len(), 1, "{}", said.err);
    assert!(said.err.contains("recorded 1 answer as run"), "{}", said.err);
}

/// A proxy without a token serves programs on this machine, and no page; nothing falls back to the run
/// without a name.
#[test]
fn a_proxy_without_a_token_refuses_pages_and_names_that_are_none() {
    let (place, upstream) = (Place::new(), server(Failing { one_in: 0 }));
    let proxy =
        Proxy::start(&place, &format!("--mode record --upstream openai={}", upstream.base_url()));
    let base = format!("{}/openai", proxy.url);
    let refused = [
        (&["-H", "origin: https://evil.example"][..], "403", "a page of another site"),
        (&["-H", "origin: http://localhost:3000"], "403", "a page of another site"),
        (&["-H", "origin: null"], "403", "a page of another site"),
        (
            &["-H", "sec-fetch-site: cross-site", "-H", "sec-fetch-mode: no-cors"],
            "403",
            "a page of",
        ),
        (
            &["-H", "sec-fetch-site: same-site", "-H", "sec-fetch-mode: navigate"],
            "403",
            "a page of",
        ),
        (&["-H", "host: l\u{f6}calhost"], "400", "Host: its value is not ASCII"),
        (&["-H", "x-retold-run: \u{fc}"], "400", "X-Retold-Run: its value is not ASCII"),
        (&["-H", "x-retold-run;"], "400", "the name of a run has"),
        (&["-H", "x-retold-run: a", "-H", "x-retold-run: b"], "400", "X-Retold-Run: "),
        (&["--request-target", "http://api.example/openai/models"], "400", "different servers"),
    ];
    for (more, status, why) in refused {
        let said = ask(&base, "hi", more);
        assert!(said.contains(why) && said.ends_with(&format!(" {status}")), "{more:?}: {said}");
    }
    let facts = format!("{}/_retold/facts", proxy.url);
    let forged =
        curl(&[&facts, "-d", r#"{"name":"a","value":1}"#, "-H", "origin: http://a.example"]);
    assert!(forged.ends_with(" 403"), "{forged}");
    let in_path = format!("{}/run/a/openai", proxy.url);
    let two = ask(&in_path, "hi", &["-H", "x-retold-run: b"]);
    assert!(two.contains("name different runs") && two.ends_with(" 400"), "{two}");
    assert!(upstream.received().is_empty());
    assert!(ask(&base, "hi", &["-H", "sec-fetch-mode: cors"]).ends_with(" 200"));
    assert_eq!(proxy.end(Signal::TERM).code, 0);
    let runs = place.json("log").0["runs"].as_array().unwrap().len();
    assert_eq!((runs, upstream.received().len()), (1, 1));
}

/// Puts the browser's driver where a script of tests/browser finds it.
fn with_browser(place: &Place) {
    let root = Path::new(env!("RETOLD_ROOT"));
    let packages = root.join("target/browser/node_modules");
    std::os::unix::fs::symlink(packages, place.path("node_modules")).unwrap();
    std::fs::copy(root.join("tests/browser/forger.mjs"), place.path("forger.mjs")).unwrap();
}

/// What the requests of a page got, and what the program's own request got.
fn forged(said: &Said) -> (Value, &str) {
    let lines: Vec<&str> = said.out.lines().collect();
    let page = lines[0].strip_prefix("the page: ").unwrap_or_else(|| panic!("{}", said.err));
    (serde_json::from_str(page).unwrap(), lines[1])
}

/// The page asked often, and was refused each time.
fn assert_refused(page: &Value, least: u64) {
    let refused =
        ["401", "403"].map(|status| page[status].as_u64().unwrap_or(0)).iter().sum::<u64>();
    assert!(
        refused >= least && page.as_object().unwrap().keys().all(|it| it.starts_with("40")),
        "{page}"
    );
}

#[cfg_attr(
    not(real_browser),
    ignore = "needs the browser and its driver that scripts/test installs"
)]
#[test]
fn a_page_in_a_browser_cannot_ask_a_recording_or_use_up_a_replay() {
    let (place, upstream) = (Place::new(), server(Failing { one_in: 0 }));
    with_browser(&place);
    let home = place.root().to_str().unwrap().to_owned();
    let program = ["node", "forger.mjs"];
    let mut command = retold(&place, "record", &program);
    command.env("OPENAI_BASE_URL", upstream.base_url()).env("OPENAI_API_KEY", KEY);
    let recorded = Said::ended(command.env("HOME", &home));
    let (page, answer) = forged(&recorded);
    assert_refused(&page, 30);
    assert!(answer.starts_with("the program: 200 Answer 1"), "{answer}");
    assert_eq!(upstream.received().len(), 1, "{}", recorded.err);
    drop(upstream);
    let shown = place.json("show latest").0;
    assert_eq!((&shown["exchanges"], &shown["failed_attempts"]), (&1.into(), &0.into()), "{shown}");
    assert!(!place.ok("log latest").contains("forged"));
    let replayed = Said::ended(retold(&place, "replay latest", &program).env("HOME", &home));
    let (page, again) = forged(&replayed);
    assert_refused(&page, 30);
    assert_eq!((replayed.code, again), (0, answer), "{}", replayed.err);
}

#[cfg_attr(
    not(real_browser),
    ignore = "needs the browser and its driver that scripts/test installs"
)]
#[test]
fn a_page_in_a_browser_cannot_ask_a_proxy_without_a_token() {
    let (place, upstream) = (Place::new(), server(Failing { one_in: 0 }));
    with_browser(&place);
    let record = format!("--mode record --upstream openai={}", upstream.base_url());
    let proxy = Proxy::start(&place, &record);
    let mut command = std::process::Command::new("node");
    command.args(["forger.mjs", &proxy.url]).current_dir(place.root());
    let said = Said::ended(command.env_clear().env("PATH", PATH).env("HOME", place.root()));
    let (page, answer) = forged(&said);
    assert_refused(&page, 20);
    assert!(answer.starts_with("the program: 200 Answer 1"), "{answer}");
    assert_eq!(upstream.received().len(), 1);
    assert_eq!(proxy.end(Signal::TERM).code, 0);
    assert_eq!(place.json("log").0["runs"].as_array().unwrap().len(), 1);
}
