//! Configs: the original ones, ours, and invalid ones.

use std::path::Path;

use crate::support::program::study;
use retold_study::study::Study;

use crate::support::cli::Place;
use crate::support::data::folder;

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn the_original_configs_load_as_they_are() {
    let data = folder("deliberation");
    let mut files: Vec<_> =
        std::fs::read_dir(data.join("config")).unwrap().map(|e| e.unwrap().path()).collect();
    for pilot in ["pilot_001", "test_full_001", "test_small_001"] {
        files.push(data.join("outputs").join(pilot).join("config.yaml"));
    }
    assert_eq!(files.len(), 9);
    for file in files {
        let study = study(&file, None, &[]);
        let Study { settings, experiment, .. } =
            study.unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        assert_eq!(experiment, "deliberation", "recognised by its keys");
        assert!(settings.experiment.to_json().unwrap()["config"]["experiment"].is_null());
        let experiment = crate::support::program::build("deliberation", &settings.experiment);
        assert!(experiment.is_ok(), "{}", file.display());
    }
}

/// The YAML blocks of the source document, none of which names its experiment.
fn of_the_document() -> Vec<String> {
    let path = concat!(env!("RETOLD_ROOT"), "/../shared/sources/002_deliberation.md");
    let text = std::fs::read_to_string(path)
        .unwrap_or_else(|e| panic!("needs ../shared/sources/002_deliberation.md: {e}"));
    let blocks = text.split("```yaml\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap().to_owned()).collect()
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn the_yaml_of_the_document_runs_as_it_is() {
    let examples = of_the_document();
    assert_eq!(examples.len(), 1);
    for example in examples {
        let place = Place::new();
        place.write("example.yaml", &example);
        let study = study(&place.path("example.yaml"), None, &[]).unwrap();
        let people =
            study.settings.experiment.to_json().unwrap()["personas"].as_array().unwrap().len();
        assert_eq!((study.experiment.as_str(), people), ("deliberation", 1200));
        // Unchanged except for the number of participants.
        let (run, code) = place.json("run example.yaml --set participants_per_condition=2");
        assert_eq!((code, &run["outcome"]), (0, &"finished".into()), "{run}");
        assert!(place.path("outputs/pilot_001/summary.json").is_file());
        assert!(place.path("data/personas.json").is_file());
    }
}

/// Two of the document's keys are enough to name what is missing; one key could belong to any
/// study.
#[test]
fn a_config_without_a_name_is_recognised_by_its_keys() {
    let place = Place::new();
    let said = |text: &str| {
        place.write("bad.yaml", text);
        let path = place.path("bad.yaml");
        let said = match study(&path, None, &[]) {
            Ok(study) => study.experiment,
            Err(error) => error.to_string(),
        };
        said.replace(&format!("{}/", place.root().display()), "")
    };
    let all = [
        said(GOOD),
        said(&GOOD.replace("participants_per_condition: 2\n", "")),
        said(&GOOD.replace("pilot_id: test\n", "")),
        said("pilot_id: test\n"),
        said(&format!("experiment: game24\n{GOOD}")),
    ];
    insta::assert_snapshot!(all.join("\n\n"));
}

#[test]
fn our_configs_load_and_name_their_experiment() {
    for (file, people) in [("deliberation.yaml", 1200), ("deliberation_small.yaml", 40)] {
        let path = Path::new(env!("RETOLD_ROOT")).join("config").join(file);
        let study = study(&path, None, &[]).unwrap();
        assert_eq!(
            study.settings.experiment.to_json().unwrap()["personas"].as_array().unwrap().len(),
            people
        );
    }
}

const GOOD: &str = "\
pilot_id: test
topic:
  description: What is next?
  options:
    - Night buses
    - Bike lanes
    - Street trees
participants_per_condition: 2
";

fn said(text: &str, overrides: &[&str]) -> String {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bad.yaml");
    std::fs::write(&path, text).unwrap();
    let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
    let error = study(&path, Some("deliberation"), &overrides).unwrap_err();
    error.to_string().replace(&format!("{}/", dir.path().display()), "")
}

#[test]
fn bad_values_are_named_with_file_and_line() {
    let with = |line: &str| said(&format!("{GOOD}{line}\n"), &[]);
    let replaced = |from: &str, to: &str| said(&GOOD.replace(from, to), &[]);
    let mapping = |rest: &str| {
        with(&format!(
            "opposition_method: predefined\nopposition_mapping:\n  Night buses: Bike lanes\n{rest}"
        ))
    };
    let all = [
        replaced("    - Bike lanes\n    - Street trees\n", ""),
        replaced("Street trees", "\"Bike lanes\""),
        replaced("Street trees", "bike LANES!"),
        replaced("Street trees", "\"  \""),
        replaced("What is next?", "\"\""),
        replaced("participants_per_condition: 2", "participants_per_condition: 0"),
        replaced("participants_per_condition: 2", "participants_per_condition: many"),
        replaced("participants_per_condition: 2\n", ""),
        replaced("participants_per_condition: 2", "participants_per_condition: 2000"),
        replaced("pilot_id: test", "pilot_id: ../up"),
        with("disagreement_threshold: 1.5"),
        with("max_clarification_exchanges: 0"),
        with("opposition_method: astrology"),
        with("opposition_method: predefined"),
        mapping("  Bike lanes: Street trees"),
        mapping("  Bike lanes: Street trees\n  Street trees: Street trees"),
        mapping("  Bike lanes: Street trees\n  Street trees: Cars"),
        with("clustering_algorithm: dbscan"),
        with("api_sleep_seconds: -1"),
        with("model: \" \""),
        with("temperature: 3"),
        with("colour: blue"),
        with("experiment: game24"),
        with("personas_file: nowhere.jsonl"),
        with("personas_file: https://example.com/personas.jsonl"),
        with("prompts: nowhere"),
        with("provider:\n  rates:\n    malformed: 1.5"),
        with("provider:\n  rates:\n    malformed_kinds:\n      refusal: 2"),
        with("provider:\n  rates: {malformed_kinds: {refusals: 0.2}}"),
        with("provider:\n  kind: scripted"),
        with("provider:\n  latency_ms: -1"),
        with("limits:\n  concurrency: 0"),
        with("random_seed: 10000000000000000"),
        with("personas_url: p.jsonl"),
        said(GOOD, &["max_parse_retries=1000"]),
        said(GOOD, &["topic.options=[Cars]"]),
        said(GOOD, &["topic=3"]),
    ];
    insta::assert_snapshot!(all.join("\n\n"));
}

#[test]
fn settings_without_effect_and_missing_ones_are_reported() {
    let place = Place::new();
    let personas = (0..8).map(|n| format!("{{\"persona\": \"The owner of shop number {n}\"}}\n"));
    let personas: String = personas.collect();
    place.write("p.jsonl", format!("{{\"persona\": 3}}\n{personas}{{\"persona\n"));
    let legacy = "arguments_per_option: 3\n";
    let ours = "use_persona_storage: false\npersonas_file: p.jsonl\n";
    place.write("d.yaml", format!("{GOOD}{legacy}{ours}"));
    let said = place.run("run d.yaml --experiment deliberation");
    assert_eq!(said.code, 0, "{}", said.err);
    // Warnings about answers contain the run's id.
    let warned: Vec<&str> = said.err.lines().filter(|line| line.contains("WARN")).collect();
    insta::assert_snapshot!(warned.join("\n"));
    place.write(
        "d.yaml",
        format!("{GOOD}{ours}participants_per_condition: 3\n")
            .replace("condition: 2\n", "condition: 3\n")
            .replacen("participants_per_condition: 3\n", "", 1),
    );
    let few = place.run("run d.yaml --experiment deliberation");
    assert_eq!(few.code, 2);
    insta::assert_snapshot!(few.err);
}
