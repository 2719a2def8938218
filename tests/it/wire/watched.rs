//! What a program asks past retold: `--watch` counts it, and refuses models in a replay.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use super::upstream::{Failing, server};
use super::{record, record_with, replay_with, with};
use crate::support::cli::Place;
use crate::support::server::{Reply, Server};
use crate::support::tls::Front;

const NOWHERE: &str = "http://127.0.0.1:1";

/// A host of a provider that the test's proxy leads to a server of the test.
const PROVIDER: &str = "generativelanguage.googleapis.com";

/// The proxy that the user has: it wants a password, and leads every `CONNECT` to one server.
struct UsersProxy {
    address: SocketAddr,
    /// The heads of the requests that it got.
    heads: Arc<Mutex<Vec<String>>>,
}

impl UsersProxy {
    fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, heads) = (listener.local_addr().unwrap(), Arc::new(Mutex::default()));
        let kept = heads.clone();
        // It ends with the process.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let kept = kept.clone();
                std::thread::spawn(move || pass_on(stream, server, &kept));
            }
        });
        UsersProxy { address, heads }
    }

    fn url(&self) -> String {
        format!("http://me:hunter2@{}", self.address)
    }

    fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

fn pass_on(mut client: TcpStream, server: SocketAddr, heads: &Mutex<Vec<String>>) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if client.read(&mut byte).unwrap_or(0) == 0 {
            return;
        }
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    heads.lock().unwrap().push(head.clone());
    // `me:hunter2`.
    if !head.to_ascii_lowercase().contains("proxy-authorization: basic bwu6ahvudgvymg==") {
        let _ = client.write_all(b"HTTP/1.1 407 Who are you\r\ncontent-length: 0\r\n\r\n");
        return;
    }
    let mut server = TcpStream::connect(server).unwrap();
    match head.starts_with("CONNECT") {
        true => client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap(),
        false => server.write_all(head.as_bytes()).unwrap(),
    }
    let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    std::thread::spawn(move || drop(std::io::copy(&mut from, &mut to)));
    let _ = std::io::copy(&mut server, &mut client);
}

fn at(address: &str) -> Server {
    Server::on(format!("{address}:0").parse().unwrap(), |received| {
        Reply::chat(&format!("{} {}", received.method, received.target))
    })
}

/// One question goes to retold, and others past it.
fn ask(other: &Server, more: &str) -> String {
    let chat = "-d '{\"model\":\"m\",\"messages\":[]}'";
    let curl = "curl -sS -k --max-time 20 -w ' %{http_code}\\n'";
    format!(
        "{curl} $OPENAI_BASE_URL/chat/completions {chat}
{curl} http://{other}/v1/chat/completions {chat} 2>&1
{curl} http://{other}/robots.txt 2>&1
{more}
true",
        other = other.address()
    )
}

#[test]
fn what_goes_past_is_counted_and_models_are_refused_in_a_replay() {
    let (place, upstream, other) = (Place::new(), at("127.0.0.1"), at("127.0.0.2"));
    let front = Front::at("127.0.0.3", &other);
    let connect =
        format!("for n in 1 2; do curl -sS -k --max-time 20 {}/models; done", front.base_url());
    let ask = ask(&other, &connect);
    let program = ["sh", "-c", &ask];
    let recorded = record(&place, "--watch", &upstream.base_url(), &program);
    assert_eq!(recorded.code, 0, "{}", recorded.err);
    assert!(recorded.out.contains("GET /v1/models"), "{}", recorded.out);
    let (plain, secure) = (format!("http://{}", other.address()), front.address());
    for line in [
        "recorded 1 answer as run".to_owned(),
        format!("2 or more requests to {plain} were not recorded: --upstream NAME={plain}"),
        format!(
            "2 or more connections to {secure} were not recorded: --intercept --host 127.0.0.3=https://{secure}"
        ),
    ] {
        assert!(recorded.err.contains(&line), "{line}: {}", recorded.err);
    }
    let asked = other.received().len();
    let replayed = with(&place, "replay --watch latest", NOWHERE, &program, &[]);
    assert_eq!(replayed.code, 1, "{}", replayed.err);
    assert!(
        replayed.out.contains("was not recorded, and a replay asks nobody"),
        "{}",
        replayed.out
    );
    for line in [
        "retold asked nothing; it does not see what goes past it".to_owned(),
        format!("1 or more requests to {plain} were not recorded, so refused"),
        format!("1 or more requests to {plain} were not recorded: "),
        format!("2 or more connections to {secure} were not recorded: "),
    ] {
        assert!(replayed.err.contains(&line), "{line}: {}", replayed.err);
    }
    let later = other.received();
    assert_eq!(later.len(), asked + 3, "{later:?}");
    assert!(later[asked..].iter().all(|request| request.method == "GET"), "{later:?}");
    // Without the option, nothing is claimed.
    let unseen = with(&place, "replay latest", NOWHERE, &program, &[]);
    assert_eq!(unseen.code, 0, "{}", unseen.err);
    assert!(unseen.err.contains("it does not see what goes past it"), "{}", unseen.err);
}

/// A known provider is one at any port, and with a dot at the end of its name.
#[test]
fn no_writing_of_a_provider_is_reached_in_a_replay() {
    let (place, upstream) = (Place::new(), at("127.0.0.1"));
    let asks = |hosts: &[&str]| {
        let ask = |host| format!("curl -sS --max-time 20 https://{host}/v1/models 2>&1; ");
        "curl -sS $OPENAI_BASE_URL/models; ".to_owned()
            + &hosts.iter().map(ask).collect::<String>()
            + "true"
    };
    let recorded = record(&place, "--watch", &upstream.base_url(), &["sh", "-c", &asks(&[])]);
    assert_eq!(recorded.code, 0, "{}", recorded.err);
    let hosts = ["api.openai.com.", "API.openai.com:8443", "api.anthropic.com.:443"];
    let program = ["sh", "-c", &asks(&hosts)];
    let replayed = with(&place, "replay --watch latest", NOWHERE, &program, &[]);
    assert_eq!(
        replayed.out.matches("CONNECT tunnel failed, response 403").count(),
        3,
        "{}",
        replayed.out
    );
    for host in ["connections to api.openai.com were", "api.openai.com:8443", "api.anthropic.com"] {
        assert!(replayed.err.contains(host), "{}", replayed.err);
    }
}

/// A server that the run was recorded from is a model's, whatever is asked there.
/// What could not be reached was asked as well.
#[test]
fn connections_that_cannot_be_made_are_named() {
    let upstream = server(Failing { one_in: 0 });
    let ask = "curl -sS --max-time 20 https://127.0.0.2:1/ http://127.0.0.2:1/; true";
    for option in ["--watch", "--intercept"] {
        let place = Place::new();
        let recorded = record(&place, option, &upstream.base_url(), &["sh", "-c", ask]);
        assert_eq!(recorded.code, 0, "{}", recorded.err);
        let due = "1 connection to 127.0.0.2:1 was not recorded: the host could not be reached\n";
        assert!(recorded.err.contains(due), "{option}: {}", recorded.err);
        let due =
            "1 request to http://127.0.0.2:1 was not recorded: the host could not be reached\n";
        assert_eq!(recorded.err.contains(due), option == "--watch", "{}", recorded.err);
        assert!(!recorded.err.contains("could see"), "{}", recorded.err);
    }
}

#[test]
fn a_replay_does_not_reach_the_recorded_server() {
    let (place, upstream) = (Place::new(), at("127.0.0.5"));
    let ask = format!("curl -sS --max-time 20 http://{}/anything", upstream.address());
    let recorded = record(&place, "", &upstream.base_url(), &["sh", "-c", &ask]);
    assert!(recorded.out.contains("GET /anything"), "{}", recorded.err);
    let replayed = with(&place, "replay --watch latest", NOWHERE, &["sh", "-c", &ask], &[]);
    assert_eq!((replayed.code, upstream.received().len()), (1, 1), "{}", replayed.err);
    let refused = format!(
        "1 or more requests to http://{} were not recorded, so refused",
        upstream.address()
    );
    assert!(replayed.err.contains(&refused), "{}", replayed.err);
}

/// The user's own proxy is gone through, with its password, and not to the hosts of `NO_PROXY`.
#[test]
fn the_user_s_proxy_is_kept() {
    let (place, upstream, other) = (Place::new(), at("127.0.0.1"), at("127.0.0.2"));
    let front = Front::new(&other);
    let users = UsersProxy::to(front.address());
    let direct = at("127.0.0.4");
    let more = format!(
        "for n in 1 2; do curl -sS -k --max-time 20 https://{PROVIDER}/v1beta/models 2>&1; echo; done
curl -sS --max-time 20 http://{}/direct; echo; echo NO_PROXY=$NO_PROXY no_proxy=$no_proxy",
        direct.address()
    );
    let program = ["sh", "-c", &more];
    let url = users.url();
    let set = [("HTTPS_PROXY", url.as_str()), ("NO_PROXY", "127.0.0.4")];
    let recorded = record_with(&place, "--watch", &upstream.base_url(), &program, &set);
    assert_eq!(
        recorded.out.matches("GET /v1beta/models").count(),
        2,
        "{}{}",
        recorded.out,
        recorded.err
    );
    assert!(recorded.out.contains("GET /direct"), "{}", recorded.out);
    let kept = "NO_PROXY=127.0.0.4,127.0.0.1,localhost no_proxy=127.0.0.4,127.0.0.1,localhost";
    assert!(recorded.out.contains(kept), "{}", recorded.out);
    let counted = format!(
        "2 or more connections to {PROVIDER} were not recorded: --intercept records them\n"
    );
    assert!(recorded.err.contains(&counted), "{}", recorded.err);
    assert!(!recorded.err.contains("hunter2"), "{}", recorded.err);
    let heads = users.heads();
    assert_eq!(heads.len(), 2, "{heads:?}");
    assert!(
        heads.iter().all(|head| head.starts_with(&format!("CONNECT {PROVIDER}:443"))),
        "{heads:?}"
    );
    // A replay does not reach the provider, not even through that proxy.
    let replayed = with(&place, "replay --watch latest", NOWHERE, &program, &set);
    assert_eq!((replayed.code, users.heads().len()), (1, 2), "{}", replayed.err);
    let refused = format!("2 or more connections to {PROVIDER} were not recorded, so refused\n");
    assert!(replayed.err.contains(&refused), "{}", replayed.err);
    // And as JSON.
    let json = with(&place, "--json replay --watch latest", NOWHERE, &program, &set);
    let line = json.err.lines().find(|line| line.starts_with('{')).unwrap();
    let said: serde_json::Value = serde_json::from_str(line).unwrap();
    assert_eq!(said["connections"]["refused"][PROVIDER], 2, "{said}");
}

/// Requests without TLS go through the user's proxy for them.
#[test]
fn requests_without_tls_go_through_the_user_s_proxy() {
    let (place, upstream, server) = (Place::new(), at("127.0.0.1"), at("127.0.0.2"));
    let users = UsersProxy::to(server.address());
    let ask = "curl -sS --max-time 20 http://llm.corp.example/v1/models";
    let url = users.url();
    let set = [("http_proxy", url.as_str())];
    let recorded = record_with(&place, "--watch", &upstream.base_url(), &["sh", "-c", ask], &set);
    assert!(recorded.out.contains("GET http://llm.corp.example/v1/models"), "{}", recorded.out);
    let counted = "1 or more requests to http://llm.corp.example were not recorded";
    assert!(recorded.err.contains(counted), "{}", recorded.err);
    // One server of this machine, which all that comes reaches directly.
    let shut_off = replay_with(&place, "--watch latest", &["sh", "-c", "true"], &[]);
    assert_eq!(shut_off.code, 0, "{}", shut_off.err);
}

/// The case that was reported: one base URL of two comes from a file.
#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn an_sdk_with_a_second_base_url_is_noticed() {
    let (place, upstream, other) = (Place::new(), at("127.0.0.1"), at("127.0.0.2"));
    std::fs::write(place.path(".env"), format!("http://{}/v1", other.address())).unwrap();
    let python = super::python::python();
    let sdk = "from openai import OpenAI\n\
        messages = [{'role': 'user', 'content': 'hi'}]\n\
        for url in [None, open('.env').read(), open('.env').read()]:\n    \
            answer = OpenAI(base_url=url, max_retries=0).chat.completions.create(model='m', messages=messages)\n    \
            print(answer.choices[0].message.content)\n";
    let program = [python.as_str(), "-c", sdk];
    let recorded = record(&place, "--watch", &upstream.base_url(), &program);
    assert_eq!(recorded.code, 0, "{}", recorded.err);
    let plain = format!("http://{}", other.address());
    let counted = format!("2 or more requests to {plain} were not recorded");
    assert!(recorded.err.contains(&counted), "{}", recorded.err);
    let asked = other.received().len();
    assert_eq!(asked, 2);
    let replayed = with(&place, "replay --watch latest", NOWHERE, &program, &[]);
    assert_ne!(replayed.code, 0, "{}", replayed.err);
    assert_eq!(other.received().len(), asked);
    let refused = format!("1 or more requests to {plain} were not recorded, so refused");
    assert!(replayed.err.contains(&refused), "{}", replayed.err);
}

#[test]
fn a_proxy_that_cannot_be_gone_through_leaves_it_off() {
    let (place, upstream) = (Place::new(), at("127.0.0.1"));
    for (name, url) in [
        ("HTTPS_PROXY", "socks5://me:hunter2@127.0.0.1:1"),
        ("all_proxy", "https://me:hunter2@proxy.example"),
        ("http_proxy", "http://me:hunter2@"),
    ] {
        let ask = format!("echo ${name} $HTTP_PROXY");
        let recorded = record_with(
            &place,
            "--watch",
            &upstream.base_url(),
            &["sh", "-c", &ask],
            &[(name, url)],
        );
        assert_eq!((recorded.code, recorded.out.trim()), (0, url), "{}", recorded.err);
        let off = format!("--watch is off: {name} does not name a proxy");
        assert!(recorded.err.contains(&off), "{}", recorded.err);
        assert!(!recorded.err.contains("hunter2"), "{}", recorded.err);
    }
}
