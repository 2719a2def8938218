//! `diff` of runs of programs, and of what was imported.

use serde_json::{Value, json};

use super::record;
use crate::support::cli::Place;
use crate::support::server::{Received, Reply, Server};

/// Asks three things: the first two under names of their own, the last without one.
const PROGRAM: &str = r#"
import json, os, sys, urllib.request

def ask(text, call=None):
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": text}]}).encode()
    headers = {"content-type": "application/json", "authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    if call:
        headers["x-retold-call"] = call
    request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, headers)
    print(json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"])

ask("What is the capital of Italy?", "ask/italy")
ask(sys.argv[1], "ask/france")
ask("And of " + sys.argv[2] + "?")
"#;

fn answer(request: &Received) -> Reply {
    let body = request.json();
    let prompt = body["messages"][0]["content"].as_str().unwrap();
    Reply::chat(if prompt.contains("Italy") { "Rome" } else { "Paris" })
}

/// Records the program; returns the id of its run.
fn recorded(place: &Place, server: &Server, args: [&str; 2]) -> String {
    let program = ["python3", "-c", PROGRAM, args[0], args[1]];
    let said = record(place, "--quiet", &server.base_url(), &program);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    place.json("show latest").0["run"].as_str().unwrap().to_owned()
}

fn count(diff: &Value, key: &str) -> u64 {
    diff["calls"][key].as_u64().unwrap()
}

#[test]
fn two_runs_of_a_program_with_one_changed_prompt() {
    let (place, server) = (Place::new(), Server::handler(answer));
    let one = recorded(&place, &server, ["What is the capital of France?", "Spain"]);
    let other = recorded(&place, &server, ["Name the capital of France.", "Spain"]);
    let (diff, code) = place.json(&format!("diff {one} {other}"));
    assert_eq!((code, &diff["identical"]), (1, &false.into()));
    let counts =
        ["one", "other", "both", "same_prompt", "same_answer"].map(|key| count(&diff, key));
    assert_eq!(counts, [3, 3, 3, 2, 2], "{}", diff["calls"]);
    let lanes = diff["lanes"].as_array().unwrap();
    assert_eq!(lanes.len(), 1, "{diff}");
    assert_eq!((&lanes[0]["call"], &lanes[0]["what"]), (&"ask/france".into(), &"prompt".into()));
    let changed = lanes[0]["diff"].as_str().unwrap();
    assert!(changed.contains("-What is the capital of France?"), "{changed}");
    assert!(changed.contains("+Name the capital of France."), "{changed}");
    assert_eq!(diff["figures"], json!([]));
    let text = place.run(&format!("diff {one} {other}")).out;
    assert!(text.contains("3 calls in the first run, 3 in the second, 3 in both"), "{text}");
    assert!(
        text.contains("no figures: they need decisions that are numbers or a few names"),
        "{text}"
    );
    // A call without a name is named after its prompt, and found by the words that are the same.
    let third = recorded(&place, &server, ["What is the capital of France?", "Peru"]);
    let (diff, _) = place.json(&format!("diff {one} {third}"));
    let counts =
        ["one", "other", "both", "same_prompt", "same_answer"].map(|key| count(&diff, key));
    assert_eq!(counts, [3, 3, 3, 2, 2], "{}", diff["calls"]);
    let what = diff["lanes"].as_array().unwrap().iter().map(|lane| lane["what"].as_str().unwrap());
    assert_eq!(what.collect::<Vec<_>>(), ["prompt"]);
    // The same program again is the same run.
    let again = recorded(&place, &server, ["What is the capital of France?", "Spain"]);
    let (diff, code) = place.json(&format!("diff {one} {again}"));
    assert_eq!((code, &diff["identical"], &diff["first"]), (0, &true.into(), &Value::Null));
}

/// What another tool recorded is compared with a run under the same keys.
#[test]
fn an_import_against_a_run() {
    let (place, server) = (Place::new(), Server::handler(answer));
    let unnamed = PROGRAM.replace(", \"ask/italy\"", "").replace(", \"ask/france\"", "");
    let record = |words: [&str; 2]| {
        let program = ["python3", "-c", &unnamed, words[0], words[1]];
        let said = super::record(&place, "--quiet", &server.base_url(), &program);
        assert_eq!(said.code, 0, "{}{}", said.out, said.err);
        place.json("show latest").0["run"].as_str().unwrap().to_owned()
    };
    let run = record(["What is the capital of France?", "Spain"]);
    place.ok(&format!("export {run} cassette.yaml --as vcrpy"));
    let named = format!("--upstream openai={}", server.base_url());
    let (found, _) = place.json(&format!("import cassette.yaml {named}"));
    let import = found["run"].as_str().unwrap().to_owned();
    let (diff, code) = place.json(&format!("diff {run} {import}"));
    let counts =
        ["one", "other", "both", "same_prompt", "same_answer"].map(|key| count(&diff, key));
    assert_eq!((code, counts), (0, [3, 3, 3, 3, 3]), "{}", diff["calls"]);
    // Another answer in the cassette is another answer to the same prompt.
    place.write("changed.yaml", place.read("cassette.yaml").replacen("Rome", "Roma", 1));
    let (found, _) = place.json(&format!("import changed.yaml {named}"));
    let changed = found["run"].as_str().unwrap().to_owned();
    let (diff, code) = place.json(&format!("diff {run} {changed}"));
    let counts = ["both", "same_prompt", "same_answer"].map(|key| count(&diff, key));
    assert_eq!((code, counts), (1, [3, 3, 2]), "{}", diff["calls"]);
    let lanes = diff["lanes"].as_array().unwrap();
    assert_eq!((lanes.len(), &lanes[0]["what"]), (1, &"answer".into()), "{diff}");
    assert_eq!(lanes[0]["diff"], "-Rome\n+Roma\n");
    // And so is another run of the program, with a prompt of its own.
    let other = record(["Name the capital of France.", "Spain"]);
    let (diff, _) = place.json(&format!("diff {import} {other}"));
    let counts = ["one", "other", "both", "same_answer"].map(|key| count(&diff, key));
    assert_eq!(counts, [3, 3, 3, 2], "{}", diff["calls"]);
}

/// Asks forty people without naming the calls; with a second argument, in reverse order.
const CROWD: &str = r#"
import json, os, sys, urllib.request

people = [f"You are person {n}, aged {20 + n}, of district {n % 4}." for n in range(40)]
for who in people[::-1] if sys.argv[2:] else people:
    text = f"{who} Shall the town build a {sys.argv[1]}? Say yes or no."
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": text}]}).encode()
    headers = {"content-type": "application/json", "authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    urllib.request.urlopen(urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, headers)).read()
print("asked")
if sys.argv[1] == "pool":
    text = "Is there anything that nobody has said?"
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": text}]}).encode()
    urllib.request.urlopen(urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, headers)).read()
"#;

#[test]
fn a_prompt_that_changed_in_all_calls_is_one_change_with_its_words() {
    let (place, server) = (Place::new(), Server::handler(answer));
    let record = |words: &[&str]| {
        let program = [&["python3", "-c", CROWD], words].concat();
        let said = super::record(&place, "--quiet", &server.base_url(), &program);
        assert_eq!(said.code, 0, "{}{}", said.out, said.err);
        place.json("show latest").0["run"].as_str().unwrap().to_owned()
    };
    let one = record(&["library"]);
    let other = record(&["pool", "backwards"]);
    let (diff, code) = place.json(&format!("diff {one} {other}"));
    let counts = ["one", "other", "both", "same_prompt"].map(|key| count(&diff, key));
    assert_eq!((code, counts), (1, [40, 41, 40, 0]), "{}", diff["calls"]);
    let changes = diff["changes"].as_array().unwrap();
    assert_eq!((changes.len(), &changes[0]["calls"]), (1, &40.into()), "{changes:?}");
    let text = place.run(&format!("diff {one} {other}")).out;
    let shown = "\n40 calls have another prompt: message 1 (user)\n  You are person 0, aged 20, of district 0. Shall the town \
        build a [-library?-]{+pool?+} Say yes or no.\nthe first of them is openai.chat/";
    assert!(text.contains(shown), "{text}");
    assert_eq!(text.matches("\nlane ").count(), 1, "{text}");
    assert!(text.contains("is only in the second run"), "{text}");
    // Two of forty people are asked in other words than the rest.
    let two = CROWD.replace(
        "Say yes or no.",
        "{'Decide.' if who[15:17] in ('7,', '8,') else 'Say yes or no.'}",
    );
    let said =
        super::record(&place, "--quiet", &server.base_url(), &["python3", "-c", &two, "library"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let (diff, _) = place.json(&format!("diff {one} latest"));
    let changes = diff["changes"].as_array().unwrap();
    assert_eq!((changes.len(), &changes[0]["calls"]), (1, &2.into()), "{changes:?}");
    assert_eq!(count(&diff, "same_prompt"), 38);
}

/// What fits a program's run is said, and not what fits a study's.
#[test]
fn hints_are_those_of_programs() {
    let (place, server) = (Place::new(), Server::handler(answer));
    let run = recorded(&place, &server, ["What is the capital of France?", "Spain"]);
    let shown = place.session(&[
        "export latest --as outputs",
        "fork latest",
        "fork latest --retry-failed",
        "fork latest --set a=1",
        "check latest",
        "replay latest",
        "plan none.yaml --against latest",
    ]);
    let shown = shown.replace(&run, "[run]").replace(&run[..8], "[run]");
    let parsers = |line: &&str| !line.contains("the parsers are ");
    let shown: Vec<&str> = shown.lines().filter(parsers).collect();
    crate::support::cli::assert_said!("wire_hints", shown.join("\n"));
}
