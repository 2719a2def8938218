//! The plainest client.

use super::upstream::{Failing, server};
use super::{KEY, assert_no_key, program, record, replay};
use crate::support::cli::Place;

#[test]
fn a_shell_script_gets_the_same_bytes_again() {
    let (place, script) = (Place::new(), program("curl.sh"));
    let script = ["sh", script.to_str().unwrap()];
    let upstream = server(Failing { one_in: 4 });
    let recorded = record(&place, "--name script", &upstream.base_url(), &script);
    // The script ends with 7, and so does the command.
    assert_eq!(recorded.code, 7, "{}{}", recorded.out, recorded.err);
    assert!(recorded.out.contains("Answer 3 to"), "{}", recorded.out);
    assert!(recorded.out.contains("\n429 application/json"), "{}", recorded.out);
    assert!(
        recorded.out.contains("exit 18"),
        "a broken stream is broken for the client, too: {}",
        recorded.out
    );
    let received = upstream.received();
    assert!(
        received
            .iter()
            .all(|request| request.header("authorization") == Some(&format!("Bearer {KEY}")))
    );
    drop(upstream);
    assert_no_key(&place, &recorded);
    for run in ["latest", "script"] {
        let replayed = replay(&place, run, &script);
        assert_eq!(replayed.out, recorded.out, "{}", replayed.err);
        assert_eq!(replayed.code, 7);
    }
    assert!(!place.ok("export latest").contains("session=secret"));
    place.ok("verify");
    place.ok("export latest run.jsonl");
    let replayed = replay(&place, "run.jsonl", &script);
    assert_eq!(replayed.out, recorded.out, "{}", replayed.err);
}

/// A clock before 1970 has no date that a header could state, so there is none: making it ended the connection.
#[test]
fn what_retold_sends_has_no_date_of_its_own() {
    let place = Place::new();
    let ask = [
        "sh",
        "-c",
        "curl -si -d '{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}' $OPENAI_BASE_URL/chat/completions",
    ];
    let recorded = record(&place, "", &server(Failing { one_in: 0 }).base_url(), &ask);
    let replayed = replay(&place, "latest", &ask);
    for said in [recorded, replayed] {
        assert!(said.out.starts_with("HTTP/1.1 200"), "{}{}", said.out, said.err);
        assert!(!said.out.to_ascii_lowercase().contains("\ndate:"), "{}", said.out);
    }
}
