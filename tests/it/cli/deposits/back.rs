//! Deposits that were changed on their way.

use serde_json::json;

use super::{deposited, files, imported, reader_of};
use crate::support::cli::Place;

/// Writes the list of hashes again, as somebody does who changes a file and wants nobody to see it.
fn sum_again(reader: &Place) {
    let listed: Vec<String> =
        reader.read("deposit/SHA256SUMS").lines().map(|line| line[66..].to_owned()).collect();
    let hash = |name: &String| {
        let mut command = std::process::Command::new("/usr/bin/sha256sum");
        let said =
            crate::support::cli::Said::ended(command.arg(name).current_dir(reader.path("deposit")));
        assert_eq!(said.code, 0, "{said:?}");
        said.out
    };
    let sums: String = listed.iter().map(hash).collect();
    reader.write("deposit/SHA256SUMS", sums);
}

#[test]
fn a_changed_file_is_named_and_nothing_is_imported() {
    let place = deposited();
    let reader = reader_of(&place);
    let names = files(&place.path("deposit"));
    assert!(names.len() > 25, "{names:?}");
    for name in names {
        let path = format!("deposit/{name}");
        let bytes = std::fs::read(reader.path(&path)).unwrap();
        let mut changed = bytes.clone();
        changed[0] ^= 1;
        for (wrong, how) in [(Some(changed), "changed"), (None, "removed")] {
            match wrong {
                Some(changed) => reader.write(&path, changed),
                None => std::fs::remove_file(reader.path(&path)).unwrap(),
            }
            let said = reader.run("import deposit");
            let is_list = name == "SHA256SUMS";
            let code = if is_list && how == "removed" { 3 } else { 1 };
            assert_eq!(said.code, code, "{name} {how}: {said:?}");
            assert!(said.err.contains(&name), "{name} {how}: {said:?}");
            assert!(!reader.path("retold.db").exists(), "{name} {how}");
            reader.write(&path, &bytes);
        }
    }
    reader.write("deposit/more.txt", "x");
    let said = reader.run("import deposit");
    assert!(said.code == 1 && said.err.contains("more.txt"), "{said:?}");
    std::fs::remove_file(reader.path("deposit/more.txt")).unwrap();
    assert_eq!(imported(&reader).1, 0);
}

#[test]
fn a_figure_that_was_changed_with_its_hash_is_another_than_the_computed_one() {
    let place = deposited();
    let reader = reader_of(&place);
    let figures = reader.read("deposit/figures.csv");
    let row = figures.lines().nth(1).unwrap();
    let n = row.split(',').nth(8).unwrap();
    assert_eq!(n, "6", "{row}");
    reader.write("deposit/figures.csv", figures.replace(row, &row.replace(",6,", ",7,")));
    sum_again(&reader);
    let (back, code) = imported(&reader);
    assert_eq!((code, &back["same"]), (1, &json!(false)), "{back}");
    let different = &back["figures"][0]["different"];
    assert_eq!(different[0], json!({"column": "n", "expected": "7", "found": "6"}), "{back}");
    let said = reader.run("import deposit");
    assert!(said.out.contains("n is 6, not 7") && said.out.contains("1 different"), "{said:?}");
    // A row too many, and a file that is no table.
    reader.write("deposit/figures.csv", format!("{figures}{}\n", row.replacen('1', "2", 1)));
    sum_again(&reader);
    assert_eq!(imported(&reader).0["figures"][1]["different"][0]["column"], "row");
    reader.write("deposit/figures.csv", "row,figure\nx,y\n");
    sum_again(&reader);
    let said = reader.run("import deposit");
    assert!(said.code == 1 && said.err.contains("it is not a table of figures"), "{said:?}");
}

#[test]
fn a_recording_that_was_changed_with_its_hash_does_not_hold() {
    let place = deposited();
    let reader = reader_of(&place);
    let name =
        files(&place.path("deposit")).into_iter().filter(|name| name.starts_with("recordings/"));
    let name = name.max_by_key(|name| reader.read(&format!("deposit/{name}")).len()).unwrap();
    let path = format!("deposit/{name}");
    let text = reader.read(&path);
    reader.write(&path, text.replacen("ResponseReceived", "ResponseForgotten", 1));
    sum_again(&reader);
    let said = reader.run("import deposit");
    assert!(said.code == 1 && said.err.contains(&name), "{said:?}");
    assert!(!reader.path("retold.db").exists());
    // Another run in its place is sound, and is not the one that was deposited.
    let other = Place::with_run();
    other.ok("export latest other.jsonl");
    reader.write(&path, other.read("other.jsonl"));
    sum_again(&reader);
    let said = reader.run("import deposit");
    assert!(
        said.code == 1 && said.err.contains("it is not the run that deposit.json names"),
        "{said:?}"
    );
}

#[test]
fn other_decisions_in_the_reader_s_log_are_not_mixed_in() {
    let place = deposited();
    let reader = reader_of(&place);
    reader.ok("import deposit");
    let run = reader.json("log").0["runs"]
        .as_array()
        .unwrap()
        .iter()
        .find(|run| run["experiment"] == "game24")
        .unwrap()["run"]
        .clone();
    let run = run.as_str().unwrap();
    reader.run(&format!("check {run} --parser game24@1 --accept"));
    let said = reader.run("import deposit");
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.err.contains("the log has other decisions about run"), "{said:?}");
    reader.ok("--log new.db import deposit");
}

/// Decisions that were accepted later are in force, and so they are part of the deposit.
#[test]
fn accepted_decisions_and_several_runs_come_back() {
    let place = Place::new();
    place.ok("run small.yaml -q");
    let first = place.json("log").0["runs"][0]["run"].as_str().unwrap().to_owned();
    place.ok("run small.yaml -q --set seed=8");
    place.run(&format!("check {first} --parser game24@1 --accept"));
    let runs = place.json("log").0["runs"].as_array().unwrap().clone();
    let second = runs.iter().map(|run| run["run"].as_str().unwrap());
    let second = second
        .clone()
        .find(|run| {
            **run != first
                && runs.iter().any(|of| of["run"] == **run && of["experiment"] == "game24")
        })
        .unwrap();
    let figure = "share of game24 = null independent";
    let said =
        place.args(&["export", &first, second, "deposit", "--as", "deposit", "--figure", figure]);
    assert_eq!(said.code, 0, "{said:?}");
    let reader = reader_of(&place);
    let (back, code) = imported(&reader);
    assert_eq!(code, 0, "{back}");
    let places: Vec<&str> =
        back["runs"].as_array().unwrap().iter().map(|run| run["place"].as_str().unwrap()).collect();
    assert_eq!(places, ["figures", "figures", "decisions"], "{back}");
    assert_eq!(back["figures"][0]["expected"]["figure"], figure);
}

/// A figure of verdicts needs the judge's run, too, which is replayed as any other.
#[test]
fn a_judge_comes_back_with_its_verdicts() {
    let place = Place::new();
    place.ok("run small.yaml -q");
    place.write(
        "judge.yaml",
        "experiment: judge\nname: polite\ntemplate: |\n  Is this answer polite?\n\n  {answer}\nvalues: [polite, rude]\n\
         request:\n  model: m\nmodel:\n  rates: {malformed: 0}\n",
    );
    let run = place.json("log").0["runs"][0]["run"].as_str().unwrap().to_owned();
    place.ok(&format!("score judge {run} --config judge.yaml -q"));
    let figure = "share of polite = polite clustered by puzzle";
    let said = place.args(&["export", &run, "deposit", "--as", "deposit", "--figure", figure]);
    assert_eq!(said.code, 0, "{said:?}");
    let reader = reader_of(&place);
    let (back, code) = imported(&reader);
    assert_eq!((code, &back["same"]), (0, &json!(true)), "{back}");
    let runs = back["runs"].as_array().unwrap();
    let places: Vec<&str> = runs.iter().map(|run| run["place"].as_str().unwrap()).collect();
    assert_eq!(places, ["figures", "judge", "decisions"], "{back}");
    assert_eq!(runs[1]["replay"], "identical", "{back}");
}
