//! What a replay does without: a network and keys.

use super::upstream::{Failing, server};
use super::{record, retold};
use crate::support::cli::{Place, Said};

/// What goes past retold has nowhere to go.
#[test]
fn a_sealed_replay_has_no_network() {
    let (place, upstream) = (Place::new(), server(Failing { one_in: 0 }));
    let past = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let ask = format!(
        "curl -s -d '{{\"model\":\"m\",\"messages\":[{{\"role\":\"user\",\"content\":\"hi\"}}]}}' \
         $OPENAI_BASE_URL/chat/completions; echo; [ \"$1\" = --sealed ] && \
         bash -c 'echo > /dev/tcp/127.0.0.1/{}' 2> /dev/null && echo reached || echo alone",
        past.local_addr().unwrap().port()
    );
    let command = ["sh", "-c", &ask, "sh", "--sealed"];
    let recorded = record(&place, "", &upstream.base_url(), &command);
    assert!(recorded.out.ends_with("\nreached\n"), "{}{}", recorded.out, recorded.err);
    drop(upstream);
    let replayed = Said::ended(&mut retold(&place, "replay latest --sealed", &command));
    assert_eq!(replayed.out, recorded.out.replace("reached", "alone"), "{}", replayed.err);
    assert_eq!(replayed.code, 0, "{}", replayed.err);
    let said = place.run("replay latest --sealed");
    assert_eq!(said.code, 2);
    let mut without = retold(&place, "replay latest --sealed", &command);
    let said = Said::ended(without.env("PATH", place.root()));
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("--sealed needs a network namespace of its own: "), "{}", said.err);
}

/// SDKs that want a key before they start get one that is none.
#[test]
fn a_replay_needs_no_key() {
    let (place, upstream) = (Place::new(), server(Failing { one_in: 0 }));
    let show = "echo \"$OPENAI_API_KEY $MISTRAL_API_KEY $CO_API_KEY $AWS_SECRET_ACCESS_KEY\"";
    let recorded = record(&place, "", &upstream.base_url(), &["sh", "-c", show]);
    assert!(recorded.out.ends_with("   \n"), "{}", recorded.out);
    let mut command = retold(&place, "replay latest", &["sh", "-c", show]);
    let replayed = Said::ended(command.env("CO_API_KEY", "mine"));
    let none = "retold-replay-needs-no-key";
    assert_eq!(replayed.out, format!("{none} {none} mine {none}\n"), "{}", replayed.err);
    let replayed = Said::ended(&mut retold(&place, "replay latest", &["sh", "-c", show]));
    assert_eq!(replayed.out, format!("{none} {none} {none} {none}\n"));
}
