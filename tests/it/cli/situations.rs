//! `show RUN game1/r01/contribution`: the reasons of all players in one situation.

use serde_json::Value;

use crate::support::cli::Place;
use crate::support::csv;

const CONFIG: &str = concat!(env!("RETOLD_ROOT"), "/config/public_goods_small.yaml");

/// What is shown is what the tables have: each player's reasons, model and action.
#[test]
fn reasons_stand_one_after_another() {
    for set in ["", " --set decision_apart=true"] {
        let place = Place::new();
        place.ok(&format!("run {CONFIG} --quiet --no-outputs{set}"));
        place.ok("export latest out --as outputs");
        let reasons = csv::rows_of(&place.read("out/reasoning.csv"));
        let mut compared = 0;
        for round in 1..=3 {
            let name = format!("game1/r{round:02}/contribution");
            let (shown, code) = place.json(&format!("show latest {name}"));
            assert_eq!(code, 0);
            let players = shown["story"]["situations"][0]["players"].as_array().unwrap();
            assert_eq!(players.len(), 4, "{shown}");
            for player in players {
                let is_it = |row: &&csv::Row| {
                    row["round"] == round.to_string()
                        && row["prompt_type"] == "contribution"
                        && player["agent_id"] == *row["agent_id"]
                };
                let due = reasons.iter().find(is_it);
                let due = due.map_or(Value::Null, |row| row["reasoning"].as_str().into());
                assert_eq!(player["reasoning"], due, "{name}: {player}");
                compared += 1;
            }
        }
        assert_eq!(compared, 12);
        let text = place.ok("show latest game1/r01/contribution");
        assert!(
            text.contains("\nsituation game1/r01/contribution: 4 players\n\ngame1/agent_0  "),
            "{text}"
        );
        let round = place.ok("show latest r02");
        for stage in ["chat", "contribution", "redistribution"] {
            assert!(round.contains(&format!("situation game1/r02/{stage}: 4 players")), "{round}");
        }
        let missing = place.run("show latest game1/r09/contribution");
        assert_eq!(missing.code, 2);
        assert!(missing.err.contains("has no situation game1/r09/contribution"), "{}", missing.err);
        // Players and calls are shown as before.
        place.ok("show latest game1/agent_0");
        place.ok("show latest game1/r01/agent_0/contribution");
    }
}
