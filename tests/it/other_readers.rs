//! Programs that read a log with SQLite alone, while it is written.

use std::process::Command;

use crate::serve::Feeding;
use crate::support::cli::Place;

/// A process loses its locks on a file when it closes any handle of it. Without its lock, the log's writer would look
/// as if it were gone: the next program that closes the log would remove the WAL.
#[test]
fn a_query_does_not_take_the_wal_from_a_writer() {
    let place = Place::new();
    let log = place.path("retold.db");
    let mut feeding = Feeding::new("society_small.jsonl", &log);
    for events in 1..10 {
        feeding.feed(events);
        let query = "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute('SELECT count(*) FROM log').fetchone()[0])";
        let said = Command::new("python3").args(["-c", query]).arg(&log).output().unwrap();
        assert!(said.status.success(), "{said:?}");
        let wal = std::fs::metadata(place.path("retold.db-wal"));
        assert!(wal.is_ok_and(|wal| wal.len() > 0), "after {events} more");
        // As every command does that reads a log.
        assert_eq!(place.run("log latest --most 1 --quiet").code, 0);
    }
    drop(feeding);
    place.ok("verify");
}
