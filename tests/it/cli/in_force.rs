//! Which decision about an answer is in force is the same wherever one looks: after a vote was accepted twice, a confidence
//! beside it, a label of a person, and the verdict of a judge.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::serve::Served;
use crate::support::cli::Place;
use crate::support::csv::{Row, rows_of};
use crate::support::server::{Reply, Server};

/// The number of answers.
const ANSWERS: usize = 50;

/// The decisions about an answer by name, each as JSON.
type Decided = BTreeMap<String, String>;

fn final_vote(n: usize) -> &'static str {
    if n.is_multiple_of(3) { "yes" } else { "no" }
}

/// The judge's verdict.
fn tone(n: usize) -> &'static str {
    if n.is_multiple_of(2) { "polite" } else { "rude" }
}

const JUDGE: &str = "experiment: judge
name: tone
template: 'Is this polite? {answer}'
values: [polite, rude]
samples: 1
request: {model: m}
";

/// A judge that looks at the confidence in the prompt.
fn judge() -> Server {
    Server::handler(|received| {
        let prompt = received.json()["messages"][0]["content"].to_string();
        let number = prompt.split("Confidence ").nth(1).unwrap();
        let n = number.split('.').next().unwrap().parse().unwrap();
        Reply::chat(&format!("<verdict>{}</verdict>", tone(n)))
    })
}

/// What is in force about the n-th answer.
fn due(n: usize) -> Decided {
    let all = [
        ("vote", json!(final_vote(n)).to_string()),
        ("confidence", json!(n).to_string()),
        ("ada", json!("polite").to_string()),
        ("tone", json!(tone(n)).to_string()),
    ];
    all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// A place with the run of the answers, and its id.
fn place() -> (Place, String) {
    let place = Place::new();
    let line = |n: usize| {
        let request = json!({"model": "m", "messages": [{"role": "user", "content": format!("question {n}")}]});
        let text = format!("First: no. Confidence {n}. My vote is {}.", final_vote(n));
        let (call, label) = (format!("q/{n}"), json!({"n": n.to_string()}));
        json!({"call": call, "request": request, "response": {"content": text}, "label": label})
            .to_string()
    };
    place.write("answers.jsonl", (0..ANSWERS).map(line).collect::<Vec<_>>().join("\n"));
    place.ok("import answers.jsonl");
    let run = place.json("log").0["runs"][0]["run"].as_str().unwrap().to_owned();
    let file = |name: &str, strategy: &str| {
        format!("parsers: [{{name: {name}, strategies: [{strategy}]}}]\n")
    };
    place.write("first.yaml", file("vote", "{one_of: ['yes', 'no'], pick: first}"));
    place.write("last.yaml", file("vote", "{one_of: ['yes', 'no'], pick: last}"));
    place.write("confidence.yaml", file("confidence", "{number: {}}"));
    for parsers in ["first.yaml", "last.yaml", "confidence.yaml"] {
        place.ok(&format!("check {run} --parsers {parsers} --accept"));
    }
    let labels: String = (0..ANSWERS).map(|n| format!("q/{n},polite\n")).collect();
    place.write("labels.csv", format!("call,value\n{labels}"));
    place.ok(&format!("score label {run} --by ada --from labels.csv"));
    place.write("judge.yaml", JUDGE);
    let server = judge();
    let url = server.base_url();
    place.ok(&format!("score judge {run} --config judge.yaml -q --model openai --base-url {url}"));
    (place, run)
}

/// The number of an answer.
fn number(call: &Value) -> usize {
    call.as_str().and_then(|call| call.strip_prefix("q/")).unwrap().parse().unwrap()
}

/// The decisions of a list, by name.
fn decided(list: &Value) -> Decided {
    let all = list.as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    all.map(|it| (text(&it["name"]), text(&it["value"]))).collect()
}

#[test]
fn a_table_has_it() {
    let (place, run) = place();
    let table = place.ok(&format!("table {run} --table decisions --as jsonl"));
    let mut found = vec![Decided::new(); ANSWERS];
    for row in table.lines().map(|row| serde_json::from_str::<Value>(row).unwrap()) {
        let name = row["name"].as_str().unwrap().to_owned();
        let value = row["value"].as_str().unwrap().to_owned();
        let earlier = found[number(&row["call"])].insert(name, value);
        assert_eq!((earlier, &row["in_force"]), (None, &json!(true)), "{row}");
        assert_ne!(row["accepted_in"], row["run"]);
    }
    assert_eq!(found, (0..ANSWERS).map(due).collect::<Vec<_>>());
    let csv = rows_of(&place.ok(&format!("table {run} --table decisions")));
    let mut in_csv = vec![Decided::new(); ANSWERS];
    for row in csv {
        let n: usize = row["n"].parse().unwrap();
        in_csv[n].insert(row["name"].clone(), row["value"].clone());
    }
    assert_eq!(in_csv, found);
    // It recorded none itself.
    assert_eq!(place.ok(&format!("table {run} --table decisions --as jsonl --recorded")), "");
}

/// The decisions of the lines that an audit begins with.
fn accepted_lines(text: &str) -> Decided {
    let lines = text.lines().filter_map(|line| line.split_once("accepted since: "));
    lines
        .map(|(_, decision)| {
            let (name, value) = decision.split_once(' ').unwrap();
            (name.to_owned(), value.split(" (").next().unwrap().to_owned())
        })
        .collect()
}

#[test]
fn an_audit_and_a_shown_call_have_it() {
    let (place, run) = place();
    for n in 0..ANSWERS {
        let text = place.ok(&format!("audit {run} q/{n}"));
        assert_eq!(accepted_lines(&text), due(n), "{text}");
        assert!(text.contains("no decision was made on this call in its own run"), "{text}");
        assert_eq!(accepted_lines(&place.ok(&format!("show {run} q/{n}"))), due(n));
        let (audit, _) = place.json(&format!("audit {run} q/{n}"));
        let found = audit["in_force"].as_array().unwrap().iter();
        let found: Decided = found
            .map(|it| (it["name"].as_str().unwrap().to_owned(), it["value"].to_string()))
            .collect();
        assert_eq!(found, due(n), "{audit}");
    }
}

#[test]
fn figures_reports_and_agreement_have_it() {
    let (place, run) = place();
    let figure = |text: &str| {
        let said = place.args(&["stats", &run, "--figure", text, "--json"]);
        let said: Value = serde_json::from_str(&said.out).unwrap();
        let group = &said["figures"][0]["groups"][0];
        (group["draws"].as_u64().unwrap(), group["value"].as_f64().unwrap())
    };
    let yes = (0..ANSWERS).filter(|n| final_vote(*n) == "yes").count();
    let all = ANSWERS as u64;
    assert_eq!(figure("share of vote = yes independent"), (all, yes as f64 / ANSWERS as f64));
    assert_eq!(figure("mean of confidence independent"), (all, (ANSWERS - 1) as f64 / 2.0));
    assert_eq!(figure("share of ada = polite independent"), (all, 1.0));
    for (name, value) in [("vote", "yes"), ("ada", "polite"), ("tone", "polite")] {
        let text = format!("share of {name} = {value} by n independent");
        let value = json!(value).to_string();
        let said = place.args(&["stats", &run, "--figure", &text, "--json"]);
        let said: Value = serde_json::from_str(&said.out).unwrap();
        for group in said["figures"][0]["groups"].as_array().unwrap() {
            let n: usize = group["group"][0].as_str().unwrap().parse().unwrap();
            let is_it = due(n)[name] == value;
            assert_eq!(group["value"], json!(f64::from(u8::from(is_it))), "{text}: {group}");
        }
    }
    place.args(&[
        "report",
        &run,
        "-o",
        "r.html",
        "--figure",
        "mean of confidence by n independent",
    ]);
    let report = place.read("r.html");
    // A page lists the first thirty groups.
    for n in 0..30 {
        let row = format!(
            "<tr><td>{n}</td><td class=n>1</td><td class=n>0</td><td class=n>0</td><td class=n>{n}.000</td>"
        );
        assert!(report.contains(&row), "{row}");
    }
    let (all, _) = place.json(&format!("score agreement {run} vote ada tone"));
    let last = place.json(&format!("audit {run} q/0")).0;
    let vote = last["in_force"].as_array().unwrap().iter().find(|it| it["name"] == "vote").unwrap();
    let version = place.json(&format!("audit {} q/0", vote["run"].as_str().unwrap())).0;
    let version = format!("vote@{}", version["decision"]["parser"]["version"]);
    let disagreements = all["disagreements"].as_array().unwrap();
    assert_eq!(disagreements.len(), ANSWERS);
    for answer in disagreements {
        let (values, due) = (&answer["values"], due(number(&answer["call"])));
        for (rater, name) in [
            (version.as_str(), "vote"),
            ("a person, ada: ada", "ada"),
            ("a judge, m: tone", "tone"),
        ] {
            assert_eq!(values[rater].to_string(), due[name], "{rater}: {answer}");
        }
    }
    let (found, _) = place.json(&format!("score agreement {run} vote"));
    let raters = found["raters"].as_array().unwrap();
    assert_eq!(raters.len(), 2, "the two files named vote are two raters: {found}");
}

#[test]
fn exports_have_it() {
    let (place, run) = place();
    place.ok(&format!("export {run} trace.jsonl --as otlp"));
    let trace = place.read("trace.jsonl");
    let mut found: BTreeMap<String, Decided> = BTreeMap::new();
    for line in trace.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        for span in line["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap() {
            let of = |object: &Value, name: &str| {
                let attributes = object["attributes"].as_array().into_iter().flatten();
                let mut named = attributes.filter(|attribute| attribute["key"] == name);
                named.next().map_or(Value::Null, |attribute| attribute["value"].clone())
            };
            for event in span["events"].as_array().into_iter().flatten() {
                if of(event, "retold.decision.in_force")["boolValue"] == true {
                    let text = |name: &str| {
                        of(event, name)["stringValue"].as_str().unwrap_or_default().to_owned()
                    };
                    let call = of(span, "retold.call")["stringValue"].as_str().unwrap().to_owned();
                    let (name, value) =
                        (text("retold.decision.name"), text("retold.decision.value"));
                    found.entry(call).or_default().insert(name, value);
                }
            }
        }
    }
    for n in 0..ANSWERS {
        assert_eq!(found.get(&format!("q/{n}")), Some(&due(n)));
    }
}

#[test]
fn pages_have_it() {
    let (place, run) = place();
    let served = Served::log(&place, "retold.db");
    let (log, _) = place.json(&format!("log {run} --kind RequestSent --most 1000"));
    for event in log["events"].as_array().unwrap() {
        let seq = &event["seq"];
        let exchange = served.json(&format!("/run/{run}/exchange/{seq}"));
        let n = number(&exchange["call"]);
        assert_eq!(decided(&exchange["accepted"]), due(n), "{exchange}");
        let why = served.json(&format!("/run/{run}/chain/{seq}"));
        assert_eq!(decided(&why["accepted"]), due(n), "{why}");
        let story = served.json(&format!("/run/{run}/participant/q%2F{n}"));
        assert_eq!(decided(&story["steps"][0]["accepted"]), due(n), "{story}");
        let html = served.html(&format!("/run/{run}/participant/q%2F{n}"));
        assert!(html.contains(&format!("<code class=\"value\">{n}</code>")), "{html}");
    }
}

#[test]
fn comparisons_have_it_and_name_other_parsers() {
    let (place, run) = place();
    place.ok("import answers.jsonl");
    let again = place.json("log").0["runs"].as_array().unwrap().last().unwrap()["run"].clone();
    let again = again.as_str().unwrap();
    place.ok(&format!("check {again} --parsers first.yaml --accept"));
    let (same, code) = place.json(&format!("diff {run} {again}"));
    assert_eq!(code, 1);
    let alike = (0..ANSWERS).filter(|n| final_vote(*n) == "no").count();
    assert_eq!(same["deciders"][0]["name"], "vote", "{same}");
    // The confidence and the label are only in one.
    assert_eq!((&same["calls"]["decided"], alike > 0), (&json!(ANSWERS), true));
    let said = place.run(&format!("diff {run} {again}")).out;
    let note = format!("retold check {} {} --accept`", &run[..8], &again[..8]);
    assert!(said.contains("note: vote was decided by vote@") && said.contains(&note), "{said}");
    // Of the first run, the figures have what is in force.
    let yes = (0..ANSWERS).filter(|n| final_vote(*n) == "yes").count() as f64 / ANSWERS as f64;
    let is_vote = |figure: &Value| figure["figure"].as_str().unwrap().starts_with("share of vote");
    let vote = same["figures"].as_array().unwrap().iter().find(|figure| is_vote(figure)).unwrap();
    let shares = vote["groups"].as_array().unwrap().iter();
    let shares: Vec<f64> = shares.map(|group| group["value"].as_f64().unwrap()).collect();
    assert!(shares.contains(&yes) || shares.contains(&(1.0 - yes)), "{vote}");
    let both = place.run(&format!("stats {run} {again}")).out;
    assert!(both.starts_with("note: vote was decided by") && both.contains(&note), "{both}");
    assert_eq!(place.json(&format!("stats {run} {again}")).0["deciders"], same["deciders"]);
    place.ok(&format!("report {run} {again} -o both.html"));
    let report = place.read("both.html");
    assert!(report.contains("<p class=banner>vote was decided by vote@"), "{report}");
    // Decided alike, nothing is said any more.
    place.ok(&format!("check {run} {again} --parsers last.yaml --accept"));
    let both = place.run(&format!("stats {run} {again}")).out;
    assert!(!both.contains("was decided by"), "{both}");
}

/// A word about a vote is not a vote: neither the flow of votes nor the last decision of a participant's page changes.
#[test]
fn a_label_is_never_the_last_vote() {
    let place = Place::new();
    let config = concat!(env!("RETOLD_ROOT"), "/config/deliberation_small.yaml");
    place.ok(&format!("run {config} -q --no-outputs"));
    let run = place.json("show latest").0["run"].as_str().unwrap().to_owned();
    let plots = |file: &str| {
        place.ok(&format!("report {run} -o {file}"));
        let report = place.read(file);
        let csv = report.split("data:text/csv;base64,").skip(1);
        csv.map(|csv| csv.split('"').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let served = Served::log(&place, "retold.db");
    let ends = || served.json(&format!("/run/{run}/participant/p_0007"))["ends"].clone();
    let (before, ends_before) = (plots("before.html"), ends());
    assert!(before.len() > 1, "the flow is among the plots");
    assert_eq!(ends_before[1]["which"], "last", "{ends_before}");
    let table = rows_of(&place.ok(&format!("table {run}")));
    let votes = table.iter().filter(|row| row["call"].starts_with("final_vote/"));
    let label = |row: &Row| format!("{},{},polite\n", row["call"], row["sample"]);
    let labels: String = votes.map(label).collect();
    place.write("labels.csv", format!("call,sample,value\n{labels}"));
    place.ok(&format!("score label {run} --by ada --from labels.csv"));
    assert_eq!((plots("after.html"), ends()), (before, ends_before));
}
