//! `retold plan`.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::cli::{Place, assert_said};

const DELIBERATION: &str = concat!(env!("RETOLD_ROOT"), "/config/deliberation_small.yaml");

/// The place with a deliberation, its id, and the first call of phase 7.
fn deliberation(settings: &str) -> (Place, String, String) {
    let place = Place::new();
    place.ok(&format!("run {DELIBERATION} -q --new-folder {settings}"));
    let run = place.json("show latest").0["run"].as_str().unwrap().to_owned();
    let events = place.json(&format!("log {run} --call adversarial")).0["events"].clone();
    let call = events[0]["call"].as_str().unwrap().to_owned();
    let template =
        concat!(env!("RETOLD_ROOT"), "/config/prompts/deliberation/adversarial_moderator.txt");
    let text = std::fs::read_to_string(template).unwrap();
    std::fs::create_dir(place.path("own")).unwrap();
    place.write("own/adversarial_moderator.txt", format!("{text}\nBe brief and blunt.\n"));
    (place, run, call)
}

/// The calls of a run that were asked of a model, as `CALL#SAMPLE`.
fn asked(place: &Place, run: &str) -> BTreeSet<String> {
    let db = rusqlite::Connection::open(place.path("retold.db")).unwrap();
    let rows = "SELECT q.call || '#' || q.sample FROM log q JOIN log a ON a.run = q.run AND a.cause = q.seq \
                WHERE q.run = ?1 AND a.kind = 'ResponseReceived'";
    let mut select = db.prepare(rows).unwrap();
    let rows = select.query_map([run], |row| row.get::<_, String>(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

/// What a fork put to a model.
#[derive(Debug)]
struct Tried {
    /// The calls that were answered, or failed after all attempts, as `CALL#SAMPLE`.
    calls: BTreeSet<String>,
    /// The tokens of the requests and of the answers.
    tokens: [i64; 2],
}

/// What a fork of a run at a call put to a model. What failed before that call is shared, and fails
/// without being asked.
fn tried(place: &Place, [fork, parent, at]: [&str; 3]) -> Tried {
    let db = rusqlite::Connection::open(place.path("retold.db")).unwrap();
    let ended = "SELECT q.call || '#' || q.sample FROM log q JOIN log a ON a.run = q.run AND a.cause = q.seq \
                 WHERE q.run = ?1 AND (a.kind = 'ResponseReceived' \
                   OR a.kind = 'AttemptFailed' AND a.body ->> 'final' AND NOT EXISTS ( \
                     SELECT 1 FROM log p WHERE p.run = ?2 AND p.call = q.call AND p.sample = q.sample \
                       AND p.prompt_hash = q.prompt_hash \
                       AND p.seq < (SELECT min(seq) FROM log WHERE run = ?2 AND call = ?3)))";
    let mut select = db.prepare(ended).unwrap();
    let rows = select.query_map([fork, parent, at], |row| row.get::<_, String>(0)).unwrap();
    let calls = rows.map(Result::unwrap).collect();
    let used = "SELECT sum(body ->> 'prompt_tokens'), sum(body ->> 'completion_tokens') FROM log \
                WHERE run = ?1 AND kind = 'ResponseReceived'";
    let tokens = db.query_row(used, [fork], |row| Ok([row.get(0)?, row.get(1)?])).unwrap();
    Tried { calls, tokens }
}

/// The new calls of a plan: those that are known, and those that are foretold.
fn planned(plan: &Value) -> (BTreeSet<String>, BTreeSet<String>) {
    let calls = plan["new_calls"].as_array().unwrap().iter();
    let (foretold, known): (Vec<&Value>, Vec<&Value>) = calls.partition(|c| c["foretold"] == true);
    let name = |call: &&Value| format!("{}#{}", call["call"].as_str().unwrap(), call["sample"]);
    (known.iter().map(name).collect(), foretold.iter().map(name).collect())
}

/// The whole way: what is planned is asked, what is shared takes no space, and the figures of fork
/// and parent can be compared.
#[test]
fn a_fork_with_another_moderator_asks_what_was_foretold() {
    let (place, parent, call) =
        deliberation("--set max_socratic_exchanges=1 --set provider.rates.malformed=0");
    let before = std::fs::metadata(place.path("retold.db")).unwrap().len();
    let options = format!("--at {call} --prompts own");
    let (plan, code) = place.json(&format!("plan --against {parent} {options}"));
    assert_eq!(code, 0, "{plan}");
    assert_eq!(place.json("log").0["runs"].as_array().unwrap().len(), 1, "nothing is recorded");
    let (known, foretold) = planned(&plan);
    assert!(known.len() > 20 && foretold.is_empty(), "{known:?}, {foretold:?}");
    place.ok(&format!("fork {parent} {options} -q"));
    let fork = place.json("show latest").0;
    let made = asked(&place, fork["run"].as_str().unwrap());
    assert_eq!(made, known, "exactly what was planned is asked");
    assert_eq!(plan["recorded"].as_u64().unwrap() + made.len() as u64, fork["exchanges"]);
    // What is shared takes almost no space: the fork adds what is new.
    let shared = plan["recorded"].as_u64().unwrap() as f64 / plan["calls"].as_u64().unwrap() as f64;
    let after = std::fs::metadata(place.path("retold.db")).unwrap().len();
    let growth = (after - before) as f64 / before as f64;
    assert!(shared > 0.8 && growth < 0.5, "{shared} shared, {growth} more on disk");
    // Tokens are estimated from the recorded answers; the fork's own are counted.
    let used = |name: &str| plan["forecast"][name].as_u64().unwrap();
    assert!(used("prompt_tokens") > 1000 && used("completion_tokens") > 100, "{plan}");
    assert!(plan["forecast"]["cost"].as_f64().unwrap() > 0.0);
    let (diff, _) = place.json(&format!("diff {parent} latest"));
    let differences = diff["figures"][0]["differences"].as_array().unwrap();
    let is_acp = |it: &&Value| it["one"][0] == "acp" && it["other"][0] == "acp";
    let acp = differences.iter().find(is_acp).unwrap();
    assert_eq!(acp["clusters_in_both"], 10);
    assert!(acp["difference"].is_f64() && acp["interval"]["low"].is_f64(), "{acp}");
}

/// Dialogues that end when the moderator is satisfied, with answers that break their format, rate
/// limits and failures: what a simulated fork will ask is known to the last call, and so are the
/// tokens that it will use.
#[test]
fn a_simulated_fork_with_dialogues_of_any_length_is_known_exactly() {
    let rates = "--set provider.rates.rate_limited=0.1 --set provider.rates.truncated=0.05";
    for settings in ["", rates, "--set provider.rates.failure=0.02"] {
        let (place, parent, call) = deliberation(settings);
        let options = format!("--at {call} --prompts own");
        let (plan, _) = place.json(&format!("plan --against {parent} {options}"));
        assert_eq!(place.json("log").0["runs"].as_array().unwrap().len(), 1);
        let (known, foretold) = planned(&plan);
        assert_eq!((foretold.len(), &plan["exact"]), (0, &true.into()));
        place.ok(&format!("fork {parent} {options} -q"));
        let fork = place.json("show latest").0;
        let fork = fork["run"].as_str().unwrap();
        let tried = tried(&place, [fork, &parent, &call]);
        assert!(known.len() > 30 && known == tried.calls, "{settings}: {known:?} {tried:?}");
        let used = |name: &str| plan["forecast"][name].as_i64().unwrap();
        let planned = [used("prompt_tokens"), used("completion_tokens")];
        assert_eq!(planned, tried.tokens, "{settings}");
    }
}

/// A call that fails again, or for good, uses no tokens.
#[test]
fn a_plan_knows_which_calls_will_fail() {
    let place = Place::new();
    let config = concat!(env!("RETOLD_ROOT"), "/config/society_small.yaml");
    place.ok(&format!("run {config} -q --no-outputs --set model.rates.failure=0.1"));
    let parent = place.json("show latest").0["run"].as_str().unwrap().to_owned();
    for options in ["--retry-failed", "--at 60", "--at 60 --retry-failed"] {
        let (plan, _) = place.json(&format!("plan --against {parent} {options}"));
        place.ok(&format!("fork {parent} {options} -q"));
        let (stats, _) = place.json("stats latest");
        let planned = |name: &str| plan["forecast"][name].as_u64().unwrap();
        let used = |name: &str| stats["tokens"][name].as_u64().unwrap_or(0);
        assert_eq!(plan["exact"], true, "{options}: {plan}");
        assert_eq!(planned("prompt_tokens"), used("prompt"), "{options}: {stats}");
        assert_eq!(planned("completion_tokens"), used("completion"), "{options}: {stats}");
    }
}

/// Failures taken over from the parent do not count as attempts of the fork.
#[test]
fn a_fork_has_only_its_own_attempts() {
    let place = Place::new();
    let config = concat!(env!("RETOLD_ROOT"), "/config/society_small.yaml");
    place.ok(&format!("run {config} -q --no-outputs --set model.rates.failure=0.1"));
    place.ok("fork latest --at 60 -q");
    let (failed, _) = place.json("log latest --failed");
    let events = failed["events"].as_array().unwrap().iter();
    let (shared, own): (Vec<&Value>, Vec<&Value>) =
        events.partition(|event| event["body"]["from"].is_object());
    assert!(!shared.is_empty() && !own.is_empty(), "{failed}");
    let (fork, _) = place.json("stats latest");
    assert_eq!(fork["attempts"]["failed"], own.len(), "{fork}");
    let given_up = |events: &[&Value]| events.iter().filter(|e| e["body"]["final"] == true).count();
    assert_eq!(fork["calls"]["failed"], given_up(&shared) + given_up(&own), "{fork}");
    place.ok("replay latest");
}

/// A recorded model cannot be asked in a plan: what follows from new answers is foretold.
#[test]
fn dialogues_of_any_length_are_foretold_not_known() {
    let (place, simulated, _) = deliberation("");
    place.ok(&format!("export {simulated} answers.jsonl --as exchanges"));
    let lines = std::fs::read_to_string(place.path("answers.jsonl")).unwrap();
    place.write("answers.jsonl", lines.replace(r#","simulated":true"#, ""));
    place.ok(&format!("run {DELIBERATION} -q --new-folder --answers answers.jsonl"));
    let run = place.json("show latest").0;
    assert_eq!(run["simulated"], false, "{run}");
    let events = place.json("log latest --call adversarial").0["events"].clone();
    let options = format!("--at {} --prompts own", events[0]["call"].as_str().unwrap());
    let (plan, _) = place.json(&format!("plan --against latest {options}"));
    let (known, foretold) = planned(&plan);
    assert_eq!((known.len(), &plan["exact"]), (10, &false.into()));
    let kinds = |call: &String| call.starts_with("adversarial/") || call.starts_with("final_vote/");
    assert!(foretold.len() > 50 && foretold.iter().all(kinds), "{foretold:?}");
}

#[test]
fn a_config_against_a_run_of_it() {
    let (place, parent, _) = deliberation("");
    let (plan, _) = place.json(&format!("plan {DELIBERATION} --against {parent}"));
    assert_eq!((&plan["new"], &plan["recorded"]), (&0.into(), &plan["calls"]));
    // More participants: they were never recorded, and their whole way is counted.
    let more = "--set participants_per_condition=12";
    let (plan, _) = place.json(&format!("plan {DELIBERATION} --against {parent} {more}"));
    let unrecorded = plan["forecast"]["known"]["unrecorded"].as_u64().unwrap();
    assert!(unrecorded >= 8, "eight more personas: {}", plan["forecast"]);
    place.ok(&format!("run {DELIBERATION} -q --new-folder {more}"));
    let made = place.json("show latest").0["exchanges"].as_f64().unwrap();
    let all = plan["calls"].as_f64().unwrap();
    assert!((all - made).abs() < 0.25 * made, "{all} foretold, {made} asked");
}

#[test]
fn what_a_plan_says() {
    let place = Place::with_run();
    place.write("mine.yaml", "models: {}\n");
    place.write("bad.yaml", "models:\n  gpt-4: {prompt: 1, cached: -1, completion: 2}\n");
    place.write("cot.txt", "Use numbers and basic operations to make 24.\nInput: {input}\n");
    std::fs::create_dir(place.path("own")).unwrap();
    std::fs::rename(place.path("cot.txt"), place.path("own/cot.txt")).unwrap();
    let shown = place.session(&[
        "plan small.yaml --against latest",
        "plan --against latest --prompts own",
        "plan --against latest --prompts own --prices mine.yaml",
        "plan small.yaml --against latest --set samples=5",
        "plan --against latest --at solve/1#0",
        "plan small.yaml --against latest --prices bad.yaml",
        "plan small.yaml --against latest --at 3",
        "plan small.yaml --against ffff",
    ]);
    let run = place.json("show latest").0["run"].as_str().unwrap().to_owned();
    assert_said!("plans", shown.replace(&run, "[run]"));
    let other = concat!(env!("RETOLD_ROOT"), "/config/society_small.yaml");
    let said = place.run(&format!("plan {other} --against latest"));
    assert_eq!(said.code, 2);
    assert!(said.err.contains("is a config of society, and run"), "{}", said.err);
}
