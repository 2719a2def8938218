//! Configs: ours, and invalid ones.

use crate::support::program::study;

const GOOD: &str = "\
experiment: adventure
turns: 4
opening: It begins.
hero: Somebody.
location: Here
request:
  model: m
";

fn said(text: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bad.yaml");
    std::fs::write(&path, text).unwrap();
    std::fs::create_dir(dir.path().join("empty")).unwrap();
    std::fs::create_dir(dir.path().join("broken")).unwrap();
    std::fs::write(dir.path().join("broken/opening.txt"), "{opening} {weather}\n").unwrap();
    let error = study(&path, None, &[]).unwrap_err();
    error.to_string().replace(&format!("{}/", dir.path().display()), "")
}

#[test]
fn bad_values_are_named_with_their_key() {
    let with = |line: &str| said(&format!("{GOOD}{line}\n"));
    let replaced = |from: &str, to: &str| said(&GOOD.replace(from, to));
    let all = [
        replaced("experiment: adventure", "experiment: adventures"),
        replaced("turns: 4", "turns: 0"),
        replaced("turns: 4\n", ""),
        replaced("turns: 4", "turns: many"),
        replaced("It begins.", "\"  \""),
        replaced("Somebody.", "''"),
        replaced("Here", "\"\""),
        replaced("model: m", "model: \"\""),
        replaced("model: m", "model: m\n  temperature: 3"),
        with("games: 1001"),
        with("memory: 201"),
        with("max_parse_retries: 101"),
        with("player: nobody"),
        with("player: human\ngames: 2"),
        with("inventory: [Rope, \"\"]"),
        with("default_actions: []"),
        with("default_actions: [Wait, \"...\"]"),
        with("default_actions: [Wait, wait!]"),
        with("choices: [{game: 2, turn: 1, choose: 1}]"),
        with("choices: [{turn: 4, choose: 1}]"),
        with("choices: [{turn: 1, choose: 0}]"),
        with("choices: [{turn: 1, choose: 1}, {turn: 1, choose: 2}]"),
        with("choices: [{turn: 1}]"),
        with("player_request: {model: m, top_p: 2}"),
        with("player_request: {model: human}"),
        with("prompts: empty"),
        with("prompts: broken"),
        with("model: {rates: {malformed: 2}}"),
        with("seed: 9007199254740993"),
        with("tune: loud"),
    ];
    insta::assert_snapshot!(all.join("\n"));
}
