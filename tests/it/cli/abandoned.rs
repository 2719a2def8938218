//! Runs that are abandoned.

use crate::support::cli::{Place, assert_said};
use crate::support::server::{Reply, Server};

/// A folder with a run that was stopped after two answers.
fn stopped() -> (Place, Server) {
    let place = Place::new();
    let server = Server::handler(|_| Reply::chat("Answer: (1 - 1) + 4 * 6 = 24"));
    let args = format!("run small.yaml --quiet --max-tokens 14 --base-url {}", server.base_url());
    assert_eq!(place.run(&args).code, 4);
    (place, server)
}

#[test]
fn an_abandoned_run_says_so_everywhere() {
    let (place, server) = stopped();
    let resume = format!("run --resume latest --max-tokens 1000 --base-url {}", server.base_url());
    let commands = [
        "run --abandon latest",
        "run --abandon latest",
        "log",
        "show latest",
        "replay latest",
        &resume,
        "verify",
        "export latest run.jsonl",
        "--log other.db import run.jsonl",
        "--log other.db log",
        "--log other.db replay latest",
        "replay run.jsonl",
    ];
    assert_said!("abandoned", place.session(&commands));
    assert_eq!(server.received().len(), 2, "nobody was asked");
    let view = rusqlite::Connection::open(place.path("retold.db")).unwrap();
    let outcome = "SELECT outcome FROM runs";
    let outcome: String = view.query_row(outcome, [], |row| row.get(0)).unwrap();
    assert_eq!(outcome, "abandoned", "the view says so, too");
    drop(view);
    let (replayed, code) = place.json("replay latest");
    assert_eq!((code, &replayed["outcome"]), (0, &"abandoned".into()), "{replayed}");
    let (shown, _) = place.json("show latest");
    assert_eq!(shown["outcome"], "abandoned");
    let (listed, _) = place.json("log");
    assert_eq!(listed["runs"][0]["outcome"], "abandoned");
    // A second run of the same study starts from the beginning; the answers of the first can still
    // be shared.
    let again = format!("run small.yaml --resume --base-url {}", server.base_url());
    assert_eq!(place.run(&again).code, 2);
    let fork =
        format!("fork latest --set samples=2 --max-tokens 1000 --base-url {}", server.base_url());
    let (forked, code) = place.json(&fork);
    assert_eq!((code, &forked["model_calls"]), (0, &2.into()), "{forked}");
}

#[test]
fn a_finished_run_cannot_be_abandoned() {
    let place = Place::with_run();
    let said = place.run("run --abandon latest");
    assert_eq!(said.code, 2);
    assert_said!("abandoned_finished", said.err);
    assert_eq!(place.json("show latest").0["outcome"], "finished");
}
