//! Programs with their host written into them, recorded through `CONNECT`.

use std::path::{Path, PathBuf};

use super::upstream::{Failing, server};
use super::{KEY, assert_no_key, program, record_with, replay, replay_with};
use crate::support::cli::Place;
use crate::support::tls::{Front, pem};

/// No requests go where the variables say.
const NOWHERE: &str = "http://127.0.0.1:1";

/// `--intercept`, with the hard-coded host at a server of the test.
fn options(front: &Front) -> String {
    format!("--intercept --host api.example.test={}", front.base_url().trim_end_matches("/v1"))
}

#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn a_hard_coded_host_is_recorded_and_replayed() {
    let (place, upstream) = (Place::new(), server(Failing { one_in: 0 }));
    let front = Front::new(&upstream);
    let (python, script) = (super::python::python(), program("hard_coded.py"));
    let study = [python.as_str(), script.to_str().unwrap()];
    let authority = pem("ca.pem");
    let set = [("SSL_CERT_FILE", authority.to_str().unwrap()), ("STUDY_KEY", KEY)];
    let recorded = record_with(&place, &options(&front), NOWHERE, &study, &set);
    assert_eq!(recorded.code, 0, "{}{}", recorded.out, recorded.err);
    assert!(recorded.err.contains("recorded 3 answers"), "{}", recorded.err);
    let asked = upstream.received();
    let bearer = format!("Bearer {KEY}");
    assert!(asked.iter().all(|request| request.header("authorization") == Some(&bearer)));
    drop((front, upstream));
    assert_no_key(&place, &recorded);
    // Nothing is known of the server, and no key: the run says that it was intercepted.
    let replayed = replay(&place, "latest", &study);
    assert_eq!((replayed.code, &replayed.out), (0, &recorded.out), "{}", replayed.err);
    assert!(!replayed.err.contains("never asked"), "{}", replayed.err);
    let shown = place.ok("show latest");
    assert!(shown.contains("intercepted: known providers, api.example.test"), "{shown}");
    place.ok("verify");
}

/// Other hosts are reached as they are while recording, and refused in a replay. A client that has
/// its own idea of whom to trust is named.
#[test]
fn only_named_hosts_are_opened() {
    let (place, upstream) = (Place::new(), server(Failing { one_in: 0 }));
    let front = Front::new(&upstream);
    let other = Front::at("127.0.0.2", &upstream);
    let authority = pem("ca.pem");
    let authority = authority.to_str().unwrap();
    let ask = format!(
        "curl -sS --max-time 20 -w ' %{{http_code}}\\n' https://api.example.test/v1/models/a | tr -d '\\377\\000'
curl -sS --max-time 20 -k -o /dev/null -w 'tunnel %{{http_code}}\\n' {}/models/b 2>&1
curl -sS --max-time 20 --cacert {authority} https://api.example.test/v1/models/c 2>&1 | head -c 8; echo
echo $SSL_CERT_FILE; grep -c BEGIN.CERT $SSL_CERT_FILE $NODE_EXTRA_CA_CERTS; grep -l PRIVATE $SSL_CERT_FILE
echo $NODE_USE_ENV_PROXY $NO_PROXY",
        other.base_url()
    );
    let program = ["sh", "-c", &ask];
    let set = [("SSL_CERT_FILE", authority), ("NO_PROXY", "api.example.test,intranet.example")];
    let recorded = record_with(&place, &options(&front), NOWHERE, &program, &set);
    let lines: Vec<&str> = recorded.out.lines().collect();
    assert!(lines[0].contains("GET /v1/models/a no. 1") && lines[0].ends_with(" 200"), "{lines:?}");
    assert_eq!((lines[1], lines[2]), ("tunnel 200", "curl: (6"), "{}", recorded.err);
    let file = PathBuf::from(lines[3]);
    assert!(!file.exists() && !file.parent().unwrap().exists(), "the folder is gone: {file:?}");
    let count = |line: &str| line.rsplit(':').next().unwrap().parse::<usize>().unwrap();
    assert_eq!((count(lines[4]), count(lines[5])), (2, 1), "{lines:?}");
    assert_eq!(
        &lines[6..],
        ["1 intranet.example,127.0.0.1,localhost"],
        "no key in the files: {lines:?}"
    );
    assert!(recorded.err.contains("did not trust retold's certificate"), "{}", recorded.err);
    assert!(recorded.err.contains("not recorded: 127.0.0.2"), "{}", recorded.err);
    let without = "NO_PROXY of the program is without api.example.test";
    assert!(recorded.err.contains(without), "{}", recorded.err);
    let hint = "--host NAME records the requests to one of these hosts";
    assert!(recorded.err.contains(hint), "although others were recorded: {}", recorded.err);
    assert!(recorded.err.contains("recorded 1 answer as run"), "{}", recorded.err);
    let before = (front.connections(), other.connections());
    // In a replay nobody is asked, although everybody is there.
    let replayed = super::with(&place, "replay latest", NOWHERE, &program, &set);
    let again: Vec<&str> = replayed.out.lines().collect();
    assert_eq!(again[0], lines[0], "{}", replayed.err);
    assert!(again.contains(&"tunnel 000"), "{again:?}");
    assert!(replayed.err.contains("not recorded, so refused: 127.0.0.2"), "{}", replayed.err);
    assert_eq!((front.connections(), other.connections()), before);
    let json = super::with(&place, "--json replay latest", NOWHERE, &program, &set);
    let line = json.err.lines().find(|line| line.starts_with('{')).unwrap();
    let said: serde_json::Value = serde_json::from_str(line).unwrap();
    let host = other.address().to_string();
    assert_eq!(said["connections"]["refused"][host], 1, "{said}");
    let log = place.ok("log latest");
    assert!(log.contains("http/") && !log.contains("models/b"), "{log}");
}

#[test]
fn hosts_that_cannot_be_opened_are_explained() {
    let place = Place::new();
    let said = |options: &str| {
        let said = record_with(&place, options, NOWHERE, &["true"], &[]);
        assert_eq!(said.code, 2, "{}", said.err);
        said.err
    };
    assert!(said("--intercept --host localhost").contains("is not the name of a host"));
    assert!(said("--intercept --host http://api.example").contains("nor the name of a host"));
    assert!(said("--intercept --host api.example=ftp://x").contains("http:// or https://"));
    assert!(said("--host api.example").contains("--intercept"));
    assert!(!Path::new(&place.path("retold.db")).exists(), "nothing was begun");
    let none = replay_with(&place, "latest", &["true"], &[]);
    assert_ne!(none.code, 0);
}
