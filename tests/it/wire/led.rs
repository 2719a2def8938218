//! Answers that lead to another URL: below an upstream they lead through retold, and elsewhere a
//! replay does not go.

use std::net::SocketAddr;

use super::proxies::Proxy;
use super::{KEY, PATH, assert_no_key, record, record_with, replay, with};
use crate::support::cli::{Place, Said};
use crate::support::server::{Received, Reply, Server};

/// A server that moves a chat to where the function says, and answers there.
fn moving(to: impl Fn(&str) -> String + Send + 'static) -> Server {
    let mut asked = 0;
    Server::handler(move |received| match received.target.contains("moved") {
        true => {
            asked += 1;
            Reply::chat(&format!("answer {asked} after a move"))
        }
        false => {
            let to = to(received.header("host").unwrap());
            Reply::new(307, "moved").header("location", &to)
        }
    })
}

/// A server that says where it is asked what it must not be asked.
fn forbidden(address: SocketAddr) -> Server {
    Server::on(address, |_| Reply::chat("never recorded"))
}

/// Asks the same question twice, and follows redirects.
const ASK: &str = r#"
for n in 1 2; do
    curl -sSL --max-time 20 -H 'content-type: application/json' -w ' %{http_code} %{num_redirects}\n' \
        $OPENAI_BASE_URL/chat/completions -d '{"model":"m","messages":[{"role":"user","content":"hi"}]}'
done
"#;

/// Replays a program while a server is at the address of the recorded one: it must not be asked.
fn replayed_next_to(address: SocketAddr, place: &Place, program: &[&str], recorded: &Said) {
    let other = forbidden(address);
    let replayed = with(place, "replay latest", "http://127.0.0.1:1", program, &[]);
    assert_eq!((replayed.code, &replayed.out), (0, &recorded.out), "{}", replayed.err);
    assert!(other.received().is_empty(), "asked in a replay: {:?}", other.received());
    assert!(
        replayed.err.contains("retold asked nothing; it does not see what goes past it"),
        "{}",
        replayed.err
    );
    let shut_off = replay(place, "latest", program);
    assert_eq!((shut_off.code, &shut_off.out), (0, &recorded.out), "{}", shut_off.err);
}

#[test]
fn a_redirect_to_an_upstream_is_recorded_and_replayed() {
    let forms: [fn(&str) -> String; 5] = [
        |host| format!("http://{host}/v1/moved/chat/completions?api_key={KEY}&x=y"),
        |_| "/v1/moved/chat/completions".to_owned(),
        |_| "../moved/chat/completions".to_owned(),
        |host| format!("//{host}/v1/moved/chat/completions"),
        // At the same server, but not below the base URL.
        |host| format!("http://{host}/moved/chat/completions"),
    ];
    for form in forms {
        let (place, upstream) = (Place::new(), moving(form));
        let program = ["sh", "-c", ASK];
        let recorded = record(&place, "", &upstream.base_url(), &program);
        let form = form("HOST");
        assert_eq!(recorded.code, 0, "{form}: {}{}", recorded.out, recorded.err);
        assert!(recorded.out.contains("answer 2 after a move"), "{form}: {}", recorded.out);
        assert!(recorded.out.ends_with(" 200 1\n"), "{form}: {}", recorded.out);
        assert!(recorded.err.contains("recorded 2 answers"), "{form}: {}", recorded.err);
        let asked: Vec<Received> = upstream.received();
        assert_eq!(asked.len(), 4, "{form}");
        let (address, moved) = (upstream.address(), &asked[1].target);
        let due =
            if form.contains("/v1/") || form.starts_with("..") { "/v1/moved/" } else { "/moved/" };
        assert!(moved.starts_with(due), "{form}: {moved}");
        assert_eq!(moved.ends_with(&format!("?api_key={KEY}&x=y")), form.contains("api_key"));
        drop(upstream);
        assert_no_key(&place, &recorded);
        let exported = place.ok("export latest");
        assert!(exported.contains(r#"["location","/openai/"#), "{form}: {exported}");
        replayed_next_to(address, &place, &program, &recorded);
    }
}

#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn the_sdks_follow_a_redirect_through_retold() {
    let python = super::python::python();
    let sdk = "from openai import OpenAI\n\
        messages = [{'role': 'user', 'content': 'hi'}]\n\
        for n in range(2):\n    \
            answer = OpenAI(max_retries=0).chat.completions.create(model='m', messages=messages)\n    \
            print(answer.choices[0].message.content)\n";
    let fetch = "const ask = () => fetch(process.env.OPENAI_BASE_URL + '/chat/completions', {method: 'POST', \
        headers: {'content-type': 'application/json'}, body: '{\"model\":\"m\",\"messages\":[]}'});\
        for (let n = 0; n < 2; n += 1) {\
            const answer = await ask(); console.log(answer.redirected, await answer.text());\
        }";
    let clients: [&[&str]; 2] =
        [&[&python, "-c", sdk], &["node", "--input-type=module", "-e", fetch]];
    for program in clients {
        let place = Place::new();
        let upstream = moving(|host| format!("http://{host}/v1/moved/chat/completions"));
        let recorded = record(&place, "", &upstream.base_url(), program);
        assert_eq!(recorded.code, 0, "{}{}", recorded.out, recorded.err);
        assert!(recorded.out.contains("answer 2 after a move"), "{}", recorded.out);
        assert_eq!(upstream.received().len(), 4, "{}", recorded.err);
        let address = upstream.address();
        drop(upstream);
        replayed_next_to(address, &place, program, &recorded);
    }
}

#[test]
fn a_redirect_below_a_proxy_keeps_its_run_and_token() {
    let place = Place::new();
    let upstream = moving(|host| format!("http://{host}/v1/moved/chat/completions"));
    let (address, token) = (upstream.address(), "0123456789abcdef0123");
    std::fs::write(place.path("token"), token).unwrap();
    let ask = |proxy: &Proxy| {
        let base = format!("{}/token/{token}/run/study/openai", proxy.url);
        let mut command = std::process::Command::new("sh");
        command.args(["-c", ASK]).env_clear().env("PATH", PATH).env("OPENAI_BASE_URL", base);
        Said::ended(&mut command).out
    };
    let options = format!("--mode record --upstream openai=http://{address}/v1 --token-file token");
    let proxy = Proxy::start(&place, &options);
    let recorded = ask(&proxy);
    assert!(recorded.contains("answer 2 after a move"), "{recorded}");
    proxy.end(rustix::process::Signal::TERM);
    assert_eq!(upstream.received().len(), 4);
    drop(upstream);
    assert!(!place.ok("export study").contains(token));
    let (other, proxy) =
        (forbidden(address), Proxy::start(&place, "--mode replay --token-file token"));
    assert_eq!(ask(&proxy), recorded);
    let said = proxy.end(rustix::process::Signal::TERM);
    assert_eq!((said.code, other.received().len()), (0, 0), "{}", said.err);
}

/// While recording, the client decides; a replay asks nobody.
#[test]
fn a_redirect_elsewhere_is_named_and_refused_in_a_replay() {
    let place = Place::new();
    let other = moving(|_| String::new());
    let to = format!("http://{}/moved/chat/completions", other.address());
    let upstream = moving(move |_| to.clone());
    let program = ["sh", "-c", ASK];
    let recorded = record(&place, "", &upstream.base_url(), &program);
    assert!(recorded.out.contains("answer 2 after a move"), "{}", recorded.out);
    let led = format!("an answer led the program to {}, past its upstreams", other.address());
    assert!(recorded.err.contains(&led), "{}", recorded.err);
    let asked = (upstream.received().len(), other.received().len());
    assert_eq!(asked, (2, 2));
    let replayed = with(&place, "replay latest", &upstream.base_url(), &program, &[]);
    assert_eq!((upstream.received().len(), other.received().len()), asked);
    let refused = format!(
        "a recorded answer leads to {}, of which nothing is recorded, and a replay asks nobody",
        other.address()
    );
    assert!(replayed.out.contains(&refused), "{}", replayed.out);
    assert_eq!(replayed.code, 1, "{}", replayed.err);
    assert!(replayed.err.contains(&refused), "{}", replayed.err);
    let named = format!("--upstream other=http://{}", other.address());
    let recorded = record(&place, &named, &upstream.base_url(), &program);
    assert!(!recorded.err.contains("led the program"), "{}", recorded.err);
    assert!(recorded.err.contains("recorded 2 answers"), "{}", recorded.err);
    let address = other.address();
    drop((upstream, other));
    replayed_next_to(address, &place, &program, &recorded);
}

/// However a client may read it: what leads past retold is named, and a replay does not follow it.
#[test]
fn a_redirect_in_any_writing_is_named_and_refused_in_a_replay() {
    let fetch = "const answer = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', \
        {method: 'POST', headers: {'content-type': 'application/json'}, body: '{\"model\":\"m\",\"messages\":[]}'});\
        console.log(answer.status, await answer.text());";
    let program = ["node", "--input-type=module", "-e", fetch];
    let forms: [fn(&str) -> String; 4] = [
        |host| format!("http://{host}/moved/\u{fc}"),
        |host| format!("///{host}/moved"),
        |host| format!("\\\\{host}/moved"),
        |host| format!("http:/\\{host}/moved"),
    ];
    for form in forms {
        let (place, other) = (Place::new(), moving(|_| String::new()));
        let address = other.address();
        let to = form(&address.to_string());
        let upstream = moving(move |_| to.clone());
        let recorded = record(&place, "", &upstream.base_url(), &program);
        let shown = format!("{}: {}{}", form("HOST"), recorded.out, recorded.err);
        assert!(recorded.out.contains("answer 1 after a move"), "{shown}");
        assert!(recorded.err.contains(&format!("led the program to {address}")), "{shown}");
        assert_eq!(other.received().len(), 1);
        let replayed = with(&place, "replay latest", "http://127.0.0.1:1", &program, &[]);
        assert_eq!(other.received().len(), 1, "asked in a replay: {shown}");
        assert!(replayed.out.contains(&format!("leads to {address}")), "{}", replayed.out);
        assert_eq!(replayed.code, 1, "{}", replayed.err);
    }
}

/// What a recorded answer leads to was not named for this command, and gets neither a prompt nor a key.
#[test]
fn a_recorded_redirect_elsewhere_is_not_followed_by_a_fork() {
    let (place, other) = (Place::new(), moving(|_| String::new()));
    let to = format!("http://{}/moved/chat/completions", other.address());
    let upstream = moving(move |_| to.clone());
    let program = ["sh", "-c", ASK];
    let recorded = record(&place, "", &upstream.base_url(), &program);
    assert_eq!((recorded.code, other.received().len()), (0, 2), "{}", recorded.err);
    let fork = |more: &str| {
        let args = format!("fork latest --upstream openai={}{more}", upstream.base_url());
        with(&place, &args, "http://127.0.0.1:1", &program, &[])
    };
    let forked = fork("");
    assert_eq!(other.received().len(), 2, "{}{}", forked.out, forked.err);
    let why = format!("a recorded answer leads to {}, which is none", other.address());
    assert!(forked.out.contains(&why), "{}{}", forked.out, forked.err);
    let forked = fork(&format!(" --upstream other=http://{}", other.address()));
    assert!(forked.out.contains("answer 3 after a move"), "{}{}", forked.out, forked.err);
}

/// A client that is led from one server to another leaves its key behind. To it, all upstreams are one server.
#[test]
fn a_server_that_is_led_to_gets_no_key_of_another() {
    let (place, other) = (Place::new(), moving(|_| String::new()));
    let to = format!("http://{}/moved/chat/completions", other.address());
    let upstream = moving(move |_| to.clone());
    let ask = ASK.replace(
        "-H 'content",
        "-H \"Authorization: Bearer $OPENAI_API_KEY\" -H \"x-api-key: $OPENAI_API_KEY\" -H 'content",
    );
    let program = ["sh", "-c", &ask];
    // Nor are its own keys for one that another server chose to have it asked.
    let named = format!("--upstream other=http://me:{KEY}@{}?api-key={KEY}&v=1", other.address());
    let recorded = record(&place, &named, &upstream.base_url(), &program);
    assert!(recorded.out.contains("answer 2 after a move"), "{}{}", recorded.out, recorded.err);
    assert!(other.received().iter().all(|it| it.target == "/moved/chat/completions"));
    let key = |received: &Received| {
        ["authorization", "x-api-key"].map(|name| received.header(name).is_some())
    };
    assert_eq!(upstream.received().iter().map(key).collect::<Vec<_>>(), [[true; 2]; 2]);
    assert_eq!(other.received().iter().map(key).collect::<Vec<_>>(), [[false; 2]; 2]);
    let address = other.address();
    drop((upstream, other));
    assert_no_key(&place, &recorded);
    replayed_next_to(address, &place, &program, &recorded);
}

/// To a client, all upstreams are one host; a cookie goes back to the one that set it.
#[test]
fn a_cookie_of_one_upstream_is_not_sent_to_another() {
    let set = |_: &Received| {
        Reply::chat("hello")
            .header("set-cookie", "session=of-one; Path=/; Domain=127.0.0.1; Secure")
    };
    let (place, one, other) = (Place::new(), Server::handler(set), Server::handler(set));
    let ask = "for url in $OPENAI_BASE_URL $OTHER_BASE_URL $OPENAI_BASE_URL; do
        curl -sS --max-time 20 -c jar -b jar -H 'content-type: application/json' \
            $url/chat/completions -d '{\"model\":\"m\",\"messages\":[]}'
    done";
    let named = format!("--upstream other=http://{}/v1", other.address());
    let recorded = record(&place, &named, &one.base_url(), &["sh", "-c", ask]);
    assert_eq!(recorded.code, 0, "{}", recorded.err);
    let cookie = |it: &Received| it.header("cookie").map(str::to_owned);
    let of_one: Vec<_> = one.received().iter().map(cookie).collect();
    assert_eq!(of_one, [None, Some("session=of-one".to_owned())], "{}", recorded.err);
    assert_eq!(other.received().iter().map(cookie).collect::<Vec<_>>(), [None]);
}

/// A server may repeat what the URL of its upstream holds.
#[test]
fn keys_of_an_upstreams_url_are_not_recorded() {
    let place = Place::new();
    let upstream = Server::handler(|received| {
        let basic = received.header("authorization").unwrap();
        Reply::new(401, format!("no: {} {basic}", received.target))
            .header("location", &received.target)
    });
    let url = format!("http://me:{KEY}@{}/v1?api-key={KEY}", upstream.address());
    let recorded = record(&place, "", &url, &["sh", "-c", ASK]);
    assert_eq!(upstream.received().len(), 2, "{}", recorded.err);
    assert!(recorded.out.contains(KEY), "the program gets what was said: {}", recorded.out);
    let basic = data_encoding::BASE64.encode(format!("me:{KEY}").as_bytes());
    assert!(recorded.out.contains(&basic), "{}", recorded.out);
    let log = place.ok("log latest") + &place.ok("export latest");
    for secret in [KEY, &basic, &basic[8..]] {
        assert!(!log.contains(secret), "{log}");
    }
    let said = Said { out: String::new(), ..recorded };
    assert_no_key(&place, &said);
}

/// Jobs that are polled, uploads in parts, pages of a list.
#[test]
fn other_headers_with_urls_lead_through_retold() {
    let place = Place::new();
    let upstream = Server::handler(|received| {
        let host = received.header("host").unwrap();
        if received.method == "GET" {
            return Reply::new(200, format!("polled {}", received.target));
        }
        Reply::new(202, "{}")
            .header("operation-location", &format!("http://{host}/v1/jobs/1?api_key={KEY}&v=1"))
            .header("azure-asyncoperation", &format!("http://{host}/v1/jobs/2"))
            .header("content-location", "jobs/3")
            .header("x-goog-upload-url", &format!("http://{host}/upload/4"))
            .header("x-goog-upload-status", "active")
            .header("link", "</v1/jobs?page=5>; rel=\"next\", <https://example.org/6>; rel=license")
            .header("x-account", "of nobody")
    });
    let ask = r#"curl -sS --max-time 20 -D head -X POST $OPENAI_BASE_URL/jobs -d '{}'
        tr -d '\r' < head | sed "s#$RETOLD_URL#HERE#g" | grep -iE '^(op|az|content-l[^e]|x-goog|link)' | sed 's/api_key=[^&]*&//'
        for name in operation-location azure-asyncoperation content-location x-goog-upload-url; do
            curl -sS --max-time 20 "$(tr -d '\r' < head | sed -n "s/^$name: //Ip")"; echo
        done | sed 's/api_key=[^&]*&//'"#;
    let program = ["sh", "-c", ask];
    let recorded = record_with(&place, "", &upstream.base_url(), &program, &[]);
    for line in [
        "operation-location: HERE/openai/jobs/1?v=1",
        "azure-asyncoperation: HERE/openai/jobs/2",
        "content-location: HERE/openai/jobs/3",
        "x-goog-upload-url: HERE/openai/_origin/upload/4",
        "x-goog-upload-status: active",
        "polled /v1/jobs/1?v=1",
        "polled /v1/jobs/2",
        "polled /v1/jobs/3",
        "polled /upload/4",
    ] {
        assert!(recorded.out.contains(line), "{line}: {}{}", recorded.out, recorded.err);
    }
    let link =
        "link: <HERE/openai/jobs?page=5>; rel=\"next\", <https://example.org/6>; rel=license";
    assert!(recorded.out.contains(link), "{}", recorded.out);
    assert!(!recorded.err.contains("led the program"), "a licence is not asked: {}", recorded.err);
    drop(upstream);
    assert_no_key(&place, &recorded);
    let replayed = replay(&place, "latest", &program);
    let here = recorded.out.replace("<https://example.org/6>", "<HERE/_elsewhere/example.org/6>");
    assert_eq!((replayed.code, &replayed.out), (0, &here), "{}", replayed.err);
}

/// A host that is opened is asked under its name again.
#[test]
fn a_redirect_at_an_opened_host_keeps_the_host() {
    let place = Place::new();
    let upstream = moving(|host| format!("http://{host}/moved/chat/completions"));
    let (address, options) = (
        upstream.address(),
        format!("--intercept --host api.example.test=http://{}", upstream.address()),
    );
    let program = ["sh", "-c", &ASK.replace("$OPENAI_BASE_URL", "https://api.example.test")];
    let recorded = record(&place, &options, "http://127.0.0.1:1", &program);
    assert!(recorded.out.contains("answer 2 after a move"), "{}{}", recorded.out, recorded.err);
    assert_eq!(upstream.received().len(), 4, "{}", recorded.err);
    drop(upstream);
    replayed_next_to(address, &place, &program, &recorded);
}
