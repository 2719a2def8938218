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
        ("rule.yaml", "samples: 3", "rule: mean"),
        ("judges.yaml", "samples: 3", "judges: [{model: ''}]"),
        ("pairs.yaml", "samples: 3", "against: {condition: plain}"),
        ("first.yaml", "values: [polite, rude]", "against: {condition: plain}"),
        ("strategies.yaml", "samples: 3", "strategies: [{tag: verdict, one_off: [polite]}]"),
    ] {
        place.write(file, POLITE.replace(from, to));
    }
    let files = [
        "none", "both", "template", "variable", "samples", "calls", "rule", "judges", "pairs",
        "first", "strategies", "missing",
    ];
    let mut commands =
        files.map(|file| format!("score judge latest --config {file}.yaml")).to_vec();
    commands.push("run judge.yaml".to_owned());
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    assert_said!("judges_wrong", place.session(&commands));
    assert_eq!(runs(&place).len(), 1);
}

/// Where the API has structured output, the verdict is asked for in it; a config may leave it out, and a server that refuses
/// it stops the judge with the setting to type.
#[test]
fn a_verdict_is_asked_for_as_structured_output() {
    let place = place();
    let of = runs(&place)[0].1.clone();
    let server = Server::handler(|received| {
        let body = received.json();
        match body.get("response_format") {
            Some(format) => {
                let schema = &format["json_schema"]["schema"];
                assert_eq!(schema["properties"]["verdict"]["enum"], json!(["polite", "rude"]));
                let prompt = body["messages"][0]["content"].as_str().unwrap();
                assert!(
                    prompt.contains("a JSON object") && !prompt.contains("<verdict>"),
                    "{prompt}"
                );
                Reply::chat(r#"{"reasons": "It is not rude.", "verdict": "polite"}"#)
            }
            None => Reply::chat("<verdict>rude</verdict>"),
        }
    });
    let args = format!(
        "score judge {of} --config judge.yaml --quiet --model openai --base-url {}",
        server.base_url()
    );
    place.ok(&args);
    let verdicts = |place: &Place| {
        let run = runs(place).last().unwrap().1.clone();
        decisions(place, &run).into_iter().map(|(_, text, _)| text).collect::<Vec<_>>()
    };
    assert_eq!(verdicts(&place), ["polite"; 4]);
    place.ok(&format!("{args} --new --set request.extra.response_format=null"));
    assert_eq!(verdicts(&place), ["rude"; 4]);
    let refusing = Server::handler(|_| {
        Reply::error(400, "invalid_request_error", "Unsupported parameter: 'response_format'")
    });
    let said = place.run(&format!(
        "score judge {of} --config judge.yaml --quiet --new --model openai --base-url {}",
        refusing.base_url()
    ));
    assert!(said.err.contains("--set request.extra.response_format=null"), "{}", said.err);
}

/// Answers of two conditions to three items, of which one has no answer in the second.
fn pairs() -> Place {
    let place = Place::new();
    let line = |item: usize, condition: &str| {
        let message = json!({"role": "user", "content": format!("item {item}")});
        let request = json!({"model": "m", "messages": [message]});
        json!({"call": format!("{condition}/{item}"), "request": request,
            "label": {"condition": condition, "item": item.to_string()},
            "response": {"content": format!("{condition} {item}")}})
        .to_string()
    };
    let mut lines: Vec<String> = (0..4).map(|item| line(item, "warm")).collect();
    lines.extend((0..3).map(|item| line(item, "plain")));
    place.write("answers.jsonl", lines.join("\n"));
    place.ok("import answers.jsonl");
    let config = POLITE
        .replace("  Is this answer polite?\n\n  {answer}\n", "  {first}\n  or\n  {second}?\n")
        .replace("values: [polite, rude]\nsamples: 3", "against: {condition: plain}");
    place.write("pairs.yaml", config);
    place
}

/// Warm is better than plain for item 0, the first is always better for item 1, and one order of item 2 has no verdict.
#[test]
fn a_verdict_that_depends_on_the_order_is_a_tie() {
    let place = pairs();
    let server = Server::handler(|received| {
        let prompt = received.json()["messages"][0]["content"].as_str().unwrap().to_owned();
        let is_warm_first = prompt.starts_with("warm");
        let verdict = match prompt {
            _ if prompt.contains("warm 1") => "first",
            _ if prompt.contains("warm 2") && !is_warm_first => "neither of them",
            _ if is_warm_first => "first",
            _ => "second",
        };
        Reply::chat(&json!({"reasons": "", "verdict": verdict}).to_string())
    });
    let of = runs(&place)[0].1.clone();
    let judge = format!(
        "score judge {of} --config pairs.yaml --quiet --model openai --base-url {}",
        server.base_url()
    );
    let said = place.run(&judge);
    let mut shown = place.shown("score judge RUN --config pairs.yaml", &said);
    let [_, (_, judged), (_, verdicts)] = runs(&place).try_into().unwrap();
    let table = place.ok(&format!("table {verdicts} --table decisions --as jsonl"));
    for row in table.lines().map(|row| serde_json::from_str::<Value>(row).unwrap()) {
        shown.push_str(&format!("{} {} {}\n", row["call"], row["value"], row["warnings"]));
    }
    let mut calls: Vec<String> =
        decisions(&place, &judged).into_iter().map(|(call, ..)| call).collect();
    calls.sort();
    shown.push_str(&format!("{calls:?}\n"));
    shown.push_str(&place.args(&["stats", &of, "--figure", "share of polite independent"]).out);
    assert_said!("judges_pairs", shown);
    place.ok(&format!("replay {judged}"));
    // Without the label that makes pairs, each answer of the condition could be the other one.
    let bare = place.read("answers.jsonl").replace("\"item\":", "\"number\":");
    let bare: String = bare
        .lines()
        .map(|line| {
            let mut line: Value = serde_json::from_str(line).unwrap();
            line["label"].as_object_mut().unwrap().remove("number");
            format!("{line}\n")
        })
        .collect();
    place.write("bare.jsonl", bare);
    place.ok("import bare.jsonl");
    let bare = runs(&place).pop().unwrap().1;
    let said = place.run(&format!("score judge {bare} --config pairs.yaml --quiet"));
    assert_eq!(said.code, 2);
    assert!(said.err.contains("could both be the other answer of a pair"), "{}", said.err);
}

/// Three judges: one says rude, one polite, and one agrees with the first where it answers.
#[test]
fn several_judges_have_a_rule() {
    let place = place();
    let config =
        POLITE.replace("samples: 3", "samples: 1\njudges: [{model: a}, {model: b}, {model: c}]");
    place.write("judge.yaml", &config);
    let server = Server::handler(|received| {
        let body = received.json();
        let prompt = body["messages"][0]["content"].as_str().unwrap();
        let verdict = match body["model"].as_str().unwrap() {
            "a" => "rude",
            "b" => "polite",
            _ if prompt.contains("answer 0") => return Reply::error(500, "server_error", "no"),
            _ => "rude",
        };
        Reply::chat(&json!({"reasons": "", "verdict": verdict}).to_string())
    });
    let url = server.base_url();
    let of = runs(&place)[0].1.clone();
    let judge = format!(
        "score judge {of} --config judge.yaml --quiet --max-failed 1 --model openai --base-url {url}"
    );
    place.run(&judge);
    let verdicts = runs(&place)[2].1.clone();
    let table = place.ok(&format!("table {verdicts} --table decisions --as jsonl"));
    let rows = table.lines().map(|row| serde_json::from_str::<Value>(row).unwrap());
    let rows: Vec<String> =
        rows.map(|row| format!("{} {} {}", row["call"], row["value"], row["warnings"])).collect();
    let due = [
        r#""q/0" null "[\"a tie between \\\"rude\\\" and \\\"polite\\\"\"]""#,
        r#""q/1" "\"rude\"" null"#,
        r#""q/2" "\"rude\"" null"#,
        r#""q/3" "\"rude\"" null"#,
    ];
    assert_eq!(rows, due);
    // A failed call is missing in every count, and the two others still have a verdict.
    let figure = place.args(&["stats", &of, "--figure", "share of polite independent"]).out;
    assert!(figure.contains("rude    3        1"), "{figure}");
}

/// 40 labels cost 40 calls: only labelled answers are judged, or some of them; figures say how far the judge agrees.
#[test]
fn some_answers_are_judged_and_figures_say_how_far_a_judge_agrees_with_people() {
    let place = place();
    let of = runs(&place)[0].1.clone();
    let server = judge();
    let url = server.base_url();
    let judge = |more: &str| {
        format!(
            "score judge {of} --config judge.yaml --quiet --model openai --base-url {url} {more}"
        )
    };
    let none = place.run(&judge("--only labelled"));
    assert_eq!(none.code, 2, "{}", none.err);
    assert!(none.err.contains("has no answers that this judge judges"), "{}", none.err);
    let figure = ["stats", &of, "--figure", "share of polite = polite independent"];
    place.ok(&judge("--sample 2"));
    assert_eq!(decisions(&place, &runs(&place).last().unwrap().1.clone()).len(), 2);
    let unlabelled = place.args(&figure).out;
    assert!(unlabelled.contains("was compared with nobody's label"), "{unlabelled}");
    place.write("ada.csv", "call,value\nq/0,polite\nq/1,rude\nq/2,rude\n");
    place.ok(&format!("score label {of} --by ada --from ada.csv"));
    place.ok(&judge("--only labelled --new"));
    assert_eq!(decisions(&place, &runs(&place).last().unwrap().1.clone()).len(), 3);
    let labelled = place.args(&figure).out;
    assert!(
        labelled.contains("polite is a judge's verdict and agrees with people: alpha "),
        "{labelled}"
    );
    assert!(labelled.contains(", n = 3"), "{labelled}");
    let people = place.args(&["stats", &of, "--figure", "share of ada = polite independent"]).out;
    assert!(!people.contains("judge"), "{people}");
}
