//! Games of 24 whose numbers are written differently, and whose puzzles have different numbers of
//! answers.

use serde_json::json;

use crate::support::cli::{Place, SMALL, assert_said};
use crate::support::csv;

fn place(template: &str) -> Place {
    let place = Place::new();
    place.write("template.txt", template);
    place.write("spelt.yaml", SMALL.replace("template: cot", "template: template.txt"));
    place
}

#[test]
fn templates_spell_the_numbers_as_they_like() {
    for template in [
        "Make 24 of {numbers[0]}, {numbers[1]}, {numbers[2]} and {numbers[3]}.\n",
        "Make 24 of {numbers}\n",
        "Make 24 of {% for n in numbers %}<{n}>{% endfor %}\n",
        "Make 24 of {input | replace(' ', ', ')}\n",
        "Input: 4 5 6 10\nAnswer: 4 * (6 - (10 - 5 - 5))\nInput: {numbers | join('; ')}\n",
    ] {
        let place = place(template);
        let (run, code) = place.json("run spelt.yaml");
        assert_eq!((code, &run["exchanges"]), (0, &json!(6)), "{template}: {run}");
        assert_eq!(place.json("replay latest").1, 0, "{template}");
        // The simulated solver reads these forms as well.
        let methods = run["report"]["methods"].as_object().unwrap();
        assert!(
            methods.keys().any(|method| method != "empty" && method != "declined"),
            "{template}: {run}"
        );
    }
    // Examples that contain the numbers of a puzzle do not count as the puzzle itself.
    let place = place("Input: 1 1 4 6\nAnswer: (1 - 1 + 4) * 6\nInput: 1 1 11 11\n");
    assert_said!("spelling_no_input", place.shown("run spelt.yaml", &place.run("run spelt.yaml")));
}

#[test]
fn lists_spell_the_numbers_as_they_like_and_the_prompt_follows() {
    let place = Place::new();
    place.write("list.txt", "4, 5, 6, 10\n[1,1,4,6]\n1 1 4 6\n");
    place.write("list.yaml", SMALL.replace("rows: 0..2", "file: list.txt"));
    place.ok("run list.yaml -q --set template=standard");
    for (row, spelt) in ["4, 5, 6, 10", "[1,1,4,6]", "1 1 4 6"].iter().enumerate() {
        let (audited, _) = place.json(&format!("audit latest solve/{row}#0"));
        assert!(audited.to_string().contains(&format!("Input: {spelt}\\n")), "{audited}");
        assert!(audited.to_string().contains("\"numbers\":["), "{audited}");
    }
    place.ok("replay latest");
    place.ok("check latest --parser game24@2");
    assert_eq!(place.json("export latest tables --as outputs").1, 0);
}

#[test]
fn puzzles_have_as_many_answers_as_there_are() {
    let place = Place::new();
    let (run, _) = place.json("run small.yaml --set samples=[3,5]");
    assert_eq!(run["exchanges"], 8);
    place.ok("replay latest");
    place.ok("export latest answers.jsonl --as exchanges");
    let (run, code) = place.json(
        "run small.yaml --set samples=recorded --set puzzles.rows=0..4 --answers answers.jsonl",
    );
    assert_eq!((code, &run["exchanges"], &run["failed_calls"]), (0, &json!(8), &json!(0)), "{run}");
    let puzzles = run["report"]["puzzles"].as_object().unwrap();
    let answers: Vec<_> = puzzles.values().map(|puzzle| puzzle["answers"].clone()).collect();
    assert_eq!(answers, [json!(3), json!(5)], "puzzles without answers are left out");
    place.ok("replay latest");
    place.ok("export latest tables --as outputs");
    assert_eq!(csv::rows(&place.path("tables/answers.csv")).len(), 8);
    // Lines without calls are matched by their prompts.
    let lines: Vec<serde_json::Value> = place
        .read("answers.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let bare = lines.iter().map(|line| {
        format!("{}\n", json!({"request": line["request"], "response": line["response"]}))
    });
    place.write("bare.jsonl", bare.collect::<String>());
    let (run, code) = place.json("run small.yaml --set samples=recorded --answers bare.jsonl");
    assert_eq!((code, &run["exchanges"]), (0, &json!(8)), "{run}");
    place.write(
        "other.jsonl",
        "{\"request\":{\"model\":\"m\",\"messages\":[]},\"response\":{\"content\":\"x\"}}\n",
    );
    let piped = "run small.yaml --set samples=recorded --answers -";
    let input = place.read("other.jsonl");
    let said = place.fed(&piped.split(' ').collect::<Vec<_>>(), input.as_bytes());
    let shown = place.session(&[
        "run small.yaml --set samples=[3]",
        "run small.yaml --set samples=[3,0]",
        "run small.yaml --set samples=[3,-1]",
        "run small.yaml --set samples=[3,2000000]",
        "run small.yaml --set samples=some",
        "run small.yaml --set samples=recorded",
        "run small.yaml --set samples=recorded --answers none.jsonl",
        "run small.yaml --set samples=recorded --answers other.jsonl",
        "fork latest --set samples=recorded",
    ]);
    assert_said!("spelling_samples", shown + &place.shown(piped, &said));
}

/// What `recorded` meant when the run began is kept, even if the file has grown since.
#[test]
fn recorded_samples_are_resumed_by_their_config() {
    let place = Place::with_run();
    place.ok("export latest answers.jsonl --as exchanges");
    let all = place.read("answers.jsonl");
    let fewer: String = all.lines().take(4).map(|line| format!("{line}\n")).collect();
    place.write("answers.jsonl", &fewer);
    let run = "run small.yaml --quiet --set samples=recorded --answers answers.jsonl --log new.db";
    let (whole, _) = place.json(&run.replace("new.db", "whole.db"));
    assert_eq!(
        (&whole["exchanges"], &whole["outcome"]),
        (&4.into(), &"finished".into()),
        "{whole}"
    );
    let (stopped, code) = place.json(&format!("{run} --max-tokens 1"));
    assert_eq!((code, &stopped["outcome"]), (4, &"stopped".into()), "{stopped}");
    place.write("answers.jsonl", all);
    let resumable = format!("{run} --max-tokens 100000");
    let (resumed, code) = place.json(&format!("{resumable} --resume"));
    assert_eq!((code, &resumed["run"]), (0, &stopped["run"]), "{resumed}");
    assert_eq!(resumed["outcome_digest"], whole["outcome_digest"]);
    // With other puzzles it is another study.
    let said = place.run(&format!("{resumable} --resume --set puzzles.rows=1..2"));
    assert_eq!(said.code, 2, "{}{}", said.out, said.err);
    assert!(
        said.err.starts_with("error: there is no run of this config in new.db"),
        "{}",
        said.err
    );
}
