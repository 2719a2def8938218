//! The folder that goes beside a paper: `export --as deposit`, and `import` of it on another machine.

mod back;
mod programs;
mod refused;
mod without_texts;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::registered::STUDIES;
use crate::support::cli::{Place, Said, assert_said};

const CONFIGS: &str = concat!(env!("RETOLD_ROOT"), "/config");

/// A place with a run of the small game by a plan, and its deposit in `deposit`.
fn deposited() -> Place {
    let place = Place::new();
    place
        .write("h.yaml", json!({"hypotheses": [{"figure": "share of solved = true"}]}).to_string());
    place.ok("plan small.yaml --register --hypotheses h.yaml");
    place.ok("run small.yaml -q --plan small-plan");
    place.ok("export latest deposit --as deposit");
    place
}

/// All files of a folder, by name.
fn files(folder: &Path) -> Vec<String> {
    fn add(folder: &Path, before: &str, all: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{before}{}", entry.file_name().to_str().unwrap());
            match entry.path().is_dir() {
                true => add(&entry.path(), &format!("{name}/"), all),
                false => all.push(name),
            }
        }
    }
    let mut all = Vec::new();
    add(folder, "", &mut all);
    all.sort();
    all
}

/// Copies a folder to another place, as a reader would get it.
fn copy_to(from: &Path, to: &Path) {
    for name in files(from) {
        let target = to.join(&name);
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        std::fs::copy(from.join(&name), target).unwrap();
    }
}

/// Another machine with the deposit alone.
fn reader_of(place: &Place) -> Place {
    let reader = Place::new();
    copy_to(&place.path("deposit"), &reader.path("deposit"));
    reader
}

/// Python with blake3, which `scripts/test` installs.
fn python() -> PathBuf {
    Path::new(env!("RETOLD_ROOT")).join("target/clients/python/bin/python")
}

/// Runs a script in a place, isolated from the environment.
fn script(place: &Place, args: &[&str]) -> Said {
    let mut command = Command::new(python());
    place.shut_off(&mut command);
    Said::ended(command.args(args))
}

/// What `import` says of the deposit, as JSON, and its exit code.
fn imported(reader: &Place) -> (Value, i32) {
    reader.json("import deposit")
}

#[test]
#[cfg_attr(not(real_clients), ignore = "needs the Python that scripts/test installs")]
fn each_study_is_deposited_and_comes_back_figure_by_figure() {
    for (name, figures) in STUDIES {
        let place = Place::new();
        let hypotheses: Vec<Value> =
            figures.iter().map(|figure| json!({"figure": figure})).collect();
        place.write("h.yaml", json!({ "hypotheses": hypotheses }).to_string());
        let config =
            if name == "small.yaml" { name.to_owned() } else { format!("{CONFIGS}/{name}") };
        let (plan, _) = place.json(&format!("plan {config} --register --hypotheses h.yaml"));
        let plan = plan["plan"].as_str().unwrap();
        place.ok(&format!("run {config} -q --no-outputs --plan {plan}"));
        let (stats, _) = place.json("stats latest");
        place.ok("export latest deposit --as deposit");
        let reader = reader_of(&place);
        let (back, code) = imported(&reader);
        assert_eq!((code, &back["same"]), (0, &json!(true)), "{name}: {back}");
        assert_eq!(back["runs"][0]["place"], "plan", "{name}: {back}");
        assert_eq!(back["runs"][1]["replay"], "identical", "{name}: {back}");
        assert!(back["runs"][1]["parsed"].as_u64() > Some(0), "{name}: {back}");
        // The deposited values are those of the report.
        let groups = stats["figures"].as_array().unwrap().iter();
        let due: Vec<&Value> = groups
            .flat_map(|figure| figure["groups"].as_array().unwrap())
            .map(|of| &of["value"])
            .collect();
        let rows = back["figures"].as_array().unwrap().iter().map(|row| &row["expected"]);
        let rows: Vec<&Value> =
            rows.filter(|row| row["part"] == "group").map(|row| &row["estimate"]).collect();
        assert_eq!(rows, due, "{name}");
        // Without retold: the hashes of the events, and the values of the figures from the draws.
        for recording in
            files(&reader.path("deposit")).iter().filter(|name| name.ends_with(".jsonl"))
        {
            let said = script(&reader, &["deposit/verify.py", &format!("deposit/{recording}")]);
            assert_eq!(said.code, 0, "{name}: {said:?}");
        }
        let said = script(&reader, &["deposit/figures.py"]);
        assert_eq!(said.code, 0, "{name}: {said:?}");
        assert!(said.out.contains(" 0 different"), "{name}: {said:?}");
        assert!(reader.path("deposit/drawn/figure-1.svg").is_file());
        // What the scripts draw is no part of the deposit, and it comes back once more.
        assert_eq!(imported(&reader).1, 0, "{name}");
        reader.ok("verify");
    }
}

#[test]
fn the_same_log_gives_the_same_bytes() {
    let place = deposited();
    place.ok("export latest again --as deposit");
    let (one, other) = (files(&place.path("deposit")), files(&place.path("again")));
    assert_eq!(one, other);
    for name in &one {
        let bytes = |folder: &str| std::fs::read(place.path(&format!("{folder}/{name}"))).unwrap();
        assert!(bytes("deposit") == bytes("again"), "{name}");
    }
    assert_said!("deposit_files", one.join("\n") + "\n");
}

/// What people read of a deposit, without what differs from run to run.
#[test]
fn readme_citation_and_checklists_say_what_the_log_shows() {
    let place = deposited();
    let mut text = String::new();
    for name in files(&place.path("deposit")).iter().filter(|name| {
        name.ends_with(".md")
            || name.ends_with(".cff")
            || name.ends_with(".yaml")
            || name.starts_with("prompts/")
    }) {
        text.push_str(&format!("==== {name}\n{}\n", place.read(&format!("deposit/{name}"))));
    }
    let days = regex::Regex::new(r"\b20\d\d-\d\d-\d\d\b").unwrap();
    let short = regex::Regex::new(r"\b(run|plan) [0-9a-f]{8}\b").unwrap();
    let heads = regex::Regex::new(r"head `[0-9a-f]{64}`").unwrap();
    let text = days.replace_all(&text, "[day]");
    let text = short.replace_all(&text, "$1 [id]");
    let text = heads.replace_all(&text, "head [hash]");
    assert_said!("deposit_texts", text.to_string());
}

#[test]
fn export_says_what_is_left_to_the_authors_and_import_shows_each_figure() {
    let place = Place::new();
    place.ok("run small.yaml -q");
    let export = "export latest deposit --as deposit";
    let said = place.shown(export, &place.run(export));
    let reader = reader_of(&place);
    let first = reader.shown("import deposit", &reader.run("import deposit"));
    let again = reader.shown("import deposit", &reader.run("import deposit"));
    let short = regex::Regex::new(r"run [0-9a-f]{8}\b").unwrap();
    assert_said!(
        "deposit_session",
        short.replace_all(&(said + &first + &again), "run [id]").to_string()
    );
}

/// Croissant's JSON and the CSV of figures are what their readers expect; the validators themselves are run by
/// `scripts/deposits`.
#[test]
fn the_description_for_machines_names_every_table_with_its_hash() {
    let place = deposited();
    let croissant: Value = serde_json::from_str(&place.read("deposit/croissant.json")).unwrap();
    assert!(
        croissant["conformsTo"]
            .as_array()
            .unwrap()
            .contains(&json!("http://mlcommons.org/croissant/1.1"))
    );
    let sums = place.read("deposit/SHA256SUMS");
    let listed = croissant["distribution"].as_array().unwrap();
    assert_eq!(listed.len(), 14);
    for file in listed {
        let line = format!(
            "{}  {}\n",
            file["sha256"].as_str().unwrap(),
            file["contentUrl"].as_str().unwrap()
        );
        assert!(sums.contains(&line), "{line}");
    }
    let columns = |table: &str| {
        let sets = croissant["recordSet"].as_array().unwrap().iter();
        let set = sets.clone().find(|set| set["name"] == table).unwrap();
        set["field"]
            .as_array()
            .unwrap()
            .iter()
            .map(|field| field["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let header = place.read("deposit/tables/exchanges.csv").lines().next().unwrap().to_owned();
    assert_eq!(columns("exchanges").join(","), header);
}

/// The commands of the guide are typed in as they stand there, and what it shows is what is printed.
#[test]
fn the_guide_shows_the_deposit_and_the_way_back() {
    let guide = concat!(env!("RETOLD_ROOT"), "/docs/guide/plan-to-paper.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let (_, guide) = guide.split_once("## The deposit\n").unwrap();
    let place = Place::new();
    let config = format!("{CONFIGS}/game24.yaml");
    let set = "--set template=cot --set samples=3";
    place.ok(&format!("plan {config} {set} --register"));
    place.ok(&format!("run {config} {set} -q --plan game24-plan"));
    let typed: Vec<&str> =
        guide.split("```sh\n").skip(1).map(|it| it.split("```").next().unwrap().trim()).collect();
    assert_eq!(typed.len(), 3, "{typed:?}");
    let said: Vec<String> =
        typed.iter().map(|line| place.ok(line.strip_prefix("retold ").unwrap())).collect();
    let due = guide.split("```text\n$ retold --log reader.db import deposit\n").nth(1).unwrap();
    for line in due.split("```").next().unwrap().lines().filter(|line| *line != "...") {
        assert!(said[2].lines().any(|shown| shown == line), "{line}\n{}", said[2]);
    }
    // Everything that the guide lists is there.
    let listed = guide.split("| |\n|---|---|\n").nth(1).unwrap().split("\n\n").next().unwrap();
    for name in listed
        .lines()
        .flat_map(|line| line.split('|').nth(1).unwrap().split('`').skip(1).step_by(2))
    {
        assert!(name == "seals" || place.path(&format!("deposit/{name}")).exists(), "{name}");
    }
    assert!(place.path("tables-only-nonces.csv").is_file());
}
