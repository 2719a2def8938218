//! `check` on answers without a decision, or with a decision by a parser that this program does not
//! have, and `--accept`.

use std::sync::Arc;

use retold::id::{CallPath, RunId};
use retold::log::Log;
use retold::model::simulated::{Dice, Misbehaviour, SimulatedModel};
use retold::parse::{FoundValue, LastResort, Strategy, StrategyParser};
use retold::prompt::{ChatRequest, Request};
use retold::run::{Experiment, Question, Report, Run, Setup, Stop, execute};
use rusqlite::Connection;
use serde_json::{Value, json};

use super::filters::script;
use crate::support::cli::{Place, assert_said};
use crate::support::{block_on, shared_data};

/// A folder with a run of two puzzles, and its exchanges imported as a second run, which is the
/// latest.
fn imported() -> Place {
    let place = Place::with_run();
    place.ok("export latest answers.jsonl --as exchanges");
    place.ok("import answers.jsonl");
    let settings = "{\"call\":\"solve/0\",\"params\":{\"numbers\":[1,1,4,6]}}\n\
                    {\"call\":\"solve/1\",\"params\":{\"numbers\":[1,1,11,11]}}\n";
    place.write("settings.jsonl", settings);
    place
}

/// Method, value and verdict by call and sample.
fn decisions(place: &Place, run: &str) -> Vec<(String, u64, Value, Value)> {
    let (events, _) = place.json(&format!("log {run}"));
    let events = events["events"].as_array().unwrap();
    let event = |seq: &Value| &events[usize::try_from(seq.as_u64().unwrap()).unwrap() - 1];
    let made = events.iter().filter(|e| e["kind"] == "DecisionMade");
    let mut made: Vec<_> = made
        .map(|made| {
            let question = event(&event(&made["cause"])["cause"]);
            let by: Value = serde_json::from_str(made["content"].as_str().unwrap()).unwrap();
            let call = question["call"].as_str().unwrap().to_owned();
            let sample = question["sample"].as_u64().unwrap();
            (call, sample, by, made["body"].clone())
        })
        .collect();
    made.sort_by_key(|(call, sample, ..)| (call.clone(), *sample));
    made
}

/// A line of settings for a call that is in none of the runs is probably a slip.
#[test]
fn settings_that_no_answer_needed_are_named() {
    let place = imported();
    let settings = std::fs::read_to_string(place.path("settings.jsonl")).unwrap();
    let slip = "{\"call\":\"solve/11\",\"params\":{\"numbers\":[1,1,1,8]}}\n";
    place.write("settings.jsonl", format!("{settings}{slip}"));
    let options = "--parser game24@2 --params-from settings.jsonl";
    let said = place.run(&format!("check latest {options}"));
    let due = "\nsettings that no answer needed: 1 line, first line 3\n";
    assert!(said.out.ends_with(due), "{}{}", said.out, said.err);
    let (one, _) = place.json(&format!("check latest {options}"));
    assert_eq!(one["unused_params"], json!([3]));
    let (both, _) = place.json(&format!("check latest answers.jsonl {options}"));
    assert_eq!(
        (both["checks"].as_array().unwrap().len(), &both["unused_params"]),
        (2, &json!([3]))
    );
}

#[test]
fn imported_exchanges_are_decided_as_they_were() {
    let place = imported();
    let (log, _) = place.json("log");
    let original = log["runs"][0]["run"].as_str().unwrap();
    let said = place.run("check latest");
    assert_eq!(said.code, 2, "{}", said.out);
    let shown = place.shown("check latest", &said)
        + &place.session(&["check latest --parser game24@2 --params-from settings.jsonl --most 2"]);
    assert_said!("deciding_imported", shown);
    for source in ["latest", "answers.jsonl"] {
        let args = format!("check {source} --parser game24@2 --params-from settings.jsonl");
        let (checked, code) = place.json(&args);
        assert_eq!((code, &checked["new"], &checked["decisions"]), (0, &json!(6), &json!(0)));
        assert_eq!(checked["simulated"], true);
        let due = decisions(&place, original);
        for (made, (call, sample, by, body)) in
            checked["new_decisions"].as_array().unwrap().iter().zip(&due)
        {
            assert_eq!((&made["call"], &made["sample"]), (&json!(call), &json!(sample)));
            assert_eq!((&made["method"], &made["value"]), (&by["method"], &body["value"]));
        }
    }
    // Without the numbers any expression is a candidate, and no candidate gets a verdict.
    let (checked, _) = place.json("check latest --parser game24@2");
    assert_eq!((&checked["new"], &checked["verdicts_to"]), (&json!(6), &json!({})));
    let (checked, _) = place
        .json("check latest --parser game24@2 --params {\"numbers\":[1,1,4,6]} --call solve/0");
    assert_eq!(checked["new"], 3);
}

#[test]
fn accepted_decisions_are_a_run_of_their_own() {
    let place = imported();
    let (log, _) = place.json("log");
    let read = log["runs"][1]["run"].as_str().unwrap().to_owned();
    let before = place.ok(&format!("export {read}"));
    let args = format!("check {read} --parser game24@2 --params-from settings.jsonl --accept");
    let (checked, code) = place.json(&args);
    assert_eq!(code, 0, "{checked}");
    let new = checked["accepted"].as_str().unwrap();
    assert_eq!(place.ok(&format!("export {read}")), before, "the run that was read is as it was");
    place.ok("verify");
    // The new run names the run, its head and the seqs of the responses.
    let (events, _) = place.json(&format!("log {new}"));
    let events = events["events"].as_array().unwrap();
    let settings: Value = serde_json::from_str(events[0]["content"].as_str().unwrap()).unwrap();
    assert_eq!(settings["of"]["run"], read);
    assert_eq!(settings["of"]["head"], log["runs"][1]["head"]);
    let (old, _) = place.json(&format!("log {read}"));
    let mut reused = 0;
    for event in events.iter().filter(|e| e["kind"] == "AnswerReused") {
        assert_eq!(event["body"]["run"], read);
        let seq = usize::try_from(event["body"]["seq"].as_u64().unwrap()).unwrap();
        let answer = &old["events"][seq - 1];
        assert_eq!(
            (&answer["kind"], &answer["content"]),
            (&json!("ResponseReceived"), &event["content"])
        );
        reused += 1;
    }
    assert_eq!(reused, 6);
    // The decisions equal those of the experiment byte for byte, including the parser's
    // description.
    let original = log["runs"][0]["run"].as_str().unwrap();
    assert_eq!(decisions(&place, new), decisions(&place, original));
    // Every command that works on a run works on this one.
    let (checked, code) = place.json(&format!("check {new} --parser game24@2"));
    assert_eq!((code, &checked["decisions"], &checked["flips"]), (0, &json!(6), &json!(0)));
    assert!(place.ok(&format!("audit {new} solve/0#0")).contains("parser   game24@"));
    place.ok(&format!("export {new} new.jsonl"));
    place.ok("check new.jsonl --parser game24@2");
    place.ok("import new.jsonl --log other.db");
    place.ok("verify --log other.db");
    // With another version of the parser, the differences are accepted as well and remain visible.
    let (checked, code) = place.json(&format!("check {new} --parser game24@1 --accept"));
    assert!(code == 0 && checked["flips"].as_u64().unwrap() > 0, "{checked}");
    let third = checked["accepted"].as_str().unwrap();
    assert_eq!(place.json(&format!("check {third} --parser game24@1")).1, 0);
    assert_eq!(place.json(&format!("check {third}")).1, 1);
    // From a recording into the log.
    let (checked, _) = place.json("check new.jsonl --parser game24@1 --accept --log third.db");
    assert_eq!(checked["accepted"].as_str().map(str::len), Some(16));
    place.ok("verify --log third.db");
    let shown = place.session(&[
        &format!("replay {new}"),
        &format!("run --resume {new}"),
        &format!("export {new} x --as outputs"),
    ]);
    assert_said!("deciding_replay", shown);
}

/// An experiment outside this repository, with a parser of its own.
struct Colours(Arc<StrategyParser<(), String>>);

const WAYS: &[Strategy<(), String>] = &[Strategy {
    method: "first_word",
    find: |text, ()| Some(FoundValue::plain(text.split_whitespace().next()?.to_owned())),
}];

impl Experiment for Colours {
    type Event = ();
    type State = ();

    fn apply((): &mut (), (): &()) {}

    async fn run(&self, run: &mut Run<Self>) -> Result<(), Stop> {
        for n in 0..4 {
            let request =
                ChatRequest::new("m", format!("A colour, please, number {n}")).into_request()?;
            let call = CallPath::new(format!("colour/{n}"))?;
            let _ = run.ask(Question::new(call, request, self.0.clone())).await?;
        }
        Ok(())
    }

    fn report(&self, (): &()) -> Report {
        Report::default()
    }
}

/// A folder with a log in which another program, with its own parser, has recorded a run.
fn foreign() -> Place {
    let place = Place::new();
    let nothing: LastResort<(), String> = ("nothing", |_, ()| FoundValue::plain(String::new()));
    let parser = StrategyParser::new("colours", 3, (), WAYS, nothing, None).unwrap();
    let agent = |_: &Request, dice: &mut Dice| ["red ", "blue green"][dice.below(2)].to_owned();
    let model = Arc::new(SimulatedModel::new(5, Misbehaviour::default(), Box::new(agent)));
    let log = Log::in_file(&place.path("retold.db")).unwrap();
    let setup = Setup::record(&log, RunId([7; 8]), "colours", model);
    block_on(execute(&Colours(Arc::new(parser)), setup)).unwrap();
    place
}

#[test]
fn a_run_of_another_program_is_decided_by_a_parser_that_is_named() {
    let place = foreign();
    let shown = place.session(&[
        "check latest",
        "check latest --parser free_text@1",
        "check latest --parser game24@2 --most 1",
        "replay latest",
        "run --resume latest",
        "fork latest --at colour/2",
    ]);
    assert_said!("deciding_foreign", shown);
    // The same parser, written in another language, makes the same decisions.
    script(
        &place,
        "first.sh",
        r#"while read -r line; do
        text="${line#*\"text\":\"}"; printf '{"value":"%s","method":"first_word"}\n' "${text%%[ \"]*}"; done"#,
    );
    let (checked, code) = place.json("check latest --parser-cmd ./first.sh");
    assert_eq!(
        (code, &checked["decisions"], &checked["flips"]),
        (0, &json!(4), &json!(0)),
        "{checked}"
    );
    assert_eq!(
        (&checked["parser_from"], &checked["parser_to"]),
        (&json!("colours@3"), &json!("filter@1"))
    );
}

#[test]
fn a_filter_is_run_for_the_command_line_and_never_for_a_recording() {
    let place = imported();
    script(
        &place,
        "touch.sh",
        r#"touch was_here; while read -r line; do echo '{"value":"24"}'; done"#,
    );
    let (checked, code) = place.json("check latest --parser-cmd ./touch.sh --name sum --accept");
    assert_eq!(code, 0, "{checked}");
    let new = checked["accepted"].as_str().unwrap().to_owned();
    std::fs::remove_file(place.path("was_here")).unwrap();
    // The digest of the filter and its command are recorded with each decision.
    let digest = blake3::hash(&std::fs::read(place.path("touch.sh")).unwrap()).to_string();
    let due = json!({"name": "filter", "version": 1,
        "params": {"blake3": {"./touch.sh": digest}, "command": ["./touch.sh"]}});
    let made = decisions(&place, &new);
    assert!(made.len() == 6 && made.iter().all(|(_, _, by, _)| by["parser"] == due), "{made:?}");
    place.ok(&format!("export {new} new.jsonl"));
    let mut shown = String::new();
    for args in ["check latest", "check new.jsonl", "replay latest"] {
        let said = place.run(args);
        assert_eq!(said.code, 2, "{args}: {}", said.out);
        shown.push_str(&place.shown(args, &said));
    }
    for args in
        ["show latest", "audit latest solve/0#0", "verify new.jsonl", "export latest x.jsonl"]
    {
        place.ok(args);
    }
    assert_said!("deciding_filter", shown);
    assert!(!place.path("was_here").exists(), "it was run for a recording");
    // The same filter, run again, makes the same decisions; a changed one is a different parser.
    assert_eq!(place.json("check latest --parser-cmd ./touch.sh").1, 0);
    script(&place, "touch.sh", r#"while read -r line; do echo '{"value":"25"}'; done"#);
    let (checked, code) = place.json("check latest --parser-cmd ./touch.sh");
    assert_eq!((code, &checked["flips"]), (1, &json!(6)));
}

#[test]
fn accepting_is_all_or_nothing() {
    let place = imported();
    let runs = |place: &Place| place.json("log").0["runs"].as_array().unwrap().len();
    script(&place, "fails.sh", r#"while read -r line; do echo '{"value":1}'; done; exit 1"#);
    let said = place.run("check latest --parser-cmd ./fails.sh --name sum --accept");
    assert_eq!((said.code, runs(&place)), (2, 2), "{}", said.err);
    let said = place.run("check answers.jsonl --parser game24 --accept");
    assert_said!(
        "deciding_file",
        place.shown("check answers.jsonl --parser game24 --accept", &said)
    );
    // A run that was changed cannot be accepted.
    let db = Connection::open(place.path("retold.db")).unwrap();
    db.execute_batch("DROP TRIGGER contents_no_update; UPDATE contents SET body = '<answer>24</answer>' WHERE body LIKE '<answer>%'")
        .unwrap();
    drop(db);
    let said = place.run("check latest --parser game24 --accept");
    assert_eq!((said.code, runs(&place)), (1, 2), "{}{}", said.out, said.err);
    assert!(said.err.contains("nothing was accepted"), "{}", said.err);
}

#[test]
fn what_cannot_be_checked_is_named() {
    let place = imported();
    for (name, text) in [
        ("empty.jsonl", ""),
        ("text.jsonl", "hello\n"),
        ("list.jsonl", "[1]\n"),
        ("no_call.jsonl", "{\"params\":{}}\n"),
        ("no_params.jsonl", "{\"call\":\"solve/0\"}\n"),
        ("number.jsonl", "{\"call\":\"solve/0\",\"params\":3}\n"),
        ("twice.jsonl", "{\"call\":\"a\",\"params\":{}}\n{\"call\":\"a\",\"params\":{}}\n"),
        ("misspelt.jsonl", "{\"call\":\"a\",\"param\":{}}\n"),
        ("elsewhere.jsonl", "{\"call\":\"solve/9\",\"params\":{}}\n"),
        ("wrong.jsonl", "{\"call\":\"solve/0\",\"params\":{\"numbers\":\"4\"}}\n"),
    ] {
        place.write(name, text);
    }
    let commands = [
        "check latest --parser game24 --params-from none.jsonl",
        "check latest --parser game24 --params-from empty.jsonl",
        "check latest --parser game24 --params-from text.jsonl",
        "check latest --parser game24 --params-from list.jsonl",
        "check latest --parser game24 --params-from no_call.jsonl",
        "check latest --parser game24 --params-from no_params.jsonl",
        "check latest --parser game24 --params-from number.jsonl",
        "check latest --parser game24 --params-from twice.jsonl",
        "check latest --parser game24 --params-from misspelt.jsonl",
        "check latest --parser game24 --params-from elsewhere.jsonl",
        "check latest --parser game24 --params-from wrong.jsonl",
        "check latest --parser game24 --params-from settings.jsonl --params {}",
        "check latest --parser game24 --params {",
        "check latest --parser game24 --call solve/7",
        "check latest --parser game24 --call a//b",
        "check latest --accept",
        "check latest --parser-cmd ./none",
        "check none.jsonl --parser game24",
        "check small.yaml --parser game24",
        "check settings.jsonl --parser game24",
    ];
    for command in commands {
        let said = place.run(command);
        assert!(said.code > 1 && said.out.is_empty(), "{command}: {}", said.out);
    }
    assert_said!("deciding_wrong", place.session(&commands));
}

/// 10,000 answers of GPT-4, parsed in place: the numbers of each puzzle are settings by call.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn real_exchanges_are_decided_without_an_experiment() {
    let place = Place::new();
    let file = shared_data("game24/gpt-4_cot.exchanges.jsonl.gz");
    let mut settings = std::collections::BTreeMap::new();
    for line in retold::jsonl::JsonlReader::open(&file).unwrap() {
        let line: Value = serde_json::from_str(&line.unwrap().1).unwrap();
        let puzzle = line["label"]["puzzle"].as_str().unwrap();
        let numbers: Vec<i64> = puzzle.split(' ').map(|n| n.parse().unwrap()).collect();
        settings.insert(line["call"].as_str().unwrap().to_owned(), numbers);
    }
    let lines = settings.iter().map(|(call, numbers)| {
        format!("{}\n", json!({"call": call, "params": {"numbers": numbers}}))
    });
    place.write("settings.jsonl", lines.collect::<String>());
    let file = file.to_str().unwrap();
    let args = ["check", file, "--parser", "game24@2", "--params-from", "settings.jsonl", "--json"];
    let said = place.args(&args);
    let checked: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((said.code, &checked["new"]), (0, &json!(10_000)));
    assert_eq!(checked["verdicts_to"]["valid"], 403, "those that their own grader counts");
    assert_eq!(checked["simulated"], false);
}

/// A run of the same decisions would say nothing that the log does not have.
#[test]
fn what_is_recorded_already_is_not_accepted_again() {
    let place = Place::new();
    place.ok("run small.yaml --quiet --set parser=game24");
    let shown = place.session(&["check latest --accept"]);
    assert_said!("deciding_accepted_already", shown);
    let (checked, code) = place.json("check latest --accept");
    assert_eq!((code, &checked["accepted"]), (0, &Value::Null), "{checked}");
    assert_eq!(place.json("log").0["runs"].as_array().unwrap().len(), 1);
}

/// The recorded decisions are accepted again where others have replaced them.
#[test]
fn the_decisions_of_the_first_parser_can_be_put_back_in_force() {
    let place = Place::new();
    place.ok("run small.yaml --quiet --set parser=game24@2");
    let run = place.json("log").0["runs"][0]["run"].as_str().unwrap().to_owned();
    let accept = |parser: &str| place.json(&format!("check {run} --parser {parser} --accept")).0;
    let in_force = || {
        let shown = place.json(&format!("show {run}")).0;
        let accepted = shown["decisions_in_force"]["accepted"].as_array().unwrap().clone();
        accepted.iter().map(|of| of["in_force"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    let other = accept("game24@1");
    assert!(other["accepted"].is_string(), "{other}");
    let all = in_force()[0];
    let back = accept("game24@2");
    assert!(back["accepted"].is_string(), "{back}");
    assert_eq!((&back["flips"], &back["accepted_earlier"][0]), (&json!(0), &other["accepted"]));
    assert_eq!(in_force(), [0, all]);
    // Only once.
    let again = accept("game24@2");
    assert_eq!((&again["accepted"], &again["accepted_before"]), (&Value::Null, &back["accepted"]));
}

/// A run of decisions has no experiment to replay.
#[test]
fn the_next_step_after_an_import_can_be_taken() {
    let (place, other) = (Place::with_run(), Place::new());
    place.ok("check latest --parser game24@1 --accept");
    place.ok("export latest decisions.jsonl");
    other.write("decisions.jsonl", place.read("decisions.jsonl"));
    let said = other.run("import decisions.jsonl");
    assert_eq!(said.code, 0, "{}", said.err);
    assert_said!("deciding_next", other.shown("import decisions.jsonl", &said));
    let next = said.out.lines().last().unwrap().trim().strip_prefix("retold ").unwrap();
    assert_eq!(other.run(next).code, 1, "flips against the latest version: {next}");
}
