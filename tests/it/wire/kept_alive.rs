//! Servers that send blanks until their answer is there, so that clients do not give up.

use std::time::Duration;

use super::{record, replay};
use crate::support::cli::Place;
use crate::support::server::{Reply, Server};

/// The client gives up if nothing comes for a second.
#[test]
fn blanks_before_an_answer_keep_its_client_waiting() {
    let place = Place::new();
    let answer = Reply::chat("at last").text();
    let upstream = Server::handler(move |_| {
        let body = format!("\n \n\n\n{}", r#"{"choices":[{"message":{"content":"at last"}}]}"#);
        Reply::new(200, body).chunks(vec![1, 2, 3, 4, 5], Duration::from_millis(600))
    });
    let ask = "curl -sS --max-time 20 --speed-limit 1 --speed-time 2 -d '{\"model\":\"m\",\"messages\":[]}' $OPENAI_BASE_URL/chat/completions";
    let program = ["sh", "-c", ask];
    let recorded = record(&place, "", &upstream.base_url(), &program);
    assert_eq!(recorded.code, 0, "{}", recorded.err);
    assert!(recorded.out.contains(&answer), "{}", recorded.out);
    drop(upstream);
    let again = replay(&place, "latest", &program);
    assert_eq!((again.code, again.out), (0, recorded.out), "{}", again.err);
    assert!(place.ok("export latest").contains("at last"));
}

/// What was let through was blank, and the rest is an error: the connection is broken off.
#[test]
fn an_answer_that_breaks_off_after_blanks_is_broken_off() {
    let place = Place::new();
    let upstream =
        Server::handler(|_| Reply::new(200, "\n\n\n{\"choices\"").cut_chunks(vec![1, 2, 3, 13]));
    let ask = "curl -sS --max-time 20 -d '{\"model\":\"m\",\"messages\":[]}' $OPENAI_BASE_URL/chat/completions || echo broken";
    let program = ["sh", "-c", ask];
    let recorded = record(&place, "", &upstream.base_url(), &program);
    assert!(recorded.out.contains("broken") || recorded.out.contains("error"), "{}", recorded.out);
    drop(upstream);
    let again = replay(&place, "latest", &program);
    assert_eq!(again.code, recorded.code, "{}", again.err);
    assert_eq!(again.out.contains("broken"), recorded.out.contains("broken"), "{}", again.out);
}
