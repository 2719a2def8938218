//! `check` on experiments with several parsers.

use retold::prompt::canonical;
use serde_json::{Value, json};

use super::filters::script;
use crate::support::cli::{Place, assert_said};
use crate::support::forged::chained;

const CONFIG: &str = concat!(env!("RETOLD_ROOT"), "/config");

#[test]
fn decisions_of_the_recorded_parsers_are_not_flips() {
    let place = Place::new();
    let rates = "--set model.rates.malformed=0.2 --set seed=3";
    place.ok(&format!("run {CONFIG}/society_small.yaml {rates} -q"));
    let (checked, code) = place.json("check latest");
    assert!(checked["decisions"].as_u64().unwrap() > 20, "{checked}");
    assert_eq!((code, &checked["flips"]), (0, &0.into()), "1 and 1.0 are the same amount");
}

#[test]
fn many_runs_are_checked_at_once_and_shown_in_their_order() {
    let place = Place::new();
    let mut runs = Vec::new();
    for seed in 1..=9 {
        let rates = format!("--set model.rates.malformed=0.5 --set seed={seed}");
        place.ok(&format!("run {CONFIG}/public_goods_small.yaml {rates} --no-outputs -q"));
        let (log, _) = place.json("log");
        runs.push(log["runs"].as_array().unwrap().last().unwrap()["run"].clone());
    }
    runs.reverse();
    let names: Vec<&str> = runs.iter().map(|run| run.as_str().unwrap()).collect();
    let parser = "--parser contribution@1";
    let (together, _) = place.json(&format!("check {} {parser}", names.join(" ")));
    let flips: u64 = names
        .iter()
        .zip(together["checks"].as_array().unwrap())
        .map(|(name, checked)| {
            let (alone, _) = place.json(&format!("check {name} {parser}"));
            assert_eq!(checked, &alone);
            alone["flips"].as_u64().unwrap()
        })
        .sum();
    assert!(flips > 0, "otherwise it would not matter which run is which");
    // An error is that of the first run that has one, whichever thread meets its own first.
    let said = place.run(&format!("check {} --parser game24", names.join(" ")));
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains(names[0]), "{}", said.err);
}

/// What was found before is not lost, and `--json` remains one object; but decisions are accepted about all runs or none.
#[test]
fn runs_before_one_that_cannot_be_checked_are_shown() {
    let place = Place::new();
    for seed in [1, 2] {
        place.ok(&format!("run {CONFIG}/society_small.yaml --set seed={seed} --no-outputs -q"));
    }
    let (log, _) = place.json("log");
    let name = |at: usize| log["runs"][at]["run"].as_str().unwrap().to_owned();
    // It decides about one run, forwards and backwards, and then about none.
    let filter = r#"[ -e backwards ] && { echo "out of order" >&2; exit 1; }
[ -e forwards ] && touch backwards
touch forwards
while read -r line; do echo '{"value":1}'; done"#;
    script(&place, "once.sh", filter);
    let command = format!("check {} {} --parser-cmd ./once.sh", name(1), name(0));
    let start_over =
        || ["forwards", "backwards"].map(|it| std::fs::remove_file(place.path(it)).unwrap());
    let (found, code) = place.json(&command);
    assert_eq!(code, 2, "{found}");
    assert_eq!(found["checks"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!(found["checks"][0]["run"], name(1).as_str());
    assert!(found["error"]["message"].as_str().unwrap().contains("once.sh"), "{found}");
    start_over();
    let said = place.run(&command);
    assert!(said.code == 2 && said.out.contains(&name(1)[..8]), "{}{}", said.out, said.err);
    start_over();
    let said = place.run(&format!("{command} --accept"));
    assert!(said.code == 2 && said.out.is_empty(), "{}{}", said.out, said.err);
    assert_eq!(place.json("log").0["runs"].as_array().unwrap().len(), 2);
}

#[test]
fn a_log_is_not_a_recording() {
    let place = Place::with_run();
    let shown = place.session(&["check retold.db", "diff latest ./retold.db"]);
    assert_said!("checks_a_log", shown);
}

#[test]
fn a_parser_is_compared_with_its_own_decisions() {
    let place = Place::new();
    place.ok(&format!("run {CONFIG}/public_goods_small.yaml --no-outputs -q"));
    let (all, _) = place.json("check latest");
    let mut decisions = 0;
    for (parser, recorded) in
        [("contribution", 2), ("chat", 2), ("redistribution", 2), ("vector", 1)]
    {
        let (checked, _) = place.json(&format!("check latest --parser {parser}@1"));
        assert_eq!(checked["parser_to"], format!("{parser}@1"));
        assert_eq!(checked["parser_from"], format!("{parser}@{recorded}"));
        decisions += checked["decisions"].as_u64().unwrap();
    }
    assert_eq!(all["decisions"], decisions, "each decision belongs to one parser");
    let said = place.run("check latest --parser game24@1");
    assert_eq!(said.code, 2);
    assert_said!("checks_of_another_parser", said.err);
}

/// A recording of a small public goods run with changed decisions and recomputed hashes.
fn with_decisions(place: &Place, change: impl Fn(&mut Value)) -> String {
    place.ok(&format!("run {CONFIG}/public_goods_small.yaml --no-outputs -q"));
    place.ok("export latest whole.jsonl -q");
    let lines = place.read("whole.jsonl");
    let mut lines: Vec<Value> = lines.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    // The outcome digest would no longer match, so the run is left unfinished.
    lines.retain(|line| line["kind"] != "RunFinished");
    lines.iter_mut().filter(|line| line["kind"] == "DecisionMade").for_each(|line| {
        change(&mut line["body"]);
    });
    chained(lines)
}

#[test]
fn lost_reasoning_is_a_change_though_no_value_flips() {
    let place = Place::new();
    let without = with_decisions(&place, |decision| {
        decision.as_object_mut().unwrap().remove("reasoning");
    });
    place.write("without.jsonl", without);
    let reasoned = place.read("whole.jsonl").matches(r#""body":{"reasoning":"#).count();
    assert!(reasoned > 10, "{reasoned}");
    let (checked, code) = place.json("check without.jsonl");
    assert_eq!((code, &checked["flips"], &checked["flipped"]), (1, &json!(0), &json!([])));
    let changed = json!({"value": 0, "method": 0, "reasoning": reasoned, "warnings": 0});
    assert_eq!(checked["changed"], changed);
    assert_eq!(checked["altered"].as_array().unwrap().len(), reasoned);
    assert_eq!(checked["unfaithful"].as_array().unwrap().len(), reasoned);
    let first = &checked["altered"][0];
    assert_eq!(first["parts"], json!(["reasoning"]));
    assert_eq!(first["from"].get("reasoning"), None);
    assert!(first["to"]["reasoning"].is_string(), "{first}");
    let said = place.run("check without.jsonl --most 1");
    assert_said!("checks_of_lost_reasoning", said.out);
}

#[test]
fn other_warnings_are_a_change() {
    let place = Place::new();
    let warned = with_decisions(&place, |decision| {
        decision["warnings"] = json!(["made up\u{1b}[2J"]);
        *decision = serde_json::from_str(&canonical(decision).unwrap()).unwrap();
    });
    place.write("warned.jsonl", warned);
    let (checked, code) = place.json("check warned.jsonl");
    assert_eq!((code, &checked["flips"]), (1, &json!(0)));
    assert_eq!(checked["changed"]["warnings"], checked["decisions"]);
    let said = place.run("check warned.jsonl --most 1");
    assert_eq!(said.code, 1);
    assert!(said.out.contains(r" warnings made up\u{1b}[2J -> none"), "{}", said.out);
}
