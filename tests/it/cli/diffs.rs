//! `retold diff`.

use serde_json::{Value, json};

use crate::support::cli::{Place, assert_said};

/// A text without the ids of runs, and the short ones in tables.
fn without_ids(text: &str) -> String {
    let is_id =
        |word: &str| [8, 16].contains(&word.len()) && word.chars().all(|c| c.is_ascii_hexdigit());
    let word = |word: &str| {
        let bare = word.trim_end_matches([',', ':', ';', '\n']);
        if is_id(bare) { word.replace(bare, "[run]") } else { word.to_owned() }
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// The id of the last run.
fn latest(place: &Place) -> String {
    place.json("show latest").0["run"].as_str().unwrap().to_owned()
}

/// A difference of the first figure.
fn difference(diff: &Value, at: usize) -> f64 {
    diff["figures"][0]["differences"][at]["difference"].as_f64().unwrap()
}

/// The moderator of phase 7 gets another sentence.
fn other_moderator(place: &Place) {
    let root = env!("RETOLD_ROOT");
    let path = format!("{root}/config/prompts/deliberation/adversarial_moderator.txt");
    let text = std::fs::read_to_string(path).unwrap();
    std::fs::create_dir(place.path("own")).unwrap();
    place.write("own/adversarial_moderator.txt", format!("{text}\nBe brief and blunt.\n"));
}

#[test]
fn a_run_equals_itself_and_its_recording() {
    let place = Place::with_run();
    place.ok("export latest run.jsonl");
    let shown = place.ok("diff latest run.jsonl");
    assert_said!("diffs_same", without_ids(&shown));
    let (found, code) = place.json("diff run.jsonl latest");
    assert_eq!((code, &found["identical"], &found["first"]), (0, &true.into(), &Value::Null));
    assert_eq!(found["state"], json!([]));
    assert_eq!(
        (difference(&found, 0), &found["figures"][0]["differences"][0]["interval"]),
        (0.0, &Value::Null)
    );
    assert!(shown.contains(": +0.00 percentage points, paired over 2 puzzles in both"), "{shown}");
}

#[test]
fn another_parser_makes_other_decisions_about_the_same_answers() {
    let place = Place::with_run();
    let parent = latest(&place);
    place.ok("fork latest --set parser=game24@1 -q");
    let said = place.run(&format!("diff {parent} latest"));
    assert_eq!(said.code, 1, "{}", said.err);
    assert_said!("diffs_parser", without_ids(&said.out));
    let (found, _) = place.json(&format!("diff {parent} latest"));
    assert_eq!(found["settings"].as_array().unwrap().len(), 1);
    assert_eq!(found["settings"][0]["path"], "settings.experiment.parser");
    let calls = &found["calls"];
    assert_eq!((&calls["both"], &calls["same_answer"]), (&6.into(), &6.into()));
    assert!(calls["same_decision"].as_u64().unwrap() < 6, "{calls}");
    assert_eq!(found["first"]["what"], "decision");
    // The figure of each side is the one of its report.
    let of = |run: &str| place.json(&format!("show {run}")).0["report"]["solve_rate"].clone();
    let groups = &found["figures"][0]["groups"];
    assert_eq!(groups[0]["value"], of(&parent));
    assert_eq!(groups[1]["value"], of("latest"));
    // Two puzzles are too few for an interval, and shown instead.
    assert_eq!(groups[1]["interval"], Value::Null);
    assert_eq!(groups[0]["dots"].as_array().map(Vec::len), Some(2));
}

/// A fork of a deliberation: what precedes the place is shared, and the change rates are paired by
/// participant.
#[test]
fn a_fork_with_another_moderator() {
    let place = Place::new();
    let config = concat!(env!("RETOLD_ROOT"), "/config/deliberation_small.yaml");
    place.ok(&format!("run {config} -q"));
    let parent = latest(&place);
    other_moderator(&place);
    let events = place.json(&format!("log {parent} --call adversarial")).0["events"].clone();
    let place_of_fork = events[0]["call"].as_str().unwrap().to_owned();
    place.ok(&format!("fork {parent} --at {place_of_fork} --prompts own -q"));
    let (found, code) = place.json(&format!("diff {parent} latest"));
    assert_eq!(code, 1);
    let settings: Vec<&str> =
        found["settings"].as_array().unwrap().iter().map(|s| s["path"].as_str().unwrap()).collect();
    assert_eq!(settings, ["settings.experiment.prompts.adversarial_moderator.text"]);
    let lanes = found["lanes"].as_array().unwrap();
    assert_eq!(lanes.len(), 10, "the participants of acp");
    for lane in lanes {
        let call = lane["call"].as_str().unwrap();
        assert!(call.starts_with("adversarial/") && call.ends_with("/1/moderator"), "{call}");
        assert_eq!(lane["what"], "prompt");
        assert!(lane["diff"].as_str().unwrap().contains("+Be brief and blunt."), "{lane}");
    }
    let changes = found["changes"].as_array().unwrap();
    assert_eq!(
        changes.len(),
        1,
        "a prompt that differs only because other answers do is not a change: {changes:?}"
    );
    assert!(changes[0]["calls"].as_u64().unwrap() >= 10, "{changes:?}");
    assert_eq!(found["first"]["call"], place_of_fork);
    assert_eq!(found["state"][0]["mark"], "phase_7", "{}", found["state"]);
    let said = place.run(&format!("diff {parent} latest --most 400")).out;
    assert!(said.contains("{+") && said.contains("Be brief and blunt."), "{said}");
    let setting = said.lines().find(|line| line.contains("adversarial_moderator.text")).unwrap();
    let (one, other) = setting.split_once(" -> ").unwrap();
    assert!(other.contains("Be brief and blunt."), "{setting}");
    assert!(!one.contains("Be brief and blunt.") && one.contains(": …"), "{setting}");
    assert!(!said.contains("  (no call)\n"), "{said}");
    let by_phase = found["facts"]["by_phase"].as_object().unwrap();
    // Nothing before phase 7 differs. A participant's failure has no call as its cause.
    let phases = ["adversarial", "final_vote", "(no call)"];
    assert!(by_phase.keys().all(|phase| phases.iter().any(|p| phase.starts_with(p))));
    let reports =
        [&parent, "latest"].map(|run| place.json(&format!("show {run}")).0["report"].clone());
    let figure = &found["figures"][0];
    assert_eq!(figure["labels"], json!(["condition", "run"]));
    for (at, group) in figure["groups"].as_array().unwrap().iter().enumerate() {
        let condition = group["group"][0].as_str().unwrap();
        let rate = &reports[at % 2]["by_condition"][condition]["position_changed_rate"];
        assert_eq!(&group["value"], rate, "{condition}");
    }
    let differences = figure["differences"].as_array().unwrap();
    let of_runs = differences.iter().filter(|it| it["one"][0] == it["other"][0]);
    let of_runs: Vec<&Value> = of_runs.collect();
    assert_eq!(of_runs.len(), 3, "each condition in both runs");
    for difference in of_runs {
        assert_eq!(
            (&difference["pairing"], &difference["clusters_in_both"]),
            (&"paired".into(), &10.into())
        );
        if difference["one"][0] != "acp" {
            assert_eq!(difference["difference"], 0.0, "phase 7 is only in acp");
        }
    }
}

#[test]
fn runs_that_have_little_in_common() {
    let place = Place::with_run();
    let game = latest(&place);
    let config = concat!(env!("RETOLD_ROOT"), "/config/public_goods_small.yaml");
    place.ok(&format!("run {config} -q --no-outputs --set games=2 --set game_length=2"));
    let (found, code) = place.json(&format!("diff {game} latest"));
    assert_eq!((code, &found["calls"]["both"]), (1, &0.into()));
    let said = place.run(&format!("diff {game} latest"));
    let marks = "state: the runs do not have the same marks from puzzle_1 on; after that, only the end is compared\n";
    assert!(said.out.contains(marks), "{}", said.out);
    // Two seeds of one experiment: the same lanes, other draws; each game is a cluster.
    let goods = latest(&place);
    place.ok(&format!(
        "run {config} -q --no-outputs --new --set games=2 --set game_length=2 --set seed=9"
    ));
    let (found, _) = place.json(&format!("diff {goods} latest"));
    let said = place.run(&format!("diff {goods} latest")).out;
    let caution = "differences between runs are unpaired: the runs are of different experiments or have different seeds, \
        so values of game with the same name may be different ones";
    assert!(said.contains(caution), "{said}");
    // Players of the same name are strangers.
    assert_eq!(found["figures"][0]["paired_by_name"], false);
    place.ok(&format!("report {goods} latest -o page.html"));
    assert!(place.read("page.html").contains(caution));
    assert_eq!(place.json("diff latest latest").0["figures"][0]["paired_by_name"], true);
    let models = place.json("show latest").0["report"]["models"].clone();
    for group in found["figures"][1]["groups"].as_array().unwrap().iter().skip(1).step_by(2) {
        let (value, model) = (group["value"].as_f64(), group["group"][0].as_str().unwrap());
        assert!((value.unwrap() - models[model].as_f64().unwrap()).abs() < 1e-12, "{group}");
        assert_eq!(group["clusters"], 2);
    }
    for wrong in ["diff latest", "diff latest nothing", "diff latest ffff", "diff latest no.jsonl"]
    {
        assert!([2, 3].contains(&place.run(wrong).code), "{wrong}");
    }
    let shown = place.session(&[
        "diff latest ffff",
        "diff latest no.jsonl",
        "diff latest latest --log no.db",
    ]);
    assert_said!("diffs_wrong", shown);
}

/// The runs of a society are single draws, without intervals.
#[test]
fn a_society_is_one_draw() {
    let place = Place::new();
    let config = concat!(env!("RETOLD_ROOT"), "/config/society_small.yaml");
    place.ok(&format!("run {config} -q --no-outputs --set days=2"));
    let (found, code) = place.json("diff latest latest");
    let one = &found["figures"][0]["groups"][0];
    assert_eq!((code, &one["interval"], &one["clusters"]), (0, &Value::Null, &1.into()));
    let report = place.json("show latest").0["report"].clone();
    assert_eq!(report["days"][1]["gini_all"], one["value"]);
}

/// Damage is reported as by other commands, not compared.
#[test]
fn a_damaged_run_is_not_compared() {
    let place = Place::with_run();
    place.ok("export latest run.jsonl");
    let text = place.read("run.jsonl").replacen("Answer:", "Answer;", 1);
    place.write("changed.jsonl", text);
    let said = place.run("diff latest changed.jsonl");
    assert_eq!(said.code, 1, "{}", said.err);
    let lines: Vec<_> = said.out.lines().collect();
    assert!(
        matches!(lines[..], [line] if line.starts_with("DAMAGED: from event ")),
        "{}",
        said.out
    );
    assert!(said.err.contains("does not have the hash"), "{}", said.err);
}
