//! Folders that are not original runs, or damaged ones.

use crate::support::program as registry;

use crate::support::cli::Place;

const CONFIG: &str = r#"{
  "experiment_id": "exp",
  "config_hash": "00000000",
  "timestamp": "2026-01-01T00:00:00",
  "config": {
    "group_size": 2, "game_length": 1, "endowment": 20, "horizon_knowledge": "known",
    "mpcr": 0.6, "multiplier": 1.2, "contribution_type": "variable",
    "contribution_framing": "opt_in", "communication_enabled": true,
    "peer_outcome_visibility": true, "actor_anonymity": false, "punishment_enabled": true,
    "punishment_cost": 1, "punishment_impact": 2, "reward_enabled": false, "reward_impact": 1.0,
    "llm_model": "gpt-4o", "llm_temperature": 1.0
  }
}"#;
const START: &str = "experiment_id,config_hash,game_id,round,agent_id,avatar_name";
const ROW: &str = "exp,00000000,exp_game1,1";

/// Files of a sound run of two: DOG contributes 20 and punishes CAT, which contributes 10.
fn sound() -> Vec<(&'static str, Vec<u8>)> {
    let raw = format!(
        "{START},prompt_type,raw_response,parsed_result,timestamp\n\
         {ROW},agent_0,DOG,chat,<MESSAGE>Hello</MESSAGE>,Hello,t\n\
         {ROW},agent_1,CAT,chat,\"<MESSAGE>\nnothing\n</MESSAGE>\",,t\n\
         {ROW},agent_0,DOG,contribution,<CONTRIBUTE>20</CONTRIBUTE>,20,t\n\
         {ROW},agent_1,CAT,contribution,<CONTRIBUTE>10</CONTRIBUTE>,10,t\n\
         {ROW},agent_0,DOG,redistribution,<REDISTRIBUTE>[3]</REDISTRIBUTE>,[3],t\n\
         {ROW},agent_1,CAT,redistribution,<REDISTRIBUTE>[0]</REDISTRIBUTE>,[0],t\n"
    );
    let log = format!(
        "{START},contribution,punishments_sent,punishments_received,rewards_sent,rewards_received,\
         round_payoff,cumulative_wallet,public_fund,timestamp\n\
         {ROW},agent_0,DOG,20,3,0,0,0,15.0,15.0,36.0,t\n\
         {ROW},agent_1,CAT,10,0,3,0,0,22.0,22.0,36.0,t\n"
    );
    let chat = format!("{START},message,timestamp\n{ROW},agent_0,DOG,Hello,t\n");
    let details = format!(
        "experiment_id,config_hash,game_id,round,actor_id,actor_name,target_id,target_name,type,\
         units_decided,units_actual,was_scaled,cost,impact,timestamp\n\
         {ROW},agent_0,DOG,agent_1,CAT,punishment,3,3,False,3,6,t\n"
    );
    vec![
        ("config.json", CONFIG.into()),
        ("raw_responses.csv", raw.into()),
        ("game_log.csv", log.into()),
        ("chat_messages.csv", chat.into()),
        ("redistribution_details.csv", details.into()),
    ]
}

/// The error for a folder in which one file is changed or missing.
fn said(name: &str, change: impl Fn(String) -> Option<Vec<u8>>) -> String {
    let dir = tempfile::tempdir().unwrap();
    for (file, bytes) in sound() {
        let bytes = match file == name {
            true => change(String::from_utf8(bytes).unwrap()),
            false => Some(bytes),
        };
        if let Some(bytes) = bytes {
            std::fs::write(dir.path().join(file), bytes).unwrap();
        }
    }
    match registry::import_original("public_goods", dir.path()).unwrap().unwrap() {
        Ok(_) => "no error".to_owned(),
        Err(e) => e.to_string().replace(&dir.path().display().to_string(), "[folder]"),
    }
}

#[test]
fn damaged_original_runs_are_named_with_file_and_line() {
    let replaced = |name: &str, from: &str, to: &str| {
        said(name, |text| {
            assert!(text.contains(from), "{from}");
            Some(text.replacen(from, to, 1).into_bytes())
        })
    };
    let utf16 = |text: String| {
        let units = std::iter::once(0xFEFF).chain(text.encode_utf16().collect::<Vec<_>>());
        Some(units.flat_map(u16::to_le_bytes).collect())
    };
    let utf32 = |text: String| {
        let units = std::iter::once('\u{FEFF}').chain(text.chars());
        Some(units.flat_map(|c| u32::from(c).to_le_bytes()).collect())
    };
    let utf32be =
        |text: String| Some(text.chars().flat_map(|c| u32::from(c).to_be_bytes()).collect());
    let latin1 = |text: String| {
        let text = text.replace("Hello,t", "H\u{e9}llo,t");
        Some(text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect())
    };
    let with_mark = |text: String| Some(format!("\u{FEFF}{text}").into_bytes());
    let mut all = vec![];
    for (name, _) in sound() {
        all.push(said(name, |_| None));
    }
    all.extend([
        replaced("raw_responses.csv", "20,t\n", "20,t,more\n"),
        replaced("raw_responses.csv", ",Hello,t\n", ",Hello\n"),
        replaced("raw_responses.csv", "prompt_type", "prompt"),
        replaced("raw_responses.csv", "DOG,contribution", "DOG,contribution_iter7"),
        replaced("raw_responses.csv", "agent_1,CAT,contribution", "agent_0,DOG,contribution"),
        replaced("raw_responses.csv", "agent_1,CAT,redis", "agent_2,CAT,redis"),
        replaced("raw_responses.csv", "agent_1,CAT,redis", "agent_1,COW,redis"),
        replaced("raw_responses.csv", "exp_game1,1,agent_1", "exp_game1,2,agent_1"),
        replaced("raw_responses.csv", "exp_game1,1,agent_1", "exp_game1,one,agent_1"),
        said("raw_responses.csv", |_| Some(Vec::new())),
        said("game_log.csv", utf16),
        said("chat_messages.csv", latin1),
        said("config.json", utf16),
        said("config.json", utf32),
        said("game_log.csv", utf32be),
        replaced("config.json", "\"group_size\": 2,", "\"group_size\": 2"),
        replaced("config.json", "\"group_size\": 2,", ""),
        replaced("config.json", "\"group_size\": 2,", "\"group_size\": 40,"),
        replaced("config.json", "\"multiplier\": 1.2", "\"multiplier\": 1.3"),
        replaced("config.json", "\"group_size\"", "\"CONFIG_playerCount\""),
        replaced("config.json", "\"experiment_id\": \"exp\",", ""),
        replaced("config.json", "variable", "half"),
    ]);
    insta::assert_snapshot!(all.join("\n"));
    // A byte order mark in front of UTF-8 is accepted.
    for name in ["config.json", "game_log.csv", "raw_responses.csv"] {
        assert_eq!(said(name, with_mark), "no error");
    }
}

#[test]
fn an_import_shows_notes_and_differences() {
    let place = Place::new();
    let folder = |name: &str, log: fn(String) -> String| {
        std::fs::create_dir(place.path(name)).unwrap();
        for (file, bytes) in sound() {
            let text = String::from_utf8(bytes).unwrap();
            let text = if file == "game_log.csv" { log(text) } else { text };
            place.write(&format!("{name}/{file}"), text);
        }
    };
    folder("sound", |log| log);
    folder("other", |log| {
        log.replace("15.0,15.0,36.0", "15.5,15.5,36.0").replace("CAT,10", "CAT,11")
    });
    let shown = place.session(&[
        "import public-goods sound --quiet",
        "import public-goods other --quiet",
        "import public-goods nowhere --quiet",
        "import public-goods sound/config.json --quiet",
    ]);
    crate::support::cli::assert_said!("import_public_goods", shown);
    let (checked, code) = place.json("check latest");
    assert_eq!((code, checked["flipped"].as_array().map(Vec::len)), (1, Some(1)), "{checked}");
}

/// Two games of three players and three rounds, from the simulated model.
const OWN: &str = "experiment: public_goods\nexperiment_id: own\nseed: 3\ngames: 2\ngroup_size: 3\n\
    game_length: 3\nendowment: 20\nhorizon_knowledge: known\nmpcr: 0.5\ncontribution_type: variable\n\
    contribution_framing: opt_in\ncommunication_enabled: true\npeer_outcome_visibility: true\n\
    actor_anonymity: false\npunishment_enabled: true\npunishment_cost: 1\npunishment_impact: 3\n\
    reward_enabled: false\nllm_model: some-model\n";

/// A place with the outputs of such a run in `own`.
fn own_outputs(more: &str) -> Place {
    let place = Place::new();
    place.write("own.yaml", format!("{OWN}{more}"));
    place.ok("run own.yaml -q --no-outputs");
    place.ok("export latest own --as outputs");
    place
}

/// Our outputs of several games can be imported: each game has its own avatars.
#[test]
fn our_own_outputs_of_several_games_come_out_as_they_were() {
    for more in [
        "",
        "decision_apart: true\nreasoning: {embedding_model: e}\n",
        "model: {rates: {malformed: 0.5}}\nmax_parse_retries: 2\n",
        "parser_version: 1\nmodel: {rates: {malformed: 0.5}}\n",
    ] {
        let place = own_outputs(more);
        let first = place.read("own/game_log.csv");
        let (said, code) = place.json("import public-goods own");
        assert_eq!((code, &said["differences"]), (0, &serde_json::json!([])), "{more}{said}");
        assert_eq!(place.json("replay latest").0["identical"], true);
        let (shown, _) = place.json("show latest");
        assert_eq!(shown["simulated"], true, "made-up answers stay so: {shown}");
        place.ok("export latest again --as outputs");
        let columns = |text: &str| -> Vec<String> {
            let rows = text.lines().map(|row| row.split(',').collect::<Vec<_>>());
            rows.map(|row| row[2..row.len() - 1].join(",")).collect()
        };
        assert_eq!(columns(&place.read("again/game_log.csv")), columns(&first), "{more}");
    }
}

/// What an import of our own outputs prints if one file is changed.
fn differences(name: &str, change: &dyn Fn(&str) -> String) -> String {
    let place = own_outputs("");
    let path = format!("own/{name}");
    let before = place.read(&path);
    let changed = change(&before);
    assert_ne!(changed, before, "{name}");
    place.write(&path, changed);
    let (said, code) = place.json("import public-goods own");
    let mut report = format!("{code}: {} compared", said["compared"]);
    for key in ["differences", "not_compared"] {
        for line in said[key].as_array().into_iter().flatten() {
            report.push_str(&format!("\n  {key}: {}", line.as_str().unwrap_or_default()));
        }
    }
    report
}

/// Changes the line with the given game, round and player.
fn line(text: &str, row: &str, change: &dyn Fn(&str) -> String) -> String {
    let lines = text.split_inclusive('\n');
    lines.map(|line| if line.contains(row) { change(line) } else { line.to_owned() }).collect()
}

/// Sets a cell of a row to something else.
fn cell(line: &str, column: usize, text: &str) -> String {
    let mut cells: Vec<&str> = line.split(',').collect();
    cells[column] = text;
    cells.join(",")
}

#[test]
fn missing_and_duplicate_rows_are_reported_first() {
    let row = "own_game1,2,agent_1,";
    let log = |change: &dyn Fn(&str) -> String| {
        differences("game_log.csv", &|text| line(text, row, change))
    };
    let all = [
        log(&|_| String::new()),
        log(&|line| line.repeat(2)),
        differences("game_log.csv", &|text| line(text, "own_game2,1,", &|_| String::new())),
        differences("chat_messages.csv", &|text| line(text, row, &|line| line.repeat(2))),
        differences("redistribution_details.csv", &|text| {
            line(text, "own_game1,1,", &|_| String::new())
        }),
    ];
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn a_log_that_ends_before_the_answers_is_reported() {
    let place = own_outputs("");
    let log = place.read("own/game_log.csv");
    let shorter = line(&log, "own_game1,3,", &|_| String::new());
    place.write("own/game_log.csv", line(&shorter, "own_game2,3,", &|_| String::new()));
    let (said, code) = place.json("import public-goods own");
    let notes = said["notes"].as_array().unwrap();
    let report = "the end: game_log.csv has no rows from own_game1, round 3 on (and so with 1 more), and \
                there are answers: the run broke off there, or the rows are lost; nothing is compared there";
    assert!(notes.contains(&report.into()), "{said}");
    assert_eq!((code, &said["differences"]), (0, &serde_json::json!([])));
}

#[test]
fn an_unreadable_cell_is_reported_and_the_comparison_continues() {
    let log = |column: usize, text: &'static str| {
        differences("game_log.csv", &|whole| {
            line(whole, "own_game1,2,agent_1,", &|row| cell(row, column, text))
        })
    };
    let details = |column: usize, text: &'static str| {
        differences("redistribution_details.csv", &|whole| {
            let mut done = false;
            let lines = whole.split_inclusive('\n').map(|row| {
                let first = row.contains("own_game1,") && !std::mem::replace(&mut done, true);
                if first { cell(row, column, text) } else { row.to_owned() }
            });
            lines.collect()
        })
    };
    let all = [
        log(3, "two"),
        log(3, "7"),
        log(6, "many"),
        log(6, "9223372036854775807"),
        log(11, ""),
        log(12, "1.5."),
        log(12, "x\u{1b}[2J"),
        log(11, "1e999"),
        log(11, "nan"),
        details(3, "two"),
        details(4, "agent_9"),
        details(6, "CAT"),
        details(9, "few"),
        details(10, "1.5"),
        details(13, "-"),
    ];
    insta::assert_snapshot!(all.join("\n"));
}

/// A call that failed without a fact about it is in the player's story, with the reason.
#[test]
fn a_story_says_why_a_vector_is_not_there() {
    let place = own_outputs("reasoning: {embedding_model: e}\nmodel: {rates: {failure: 0.08}}\n");
    let mut found = 0;
    for name in ["game1/agent_0", "game1/agent_1", "game1/agent_2", "game2/agent_0"] {
        let (shown, _) = place.json(&format!("show latest {name}"));
        let chapters = shown["story"]["story"].as_array().unwrap().iter();
        let lines = chapters.flat_map(|chapter| chapter["lines"].as_array().unwrap());
        let exchanges = lines.flat_map(|line| line["exchanges"].as_array().into_iter().flatten());
        for exchange in exchanges.filter(|e| e["call"].as_str().unwrap().ends_with("/embedding")) {
            let Some(failure) = exchange["failure"].as_str() else { continue };
            let text = place.ok(&format!("show latest {name}"));
            assert!(text.contains(&format!("    failed:\n        {failure}\n")), "{text}");
            found += 1;
        }
    }
    assert!(found > 0, "no vector is missing");
}

/// An import stopped by an error, here by a file that may not grow, is continued as an import.
#[cfg(unix)]
#[test]
fn an_import_stopped_by_an_error_says_how_to_continue() {
    let place = own_outputs("");
    let within = |blocks: u32| {
        let import = "exec \"$0\" import public-goods own --log small.db -q";
        let line = format!("rm -f small.db*; trap '' XFSZ; ulimit -f {blocks}; {import}");
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &line, env!("CARGO_BIN_EXE_retold")]).current_dir(place.path("."));
        String::from_utf8(command.output().unwrap().stderr).unwrap()
    };
    // The smallest limit with which a run begins.
    let said = (6..60).map(|n| within(20 * n)).find(|said| said.contains("to continue")).unwrap();
    let (before, after) = said.split_once("--resume ").expect(&said);
    let (run, after) = after.split_once('`').unwrap();
    let expected = "error: the log small.db cannot be read or written: disk I/O error\n  hint: `retold --log small.db verify` shows \
                    whether the file is damaged\n  hint: everything recorded so far is safe: fix \
                    the problem, then run `retold --log small.db import public-goods own ";
    assert_eq!((before, after), (expected, " to continue\n"));
    place.ok(&format!("import public-goods own --log small.db --resume {run}"));
}
