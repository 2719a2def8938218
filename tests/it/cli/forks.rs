//! `retold fork`.

use std::path::Path;

use crate::support::program::{check_fork, study};

use crate::support::cli::{Place, assert_said};

#[test]
fn another_parser_without_asking_again() {
    let place = Place::with_run();
    let (parent, _) = place.json("show latest");
    let (fork, code) = place.json("fork latest --set parser=game24@1");
    assert_eq!((code, &fork["outcome"]), (0, &"finished".into()), "{fork}");
    assert_eq!((&fork["exchanges"], &fork["model_calls"]), (&6.into(), &0.into()));
    assert_ne!(fork["run"], parent["run"]);
    let (shown, _) = place.json("show latest");
    assert_eq!(shown["forked_from"]["run"], parent["run"]);
    assert!(place.ok("show latest").contains("\nforked from run "));
    let named = "SELECT json_type(settings, '$.forked_from') IS NULL FROM runs";
    let db = rusqlite::Connection::open(place.path("retold.db")).unwrap();
    let mut select = db.prepare(named).unwrap();
    let mut settings = select.query_map([], |r| r.get::<_, bool>(0)).unwrap();
    assert!(settings.all(Result::unwrap), "no part of the settings");
    let (replayed, code) = place.json("replay latest");
    assert_eq!((code, &replayed["identical"]), (0, &true.into()));
    place.ok("verify");
    // The fork's file does not need its parent.
    place.ok("export latest fork.jsonl");
    let other = Place::new();
    std::fs::copy(place.path("fork.jsonl"), other.path("fork.jsonl")).unwrap();
    other.ok("import fork.jsonl");
    let (alone, code) = other.json("replay latest");
    assert_eq!((code, &alone["outcome_digest"]), (0, &fork["outcome_digest"]), "{alone}");
    other.ok("verify");
    other.ok("audit latest solve/0#1");
}

#[test]
fn everything_after_a_call_is_asked_again() {
    let place = Place::with_run();
    let (whole, _) = place.json("show latest");
    let (fork, code) = place.json("fork latest --at solve/1#0");
    // The simulated model gives the same answer again; what counts is that it was asked.
    assert_eq!((code, &fork["outcome_digest"]), (0, &whole["outcome_digest"]), "{fork}");
    assert_eq!((&fork["exchanges"], &fork["model_calls"]), (&6.into(), &3.into()));
    let (again, _) = place.json("fork latest --at 2");
    assert_eq!(again["model_calls"], 6, "{again}");
}

/// Experiments that record their whole config have its keys in a group.
#[test]
fn what_cannot_be_set() {
    let place = Place::new();
    place.write("game.yaml", super::play::GAME);
    place.ok("run game.yaml --quiet --set player=first --set games=1 --log game.db");
    let society = concat!(env!("RETOLD_ROOT"), "/config/society_small.yaml");
    place.ok(&format!("run {society} --quiet --no-outputs --set days=1"));
    let shown = place.session(&[
        "fork latest --log game.db --set turn=3",
        "fork latest --log game.db --set config.turn=3",
        "fork latest --log game.db --set config.turns=4 --set config.games=many",
        "fork latest --set rules.start.food=-1",
        "fork latest --set days=2 --set context.posts=-1",
    ]);
    assert_said!("forks_settings", shown);
    assert_eq!(place.json("log").0["runs"].as_array().unwrap().len(), 1, "nothing is recorded");
    let (fork, code) = place.json("fork latest --log game.db --set config.turns=3");
    assert_eq!((code, &fork["outcome"]), (0, &"finished".into()), "{fork}");
    let (again, code) = place.json("fork latest --log game.db --set turns=4");
    assert_eq!((code, &again["outcome"]), (0, &"finished".into()), "as a config has it: {again}");
}

/// Such a fork would differ from its parent in nothing but a setting that nobody reads.
#[test]
fn what_says_how_to_ask_makes_no_fork_by_itself() {
    let place = Place::with_run();
    let config = concat!(env!("RETOLD_ROOT"), "/config/public_goods_small.yaml");
    let small = "--set games=1 --set game_length=1";
    place.ok(&format!("run {config} -q --no-outputs {small} --log game.db"));
    let shown = place.session(&[
        "fork latest --set seed=8",
        "fork latest --set limits.concurrency=2",
        "fork latest --set model.kind=openai",
        "fork latest --log game.db --set seed=8",
        "fork latest --log game.db --set config.seed=8",
        "fork latest --log game.db --set config.model.kind=openai",
        "fork latest --log game.db --set config.retry.max_retrys=2",
    ]);
    assert_said!("forks_inherited", shown);
    for log in ["retold.db", "game.db"] {
        let (runs, _) = place.json(&format!("log --log {log}"));
        assert_eq!(runs["runs"].as_array().unwrap().len(), 1, "nothing is recorded in {log}");
    }
    // The model that a deliberation asks is a setting.
    let config = concat!(env!("RETOLD_ROOT"), "/config/deliberation_small.yaml");
    let small = "--set participants_per_condition=1 --log talk.db";
    place.ok(&format!("run {config} -q --no-outputs {small}"));
    place.ok("fork latest -q --log talk.db --set config.model=gpt-5");
}

#[test]
fn what_cannot_be_forked() {
    let place = Place::with_run();
    place.write(
        "one.jsonl",
        r#"{"request":{"model":"m","messages":[]},"response":{"content":"a"}}"#,
    );
    let shown = place.session(&[
        "fork latest",
        "fork latest --at solve/7",
        "fork latest --at solve",
        "fork latest --at phase_7",
        "fork latest --at solve/1#9",
        "fork latest --set samples=few",
        "fork latest --set sample=2",
        "fork latest --set parser=vote",
        "fork latest --at solve/1#0 --answers one.jsonl",
        "fork none.jsonl --at 3",
    ]);
    assert_eq!(place.json("log").0["runs"].as_array().unwrap().len(), 1, "nothing is recorded");
    assert_said!("forks_wrong", shown);
}

/// A value that a config may not have is refused in a fork as well, with the same message.
#[test]
fn values_out_of_range_are_refused() {
    let run = |config: &str, small: &str| {
        let place = Place::new();
        let folder = concat!(env!("RETOLD_ROOT"), "/config");
        place.ok(&format!("run {folder}/{config}.yaml -q --no-outputs {small}"));
        place
    };
    let cases: [(&str, &str, &[&str]); 5] = [
        (
            "public_goods_small",
            "--set games=1 --set game_length=1",
            &["config.group_size=50", "config.mpcr=9", "config.game_length=0"],
        ),
        ("society_small", "--set days=1", &["days=0", "agents=1", "rules.pool_share=2"]),
        ("adventure", "--set turns=1", &["config.turns=0"]),
        (
            "deliberation_small",
            "--set participants_per_condition=1",
            &["config.max_socratic_exchanges=0"],
        ),
        ("game24", "--set puzzles.rows=0..1 --set samples=1", &["samples=0"]),
    ];
    let mut said = String::new();
    for (config, small, wrong) in cases {
        let place = run(config, small);
        let commands = wrong.iter().map(|set| format!("fork latest --set {set}"));
        let commands: Vec<String> = commands.collect();
        said += &place.session(&commands.iter().map(String::as_str).collect::<Vec<_>>());
        let (runs, _) = place.json("log");
        assert_eq!(runs["runs"].as_array().unwrap().len(), 1, "nothing is recorded of {config}");
        assert_eq!(place.json("replay latest").0["identical"], true, "{config}");
    }
    assert_said!("forks_out_of_range", said);
}

/// Original runs may contain what a config may not: their forks keep it, and nothing else of that
/// kind is accepted.
#[test]
fn problems_of_the_parent_are_not_reported_as_the_forks() {
    let config = Path::new(env!("RETOLD_ROOT")).join("config/public_goods_small.yaml");
    let plain = study(&config, None, &[]).unwrap().settings.experiment.to_json().unwrap();
    let mut both = plain.clone();
    for key in ["punishment_enabled", "reward_enabled"] {
        both["config"][key] = true.into();
        both["config"]["peer_incentive_cost"] = 1.into();
    }
    let mut more = both.clone();
    more["config"]["mpcr"] = 9.into();
    let check = |settings: &serde_json::Value, parent: &serde_json::Value| {
        check_fork("public_goods", &settings.clone().into(), &parent.clone().into())
    };
    check(&both, &both).unwrap();
    for (settings, parent, what) in [(&both, &plain, "reward_enabled"), (&more, &both, "mpcr")] {
        let said = check(settings, parent).unwrap_err().to_string();
        assert!(said.contains(&format!(" cannot be used: {what}: ")), "{said}");
    }
}
