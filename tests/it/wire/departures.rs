//! Clients that hang up: that is recorded, and a replay plays it.

use std::time::Duration;

use serde_json::json;

use super::python::python;
use super::{program, record, replay};
use crate::support::cli::{Place, Said};
use crate::support::server::{Reply, Server};

/// Longer than the clients wait.
const TOO_LONG: Duration = Duration::from_millis(1500);

/// A server that answers with 1, 2, 3 .., and each odd one too late.
fn slow_at_odd_requests() -> Server {
    let mut count = 0;
    Server::handler(move |_| {
        count += 1;
        let reply = Reply::chat(&count.to_string());
        if count % 2 == 1 { reply.slow_start(TOO_LONG) } else { reply }
    })
}

/// A program that asks this often, with a timeout of 0.5 s.
fn impatient(times: &'static str, how: &'static str) -> Vec<String> {
    let script = program("impatient.py").to_str().unwrap().to_owned();
    [&python(), &script, times, "0.5", how].map(String::from).into()
}

fn words(command: &[String]) -> Vec<&str> {
    command.iter().map(String::as_str).collect()
}

fn departures(place: &Place) -> usize {
    place.ok("log latest").matches("  client left ").count()
}

#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn clients_that_hung_up_do_so_again() {
    let (place, upstream, command) = (Place::new(), slow_at_odd_requests(), impatient("6", "-"));
    let recorded = record(&place, "", &upstream.base_url(), &words(&command));
    let expected = "no answer in time\n2\nno answer in time\n4\nno answer in time\n6\n";
    assert_eq!((recorded.code, &*recorded.out), (0, expected), "{}", recorded.err);
    let said = "3 clients left before having their whole answers; 3 answers were received nevertheless, with 21 tokens";
    assert!(recorded.err.contains(said), "{}", recorded.err);
    drop(upstream);
    assert_eq!(departures(&place), 3, "{}", place.ok("log latest"));
    let audit = place.ok("audit latest 2");
    assert!(audit.contains("the client left"), "{audit}");
    assert!(audit.contains("before the beginning of the answer"), "{audit}");
    for _ in 0..2 {
        let replayed = replay(&place, "latest", &words(&command));
        assert_eq!((replayed.code, &*replayed.out), (0, expected), "{}", replayed.err);
    }
    place.ok("verify");
}

#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn a_client_that_left_a_stream_gets_as_much_of_it_again() {
    let event = |text: &str| {
        let delta = json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
            "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}]});
        format!("data: {delta}\n\n")
    };
    let (begun, rest) = (event("one") + &event("two"), event("three") + "data: [DONE]\n\n");
    let (place, command) = (Place::new(), impatient("1", "stream"));
    let reply = Reply::new(200, begun.clone() + &rest).header("content-type", "text/event-stream");
    let upstream = Server::script([reply.chunks(vec![begun.len()], TOO_LONG)]);
    let recorded = record(&place, "", &upstream.base_url(), &words(&command));
    assert_eq!(
        (recorded.code, &*recorded.out),
        (0, "one two no more in time\n"),
        "{}",
        recorded.err
    );
    drop(upstream);
    assert_eq!(departures(&place), 1);
    assert!(place.ok("audit latest 2").contains("three"), "the whole answer is kept");
    let replayed = replay(&place, "latest", &words(&command));
    assert_eq!((replayed.code, replayed.out), (0, recorded.out), "{}", replayed.err);
}

/// A client that has become patient gets the answer, later than the one that had left.
#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn a_client_that_stays_gets_the_answer() {
    let (place, upstream, command) = (Place::new(), slow_at_odd_requests(), impatient("2", "-"));
    record(&place, "", &upstream.base_url(), &words(&command));
    drop(upstream);
    let mut patient = command.clone();
    "60".clone_into(&mut patient[3]);
    let replayed = replay(&place, "latest", &words(&patient));
    assert_eq!((replayed.code, &*replayed.out), (0, "1\n2\n"), "{}", replayed.err);
    let replayed = replay(&place, "latest --skip-errors", &words(&command));
    assert_eq!((replayed.code, &*replayed.out), (0, "1\n2\n"), "{}", replayed.err);
}

#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn a_run_that_goes_on_has_the_whole_answers() {
    let (place, upstream, command) = (Place::new(), slow_at_odd_requests(), impatient("2", "fail"));
    let recorded = record(&place, "", &upstream.base_url(), &words(&command));
    assert_eq!((recorded.code, &*recorded.out), (1, "no answer in time\n2\n"), "{}", recorded.err);
    for how in ["--resume latest", ""] {
        let said = match how {
            "" => super::with(&place, "fork latest", &upstream.base_url(), &words(&command), &[]),
            how => record(&place, how, &upstream.base_url(), &words(&command)),
        };
        assert_eq!((said.code, &*said.out), (0, "1\n2\n"), "{}", said.err);
    }
    assert_eq!(upstream.received().len(), 2);
}

/// All its clients leave, and a replay does not wait for that.
#[test]
fn a_program_that_dies_is_not_a_client_that_left() {
    let (place, upstream) =
        (Place::new(), Server::script([Reply::chat("late").slow_start(TOO_LONG)]));
    let command = r#"curl -s --max-time 60 -d '{"model":"m","messages":[]}' $OPENAI_BASE_URL/chat/completions"#;
    let dies: Said = record(
        &place,
        "",
        &upstream.base_url(),
        &["timeout", "-s", "KILL", "0.5", "sh", "-c", command],
    );
    assert_ne!(dies.code, 0);
    assert_eq!(departures(&place), 0, "{}", place.ok("log latest"));
    let replayed = replay(&place, "latest", &["sh", "-c", command]);
    assert!(replayed.out.contains("late"), "{}{}", replayed.out, replayed.err);
}
