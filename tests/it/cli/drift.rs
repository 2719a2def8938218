//! `check --ask-again`: recorded prompts that are asked again, and what is said about the model.

use serde_json::{Value, json};

use crate::support::cli::{Place, SMALL, assert_said};
use crate::support::server::{Reply, Server};

/// A model that finds an answer to so many of ten prompts, whichever they are.
fn model(of_ten: u32) -> Server {
    let mut asked = 0;
    Server::handler(move |_| {
        asked += 1;
        match asked * 7 % 10 < of_ten {
            true => Reply::chat("<answer>1 + 2 + 3 + 4 = 10</answer>"),
            false => Reply::chat("I give up."),
        }
    })
}

/// A run of fifty puzzles, answered by a model.
fn recorded(server: &Server) -> Place {
    let place = Place::new();
    let config = SMALL.replace("rows: 0..2", "rows: 0..50").replace("samples: 3", "samples: 1");
    place.write("fifty.yaml", config);
    place.ok(&format!("run fifty.yaml -q --model openai --base-url {}", server.base_url()));
    place
}

/// The run whose prompts are asked again.
fn first(place: &Place) -> String {
    let (log, _) = place.json("log");
    log["runs"][0]["run"].as_str().unwrap().to_owned()
}

fn check(place: &Place, server: &Server, args: &str) -> (Value, i32) {
    let run = first(place);
    place.json(&format!("check {run} --ask-again --base-url {} {args}", server.base_url()))
}

#[test]
fn a_model_that_stays_is_told_from_one_that_changed() {
    let then = model(5);
    let place = recorded(&then);
    let (same, code) = check(&place, &then, "--draw-seed 1");
    assert_eq!((code, &same["has_changed"]), (0, &json!(false)), "{same}");
    let decision = &same["decisions"][0];
    assert_eq!((&decision["answers"], &decision["new"]), (&json!(40), &json!(200)), "{same}");
    let now = model(1);
    let (changed, code) = check(&place, &now, "--draw-seed 2 --sample 30 --times 3");
    assert_eq!((code, &changed["has_changed"]), (1, &json!(true)), "{changed}");
    assert_eq!(now.received().len(), 90, "each prompt is asked three times");
    let looks = changed["looks"].as_array().unwrap();
    assert_eq!(looks.len(), 2, "{changed}");
    // A look is a run like any other, and can be shown again.
    let run = changed["run"].as_str().unwrap();
    let (shown, code) = place.json("check latest --ask-again");
    assert_eq!((code, &shown["decisions"]), (1, &changed["decisions"]), "{shown}");
    place.ok("verify");
    place.ok(&format!("replay {run}"));
    assert_eq!(now.received().len(), 90);
    // The draw follows from its seed, whenever it is made.
    let drawn = |run: &str| {
        let (shown, _) = place.json(&format!("show {run} 1"));
        let settings: Value = serde_json::from_str(shown["content"].as_str().unwrap()).unwrap();
        settings["experiment"]["answers"].clone()
    };
    let (again, _) = check(&place, &now, "--draw-seed 2 --sample 30 --times 1");
    let again = again["run"].as_str().unwrap();
    assert_eq!(drawn(run), drawn(again));
    assert_eq!(drawn(run).as_array().map(Vec::len), Some(30));
}

#[test]
fn a_look_says_what_it_can_find_and_what_it_found() {
    let (then, now) = (model(5), model(2));
    let place = recorded(&then);
    let at = |server: &Server| format!("--base-url {}", server.base_url());
    let mut said = String::new();
    for server in [&then, &now] {
        let args = format!("check {} --ask-again --draw-seed 3 -q {}", first(&place), at(server));
        let text = place.session(&[&args]);
        said.push_str(&text.replace(&server.base_url(), "URL"));
    }
    let days = regex::Regex::new(r"20\d\d-\d\d-\d\dT[0-9:.]+Z").unwrap();
    let runs = regex::Regex::new("run [0-9a-f]{8}").unwrap();
    let said = days.replace_all(&said, "[time]");
    assert_said!("drift", runs.replace_all(&said, "run [run]"));
}

#[test]
fn what_cannot_be_asked_again_is_said() {
    let place = Place::with_run();
    place.write("none.jsonl", "");
    assert_said!(
        "drift_refused",
        place.session(&[
            "check latest --ask-again",
            "check latest --ask-again --sample 0",
            "check latest --sample 3",
            "check latest --base-url http://127.0.0.1:9/v1",
            "check latest latest --ask-again --model openai",
            "check --text none.jsonl --ask-again",
            "check latest --ask-again --accept --parser game24@1",
        ])
    );
}

#[test]
fn a_look_that_was_cut_off_is_continued() {
    let then = model(5);
    let place = recorded(&then);
    let at = format!("--base-url {}", then.base_url());
    let said = place.run(&format!("check latest --ask-again {at} --max-tokens 100"));
    assert_eq!(said.code, 4, "{}{}", said.out, said.err);
    assert!(said.out.contains("run --resume"), "{}", said.out);
    let open = place.run("check latest --ask-again");
    assert_eq!(open.code, 2, "{}{}", open.out, open.err);
    assert!(open.err.contains("has not asked everything yet"), "{}", open.err);
    let asked = then.received().len();
    place.ok(&format!("run --resume latest -q {at} --max-tokens 1000000"));
    assert_eq!(then.received().len(), 50 + 200, "after {asked}: nothing is asked twice");
    let shown = place.ok("check latest --ask-again");
    assert!(shown.contains("40 recorded answers and 200 new ones"), "{shown}");
}
