//! Logs of another program's society: real ones (they need `../shared/data`), and logs that cannot
//! be read.

use serde_json::{Value, json};

use crate::support::cli::{Place, assert_said};
use crate::support::data::folder;

/// A turn as that program logs it.
fn turn(epoch: u32, agent: &str, action: &str, success: bool) -> Value {
    json!({
        "epoch": epoch, "turn": 1, "timestamp": "2026-02-04T00:38:05.377908+00:00",
        "agent_id": agent, "persona": "merchant", "location": "market", "action_type": action,
        "target": null, "content": "We share.", "thought": "So be it.", "success": success,
        "resources_before": {"energy": 95, "influence": 0},
        "resources_after": {"energy": if success { 96 } else { 95 }, "influence": 0},
        "run": 1, "run_id": "some-model_en_20260204-093801", "operator": "x",
    })
}

fn lines(rows: &[Value]) -> String {
    rows.iter().map(|row| format!("{row}\n")).collect()
}

/// A log of four turns and a death.
fn small() -> Vec<Value> {
    vec![
        turn(1, "a_01", "trade", true),
        turn(1, "b_01", "speak", true),
        turn(2, "a_01", "trade|speak", false),
        turn(2, "b_01", "idle", true),
        turn(3, "b_01", "death", true),
    ]
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn the_real_logs_are_read_again_and_whatever_they_refused_is_rejected_with_a_reason() {
    let expected = [("haiku", 2598, 19, 1695, 1433, 1395), ("mistral", 1877, 363, 1088, 966, 960)];
    for (model, turns, refused, done_and_rejected, trades, open) in expected {
        let place = Place::new();
        let file = folder("society").join(format!("{model}_en_simulation_log.jsonl.gz"));
        let (said, code) = place.json(&format!("import society {}", file.display()));
        assert_eq!((code, &said["differences"]), (0, &json!([])), "{said}");
        let counted = format!("{trades} trades that were done there, {open} of them open offers");
        let notes = said["notes"].as_array().unwrap();
        assert!(notes.iter().any(|note| note.as_str().unwrap().contains(&counted)), "{notes:?}");
        assert_eq!(said["report"]["rejected_here_alone"]["trade"], trades);
        // Which agents were alive and what was traded in 250 epochs; each refused turn counts
        // twice.
        assert_eq!(said["compared"], 500 + 2 * refused);
        let left: Vec<&str> = said["not_compared"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it.as_str().unwrap())
            .collect();
        for name in ["gini_coefficient", "total_energy", "treasury"] {
            assert!(
                left.iter().any(|it| it.starts_with(&format!("{name} of 250 epochs"))),
                "{left:?}"
            );
        }
        let report = &said["report"];
        assert_eq!((&report["turns"], &report["refused_there"]), (&turns.into(), &refused.into()));
        assert_eq!(report["rejected_in_both"], refused);
        let alone = report["rejected_here_alone"].as_object().unwrap();
        let alone: u64 = alone.values().map(|n| n.as_u64().unwrap()).sum();
        assert_eq!(alone, done_and_rejected);
        let (replayed, code) = place.json("replay latest");
        assert_eq!((code, &replayed["identical"]), (0, &json!(true)));
        assert_eq!(place.json("check latest").1, 0);
        assert_eq!(place.json("verify").1, 0);
        place.ok("export latest out --as outputs");
        let invalid = place.read("out/invalid_actions.csv");
        let of_refused = invalid.lines().filter(|line| line.contains(",false,"));
        assert_eq!(of_refused.count() as u64, refused);
        // The reason is the last cell of every row.
        assert!(invalid.lines().all(|line| !line.ends_with(',')));
    }
}

#[test]
fn a_decision_of_an_imported_log_is_audited() {
    let place = Place::new();
    place.write("s_simulation_log.jsonl", lines(&small()));
    assert_said!("society_import", place.session(&["import society s_simulation_log.jsonl"]));
    let events = place.ok("log latest");
    let decision = events.lines().find(|line| line.contains("  decision ")).unwrap();
    let seq = decision.split_whitespace().find(|w| w.chars().all(|c| c.is_ascii_digit())).unwrap();
    let chain = place.ok(&format!("audit latest {seq}"));
    assert!(chain.contains("parser   action@2") && chain.contains("some-model"), "{chain}");
    assert_eq!(place.json("replay latest").0["identical"], true);
}

/// Its rules are not ours, so it has the figures and the plots that any run has.
#[test]
fn the_report_of_an_imported_log_has_plots() {
    let place = Place::new();
    place.write("s_simulation_log.jsonl", lines(&small()));
    place.ok("import society s_simulation_log.jsonl");
    place.ok("report latest -o page.html");
    let page = place.read("page.html");
    for table in ["calls_1.csv", "methods_1.csv"] {
        assert!(page.contains(&format!("download=\"{table}\"")), "{table} in {page}");
    }
}

#[test]
fn a_fork_of_an_imported_log_has_the_agents_that_it_names() {
    let place = Place::new();
    place.write("s_simulation_log.jsonl", lines(&small()));
    place.ok("import society s_simulation_log.jsonl");
    let said = place.run("fork latest --set agents=0");
    let expected = "error: the recorded settings of experiment society_log cannot be used: agents: the \
                    recorded log names 2, not 0\n";
    assert_eq!((said.code, said.err.as_str()), (2, expected));
}

/// A log with shuffled lines gives the same result as the one in order, and the notes say so.
#[test]
fn lines_out_of_order_are_put_in_order() {
    let place = Place::new();
    let mut rows = small();
    for (turn, row) in rows.iter_mut().enumerate() {
        row["turn"] = json!(turn + 1);
    }
    place.write("a_simulation_log.jsonl", lines(&rows));
    let (in_order, _) = place.json("import society a_simulation_log.jsonl");
    rows.reverse();
    place.write("a_simulation_log.jsonl", lines(&rows));
    let (reversed, code) = place.json("import society a_simulation_log.jsonl");
    assert_eq!(code, 0, "{reversed}");
    assert_eq!(in_order["outcome_digest"], reversed["outcome_digest"]);
    assert_eq!(in_order["report"], reversed["report"]);
    let notes = |said: &Value| said["notes"].as_array().unwrap().clone();
    let more: Vec<Value> =
        notes(&reversed).into_iter().filter(|note| !notes(&in_order).contains(note)).collect();
    let expected = "the order of the lines: 4 stand behind later ones, first line 2 of a_simulation_log.jsonl; \
         they are taken by run, epoch and turn";
    assert_eq!(more, [json!(expected)]);
}

/// A missing line leaves a gap between turns, or between the epochs of its agent.
#[test]
fn missing_lines_are_reported() {
    let place = Place::new();
    let mut rows = Vec::new();
    for epoch in 1..=3 {
        for (at, agent) in (1..).zip(["a_01", "b_01", "c_01"]) {
            let mut row = turn(epoch, agent, "idle", true);
            row["turn"] = json!(at);
            rows.push(row);
        }
    }
    let notes = |without: &[usize]| {
        let kept = rows.iter().enumerate().filter(|(at, _)| !without.contains(at));
        let kept: Vec<Value> = kept.map(|(_, row)| row.clone()).collect();
        place.write("a_simulation_log.jsonl", lines(&kept));
        let (said, code) = place.json("import society a_simulation_log.jsonl");
        assert_eq!(code, 0, "{said}");
        let notes = said["notes"].as_array().unwrap().iter();
        let notes = notes.map(|note| note.as_str().unwrap().to_owned());
        notes.filter(|note| note.contains("missing")).collect::<Vec<String>>()
    };
    assert_eq!(notes(&[]), [""; 0]);
    // In the middle, and as the first or last turn of its epoch.
    for (at, agent, line) in [(3, "a_01", 6), (4, "b_01", 7), (5, "c_01", 8)] {
        let expected = format!(
            "a turn of {agent} in epoch 2 of run 1: missing before line {line} of \
             a_simulation_log.jsonl"
        );
        assert_eq!(notes(&[at]), [expected]);
    }
    let expected = "turns 1 and 3 of epoch 3 of run 1 follow each other: what is between them is \
                    missing before line 8 of a_simulation_log.jsonl";
    assert_eq!(notes(&[7]), [expected]);
}

#[test]
fn differences_from_the_summary_are_reported() {
    let place = Place::new();
    let mut rows = small();
    rows[2]["resources_after"]["energy"] = json!(99);
    rows[2]["action_type"] = json!("idle");
    place.write("s_simulation_log.jsonl", lines(&rows));
    let epoch = |epoch: u32, alive: u32, trades: u32| {
        json!({"run": 1, "epoch": epoch, "alive_agents": alive, "transaction_count": trades, "treasury": 3 * epoch,
            "total_energy": 90, "billboard_active": null, "notable_events": [], "run_id": "some-model_en_1"})
    };
    let summary = [epoch(1, 2, 1), epoch(2, 3, 0), epoch(3, 0, 0), epoch(4, 0, 1)];
    place.write("s_epoch_summary.jsonl", lines(&summary));
    let (said, code) = place.json("import society .");
    assert_eq!(code, 1, "{said}");
    let differences = said["differences"].as_array().unwrap();
    let differences: Vec<&str> = differences.iter().map(|d| d.as_str().unwrap()).collect();
    insta::assert_snapshot!(differences.join("\n"));
    // What cannot be computed from the log is listed, and a change of it is not overlooked in silence.
    let due = |name: &str| {
        format!(
            "{name} of 4 epochs: the rules by which an epoch ends in that world, on which it depends, are not in the log"
        )
    };
    assert_eq!(said["not_compared"], json!([due("total_energy"), due("treasury")]));
}

/// Each difference names its line and agent. A turn that their world understood but refused by its
/// own rules is not a difference if our rules accept it.
#[test]
fn refused_turns_that_are_accepted_here_are_named() {
    let place = Place::new();
    let mut rows = small();
    rows[2]["action_type"] = json!("idle");
    let notes = |said: &Value| said["notes"].to_string();
    place.write("a_simulation_log.jsonl", lines(&rows));
    let (said, code) = place.json("import society a_simulation_log.jsonl");
    assert_eq!((code, &said["differences"]), (0, &json!([])), "{said}");
    assert!(notes(&said).contains("why 1 turns were refused there"), "{said}");
    // No agent is idle in that log, so its world may not have that action.
    rows[3]["action_type"] = json!("rest");
    rows[2]["resources_after"]["energy"] = json!(99);
    place.write("b_simulation_log.jsonl", lines(&rows));
    let (said, code) = place.json("import society b_simulation_log.jsonl");
    let expected = json!([
        "line 3, a_01 in epoch 2 of run 1: \"idle\" was refused there and is accepted here",
        "line 3, a_01 in epoch 2 of run 1: the turn was refused there, and energy went from 95 to 99",
    ]);
    assert_eq!((code, &said["differences"]), (1, &expected), "{said}");
    assert!(!notes(&said).contains("were refused there whose action"), "{said}");
}

#[test]
fn unreadable_logs_are_reported_with_file_and_line() {
    let place = Place::new();
    let good = lines(&small());
    let without = |key: &str| {
        let mut row = turn(1, "a_01", "idle", true);
        row.as_object_mut().unwrap().remove(key);
        format!("{good}{row}\n")
    };
    place.write("empty_simulation_log.jsonl", "");
    place.write("json.jsonl", format!("{good}{{\"epoch\": 1,\n"));
    place.write("other.jsonl", "{\"persona\": \"a baker\"}\n");
    place.write("lacking.jsonl", without("resources_before"));
    place.write("twice.jsonl", format!("{good}{}", lines(&small()[..1])));
    place.write("types.jsonl", good.replacen("\"epoch\":2", "\"epoch\":\"two\"", 1));
    place.write("latin1.jsonl", [good.as_bytes(), b"{\"agent_id\": \"caf\xe9\"}\n"].concat());
    let utf16: Vec<u8> = good.encode_utf16().flat_map(u16::to_le_bytes).collect();
    place.write("utf16.jsonl", [vec![0xff, 0xfe], utf16].concat());
    place.write("packed.jsonl.gz", &good);
    place.write("slash.jsonl", lines(&[turn(1, "a//b", "idle", true)]));
    for folder in ["none", "two"] {
        std::fs::create_dir(place.path(folder)).unwrap();
    }
    place.write("two/a_simulation_log.jsonl", &good);
    place.write("two/b_simulation_log.jsonl", &good);
    place.write("s_simulation_log.jsonl", &good);
    place.write("s_epoch_summary.jsonl", "{\"run\": 1, \"epoch\": 1}\n");
    let files = [
        "nowhere.jsonl",
        "empty_simulation_log.jsonl",
        "json.jsonl",
        "other.jsonl",
        "lacking.jsonl",
        "twice.jsonl",
        "types.jsonl",
        "latin1.jsonl",
        "utf16.jsonl",
        "packed.jsonl.gz",
        "slash.jsonl",
        "none",
        "two",
        "s_simulation_log.jsonl",
    ];
    let commands: Vec<String> = files.iter().map(|f| format!("import society {f}")).collect();
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    assert_said!("society_import_wrong", place.session(&commands));
    assert!(!place.path("retold.db").exists(), "nothing is recorded");
}

#[test]
fn there_are_no_configs_of_a_log() {
    let place = Place::new();
    place.write("log.yaml", "experiment: society_log\n");
    let said = place.run("run log.yaml");
    insta::assert_snapshot!(said.err);
    assert_eq!(said.code, 2);
}
