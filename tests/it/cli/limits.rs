//! What stops a run that can no longer be stored: its log disappears, or a limit is reached.

use std::fs;
use std::process::{Child, Stdio};
use std::time::Duration;

use rusqlite::Connection;

use crate::support::cli::{Place, Said, assert_said};
use crate::support::waiting::ended;

/// A run that takes minutes unless something stops it.
fn slow(place: &Place) -> Child {
    let mut command = place.command();
    let args = "run small.yaml --quiet --set samples=50 --set puzzles.rows=0..40 --set model.latency_ms=20";
    command.args(args.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    for _ in 0..1500 {
        std::thread::sleep(Duration::from_millis(20));
        let Ok(db) = Connection::open(place.path("retold.db")) else { continue };
        let count = db.query_row("SELECT count(*) FROM events", [], |r| r.get::<_, i64>(0));
        if count.is_ok_and(|count| count > 10) {
            return child;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    panic!("the run does not begin");
}

#[test]
fn a_log_that_goes_while_it_is_written_stops_the_run() {
    let mut all = String::new();
    type Change = fn(&Place);
    let changes: [(&str, Change); 4] = [
        ("removed", |place| fs::remove_file(place.path("retold.db")).unwrap()),
        ("moved", |place| fs::rename(place.path("retold.db"), place.path("moved.db")).unwrap()),
        ("replaced", |place| {
            fs::copy(place.path("retold.db"), place.path("copy.db")).unwrap();
            fs::rename(place.path("copy.db"), place.path("retold.db")).unwrap();
        }),
        ("its WAL is removed", |place| fs::remove_file(place.path("retold.db-wal")).unwrap()),
    ];
    for (what, change) in changes {
        let place = Place::new();
        let child = slow(&place);
        change(&place);
        let said = Said::new(ended(child));
        assert_eq!(said.code, 3, "{what}: {}{}", said.out, said.err);
        all.push_str(&format!("-- {what}\n{}[exit {}]\n", said.err, said.code));
    }
    assert_said!("limits_gone", all);
}

/// The size of the log and its WAL.
fn size(place: &Place) -> u64 {
    let length = |name| fs::metadata(place.path(name)).map_or(0, |file| file.len());
    length("retold.db") + length("retold.db-wal")
}

#[test]
fn a_limit_holds_from_the_first_byte() {
    let (mut refused, mut stopped) = (0, 0);
    for limit in [0, 1, 4096, 16_384, 100_000, 300_000, 390_000, 400_000, 450_000, 520_000, 600_000]
    {
        let place = Place::new();
        let mut command = place.command();
        let args = format!(
            "run small.yaml --quiet --set samples=40 --set puzzles.rows=0..8 --log-limit {limit}"
        );
        command.args(args.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut largest = 0;
        while child.try_wait().unwrap().is_none() {
            largest = largest.max(size(&place));
            std::thread::sleep(Duration::from_millis(1));
        }
        largest = largest.max(size(&place));
        let said = Said::new(ended(child));
        assert_eq!(said.code, 3, "{limit}: {}{}", said.out, said.err);
        assert!(
            said.err.contains(&format!("the limit of {limit} bytes is reached")),
            "{}",
            said.err
        );
        assert!(largest <= limit, "{largest} of {limit}");
        if !place.path("retold.db").exists()
            || place.ok("log").is_empty()
            || place.json("log").0["runs"].as_array().is_none_or(Vec::is_empty)
        {
            refused += 1;
            continue;
        }
        stopped += 1;
        place.ok("verify");
        let (resumed, code) = place.json("run --resume latest");
        assert_eq!((code, &resumed["outcome"]), (0, &"finished".into()), "{resumed}");
    }
    assert!(refused >= 5 && stopped >= 3, "{refused} refused, {stopped} stopped");
}
