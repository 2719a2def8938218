//! Figures of any run: `stats` and `report` with `--figure` and `--figures`, and what they suggest.

use retold::model::Response;
use serde_json::{Value, json};

use crate::support::cli::{Place, assert_said};
use crate::support::program_run::ProgramRun;

/// What came of a call.
enum Outcome {
    Decided(&'static str, Value),
    Fallback(Value),
    Failed,
}

/// Stores a program's run: the votes of participants in two conditions, and one in a condition with a strange name.
pub(crate) fn votes(place: &Place, id: u8, yes: [u32; 2]) {
    // What a program calls its participants is shown inert.
    votes_of(place, id, yes, &["\u{1b}[31m<b>red</b>"]);
}

/// The same with the votes of single participants in other conditions.
pub(super) fn votes_of(place: &Place, id: u8, yes: [u32; 2], others: &[&str]) {
    let mut run = ProgramRun::begin();
    let mut call = |condition: &str, participant: &str, outcome: Outcome| {
        let labels = [("condition", condition), ("participant", participant)];
        let messages = json!([{"role": "user", "content": "vote"}]);
        let asked = run.asks(&format!("vote/{participant}"), 0, &labels, &messages);
        let (method, value) = match outcome {
            Outcome::Decided(method, value) => (method, value),
            Outcome::Fallback(value) => ("default", value),
            Outcome::Failed => return run.failed(asked, 0, true),
        };
        let answer = run.answered(asked, Response::text("I vote"));
        run.decided(answer, "vote", method, value);
    };
    for (condition, yes) in ["acp", "ctl"].into_iter().zip(yes) {
        for n in 0..10 {
            let vote = if n < yes { "yes" } else { "no" };
            let participant = format!("{condition}_{n}");
            call(condition, &participant, Outcome::Decided("reported", json!(vote)));
        }
    }
    call("acp", "acp_10", Outcome::Failed);
    call("acp", "acp_11", Outcome::Fallback(json!("no")));
    call("ctl", "ctl_10", Outcome::Decided("reported", json!(null)));
    for condition in others {
        call(condition, "r_0", Outcome::Decided("reported", json!("yes")));
    }
    run.store(place, id);
}

const BY_CONDITION: &str = "share of vote = yes by condition";

#[test]
fn what_came_out_of_a_program_s_run_comes_first() {
    let place = Place::new();
    votes(&place, 0xa1, [8, 3]);
    let said = place.run("stats latest");
    assert_said!("run_figures_suggested", place.shown("stats latest", &said));
    let (stats, code) = place.json("stats latest");
    assert_eq!((code, stats["outcome"].as_str()), (0, Some("finished")));
    let acp = &stats["figures"][0]["groups"][1];
    assert_eq!(
        (&acp["group"], &acp["missing"], &acp["fallback"]),
        (&json!(["acp"]), &json!(1), &json!(1))
    );
    assert_eq!(acp["value"], 0.8);
    place.ok("report latest -o page.html");
    let page = place.read("page.html");
    let place_of = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}: {page}"));
    assert!(place_of("share of vote = yes by condition") < place_of("How decisions were found"));
    assert!(page.contains("\\u{1b}[31m&lt;b&gt;red") && !page.contains("<b>red"), "{page}");
}

#[test]
fn figures_are_named_on_the_command_line_and_in_a_file() {
    let place = Place::new();
    votes(&place, 0xa1, [8, 3]);
    votes(&place, 0xa2, [9, 3]);
    place.write(
        "figures.yaml",
        format!("clustered_by: participant\nfigures:\n  - {BY_CONDITION}\n"),
    );
    let named = place.args(&["stats", "a1a1", "--figure", BY_CONDITION, "--json"]);
    let named: Value = serde_json::from_str(&named.out).unwrap();
    let (of_file, _) = place.json("stats a1a1 --figures figures.yaml");
    assert_eq!(named["figures"][0]["groups"], of_file["figures"][0]["groups"]);
    let (both, code) = place.json("stats a1a1 a2a2 --figures figures.yaml");
    let figure = &both["figures"][0];
    assert_eq!((code, both["runs"].as_array().unwrap().len()), (0, 2));
    assert_eq!(figure["labels"], json!(["condition", "run"]));
    let pairing = |one: Value, other: Value| {
        let differences = figure["differences"].as_array().unwrap();
        let found = differences.iter().find(|it| it["one"] == one && it["other"] == other);
        found.unwrap_or_else(|| panic!("{one} {other}: {figure}"))["pairing"].clone()
    };
    let [first, second] = ["a1a1a1a1", "a2a2a2a2"];
    assert_eq!(pairing(json!(["acp", first]), json!(["acp", second])), "paired");
    assert_eq!(pairing(json!(["acp", first]), json!(["ctl", first])), "unpaired");
    let text = place.ok("stats a1a1 a2a2 --figures figures.yaml");
    assert!(text.starts_with(&format!("{BY_CONDITION} clustered by participant\n")), "{text}");
    place.ok("report a1a1 a2a2 --figures figures.yaml -o page.html");
    assert!(place.read("page.html").contains("paired over 10 participants in both"));
}

#[test]
fn a_figure_that_cannot_be_is_explained() {
    let place = Place::new();
    votes(&place, 0xa1, [8, 3]);
    place.write("typo.yaml", "figures:\n  - share of vote = yes\nclusters: participant\n");
    place.write("wrong.yaml", "figures:\n  - shares of vote\n");
    let mut said = String::new();
    for figure in ["share of votes = yes by condition", "share of vote = yes by conditon", "vote"] {
        let of = place.args(&["stats", "latest", "--figure", figure]);
        said.push_str(&place.shown(&format!("stats latest --figure '{figure}'"), &of));
    }
    said.push_str(&place.session(&[
        "stats latest --figures typo.yaml",
        "stats latest --figures wrong.yaml",
        "stats latest --figures none.yaml",
        "report latest --figures wrong.yaml -o page.html",
    ]));
    assert_said!("run_figures_wrong", said);
}

#[test]
fn a_study_has_the_figures_that_are_asked_for() {
    let place = Place::with_run();
    let plain = place.json("stats latest").0;
    assert_eq!(
        plain["figures"][0]["figure"], "share of solved = true",
        "what the study leads with"
    );
    let said = place.args(&["stats", "latest", "--figure", "share of game24 = x", "--json"]);
    let found: Value = serde_json::from_str(&said.out).unwrap();
    let all = &found["figures"][0]["groups"][0];
    let counts = ["draws", "missing", "fallback"].map(|name| all[name].as_u64().unwrap());
    assert_eq!(counts.iter().sum::<u64>(), 6, "{found}");
    assert_eq!(all["interval"], Value::Null, "nothing says which answers are independent");
}

#[test]
fn accepted_decisions_count_instead_of_recorded_ones() {
    let place = Place::new();
    place.ok("run small.yaml -q --set samples=20");
    let run = place.json("show latest").0["run"].as_str().unwrap().to_owned();
    let figure = |run: &str| {
        let said = place.args(&["stats", run, "--figure", "share of game24 = x", "--json"]);
        let found: Value = serde_json::from_str(&said.out).unwrap();
        found["figures"][0]["groups"][0].clone()
    };
    let before = figure(&run);
    place.run("check latest --parser game24@1 --accept");
    let accepted = place.json(&format!("stats {run}")).0["accepted"][0].clone();
    let methods = accepted["parsers"]["game24@1"]["methods"].as_array().unwrap();
    let last_resorts = methods.iter().filter(|method| method["is_last_resort"] == true);
    let last_resorts: u64 = last_resorts.map(|found| found["decisions"].as_u64().unwrap()).sum();
    let after = figure(&run);
    assert_eq!(after["fallback"], last_resorts, "{before} {after}");
    let all = |of: &Value| ["draws", "missing", "fallback"].map(|it| of[it].as_u64().unwrap());
    let (before, after) = (all(&before), all(&after));
    assert_eq!((before.iter().sum::<u64>(), after.iter().sum::<u64>()), (40, 40));
    assert_ne!(before, after);
}

/// The figure that a study leads with, computed another way: from its facts.
#[test]
fn figures_of_facts_are_those_of_the_study() {
    let place = Place::new();
    let recording = concat!(env!("RETOLD_ROOT"), "/recordings/deliberation_small.jsonl.zst");
    let leading = place.json(&format!("stats {recording}")).0["figures"][0].clone();
    let (mut changed_votes, mut votes) = (0.0, 0);
    for group in leading["groups"].as_array().unwrap() {
        let draws = group["draws"].as_u64().unwrap();
        changed_votes += group["value"].as_f64().unwrap_or(0.0) * draws as f64;
        votes += draws;
    }
    let changed =
        "changed(initial_vote_cast.choice, final_vote_cast.choice) clustered by participant_id";
    let said = place.args(&["stats", recording, "--figure", changed, "--json"]);
    let found: Value = serde_json::from_str(&said.out).unwrap();
    let all = &found["figures"][0]["groups"][0];
    assert_eq!(all["draws"], votes, "{}", said.err);
    let value = all["value"].as_f64().unwrap();
    assert!((value * votes as f64 - changed_votes).abs() < 1e-9, "{found}");
}
