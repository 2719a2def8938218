//! A log knows what it has held: whatever is removed or added without the program is reported.

use retold::id::RunId;
use retold::log::ledger::Ledger;
use retold::log::{Append, Head};
use rusqlite::Connection;

use crate::support::child;
use crate::support::cli::{Place, Said, assert_said};
use crate::support::logs::{Folder, assert_sound, open, row};
use crate::support::tamper::without_triggers;

/// Changes a log without the program.
fn change(place: &Place, sql: &str) {
    let db = Connection::open(place.path("retold.db")).unwrap();
    without_triggers(&db, |db| db.execute_batch(sql)).unwrap_or_else(|e| panic!("{sql}: {e}"));
}

/// Three finished runs.
fn three_runs() -> Place {
    let place = Place::with_run();
    place.ok("run small.yaml --quiet --set seed=8");
    place.ok("run small.yaml --quiet --set seed=9");
    place
}

const TIDY: &str = "
    DELETE FROM kinds WHERE id NOT IN (SELECT kind FROM events);
    DELETE FROM requests WHERE id NOT IN (SELECT request FROM events WHERE request IS NOT NULL);
    DELETE FROM contents WHERE id NOT IN (SELECT content FROM events WHERE content IS NOT NULL)
      AND NOT EXISTS (SELECT 1 FROM requests WHERE skeleton LIKE '%text:' || contents.id || '\"%')";

fn without_run(no: u32) -> String {
    format!("DELETE FROM events WHERE id >> 32 = {no}; DELETE FROM run_ids WHERE no = {no}; {TIDY}")
}

#[test]
fn whatever_is_removed_or_added_without_the_program_is_reported() {
    let mut all = String::new();
    for (what, sql) in [
        ("the first run is deleted", without_run(1)),
        ("the last run is deleted", without_run(3)),
        ("two runs are deleted", without_run(1) + ";" + &without_run(2)),
        (
            "the end of a run is cut off",
            format!("DELETE FROM events WHERE id > (2 << 32) + 9 AND id >> 32 = 2; {TIDY}"),
        ),
        ("an entry is removed", "DELETE FROM ledger WHERE no = 3".to_owned()),
        ("entries are removed", "DELETE FROM ledger WHERE no IN (2, 3)".to_owned()),
        ("the end of the ledger is removed", "DELETE FROM ledger WHERE no > 4".to_owned()),
        ("an entry is changed", "UPDATE ledger SET seq = seq + 1 WHERE no = 2".to_owned()),
        ("the table is emptied", "DELETE FROM ledger".to_owned()),
        ("the table is dropped", "DROP TABLE ledger".to_owned()),
        ("an entry is of another type", "UPDATE ledger SET head = 'x' WHERE no = 4".to_owned()),
    ] {
        let place = three_runs();
        change(&place, &sql);
        let said = place.run("verify");
        assert_eq!(said.code, 1, "{what}: {}{}", said.out, said.err);
        all.push_str(&format!("-- {what}\n{}\n", place.shown("verify", &said)));
    }
    assert_said!("ledger_verify", all);
}

#[test]
fn a_deleted_run_is_still_known() {
    let place = three_runs();
    let run = place.json("show latest").0["run"].as_str().unwrap().to_owned();
    change(&place, &without_run(3));
    for args in ["show", "export", "verify", "run --resume"] {
        let said = place.run(&format!("{args} {run}"));
        assert_eq!(said.code, 1, "{args}: {}{}", said.out, said.err);
        let text = said.out + &said.err;
        assert!(
            text.contains(&format!(
                "run {run}, seq 1: it was deleted: entry 6 of the ledger (finished)"
            )),
            "{text}"
        );
    }
}

#[test]
fn a_run_that_lost_events_is_not_exported() {
    let mut all = String::new();
    for (what, sql) in [
        ("all events", "DELETE FROM events".to_owned() + ";" + TIDY),
        ("the last events", "DELETE FROM events WHERE id & 4294967295 > 9".to_owned() + ";" + TIDY),
    ] {
        for args in ["export latest run.jsonl", "export latest run.jsonl --as exchanges"] {
            let place = Place::with_run();
            change(&place, &sql);
            let said = place.run(args);
            assert_eq!(said.code, 1, "{what}: {}{}", said.out, said.err);
            assert!(!place.path("run.jsonl").exists());
            all.push_str(&format!("-- {what} are gone\n{}\n", place.shown(args, &said)));
        }
    }
    assert_said!("ledger_export", all);
}

/// The hash that `verify head` prints.
fn head(place: &Place) -> String {
    place.json("verify head").0["head"].as_str().unwrap().to_owned()
}

fn checked(place: &Place, checkpoint: &str) -> Said {
    place.run(&format!("verify --checkpoint {checkpoint}"))
}

#[test]
fn a_checkpoint_shows_what_the_log_alone_cannot() {
    let place = Place::with_run();
    let lodged = head(&place);
    assert!(place.ok("verify head").starts_with(&format!("{lodged}  2 entries, 1 run\n")));
    place.ok("run small.yaml --quiet --set seed=8");
    let whole = head(&place);
    let said = checked(&place, &lodged);
    assert_eq!(said.code, 0, "{}", said.out);
    assert!(
        said.out.contains("checkpoint found: entry 2 of the ledger, 1 run since\n"),
        "{}",
        said.out
    );
    let (object, _) = place.json(&format!("verify --checkpoint {whole}"));
    assert_eq!(object["checkpoint"], serde_json::json!({"entry": 4, "runs_since": 0}));
    // A run is removed together with its entries: the rest is a valid log.
    change(&place, &(without_run(2) + "; DELETE FROM ledger WHERE no > 2"));
    std::fs::remove_file(place.path("retold.db-mark")).unwrap();
    assert_eq!(place.run("verify").code, 0);
    assert_eq!(checked(&place, &lodged).code, 0);
    let said = checked(&place, &whole);
    assert_eq!(said.code, 1, "{}", said.out);
    assert!(said.out.contains(&format!("does not contain the checkpoint {whole}")), "{}", said.out);
    let (object, code) = place.json(&format!("verify --checkpoint {whole}"));
    assert_eq!(
        (code, &object["ok"], &object["checkpoint"]),
        (1, &false.into(), &serde_json::Value::Null)
    );
    assert_eq!(place.run("verify --checkpoint abc").code, 2);
}

#[test]
fn the_head_of_logs_without_a_valid_ledger() {
    let place = Place::new();
    let damaged = Place::with_run();
    change(&damaged, "UPDATE ledger SET seq = 7 WHERE no = 1");
    let mut all = place.session(&["verify head --log none.db"]);
    all.push_str(&damaged.session(&["verify head"]));
    drop(open(&place.path("new.db")));
    all.push_str(&place.session(&["verify head --log new.db"]));
    assert_said!("ledger_head", all);
}

#[test]
fn an_import_is_in_the_ledger_as_one() {
    let place = Place::with_run();
    place.ok("export latest run.jsonl");
    place.ok("import run.jsonl --log other.db");
    place.ok("export latest run.exchanges.jsonl --as exchanges");
    place.ok("import run.exchanges.jsonl --log other.db");
    let db = Connection::open(place.path("other.db")).unwrap();
    let what: String = db
        .query_row(
            "SELECT group_concat(what) FROM (SELECT what FROM ledger ORDER BY no)",
            [],
            |r| r.get(0),
        )
        .unwrap();
    assert_eq!(what, "imported,imported");
    place.ok("verify --log other.db");
    // The run's own chain is the same in both.
    let head = |log: &str| place.json(&format!("verify --log {log}")).0["runs"][0]["head"].clone();
    assert_eq!(head("retold.db"), head("other.db"));
}

const RUNS: u8 = 12;

/// What the other processes do: start runs, one after the other.
#[test]
fn child() {
    let Some(task) = child::task() else { return };
    let (path, first) = task.rsplit_once(' ').unwrap();
    let log = open(std::path::Path::new(path));
    for n in 0..RUNS {
        let run = RunId([first.parse::<u8>().unwrap() + n; 8]);
        let append = Append::new(run, Head::START, (0..20).map(row));
        log.backend().committer().unwrap().commit(&[append]).unwrap();
    }
    child::say("done");
}

#[test]
fn concurrent_processes_write_one_ledger() {
    let folder = Folder::new();
    let start = |n: u8| {
        let said = folder.path().with_extension(format!("said.{n}"));
        child::start(
            "ledger::child",
            &format!("{} {}", folder.path().display(), 10 + n * 20),
            &said,
        )
    };
    let processes: Vec<_> = (0..4).map(start).collect();
    processes.iter().for_each(|process| process.hear("done"));
    let log = folder.log();
    let ledger = Ledger::read(log.reader().unwrap().as_mut()).unwrap();
    assert_eq!(ledger.faults(), []);
    let all = 4 * u64::from(RUNS);
    assert_eq!((ledger.head().number, ledger.runs()), (all, all));
    assert_sound(&log);
}
