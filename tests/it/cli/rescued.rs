//! `retold copy` of damaged runs: what is left makes a new run, and a fork of that asks only what is lost.

use regex::Regex;
use rusqlite::Connection;
use serde_json::Value;

use crate::support::cli::{Place, assert_said};
use crate::support::tamper::without_triggers;

/// Changes the body of the event of a kind with a number, counted from 0, of the only run; returns its seq.
fn damage(place: &Place, kind: &str, number: i64) -> i64 {
    let db = Connection::open(place.path("retold.db")).unwrap();
    let find = "SELECT e.id & 4294967295 FROM events e JOIN kinds k ON k.id = e.kind
        WHERE k.name = ?1 ORDER BY e.id LIMIT 1 OFFSET ?2";
    let seq: i64 = db.query_row(find, (kind, number), |row| row.get(0)).unwrap();
    let change = "UPDATE events SET body = body || ' ' WHERE id & 4294967295 = ?1";
    assert_eq!(without_triggers(&db, |db| db.execute(change, [seq])).unwrap(), 1);
    seq
}

/// The new run that a copy makes.
fn rest(place: &Place) -> (String, Value) {
    let (copied, code) = place.json("copy --to rest.db");
    assert_eq!(code, 1, "{copied}");
    let run = copied["runs"][0].clone();
    (run["rest"].as_str().unwrap_or_else(|| panic!("{copied}")).to_owned(), run)
}

/// Whatever is damaged, a fork of the rest has the outcome of the whole run, and its model is asked only what is lost.
#[test]
fn a_fork_of_what_is_left_pays_only_for_what_is_lost() {
    for (kind, asked) in [("ResponseReceived", 1), ("RequestSent", 1), ("DecisionMade", 0)] {
        let place = Place::with_run();
        let whole = place.json("show latest").0;
        let seq = damage(&place, kind, 3);
        let (run, copied) = rest(&place);
        assert!(copied["damage"].as_str().unwrap().contains(&format!("seq {seq}")), "{copied}");
        let lost = copied["lost"].as_u64().unwrap();
        let shown = place.json(&format!("show {run} --log rest.db")).0;
        assert_eq!(shown["lost"]["run"], whole["run"], "{kind}");
        assert_eq!(shown["lost"]["lost"][0][0], seq, "{kind}");
        assert_eq!(shown["outcome"], "abandoned", "{kind}");
        // It has all others, besides its own second event and end.
        let events = |shown: &Value| shown["events"].as_u64().unwrap();
        assert_eq!(events(&shown), events(&whole) - 1 - lost + 2, "{kind}: {copied}");
        let forked = place.json(&format!("fork {run} --log rest.db")).0;
        assert_eq!(forked["outcome_digest"], whole["outcome_digest"], "{kind}");
        let forked = place.json("show latest --log rest.db").0;
        let answered = |key: &str| forked[key].as_u64().unwrap();
        assert_eq!(answered("exchanges") - answered("reused_answers"), asked, "{kind}: {forked}");
        assert!(place.ok("verify --log rest.db").contains("2 runs verified"), "{kind}");
        place.ok("replay latest --log rest.db");
    }
}

#[test]
fn what_copying_a_damaged_run_says() {
    let place = Place::with_run();
    damage(&place, "DecisionMade", 1);
    let mut said = place.session(&["copy --to rest.db", "copy --to rest.db"]);
    let (run, _) = rest(&place);
    said.push_str(&place.session(&[&format!("show {run} --log rest.db")]));
    let refused = place.run(&format!("run --resume {run} --log rest.db"));
    assert_eq!(refused.code, 2, "{}", refused.err);
    let digest = Regex::new("outcome digest [0-9a-f]+").unwrap();
    let old = place.json("log").0["runs"][0]["run"].as_str().unwrap()[..8].to_owned();
    let old_id = place.json("log").0["runs"][0]["run"].as_str().unwrap().to_owned();
    let said = said.replace(&run, "[rest]").replace(&run[..8], "[rest]");
    let said = said.replace(&old_id, "[old]").replace(&old, "[old]");
    assert_said!("rescued", digest.replace_all(&said, "outcome digest [digest]"));
}

/// Without its first event, nobody knows what a run was.
#[test]
fn a_run_without_its_first_event_is_not_copied() {
    let place = Place::with_run();
    damage(&place, "RunStarted", 0);
    let said = place.run("copy --to rest.db");
    assert_eq!(said.code, 1, "{}", said.err);
    assert!(said.err.contains("was not copied") && said.err.contains("seq 1"), "{}", said.err);
    assert_eq!(place.json("log --log rest.db").0["runs"], serde_json::json!([]));
}
