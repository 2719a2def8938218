//! `retold score judge`: a model judges recorded answers, in a run of its own.

use serde_json::{Value, json};

use crate::support::cli::{Place, assert_said};
use crate::support::server::{Reply, Server};

const POLITE: &str = "\
experiment: judge
name: polite
template: |
  Is this answer polite?

  {answer}
values: [polite, rude]
samples: 3
request:
  model: m
  temperature: 1.0
limits:
  concurrency: 1
retry:
  max_retries: 1
  base_seconds: 0.01
  max_seconds: 0.02
model:
  rates: {malformed: 0}
";

/// Four recorded answers.
fn place() -> Place {
    let place = Place::new();
    let line = |n: usize| {
        let message = json!({"role": "user", "content": format!("question {n}")});
        let request = json!({"model": "m", "messages": [message]});
        json!({"call": format!("q/{n}"), "request": request, "response": {"content": format!("answer {n}")}}).to_string()
    };
    place.write("answers.jsonl", (0..4).map(line).collect::<Vec<_>>().join("\n"));
    place.ok("import answers.jsonl");
    place.write("judge.yaml", POLITE);
    place
}

/// The runs of the log, each as its experiment and its id.
fn runs(place: &Place) -> Vec<(String, String)> {
    let (log, _) = place.json("log");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    log["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| (text(&run["experiment"]), text(&run["run"])))
        .collect()
}

fn decisions(place: &Place, run: &str) -> Vec<(String, String, bool)> {
    let table = place.ok(&format!("table {run} --table decisions --as jsonl --recorded"));
    let rows = table.lines().map(|row| serde_json::from_str::<Value>(row).unwrap());
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    rows.map(|row| (text(&row["call"]), text(&row["text"]), row["in_force"] == true)).collect()
}

/// A judge that answers what is in the prompt: odd answers are rude.
fn judge() -> Server {
    Server::handler(move |received| {
        let prompt = received.json()["messages"][0]["content"].to_string();
        let is_odd = prompt.contains("answer 1") || prompt.contains("answer 3");
        let verdict = if is_odd { "rude" } else { "polite" };
        Reply::chat(&format!("Well.\n<verdict>{verdict}</verdict>"))
    })
}

#[test]
fn a_simulated_judge_says_so_and_is_an_experiment_like_any_other() {
    let place = place();
    let of = runs(&place)[0].1.clone();
    let said = place.run(&format!("score judge {of} --config judge.yaml --quiet"));
    assert_said!("judges_simulated", place.shown("score judge RUN --config judge.yaml", &said));
    let all = runs(&place);
    let [_, (experiment, judge), (decided, verdicts)] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!((experiment.as_str(), decided.as_str()), ("judge", "decisions"));
    place.ok(&format!("replay {judge}"));
    place.ok("verify");
    // Each of the twelve samples has a decision of the judge's parser, each answer one of the judge.
    assert_eq!(decisions(&place, judge).len(), 12);
    let calls: Vec<String> =
        decisions(&place, verdicts).into_iter().map(|(call, ..)| call).collect();
    assert_eq!(calls, ["q/0", "q/1", "q/2", "q/3"]);
    let made = place.json(&format!("audit {verdicts} q/0")).0["decision"].clone();
    assert_eq!(
        made["parser"]["params"],
        json!({"name": "polite", "run": judge, "simulated": true})
    );
    assert!(place.ok(&format!("show {verdicts}")).contains("SIMULATED"));
    let figure = ["stats", &of, "--figure", "share of polite = polite independent"];
    let said = place.args(&figure);
    let banner = "SIMULATED: a program made up verdicts that are counted here; they are not data";
    assert!(said.out.contains(banner), "{}", said.out);
    place.ok(&format!("report {of} -o verdicts.html"));
    assert!(place.read("verdicts.html").contains(banner));
    place.write("ada.csv", "call,value\nq/0,polite\nq/1,rude\n");
    place.ok(&format!("score label {of} --by ada --from ada.csv"));
    let agreement = place.ok(&format!("score agreement {of} polite ada"));
    assert!(agreement.starts_with(banner), "{agreement}");
    // What only people decided is not made up.
    place.write("bob.csv", "call,value\nq/0,polite\nq/1,polite\n");
    place.ok(&format!("score label {of} --by bob --from bob.csv"));
    let people = place.ok(&format!("score agreement {of} ada bob"));
    assert!(!people.contains("SIMULATED"), "{people}");
    // Judging again replaces the verdicts.
    place.ok(&format!("score judge {of} --config judge.yaml --quiet --new --set seed=9"));
    assert!(decisions(&place, verdicts).iter().all(|(.., in_force)| !in_force));
}

#[test]
fn a_model_judges_and_is_not_asked_twice() {
    let place = place();
    let of = runs(&place)[0].1.clone();
    let server = judge();
    let args = format!(
        "score judge {of} --config judge.yaml --quiet --model openai --base-url {}",
        server.base_url()
    );
    place.ok(&args);
    let verdicts = runs(&place)[2].1.clone();
    let given: Vec<String> =
        decisions(&place, &verdicts).into_iter().map(|(_, text, _)| text).collect();
    assert_eq!(given, ["polite", "rude", "polite", "rude"]);
    let made = place.json(&format!("audit {verdicts} q/0")).0["decision"].clone();
    assert!(made["parser"]["params"]["run"].is_string(), "{made}");
    assert!(!place.ok(&format!("show {verdicts}")).contains("SIMULATED"));
    // Nobody answers any more, and nobody has to.
    drop(server);
    let said = place.run(&format!("{args} --resume"));
    assert_eq!((said.code, runs(&place).len()), (0, 3), "{}{}", said.out, said.err);
    assert!(
        said.err.contains(&format!("run {verdicts} has these verdicts already")),
        "{}",
        said.err
    );
}

/// A scale is read as a scale, and a verdict that is missing counts as missing, also where the call failed.
#[test]
fn what_is_not_one_verdict_is_missing() {
    let place = place();
    let scale = POLITE.replace("values: [polite, rude]", "scale: {from: 1, to: 10}");
    place.write("judge.yaml", scale.replace("samples: 3", "samples: 1"));
    let server = Server::handler(|received| {
        let prompt = received.json()["messages"][0]["content"].to_string();
        match prompt {
            _ if prompt.contains("answer 0") => Reply::chat("<verdict>8/10</verdict>"),
            _ if prompt.contains("answer 1") => Reply::chat("<verdict>7-8</verdict>"),
            _ if prompt.contains("answer 2") => Reply::error(500, "server_error", "no"),
            _ => Reply::chat("Not polite at all, so <verdict>not 8</verdict>"),
        }
    });
    let of = runs(&place)[0].1.clone();
    let url = server.base_url();
    let judge = format!("score judge {of} --config judge.yaml --quiet --max-failed 1");
    let said = place.run(&format!("{judge} --model openai --base-url {url}"));
    let mut shown = place.shown("score judge RUN --config judge.yaml", &said);
    let verdicts = runs(&place)[2].1.clone();
    let table = place.ok(&format!("table {verdicts} --table decisions --as jsonl"));
    for row in table.lines().map(|row| serde_json::from_str::<Value>(row).unwrap()) {
        shown.push_str(&format!("{} {} {}\n", row["call"], row["value"], row["warnings"]));
    }
    shown.push_str(&place.args(&["stats", &of, "--figure", "mean of polite independent"]).out);
    assert_said!("judges_missing", shown);
}

#[test]
fn what_a_judge_needs_is_said_with_its_place() {
    let place = place();
    for (file, from, to) in [
        ("none.yaml", "values: [polite, rude]\n", ""),
        ("both.yaml", "samples: 3", "scale: {from: 1, to: 5}"),
        ("template.yaml", "{answer}", "it"),
        ("variable.yaml", "{answer}", "{answer} {labels.condition}"),
        ("samples.yaml", "samples: 3", "samples: 0"),
        ("calls.yaml", "samples: 3", "calls: [other]"),
        ("strategies.yaml", "samples: 3", "strategies: [{tag: verdict, one_off: [polite]}]"),
    ] {
        place.write(file, POLITE.replace(from, to));
    }
    let files =
        ["none", "both", "template", "variable", "samples", "calls", "strategies", "missing"];
    let mut commands =
        files.map(|file| format!("score judge latest --config {file}.yaml")).to_vec();
    commands.push("run judge.yaml".to_owned());
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    assert_said!("judges_wrong", place.session(&commands));
    assert_eq!(runs(&place).len(), 1);
}
