//! Scorers of recorded answers: decisions made elsewhere (`check --decisions`), people (`label`), and how well all of them
//! agree (`agreement`).

use serde_json::{Value, json};

use crate::support::cli::{Place, assert_said};

/// Four recorded answers without decisions, one with something in it that would change the terminal.
fn place() -> Place {
    let place = Place::new();
    let line = |n: usize, text: &str| {
        let request = json!({"model": "m", "messages": [{"role": "user", "content": format!("question {n}")}]});
        json!({"call": format!("q/{n}"), "request": request, "response": {"content": text}})
            .to_string()
    };
    let texts = ["I say yes.", "I say no.", "Perhaps \u{1b}[2Jyes", "No, never."];
    let lines: Vec<String> = texts.iter().enumerate().map(|(n, text)| line(n, text)).collect();
    place.write("answers.jsonl", lines.join("\n"));
    place.ok("import answers.jsonl");
    place
}

/// The decisions about the imported answers in a run, as call, name and value, if they are in force.
fn in_force(place: &Place, run: &str) -> Vec<String> {
    let table = place.ok(&format!("table {run} --table decisions --as jsonl"));
    let rows = table.lines().map(|row| serde_json::from_str::<Value>(row).unwrap());
    let rows = rows.filter(|row| row["in_force"] == true);
    rows.map(|row| {
        format!("{} {} {}", row["call"], row["name"], row["value"]).replace(['"', '\\'], "")
    })
    .collect()
}

fn last_run(place: &Place) -> String {
    let (log, _) = place.json("log");
    log["runs"].as_array().unwrap().last().unwrap()["run"].as_str().unwrap().to_owned()
}

/// The run of the answers.
fn first_run(place: &Place) -> String {
    place.json("log").0["runs"][0]["run"].as_str().unwrap().to_owned()
}

#[test]
fn a_trace_has_accepted_decisions() {
    let place = place();
    let run = first_run(&place);
    for value in ["yes", "no"] {
        place.write("one.csv", format!("call,value\nq/0,{value}\n"));
        place.ok(&format!("score label {run} --by ada --from one.csv"));
    }
    place.ok(&format!("export {run} trace.jsonl --as otlp"));
    let trace = place.read("trace.jsonl");
    let line = trace.lines().find(|line| line.contains("retold.decision")).unwrap();
    let line: Value = serde_json::from_str(line).unwrap();
    let events = line["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["events"].clone();
    let of = |event: &Value, name: &str| {
        let attributes = event["attributes"].as_array().unwrap();
        let found = attributes.iter().find(|attribute| attribute["key"] == name);
        found.map_or(Value::Null, |found| found["value"].clone())
    };
    let decisions: Vec<Value> = events
        .as_array()
        .unwrap()
        .iter()
        .map(|event| {
            let run = of(event, "retold.decision.run");
            assert!(run["stringValue"].as_str().is_some_and(|accepted| accepted != run), "{event}");
            json!([
                of(event, "retold.decision.value")["stringValue"],
                of(event, "retold.decision.in_force")["boolValue"]
            ])
        })
        .collect();
    assert_eq!(decisions, [json!(["\"yes\"", false]), json!(["\"no\"", true])]);
}

#[test]
fn a_person_labels_stops_and_goes_on() {
    let place = place();
    let run = first_run(&place);
    let args = ["score", "label", &run, "--by", "ada", "--values", "yes,no"];
    // The first is taken back and given again, the second skipped, and the rest left.
    let said = place.fed(&args, b"no\n:undo\nyes\n\n:quit\n");
    assert_said!("labels_by_hand", place.shown("score label RUN --by ada --values yes,no", &said));
    assert_eq!(in_force(&place, "latest"), ["q/0 ada yes"]);
    // The end of the input is an end as well; what is labelled does not come again.
    let said = place.fed(&args, b"no\nyes\nno");
    assert_eq!((said.code, said.out.contains("I say yes.")), (0, false), "{}", said.out);
    assert_eq!(in_force(&place, "latest"), ["q/1 ada no", "q/2 ada yes", "q/3 ada no"]);
    let (said, code) = place.json(&format!("score label {run} --by ada"));
    assert_eq!((code, &said["labelled"], &said["left"]), (0, &json!(0), &json!(0)));
    assert_eq!(said["run"], Value::Null);
    // Somebody else begins at the beginning; who labels again replaces what was said before.
    let said =
        place.fed(&["score", "label", &run, "--by", "bob", "--most", "1", "--json"], b"yes\n");
    assert_eq!(serde_json::from_str::<Value>(&said.out).unwrap()["left"], 3, "{}", said.out);
    let earlier = last_run(&place);
    let again = ["score", "label", &run, "--by", "bob", "--again", "--most", "1", "--question"];
    let said = place.fed(&again, b"no\n");
    assert!(said.out.contains("question 0\n\n---\n\nI say yes."), "{}", said.out);
    // What is in force is the same wherever one looks for it.
    for run in [&earlier, "latest"] {
        assert_eq!(in_force(&place, run), ["q/0 bob no"]);
    }
}

#[test]
fn what_a_script_types_wrong_records_nothing() {
    let place = place();
    let run = first_run(&place);
    let said = place
        .fed(&["score", "label", &run, "--by", "ada", "--values", "yes,no"], b"yes\nmaybe\nno\n");
    assert_eq!(said.code, 2);
    assert!(
        said.err.contains("standard input: line 2: \"maybe\" is not one of the values yes, no"),
        "{}",
        said.err
    );
    assert_eq!(last_run(&place), run);
}

#[test]
fn labels_are_imported_from_csv() {
    let place = place();
    let run = first_run(&place);
    place.write(
        "labels.csv",
        "note,call,value,other\n,q/0,yes,x\n\"a doubt, perhaps\",q/2,3,\n,q/3,,\n",
    );
    let label = format!("score label {run} --by ada --name vote --from labels.csv");
    assert_said!("labels_imported", place.session(&[&label, &label]));
    assert_eq!(in_force(&place, "latest"), ["q/0 vote yes", "q/2 vote 3"]);
    let decision = place.json("audit latest q/2").0["decision"].clone();
    assert_eq!(decision["reasoning"], "a doubt, perhaps");
    assert_said!("labels_checked", place.session(&["check latest"]));
    // The table of a run names the answers.
    let table = place.ok(&format!("table {run} --as csv"));
    let mut lines = table.lines().map(str::to_owned);
    let header = format!("{},ada", lines.next().unwrap());
    let rows = lines.map(|line| format!("{line},no")).collect::<Vec<_>>().join("\n");
    place.write("table.csv", format!("{header}\n{rows}\n"));
    place.ok(&format!("score label {run} --by ada --from table.csv --column ada"));
    assert_eq!(in_force(&place, "latest").len(), 4);
}

#[test]
fn a_file_of_labels_is_used_as_a_whole_or_not_at_all() {
    let place = place();
    let run = first_run(&place);
    for (file, text) in [
        ("stranger.csv", "call,value\nq/0,yes\nq/9,yes\n"),
        ("windows.csv", "call,value\r\nq/0,\"yes\"\r\n\r\nq/9,yes\r\n"),
        ("cells.csv", "call,note,value\r\nq/0,well, yes,yes\r\n"),
        ("empty.csv", ""),
        ("run.csv", "run,call,value\n0123456789abcdef,q/0,yes\n"),
        ("sample.csv", "call,sample,value\nq/0,1,yes\n"),
        ("twice.csv", "call,value\nq/0,yes\nq/1,no\nq/0,no\n"),
        ("mixed.csv", "answer_seq,call,value\n3,,yes\n,q/0,no\n"),
        ("unknown.csv", "call,value\nq/0,yes\nq/1,mayb\n"),
        ("nameless.csv", "call,value\n,yes\n"),
        ("column.csv", "call,vote\nq/0,yes\n"),
        ("number.csv", "call,sample,value\nq/0,first,yes\n"),
        ("call.csv", "call,value\nq//0,yes\n"),
        ("keys.jsonl", "{\"call\":\"q/0\",\"value\":\"yes\",\"note\":1}\n"),
    ] {
        place.write(file, text);
    }
    let files = [
        "stranger.csv", "windows.csv", "cells.csv", "empty.csv", "run.csv", "sample.csv",
        "twice.csv", "mixed.csv", "unknown.csv", "nameless.csv", "column.csv", "number.csv",
        "call.csv", "keys.jsonl", "missing.csv",
    ];
    let commands =
        files.map(|file| format!("score label {run} --by ada --values yes,no --from {file}"));
    let mut commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    let empty = format!("score label {run} --by= --from stranger.csv");
    let no_values = [
        format!("score label {run} --by ada --values="),
        format!("score label {run} --by ada --values yes,,no"),
        "score label answers.jsonl --by ada".to_owned(),
    ];
    commands.push(&empty);
    commands.extend(no_values.iter().map(String::as_str));
    assert_said!("labels_wrong", place.session(&commands));
    assert_eq!(last_run(&place), run);
}

#[test]
fn decisions_made_elsewhere_are_compared_with_those_in_force() {
    let place = place();
    let run = first_run(&place);
    place.write("labels.csv", "call,value\nq/0,yes\nq/1,yes\nq/2,yes\n");
    place.ok(&format!("score label {run} --by ada --name vote --from labels.csv"));
    let lines = ["yes", "no", "yes", "no"].iter().enumerate();
    let lines: Vec<String> = lines
        .map(|(n, value)| json!({"call": format!("q/{n}"), "value": value}).to_string())
        .collect();
    place.write("made.jsonl", lines.join("\n"));
    let check = format!("check {run} --decisions made.jsonl --name vote@4 --function votes.read");
    assert_said!(
        "labels_made_elsewhere",
        place.session(&[&check, &format!("{check} --accept"), &format!("{check} --accept")])
    );
    assert_eq!(
        in_force(&place, "latest"),
        ["q/0 vote yes", "q/1 vote no", "q/2 vote yes", "q/3 vote no"]
    );
    let wrong = [
        format!("check {run} --decisions made.jsonl --name vote@x"),
        format!("check {run} {run} --decisions made.jsonl --name vote@4"),
        format!("check {run} --decisions made.jsonl"),
    ];
    let wrong: Vec<&str> = wrong.iter().map(String::as_str).collect();
    assert_said!("labels_made_elsewhere_wrong", place.session(&wrong));
}

#[test]
fn agreement_between_a_function_and_people() {
    let place = place();
    let run = first_run(&place);
    let wrong = format!("score agreement {run}");
    assert_eq!(place.run(&wrong).code, 2);
    for (by, values) in [("ada", ["yes", "no", "yes", "no"]), ("bob", ["yes", "no", "no", ""])] {
        let rows = values.iter().enumerate().map(|(n, value)| format!("q/{n},{value}\n"));
        place.write("labels.csv", format!("call,value\n{}", rows.collect::<String>()));
        place.ok(&format!("score label {run} --by {by} --name vote --from labels.csv"));
    }
    let made = json!({"call": "q/0", "value": 3}).to_string();
    place.write("made.jsonl", made);
    place.ok(&format!("check {run} --decisions made.jsonl --name length@2 --accept"));
    let commands = [
        wrong,
        format!("score agreement {run} vote length --most 0"),
        format!("score agreement {run} vote --level interval"),
        format!("score agreement {run} length"),
        format!("score agreement {run} mood"),
    ];
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    assert_said!("labels_agreement", place.session(&commands));
    let (found, code) = place.json(&format!("score agreement {run}"));
    assert_eq!((code, &found["rated"], &found["pairs"][0]["both"]), (0, &json!(3), &json!(3)));
    // By hand: of six values that can be paired, three are yes and three no, and two of them are about one answer.
    let alpha = found["alpha"]["value"].as_f64().unwrap();
    assert!((alpha - (1.0 - 5.0 * 2.0 / (2.0 * 3.0 * 3.0))).abs() < 1e-12, "{alpha}");
    let matrix = &found["pairs"][0]["matrix"];
    assert_eq!(matrix["values"], json!(["no", "yes"]));
    assert_eq!(matrix["counts"], json!([[1, 0], [1, 1]]), "one row for each value of ada: {found}");
    place.ok(&format!("score agreement {run} -o agreement.svg"));
    let picture = place.read("agreement.svg");
    assert!(
        picture.starts_with("<svg") && picture.contains("the same for 2 of 3 answers"),
        "{picture}"
    );
    assert!(picture.contains("<title>agreement of ") && picture.contains("&quot;matrix&quot;"));
    for (args, due) in [
        ("-o agreement.svg", "the file exists"),
        ("-o agreement.png", "a figure is drawn as SVG"),
        ("vote length -o -", ""),
    ] {
        let said = place.run(&format!("score agreement {run} {args}"));
        assert_eq!(said.code, if due.is_empty() { 0 } else { 2 }, "{args}: {}", said.err);
        assert!(said.err.contains(due), "{args}: {}", said.err);
    }
    place.ok(&format!("report {run} -o page.html"));
    assert!(place.read("page.html").contains("How far those agree who decided"));
    let disagreement = &found["disagreements"][0];
    assert_eq!(
        (&disagreement["call"], &disagreement["text"]),
        (&json!("q/2"), &json!("Perhaps \u{1b}[2Jyes"))
    );
}

/// Two programs are two raters, also if they have one command and another file.
#[test]
fn programs_that_decided_are_told_apart() {
    let place = place();
    let run = first_run(&place);
    for value in ["yes", "no"] {
        let filter =
            format!("import sys\nfor _ in sys.stdin: print('{{\"value\":\"{value}\"}}')\n");
        place.write("filter.py", filter);
        let check =
            ["check", &run, "--parser-cmd", "python3 filter.py", "--name", "yes", "--accept"];
        assert_eq!(place.with_path(&check).code, 0);
    }
    let (found, _) = place.json(&format!("score agreement {run} yes"));
    let raters: Vec<&str> = found["raters"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["rater"].as_str().unwrap())
        .collect();
    let [one, other] = raters.as_slice() else { panic!("{found}") };
    assert!(one.starts_with("filter@1 ") && one.ends_with(": python3 filter.py"), "{one}");
    assert_ne!(one, other);
    assert_eq!(found["pairs"][0]["same"], 0);
}
