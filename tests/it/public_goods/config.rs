//! Configs: the values of the original ones, ours, and invalid ones.

use std::path::Path;

use crate::support::program::study;

#[test]
fn our_public_goods_configs_load() {
    for (file, games) in [("public_goods.yaml", 8), ("public_goods_small.yaml", 1)] {
        let path = Path::new(env!("RETOLD_ROOT")).join("config").join(file);
        let study = study(&path, None, &[]).unwrap();
        assert_eq!(study.settings.experiment.to_json().unwrap()["config"]["games"], games);
    }
}

const GOOD: &str = "\
experiment_id: test
group_size: 4
game_length: 10
endowment: 20
horizon_knowledge: known
mpcr: 0.4
contribution_type: variable
contribution_framing: opt_in
communication_enabled: true
peer_outcome_visibility: true
actor_anonymity: false
punishment_enabled: true
reward_enabled: false
peer_incentive_cost: 1
punishment_impact: 3
llm_model: gpt-4o
";

fn load(text: &str, overrides: &[&str]) -> Result<(), String> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bad.yaml");
    std::fs::write(&path, text).unwrap();
    let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
    let loaded = study(&path, Some("public_goods"), &overrides);
    loaded.map(drop).map_err(|e| e.to_string().replace(&format!("{}/", dir.path().display()), ""))
}

fn said(text: &str) -> String {
    load(text, &[]).unwrap_err()
}

#[test]
fn bad_public_goods_values_are_named_with_file_and_line() {
    load(GOOD, &[]).unwrap();
    let with = |line: &str| said(&format!("{GOOD}{line}\n"));
    let replaced = |from: &str, to: &str| {
        assert!(GOOD.contains(from), "{from}");
        said(&GOOD.replace(from, to))
    };
    let all = [
        replaced("group_size: 4", "group_size: 1"),
        replaced("group_size: 4", "group_size: 21"),
        replaced("group_size: 4", "group_size: four"),
        replaced("game_length: 10", "game_length: 0"),
        replaced("game_length: 10", "game_length: 31"),
        replaced("endowment: 20", "endowment: 0"),
        replaced("endowment: 20", "endowment: -20"),
        replaced("mpcr: 0.4", "mpcr: 0.05"),
        replaced("mpcr: 0.4", "mpcr: 0.71"),
        replaced("mpcr: 0.4", "mpcr: .nan"),
        replaced("horizon_knowledge: known", "horizon_knowledge: secret"),
        replaced("contribution_type: variable", "contribution_type: half"),
        replaced("opt_in", "opt"),
        replaced("communication_enabled: true", "communication_enabled: maybe"),
        replaced("reward_enabled: false", "reward_enabled: true"),
        replaced("peer_incentive_cost: 1\n", ""),
        replaced("peer_incentive_cost: 1", "peer_incentive_cost: -1"),
        replaced("punishment_impact: 3", "punishment_impact: 2000"),
        replaced("llm_model: gpt-4o", "llm_model: \" \""),
        replaced("mpcr: 0.4\n", ""),
        replaced("experiment_id: test", "experiment_id: ../up"),
        with("multiplier: 2"),
        with("games: 0"),
        with("llm_temperature: 3"),
        with("max_tokens: 0"),
        with("max_parse_retries: 1000"),
        with("max_message_chars: 0"),
        with("parser_version: 5"),
        with("unusable_answer: shrug"),
        with("players: [{}, {}, {}, {}, {}]"),
        with("players: [{llm_temperature: 9}]"),
        with("players: [{persona: \"\"}]"),
        with("players: [{llm_model: \"\"}]"),
        with("players: [{colour: blue}]"),
        with("players: 3"),
        with("players: [3]"),
        with("players: [{persona: [x]}]"),
        with("games: 2\navatars: [DOG, CAT, FOX]"),
        with("avatars: [DOG, CAT]"),
        with("avatars: [DOG, CAT, FOX, dog]"),
        with("avatars: [DOG, CAT, FOX, \"TWO WORDS\"]"),
        with("reasoning: {max_clusters: 0}"),
        with("reasoning: {embedding_model: \"\"}"),
        with("reasoning: {algorithm: dbscan}"),
        with("prompts: nowhere"),
        with("experiment: game24"),
        with("model: {rates: {truncated: 2}}"),
        load(GOOD, &["mpcr=0.9"]).unwrap_err(),
    ];
    insta::assert_snapshot!(all.join("\n\n"));
}

#[test]
fn a_template_of_ones_own_is_tried_out_before_anything_is_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("own");
    std::fs::create_dir(&folder).unwrap();
    let try_out = |template: &str| {
        std::fs::write(folder.join("contribution.txt"), template).unwrap();
        let path = dir.path().join("own.yaml");
        std::fs::write(&path, format!("{GOOD}prompts: own\n")).unwrap();
        let loaded = study(&path, Some("public_goods"), &[]);
        loaded.map_err(|e| e.to_string().replace(&format!("{}/", dir.path().display()), ""))
    };
    let study = try_out("{heading} How much of {endowment}? <CONTRIBUTE>").unwrap();
    assert!(
        study.settings.experiment.to_json().unwrap()["prompts"].to_string().contains("How much of")
    );
    let wrong = ["{heading} {purse}", "{% if %}"].map(|template| try_out(template).unwrap_err());
    insta::assert_snapshot!(wrong.join("\n\n"));
}
