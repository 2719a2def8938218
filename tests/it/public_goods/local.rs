//! Games that another program played with local models: real folders (they need `../shared/data`),
//! a small one of our own, and folders that cannot be read.

use serde_json::{Value, json};

use crate::support::cli::{Place, assert_said};
use crate::support::data::{folder, rows, subfolders};
use crate::support::stops::stopped_import;

/// Every folder gives the same results as its program: each value that it took from an answer, and
/// each payoff that it showed in a prompt. The prompts have the hashes of the prompts it sent.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn all_local_models_games_come_out_as_they_were() {
    let place = Place::new();
    let (mut answers, mut compared, mut folders) = (0, 0, 0);
    for folder in subfolders("public_goods/local_model", "participant_sim.csv") {
        let (said, code) = place.json(&format!("import public-goods {}", folder.display()));
        assert_eq!((code, &said["differences"]), (0, &json!([])), "{said}");
        answers += said["exchanges"].as_u64().unwrap();
        compared += said["compared"].as_u64().unwrap();
        folders += 1;
        assert_eq!(place.json("replay latest").0["identical"], true);
        let (checked, code) = place.json("check latest");
        assert_eq!((code, &checked["flipped"]), (0, &json!([])), "{checked}");
    }
    // Five values in each of 579 rows, and 1,737 payoffs.
    assert_eq!((folders, answers, compared), (16, 579 + 306, 5 * 579 + 1_737));
    assert_eq!(place.json("verify").1, 0);
    place.ok("export latest out --as outputs");
    assert!(place.read("out/reasoning_measures.csv").lines().count() > 20);
}

/// Every prompt of a real folder, asked again, equals the one in the folder to the last byte.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn a_local_models_prompt_is_the_one_that_was_asked() {
    let name = "public_goods/local_model/output_persona_summary_learning_match/148_T/2602221509";
    let place = Place::new();
    place.ok(&format!("import public-goods {}", folder(name).display()));
    for row in rows(name, "participant_debug.jsonl.gz") {
        let stage = if row["phase"] == "contrib" { "contribution" } else { "redistribution" };
        let players = ["DUCK", "SNAKE", "HORSE", "FROG", "SLOTH", "MONKEY", "PINGUIN"];
        let agent = players.iter().position(|name| row["agent"] == *name).unwrap();
        let call = format!("game1/r{:02}/agent_{agent}/{stage}", row["round"].as_u64().unwrap());
        let (shown, _) = place.json(&format!("show latest {call}"));
        assert_eq!(shown["request"]["messages"][0]["content"], row["prompt_full"]);
        assert_eq!(shown["answer"]["text"], row["raw_output_full"]);
    }
}

fn config() -> Value {
    json!({
        "experiment": "small",
        "environment": {
            "CONFIG_chat": false, "CONFIG_punishmentExists": true, "CONFIG_showRewardId": false,
            "CONFIG_rewardMagnitude": 1.0, "CONFIG_punishmentMagnitude": 3.0,
            "CONFIG_showNRounds": true, "CONFIG_endowment": 20, "CONFIG_showPunishmentId": false,
            "CONFIG_punishmentCost": 1, "CONFIG_rewardExists": false, "CONFIG_multiplier": 1.2,
            "CONFIG_showOtherSummaries": true, "CONFIG_numRounds": 2, "CONFIG_allOrNothing": false,
            "CONFIG_playerCount": 2, "CONFIG_rewardCost": 1,
        },
        "model": {"base_model": "some-model", "temperature": 1.0, "contrib_max_new_tokens": 128},
    })
}

fn line(round: u32, agent: &str, phase: &str, shown: &str, answer: &str) -> Value {
    json!({
        "game": "small", "round": round, "agent": agent, "phase": phase, "dt_sec": 1.0,
        "prompt_full": format!("You are {agent}.\n<ROUND i=\"1 of 2\">\n{shown}\nQUESTION: {phase}?"),
        "raw_output_full": answer,
    })
}

/// CAT contributes 10; DOG contributes 20 and punishes CAT with two units.
fn debug() -> Vec<Value> {
    let gives = |n: u32| {
        format!(
            "```json\n{{\"stage\":\"contribution\",\"reasoning\":\"Why not?\",\"contribution\":{n}}}\n```\n{{\"contribution\":1}}"
        )
    };
    let punishes = |json: &str| {
        format!("{{\"stage\":\"actions\",\"reasoning\":\"So be it.\",\"actions\":{json}}}")
    };
    let summary = "<ROUND SUMMARY json='{\"DOG (YOU)\":{\"payoff\":16},\"CAT\":{\"payoff\":22}}'/>";
    vec![
        line(1, "DOG", "contrib", "", &gives(20)),
        line(1, "CAT", "contrib", "", &gives(10)),
        line(1, "DOG", "actions", "", &punishes("{\"CAT\":2}")),
        line(1, "CAT", "actions", "", &punishes("{}")),
        line(2, "DOG", "contrib", summary, &gives(20)),
    ]
}

const SIM: &str = "playerAvatar,persona,roundIndex,gameId,data.chat_message,data.chat_reasoning,\
    data.contribution,data.contribution_reasoning,data.punished,data.rewarded,data.actions_reasoning\n\
    DOG,p1,1,small,,,20,Why not?,\"{\"\"CAT\"\":2}\",,So be it.\n\
    CAT,p2,1,small,,,10,Why not?,{},,So be it.\n\
    DOG,p1,2,small,,,20,Why not?,,,\n";

fn write(place: &Place, config: &Value, debug: &[Value], sim: &str) {
    let lines: String = debug.iter().map(|row| format!("{row}\n")).collect();
    std::fs::create_dir_all(place.path("run")).unwrap();
    place.write("run/config.json", config.to_string());
    place.write("run/participant_debug.jsonl", lines);
    place.write("run/participant_sim.csv", sim);
}

/// An amount under another name, or in broken JSON, is read; an illegible one has no value, and
/// never half the endowment (10, which the table happens to say).
#[test]
fn an_illegible_answer_is_not_a_contribution() {
    let place = Place::new();
    let mut debug = debug();
    debug[0]["raw_output_full"] = json!(
        "{\"stage\": \"contribution\", \"reasoning\": \"Why not?\", tokens_contributed\": 20}"
    );
    write(&place, &config(), &debug, SIM);
    let (said, code) = place.json("import public-goods run");
    assert_eq!((code, &said["differences"]), (0, &json!([])), "{said}");
    debug[1]["raw_output_full"] =
        json!("{\"contribution\": \"as much as DOG\"}\n{\"contribution\": 10}");
    write(&place, &config(), &debug, SIM);
    let (said, code) = place.json("import public-goods run");
    assert_eq!(code, 1, "{said}");
    let expected = "run/participant_sim.csv, line 3: there is no answer to it";
    assert!(said["differences"].as_array().unwrap().contains(&json!(expected)), "{said}");
    let (shown, _) = place.json("show latest game1/r01/agent_1/contribution");
    assert_eq!(shown["decision"]["value"], Value::Null, "{shown}");
    assert_eq!(place.json("replay latest").0["identical"], true);
}

#[test]
fn a_small_folder_of_a_local_model_is_imported_and_audited() {
    let place = Place::new();
    write(&place, &config(), &debug(), SIM);
    // DOG earned 0 + 18 - 2 = 16, CAT 10 + 18 - 6 = 22, as the prompt of round 2 shows.
    assert_said!("local_model_import", place.session(&["import public-goods run"]));
    let chain = place.ok("audit latest game1/r01/agent_0/redistribution");
    assert!(chain.contains("actions_json") && chain.contains("some-model"), "{chain}");
    let story = place.ok("show latest game1/DOG");
    for said in
        ["        So be it.", "        2 units to CAT", "        16 coins", "first_json_object"]
    {
        assert!(story.contains(said), "{said}\n{story}");
    }
    assert_eq!(place.json("replay latest").0["identical"], true);
}

/// The games are recorded under another name than the one under which they are imported.
#[test]
fn a_stopped_import_of_a_local_model_says_how_to_continue() {
    let place = Place::new();
    write(&place, &config(), &debug(), SIM);
    stopped_import(&place, "public-goods", "run", 2);
    let hint = "`retold import public-goods ORIGINAL --resume 07070707` continues it";
    for command in ["show latest", "run --resume latest", "replay latest"] {
        let said = place.run(command);
        let all = format!("{}{}", said.out, said.err);
        assert!(all.replace("0707070707070707", "07070707").contains(hint), "{command}: {all}");
    }
    let (continued, code) = place.json("import public-goods run --resume latest");
    let whole = Place::new();
    write(&whole, &config(), &debug(), SIM);
    let (whole, _) = whole.json("import public-goods run");
    assert_eq!((code, &continued["outcome_digest"]), (0, &whole["outcome_digest"]), "{continued}");
    assert_eq!(place.json("log").0["runs"].as_array().unwrap().len(), 1, "no second run");
}

/// The exit code and the first line of what an import of a folder prints.
fn printed(place: &Place) -> String {
    let said = place.args(&["import", "public-goods", "run"]);
    format!("[{}] {}", said.code, said.err.lines().next().unwrap_or_default())
}

#[test]
fn damaged_folders_of_a_local_model_are_reported_with_file_and_line() {
    let said = |change: &dyn Fn(&mut Value, &mut Vec<Value>, &mut String)| {
        let place = Place::new();
        let (mut config, mut debug, mut sim) = (config(), debug(), SIM.to_owned());
        change(&mut config, &mut debug, &mut sim);
        write(&place, &config, &debug, &sim);
        printed(&place)
    };
    let environment = |key: &'static str, value: Value| {
        said(&move |config, _, _| config["environment"][key] = value.clone())
    };
    let row =
        |key: &'static str, value: Value| said(&move |_, debug, _| debug[2][key] = value.clone());
    let lacking = |name: &str| {
        let place = Place::new();
        write(&place, &config(), &debug(), SIM);
        std::fs::remove_file(place.path(&format!("run/{name}"))).unwrap();
        printed(&place)
    };
    let all = [
        lacking("config.json"),
        lacking("participant_debug.jsonl"),
        lacking("participant_sim.csv"),
        environment("CONFIG_chat", json!(true)),
        environment("CONFIG_rewardExists", json!(true)),
        environment("CONFIG_playerCount", json!(3)),
        environment("CONFIG_endowment", json!("20")),
        environment("CONFIG_endowment", json!(0)),
        row("phase", json!("chat")),
        row("round", json!(3)),
        row("agent", json!("FOX")),
        row("game", json!("other")),
        row("raw_output_full", Value::Null),
        said(&|_, debug, _| debug.push(debug[0].clone())),
        said(&|_, _, sim| *sim = sim.replace("persona", "who")),
        said(&|_, _, sim| sim.push_str("DOG,p1\n")),
        said(&|_, _, sim| *sim = sim.replace(",1,small", ",one,small")),
    ];
    insta::assert_snapshot!(all.join("\n"));
}

/// Our outputs of such a run contain no prompts, so its questions cannot be asked again from them.
#[test]
fn our_own_outputs_of_a_local_models_games_are_recognised() {
    let place = Place::new();
    write(&place, &config(), &debug(), SIM);
    place.ok("import public-goods run");
    place.ok("export latest own --as outputs");
    assert_said!("local_model_own_outputs", place.session(&["import public-goods own"]));
}

/// A fork of such a run is checked like a config of a game.
#[test]
fn what_a_fork_sets_is_checked() {
    let place = Place::new();
    write(&place, &config(), &debug(), SIM);
    place.ok("import public-goods run");
    let settings = [
        "config.endowment=0",
        "config.llm_temperature=3",
        "config.punishment_cost=-1",
        "multiplier=1e9",
        "multiplier=2",
        "top_p=1.5",
        "actions_max_tokens=0",
        "config.games=2",
        "config.group_size=3",
        "config.game_length=1",
        "config.endowment=[20]",
    ];
    let forks: Vec<String> =
        settings.iter().map(|set| format!("fork latest --set {set}")).collect();
    let forks: Vec<&str> = forks.iter().map(String::as_str).collect();
    assert_said!("local_model_forks", place.session(&forks));
}
