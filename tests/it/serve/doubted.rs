//! Logs whose ledger is not as it was written: the events of a run may match their hashes, but whether it
//! once had more is not known. Every command and the page say so.

use rusqlite::Connection;
use serde_json::Value;

use super::Served;
use super::damaged::{dangers, files};
use crate::support::cli::Place;
use crate::support::tamper::without_triggers;

/// A log with two finished runs, its ledger changed, and the ids of the runs.
fn with_ledger(change: &str) -> (Place, Vec<String>) {
    let place = Place::with_run();
    place.ok("run small.yaml --quiet --set seed=8");
    let (list, _) = place.json("log");
    let runs = list["runs"].as_array().unwrap().iter();
    let runs = runs.map(|run| run["run"].as_str().unwrap().to_owned()).collect();
    let db = Connection::open(place.path("retold.db")).unwrap();
    without_triggers(&db, |db| db.execute_batch(change)).unwrap();
    drop(db);
    (place, runs)
}

#[test]
fn a_run_is_doubted_if_the_ledger_does_not_fit() {
    for (change, said) in [
        ("DELETE FROM ledger", "the ledger does not name it"),
        ("DELETE FROM ledger WHERE no = 2", "entry 2 of the ledger is missing"),
        ("UPDATE ledger SET seq = seq - 1 WHERE no = 2", "entry 2 of the ledger: its hash"),
    ] {
        let (place, runs) = with_ledger(change);
        let before = files(place.root());
        for run in &runs {
            for command in ["show", "log", "stats", "verify"] {
                let found = place.run(&format!("{command} {run}"));
                let all = format!("{}{}", found.out, found.err);
                assert_eq!(found.code, 1, "{change}: {command}: {all}");
                assert!(all.contains(said), "{change}: {command}: {all}");
                let unknown = "whether it once had more is not known";
                assert!(all.contains(unknown), "{change}: {command}: {all}");
                assert!(!all.contains("from event") && !all.contains(", seq "), "{change}: {all}");
                let is_first = found.out.starts_with("DAMAGED: ") || command == "verify";
                assert!(is_first, "{change}: {command}: {all}");
            }
            let elsewhere = tempfile::tempdir().unwrap();
            let report = elsewhere.path().join("report.html");
            for command in [
                format!("report {run} -o {}", report.display()),
                format!("check {run}"),
                format!("replay {run}"),
                format!("plan --against {run} --at 3"),
            ] {
                let found = place.run(&command);
                let all = format!("{change}: {command}: {}{}", found.out, found.err);
                assert!(found.code == 1 && found.out.starts_with("DAMAGED: "), "{all}");
                assert!(found.out.contains(said), "{all}");
            }
            assert!(!report.exists(), "{change}");
            let (shown, code) = place.json(&format!("show {run}"));
            assert_eq!((code, &shown["damaged"]["from"]), (1, &Value::Null), "{shown}");
            assert!(shown["report"].is_object(), "what there is is shown: {shown}");
        }
        let all = place.run("verify");
        assert!(all.code == 1 && all.out.contains(said), "{change}: {}", all.out);
        assert!(!all.out.contains(", seq "), "{change}: no event is wrong: {}", all.out);
        let served = Served::log(&place, "retold.db");
        let about_log = if change.ends_with("ledger") { "names none of the runs" } else { said };
        for path in ["/".to_owned(), format!("/run/{}", runs[0]), format!("/run/{}/stats", runs[1])]
        {
            let found = dangers(&served.json(&path));
            let text: String = found.iter().map(|(text, _)| text.as_str()).collect();
            assert!(text.contains(about_log), "{change}: {path}: {found:?}");
            assert!(found.iter().all(|(_, from)| from.is_none()), "{change}: {path}: {found:?}");
        }
        drop(served);
        let (list, code) = place.json("log");
        let problems = list["problems"].as_array().unwrap();
        let is_said = |problem: &Value| {
            problem["what"].as_str().unwrap().contains(about_log) && problem["seq"].is_null()
        };
        assert!(code == 1 && problems.iter().any(is_said), "{change}: {list}");
        assert!(files(place.root()) == before, "{change}: the folder was changed");
    }
}

/// What is left of the ledger still fits: it only lacks what the run says of itself. Verification compares that.
#[test]
fn verification_names_a_run_whose_end_is_not_in_the_ledger_and_no_other() {
    let (place, runs) = with_ledger("DELETE FROM ledger WHERE no = (SELECT max(no) FROM ledger)");
    let sound = place.run(&format!("verify {}", runs[0]));
    assert_eq!(sound.code, 0, "{}{}", sound.out, sound.err);
    let found = place.run(&format!("verify {}", runs[1]));
    assert_eq!(found.code, 1, "{}{}", found.out, found.err);
    assert!(found.out.contains("the ledger does not say that it was finished"), "{}", found.out);
}
