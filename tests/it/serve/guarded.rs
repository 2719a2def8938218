//! Who is answered, and with which headers.

use super::Served;
use crate::support::cli::{Place, assert_said};

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
        assert_eq!(answer.status, status, "{path} {}", answer.body);
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
    let (get, head) = (served.get("/"), served.ask("HEAD", "/", ""));
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    assert!(!get.body.is_empty());
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
