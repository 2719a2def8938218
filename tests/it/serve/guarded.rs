//! Who is answered, and with which headers.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use super::Served;
use crate::support::cli::{Place, assert_said};
use crate::support::users::other_user;

#[test]
fn every_answer_has_the_headers_that_shut_it_off() {
    let place = Place::with_run();
    let served = Served::log(&place, "retold.db");
    let pages = [
        ("/", 200),
        ("/run/latest", 200),
        ("/run/latest/exchange/2", 200),
        ("/nothing", 404),
        ("/assets/retold.css", 200),
        ("/assets/retold.js", 200),
        ("/run/latest/exchange/2/answer", 200),
        ("/favicon.ico", 303),
    ];
    for (path, status) in pages {
        let answer = served.get(path);
        // What came out of runs may still be computed.
        let is_pending = path == "/" && answer.status == 202;
        assert!(answer.status == status || is_pending, "{path} {}", answer.body);
        for header in [
            "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
             connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "x-frame-options: deny",
            "cross-origin-opener-policy: same-origin",
            "cross-origin-resource-policy: same-origin",
        ] {
            assert!(answer.head.contains(header), "{path} lacks {header}:\n{}", answer.head);
        }
    }
}

#[test]
fn only_reading_is_answered() {
    let place = Place::with_run();
    let served = Served::log(&place, "retold.db");
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW"] {
        let answer = served.ask(method, "/", "Content-Length: 0\r\n");
        assert_eq!(answer.status, 405, "{method}");
        assert!(answer.head.contains("allow: get, head"), "{}", answer.head);
    }
    let get = served.html("/");
    let head = served.ask("HEAD", "/", "");
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    assert!(!get.is_empty());
}

#[test]
fn whoever_does_not_know_the_token_gets_nothing() {
    let place = Place::with_run();
    let served = Served::log(&place, "retold.db");
    let Served { host, token, .. } = &served;
    let ask = |path: &str, header: &str| {
        let head = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n");
        served.stranger(&format!("{head}{header}\r\n"))
    };
    let port = host.split(':').nth(1).unwrap();
    let wrong: String = token.chars().rev().collect();
    for (path, header) in [
        ("/", String::new()),
        ("/run/latest", "Accept: application/json\r\n".to_owned()),
        ("/run/latest/table.csv", format!("X-Retold-Token: {wrong}\r\n")),
        ("/assets/retold.js", format!("Cookie: retold-token-{port}={wrong}\r\n")),
        ("/run/latest/live", format!("Cookie: retold-token-1={token}\r\n")),
        (&format!("/run/latest?token={wrong}"), String::new()),
        ("/nothing", String::new()),
    ] {
        let answer = ask(path, &header);
        assert_eq!(answer.status, 403, "{path}");
        let said = "open the address that `retold serve` printed";
        assert!(
            answer.body.contains(said) && !answer.body.contains(token.as_str()),
            "{}",
            answer.body
        );
        assert!(!answer.head.contains("set-cookie"), "{}", answer.head);
    }
    // The address that was printed: the token leaves it at once, and the browser keeps it.
    let first = ask(&format!("/run/latest?kind=Asked&token={token}"), "");
    assert_eq!((first.status, first.body.as_str()), (303, ""));
    assert!(first.head.contains("location: /run/latest?kind=asked\r\n"), "{}", first.head);
    let cookie = format!("retold-token-{port}={token}");
    let kept = format!("set-cookie: {cookie}; path=/; httponly; samesite=strict");
    assert!(first.head.contains(&kept), "{}", first.head);
    // 202 while its figures are computed.
    let shown = ask("/run/latest", &format!("Cookie: {cookie}\r\n"));
    assert!([200, 202].contains(&shown.status), "{}", shown.status);
    // It is no way past the other checks.
    let foreign = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n";
    assert_eq!(ask("/", &format!("Cookie: {cookie}\r\n{foreign}")).status, 403);
}

#[test]
fn a_page_without_a_token_says_what_it_gives_away() {
    let place = Place::with_run();
    let mut command = place.command();
    command.args(["serve", "--listen", "0", "--no-token"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut address = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut address).unwrap();
    let mut said = String::new();
    BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut said).unwrap();
    let host = address.trim().strip_prefix("http://").unwrap().trim_end_matches('/').to_owned();
    let served = Served { child, host, token: String::new() };
    let plain = format!("GET / HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", served.host);
    assert_eq!(served.stranger(&plain).status, 200, "{address}");
    assert!(said.contains("every user and program of this machine can read all of it"), "{said}");
}

#[cfg_attr(not(other_users), ignore = "only root can act as another user")]
#[test]
fn another_user_reads_nothing() {
    let place = Place::with_run();
    let served = Served::log(&place, "retold.db");
    let page = format!("http://{}/run/latest", served.host);
    let got = other_user(&["curl", "-sS", "-w", "%{http_code}", &page]);
    assert!(got.ends_with("\n403") && got.contains("wants its token"), "{got}");
    // Nor do they find the token where processes are listed.
    let listed = other_user(&["sh", "-c", "cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>&1"]);
    assert!(!listed.contains(&served.token));
}

#[test]
fn another_name_or_site_is_refused() {
    let place = Place::with_run();
    let served = Served::log(&place, "retold.db");
    let port = served.host.split(':').nth(1).unwrap().to_owned();
    let asked = |headers: &str| {
        served.raw(&format!("GET / HTTP/1.1\r\nConnection: close\r\n{headers}\r\n")).status
    };
    let at = |host: &str| asked(&format!("Host: {host}\r\n"));
    assert_eq!([at(&format!("localhost:{port}")), at(&format!("[::1]:{port}"))], [200, 200]);
    // DNS rebinding: the name of another site now leads to loopback.
    for host in [
        &format!("evil.example:{port}"),
        "evil.example",
        "localhost",
        "127.0.0.1:1",
        "127.0.0.2:80",
    ] {
        assert_eq!(at(host), 403, "{host}");
    }
    assert_eq!(asked(""), 400);
    let host = &served.host;
    let with = |header: &str| asked(&format!("Host: {host}\r\n{header}\r\n"));
    assert_eq!(with(&format!("Origin: http://{host}")), 200);
    assert_eq!(with("Origin: http://evil.example"), 403);
    assert_eq!(with("Origin: null"), 403);
    assert_eq!(with("Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors"), 403);
    assert_eq!(with("Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate"), 200);
    // A proxy's form of the address does not change what is compared.
    let absolute =
        "GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    assert_eq!(served.raw(absolute).status, 403);
}

#[test]
fn what_can_go_wrong_at_the_beginning_is_said() {
    let place = Place::with_run();
    let served = Served::log(&place, "retold.db");
    let busy = format!("serve --listen {}", served.host);
    std::fs::create_dir_all(place.path("empty")).unwrap();
    std::fs::create_dir_all(place.path("full")).unwrap();
    std::fs::copy(place.path("retold.db"), place.path("full/retold.db")).unwrap();
    let mut said = place.session(&[
        "serve --listen 0.0.0.0:7878",
        "serve --listen here",
        "serve --port",
        "serve empty",
        "serve ./full",
        "show latest solve/0 --canonical",
        "serve --host lab.example",
        "serve nothing",
        "serve ./nothing.jsonl",
        "serve small.yaml",
        "--log none.db serve",
        "--log small.yaml serve",
    ]);
    let port = served.host.split_once(':').unwrap().1;
    for busy in [busy, format!("serve --port {port}")] {
        let taken = place.run(&busy);
        assert_eq!(taken.code, 3, "{}", taken.err);
        let due = format!("cannot listen at {}: another program listens there\n", served.host);
        assert!(taken.err.contains(&due) && taken.err.contains("port 0"), "{}", taken.err);
    }
    said = said.replace(&served.host, "[address]");
    assert_said!("serve_trouble", said);
}
