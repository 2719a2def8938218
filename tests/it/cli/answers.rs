//! Answers that somebody has: labels in and out, and tables whose columns are named.

use serde_json::{Value, json};

use crate::support::cli::Place;

/// The command of the guide that imports one of its files.
fn line_of(file: &str) -> String {
    let guide = std::fs::read_to_string(concat!(env!("RETOLD_ROOT"), "/docs/guide/answers.md"));
    let guide = guide.unwrap();
    let line = guide.lines().find(|line| line.contains(file)).unwrap();
    let root = format!("import {}/fixtures", env!("RETOLD_ROOT"));
    line.trim_start_matches("retold ").replace("import fixtures", &root)
}

/// The groups of a figure about decisions that are made of the last run: label, values, answers without one, share.
fn figure(place: &Place, parser: &str, figure: &str) -> Vec<Value> {
    place.write(
        "p.yaml",
        format!("parsers:\n  - name: answer\n    strategies:\n      - {parser}\n"),
    );
    let run = last_imported(place);
    place.ok(&format!("check {run} --parsers p.yaml --accept"));
    let program =
        place.command().args(["stats", &run, "--json", "--figure", figure]).output().unwrap();
    let stats: Value = serde_json::from_slice(&program.stdout).unwrap();
    let groups = stats["figures"][0]["groups"].as_array().unwrap().clone();
    let left_out = |of: &Value| of["missing"].as_u64().unwrap() + of["fallback"].as_u64().unwrap();
    groups.iter().map(|of| json!([of["group"], of["draws"], left_out(of), of["value"]])).collect()
}

fn last_imported(place: &Place) -> String {
    let (log, _) = place.json("log");
    let runs = log["runs"].as_array().unwrap().iter().rev();
    let mut imported = runs.filter(|run| run["experiment"] == "exchanges");
    imported.next().unwrap()["run"].as_str().unwrap().to_owned()
}

/// Imports, and exports, and imports again: the figure is the same, and so is the second file.
fn there_and_back(import: &str, parser: &str, of: &str) -> Vec<Value> {
    let place = Place::new();
    place.ok(import);
    let first = figure(&place, parser, of);
    place.ok(&format!("export {} one.jsonl --as exchanges", last_imported(&place)));
    place.ok("import one.jsonl");
    assert_eq!(figure(&place, parser, of), first);
    place.ok(&format!("export {} two.jsonl --as exchanges", last_imported(&place)));
    assert_eq!(place.read("two.jsonl"), place.read("one.jsonl"));
    first
}

#[test]
fn labels_of_exchanges_are_groups_and_come_out_again() {
    let place = Place::new();
    let line = |n: u32, text: &str, label: Value| {
        let request =
            json!({"model": "m", "messages": [{"role": "user", "content": format!("q {n}")}]});
        json!({"call": format!("q/{n}"), "request": request, "response": {"content": text}, "label": label})
            .to_string()
    };
    let lines = [
        line(1, "yes", json!({"condition": "a", "participant": "p1", "round": 1})),
        line(2, "no", json!({"condition": "b", "participant": "p1", "round": 2})),
        line(3, "yes", json!({"condition": "a", "participant": "p2", "round": 1})),
        line(4, "yes", json!({"condition": "b", "participant": "p2", "round": 2})),
    ];
    place.write("answers.jsonl", lines.join("\n"));
    let file = place.path("answers.jsonl").display().to_string();
    let groups = there_and_back(
        &format!("import {file}"),
        "{whole_text: true, one_of: [yes, no]}",
        "share of answer = yes by condition",
    );
    assert_eq!(groups, [json!([["a"], 2, 0, 1.0]), json!([["b"], 2, 0, 0.5])]);
    // Numbers come out as they were.
    place.ok("import answers.jsonl");
    place.ok("export latest out.jsonl --as exchanges");
    let out: Value = serde_json::from_str(place.read("out.jsonl").lines().next().unwrap()).unwrap();
    assert_eq!(out["label"], json!({"condition": "a", "participant": "p1", "round": 1}));
}

#[test]
fn samples_of_lm_eval_are_graded() {
    let import = line_of("lm_eval.jsonl");
    let number = "{whole_text: true, number: {}, pick: last}";
    let accuracy = there_and_back(&import, number, "accuracy of answer against gold");
    // 7, 7, 30, 11, 9, 8 against 7, 30, 9, of two samples each.
    assert_eq!(accuracy, [json!([[], 6, 0, 4.0 / 6.0])]);
    let pass = there_and_back(&import, number, "pass@2 of answer against gold");
    assert_eq!(pass, [json!([[], 3, 0, 1.0])]);
    let majority = there_and_back(&import, number, "majority of answer against gold");
    assert_eq!(majority, [json!([[], 3, 0, 2.0 / 3.0])]);
}

#[test]
fn results_of_promptfoo_have_their_prompts_and_rows_without_answer_are_counted() {
    let import = line_of("promptfoo.json");
    let place = Place::new();
    let said = place.ok(&import);
    assert!(said.contains("4 exchanges imported from"), "{said}");
    assert!(said.contains("left out: 1 row without an answer\n"), "{said}");
    let capital = "{whole_text: true, one_of: [Paris, Lima]}";
    let groups = there_and_back(&import, capital, "accuracy of answer against gold by prompt");
    assert_eq!(groups, [json!([["plain"], 2, 0, 1.0]), json!([["polite"], 0, 2, null])]);
    // A prompt that is a text of JSON is a list of messages.
    place.ok("export latest out.jsonl --as exchanges");
    let lines = place.read("out.jsonl");
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[1]["request"]["messages"][0]["role"], "system");
    assert_eq!(lines[0]["request"]["model"], "openai:gpt-4o-mini");
}

#[test]
fn events_of_openai_evals_are_joined() {
    let capital = "{whole_text: true, one_of: [Paris, Lima, Cusco, \"N'Djamena\"]}";
    let import = line_of("openai_evals.jsonl");
    let groups = there_and_back(&import, capital, "accuracy of answer against gold by correct");
    assert_eq!(groups, [json!([["false"], 1, 0, 0.0]), json!([["true"], 2, 0, 1.0])]);
}

#[test]
fn a_survey_has_its_participants_and_conditions() {
    let yes = "{one_of: [yes, no], pick: first}";
    let import = line_of("survey.csv");
    let groups = there_and_back(&import, yes, "share of answer = yes by condition");
    assert_eq!(groups, [json!([["control"], 3, 0, 1.0 / 3.0]), json!([["story"], 2, 1, 1.0])]);
}

#[test]
fn what_a_table_lacks_is_named() {
    let place = Place::new();
    place.write("t.csv", "q,a,who\nWhy?,Because.,p1\n,Yes.,p2\n");
    place.write("broken.csv", "q,a\nWhy?,Because.,more\n");
    place.write("t.jsonl", "{\"q\": \"Why?\", \"a\": \"So.\"}\nno\n");
    place.write("t.json", "{\"rows\": {\"first\": 1}}");
    for (args, said) in [
        (
            "t.csv --prompt q --answer answer",
            "t.csv: none of the rows to import has a column answer\n  hint: the first row has a, q, who",
        ),
        ("t.csv --prompt q --answer a --where who=p9", "t.csv has no rows to import"),
        ("t.csv --prompt missing --answer a", "none of the rows to import has a column missing"),
        ("t.csv --prompt q --answer a --label =who", "a label is NAME or NAME=COLUMN"),
        ("t.csv --answer a", "--prompt <COLUMN>"),
        (
            "t.csv --prompt q --answer a --name x",
            "--name, --upstream, --ignore, --replace and --redact are for files of other tools",
        ),
        (
            "t.csv t.jsonl --prompt q --answer a",
            "tables whose columns are named are imported one by one",
        ),
        ("broken.csv --prompt q --answer a", "broken.csv: CSV error: record 1"),
        ("t.jsonl --prompt q --answer a", "t.jsonl: line 2: "),
        (
            "t.json --prompt q --answer a",
            "it is not a list: --rows PLACE says where the list of rows is",
        ),
        ("t.json --rows rows --prompt q --answer a", "--rows rows does not lead to a list of rows"),
    ] {
        let found = place.run(&format!("import {args}"));
        assert_eq!(found.code, 2, "{args}: {}", found.err);
        assert!(found.err.contains(said), "{args}: {}", found.err);
    }
}
