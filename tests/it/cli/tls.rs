//! A real TLS handshake with a server that is trusted, and with one that is not.

use crate::support::cli::{Place, Said, assert_said};
use crate::support::server::{Reply, Server};
use crate::support::tls::{Front, pem};

const KEY: &str = "sk-live-0123456789abcdefSECRET";

/// Asks a server six questions over HTTPS, with one authority to trust.
fn ask(place: &Place, front: &Front, authority: &str) -> Said {
    let args = format!("run small.yaml -vvv --base-url {}", front.base_url());
    let mut command = place.command();
    command.args(args.split_whitespace()).env("OPENAI_API_KEY", KEY);
    Said::ended(command.env("SSL_CERT_FILE", pem(authority)))
}

fn answering() -> Server {
    Server::handler(|_| Reply::chat("Answer: (1 - 1) + 4 * 6 = 24"))
}

fn assert_no_key(place: &Place, said: &Said) {
    for text in [&said.out, &said.err, &place.ok("export latest"), &place.ok("log latest")] {
        assert!(!text.contains(&KEY[8..]), "{text}");
    }
}

#[test]
fn a_server_that_is_trusted_is_asked() {
    let (place, server) = (Place::new(), answering());
    let front = Front::new(&server);
    let said = ask(&place, &front, "ca.pem");
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let received = server.received();
    assert_eq!(received.len(), 6);
    let bearer = format!("Bearer {KEY}");
    assert!(received.iter().all(|r| r.header("authorization") == Some(&bearer)));
    assert_eq!(front.connections(), 2, "one for the list of models, and one for all calls");
    assert_no_key(&place, &said);
    place.ok("replay latest");
}

/// No later call can do better, so the run stops; no key was sent.
#[test]
fn a_server_that_is_not_trusted_is_asked_once() {
    let (place, server) = (Place::new(), answering());
    let front = Front::new(&server);
    let said = ask(&place, &front, "other_ca.pem");
    assert_eq!(said.code, 4, "{}{}", said.out, said.err);
    // Its list of models is not there either.
    assert_eq!((front.connections(), server.received().len()), (2, 0));
    assert_no_key(&place, &said);
    let error = said.err.find("error: ").unwrap();
    assert_said!("tls_untrusted", format!("{}[exit {}]\n", &said.err[error..], said.code));
    // Once the certificate is trusted, the run continues.
    let mut resume = place.command();
    resume.args(["run", "--resume", "latest", "--base-url", &front.base_url()]);
    resume.env("OPENAI_API_KEY", KEY);
    let resumed = Said::ended(resume.env("SSL_CERT_FILE", pem("ca.pem")));
    assert_eq!(resumed.code, 0, "{}", resumed.err);
    assert_eq!(server.received().len(), 6);
}
