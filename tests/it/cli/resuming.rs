//! `run --resume` and `record --resume`: each continues its kind of run, and names the command for the
//! other kind.

use crate::support::cli::{Place, assert_said};
use crate::support::server::{Reply, Server};

fn server() -> Server {
    Server::handler(|_| Reply::chat("Answer: (1 - 1) + 4 * 6 = 24"))
}

/// Stops a run after two answers; returns its id.
fn stopped(place: &Place, server: &Server) -> String {
    let args = format!("run small.yaml --quiet --max-tokens 14 --base-url {}", server.base_url());
    assert_eq!(place.run(&args).code, 4);
    place.json("show latest").0["run"].as_str().unwrap().to_owned()
}

#[test]
fn each_command_continues_its_kind_of_run() {
    let (place, server) = (Place::new(), server());
    let mut shown = place.session(&["run --resume"]);
    let study = stopped(&place, &server);
    shown.push_str(&place.session(&[
        "record --resume latest",
        "record --resume latest -- true",
        "run latest --resume --set samples=9",
        "run small.yaml --outputs",
        "run",
    ]));
    let exit = |code: &str, resume: &[&str]| {
        let script = format!("exit {code}");
        place.with_path(&[&["record"], resume, &["--", "sh", "-c", &script]].concat())
    };
    assert_eq!(exit("3", &[]).code, 3);
    shown.push_str(&place.session(&[
        "run --resume",
        "run --resume latest",
        "record --resume latest",
        "record --resume latest --name study -- true",
        "record --retry-failed -- true",
        "record",
    ]));
    assert_said!("resuming", shown);
    // A run may be named before the flag as well.
    let (resumed, code) = place
        .json(&format!("run {study} --resume --max-tokens 1000 --base-url {}", server.base_url()));
    assert_eq!((code, &resumed["run"]), (0, &study.as_str().into()), "{resumed}");
    let continued = exit("0", &["--resume", "latest"]);
    assert_eq!(continued.code, 0, "{}", continued.err);
    let said = place.run("run --resume");
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.starts_with("error: no run in retold.db is unfinished\n"), "{}", said.err);
}

#[test]
fn without_a_run_the_last_unfinished_one_is_continued() {
    let (place, server) = (Place::new(), server());
    let (first, url) = (stopped(&place, &server), server.base_url());
    place.ok(&format!("run small.yaml --quiet --new --base-url {url}"));
    let (resumed, code) = place.json(&format!("run --resume --max-tokens 1000 --base-url {url}"));
    assert_eq!((code, &resumed["run"]), (0, &first.as_str().into()), "{resumed}");
    assert_eq!(server.received().len(), 2 + 6 + 4, "two answers were there");
    // What is a file is a config, wherever the flag is.
    let again = place.run(&format!("run --resume small.yaml --max-tokens 1000 --base-url {url}"));
    assert_eq!(again.code, 0, "{}", again.err);
    assert_eq!(server.received().len(), 12, "it has finished");
}
