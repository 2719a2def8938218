//! Runs of studies, named by the folder that they write, and the list of runs with their names.

use serde_json::Value;

use crate::support::cli::{Place, assert_said};

/// Two small runs of public goods games with names, and one without a name.
fn place() -> Place {
    let place = Place::new();
    let config = concat!(env!("RETOLD_ROOT"), "/config/public_goods_small.yaml");
    for name in ["exp_001_control", "exp_001_treatment"] {
        place.ok(&format!("run {config} --quiet --set experiment_id={name}"));
    }
    place.ok("run small.yaml --quiet");
    place
}

#[test]
fn a_study_is_found_by_the_name_of_its_folder() {
    let place = place();
    let (log, _) = place.json("log");
    let runs = log["runs"].as_array().unwrap();
    let names: Vec<&Value> = runs.iter().map(|run| &run["name"]).collect();
    assert_eq!(names, [&Value::from("exp_001_control"), &"exp_001_treatment".into(), &Value::Null]);
    for run in &runs[..2] {
        let (name, id) = (run["name"].as_str().unwrap(), &run["run"]);
        for command in ["show", "stats", "replay"] {
            assert_eq!(place.json(&format!("{command} {name}")).0["run"], *id, "{command} {name}");
        }
        assert_eq!(place.json(&format!("log {name} --most 1")).0["run"], *id);
        assert_eq!(place.json(&format!("verify {name}")).0["run"], *id);
    }
    // The name is recorded, for readers that do not know the study.
    let listed = place.ok("table exp_001_control exp_001_treatment --table runs");
    assert!(listed.contains("exp_001_control") && listed.contains("exp_001_treatment"), "{listed}");
    let compared = place.json("diff exp_001_control exp_001_treatment").0;
    assert_eq!(compared["one"], runs[0]["run"], "{compared}");
    // The folder's number belongs to the name.
    let config = concat!(env!("RETOLD_ROOT"), "/config/public_goods_small.yaml");
    let second =
        place.json(&format!("run {config} --set experiment_id=exp_001_control --new-folder"));
    assert_eq!(place.json("show exp_001_control-2").0["run"], second.0["run"]);
    assert_eq!(place.json("show exp_001_control").0["run"], runs[0]["run"]);
    // A fork's settings have its parent's name, whose folder it does not write.
    place.ok("fork exp_001_control --quiet --set config.llm_temperature=0.2");
    assert_eq!(place.json("show exp_001_control").0["run"], runs[0]["run"]);
    let said = place.run("show exp_002");
    assert_eq!((said.code, said.out.as_str()), (2, ""), "{}", said.err);
    assert!(said.err.contains("its name, or `latest`"), "{}", said.err);
}

#[test]
fn the_latest_run_is_the_one_that_is_not_named() {
    let place = place();
    let latest = place.json("show latest").0["run"].clone();
    for command in ["show", "stats", "replay"] {
        assert_eq!(place.json(command).0["run"], latest, "{command}");
    }
    place.ok("report --output page.html");
    assert!(place.ok("export").starts_with("{\"events\":"), "a recording");
}

#[test]
fn the_list_of_runs_has_names_calls_and_cost() {
    assert_said!("study_names_list", place().session(&["log"]));
}
