//! Logs in places without write permission. Root may write everywhere, so for root the program runs
//! as another user.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::process::Command;

use rusqlite::Connection;

use crate::support::cli::{Place, Said, assert_said};

const NOBODY: u32 = 65_534;

/// A folder with a run and a copy of the program, because other users may not be able to open the
/// build folder.
fn place() -> Place {
    let place = Place::with_run();
    let (built, here) = (env!("CARGO_BIN_EXE_retold"), place.path("retold"));
    fs::hard_link(built, &here).or_else(|_| fs::copy(built, &here).map(drop)).unwrap();
    place
}

fn allow(place: &Place, name: &str, mode: u32) {
    fs::set_permissions(place.path(name), Permissions::from_mode(mode)).unwrap();
}

/// Runs the program as a user without special permissions.
fn bound(place: &Place, args: &str) -> Said {
    let mut command = Command::new(place.path("retold"));
    place.shut_off(&mut command);
    if fs::metadata(place.root()).unwrap().uid() == 0 {
        command.uid(NOBODY).gid(NOBODY);
    }
    Said::ended(command.args(args.split_whitespace()))
}

/// Runs commands, returns what a reader of the terminal sees, and makes the folder removable again.
fn session(place: &Place, commands: &[&str]) -> String {
    let shown = commands.iter().map(|args| place.shown(args, &bound(place, args))).collect();
    allow(place, ".", 0o755);
    shown
}

fn names(place: &Place) -> Vec<String> {
    let entries = fs::read_dir(place.root()).unwrap();
    let mut names: Vec<_> =
        entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

const READING: &[&str] = &[
    "log",
    "log latest",
    "show latest",
    "show latest solve/0#0",
    "audit latest solve/0#0",
    "check latest",
    "export latest",
    "replay latest",
    "verify",
];

/// Runs every command that only reads; the output must be the same as for any other log.
fn reads(place: &Place) {
    for args in READING {
        let (as_ever, said) = (place.run(args), bound(place, args));
        let without_time = |text: &str| text.split(" in ").next().map(str::to_owned);
        assert_eq!(said.code, as_ever.code, "{args}: {}", said.err);
        assert_eq!(without_time(&said.out), without_time(&as_ever.out), "{args}: {}", said.err);
    }
}

#[test]
fn a_log_in_a_read_only_folder_is_read() {
    for mode in [0o444, 0o666] {
        let place = place();
        let before = names(&place);
        allow(&place, "retold.db", mode);
        allow(&place, ".", 0o555);
        reads(&place);
        allow(&place, ".", 0o755);
        assert_eq!(names(&place), before, "nothing is left");
    }
}

#[test]
fn a_reader_leaves_no_file_that_the_writer_cannot_open() {
    let place = place();
    let before = names(&place);
    allow(&place, "retold.db", 0o444);
    allow(&place, ".", 0o777);
    reads(&place);
    assert_eq!(names(&place), before);
    allow(&place, ".", 0o755);
    allow(&place, "retold.db", 0o644);
    place.ok("run small.yaml --quiet");
}

#[test]
fn a_log_that_somebody_else_is_writing_is_read() {
    let place = place();
    // Another connection keeps the log open, as a running program does, so its events are in the
    // WAL.
    let writer = Connection::open(place.path("retold.db")).unwrap();
    let _: i64 = writer.query_row("SELECT count(*) FROM events", [], |r| r.get(0)).unwrap();
    place.ok("run small.yaml --quiet");
    assert!(fs::metadata(place.path("retold.db-wal")).unwrap().len() > 0);
    for name in ["retold.db", "retold.db-wal", "retold.db-shm"] {
        allow(&place, name, 0o444);
    }
    allow(&place, ".", 0o555);
    reads(&place);
    let said = bound(&place, "verify");
    allow(&place, ".", 0o755);
    assert!(said.out.ends_with("2 runs verified\n"), "{}", said.out);
}

#[test]
fn writing_in_a_read_only_folder() {
    for (mode, name) in [(0o444, "unwritable"), (0o666, "unwritable_folder")] {
        let place = place();
        place.ok("export latest run.jsonl");
        allow(&place, "run.jsonl", 0o644);
        allow(&place, "retold.db", mode);
        allow(&place, ".", 0o555);
        let commands = [
            "run small.yaml",
            "run --resume latest",
            "fork latest --at solve/0#1",
            "import run.jsonl",
            "run small.yaml --log new.db",
        ];
        let shown = session(&place, &commands);
        match name {
            "unwritable" => assert_said!("unwritable", shown),
            _ => assert_said!("unwritable_folder", shown),
        }
    }
}

#[test]
fn events_that_only_a_writer_could_find() {
    let place = place();
    let writer = Connection::open(place.path("retold.db")).unwrap();
    let _: i64 = writer.query_row("SELECT count(*) FROM events", [], |r| r.get(0)).unwrap();
    place.ok("run small.yaml --quiet");
    // A copy without the `-shm` file.
    fs::copy(place.path("retold.db"), place.path("copy.db")).unwrap();
    fs::copy(place.path("retold.db-wal"), place.path("copy.db-wal")).unwrap();
    allow(&place, "copy.db", 0o444);
    allow(&place, "copy.db-wal", 0o444);
    allow(&place, ".", 0o555);
    assert_said!(
        "unwritable_unmerged",
        session(&place, &["log --log copy.db", "verify --log copy.db"])
    );
}

#[test]
fn a_log_that_may_not_be_read() {
    let place = place();
    allow(&place, "retold.db", 0o000);
    allow(&place, ".", 0o555);
    assert_said!("unwritable_unreadable", session(&place, &["log", "verify"]));
}

/// A damaged WAL in a read-only folder is reported, and no file is created next to it.
#[test]
fn a_damaged_wal_is_only_reported() {
    let place = place();
    let writer = Connection::open(place.path("retold.db")).unwrap();
    let _: i64 = writer.query_row("SELECT count(*) FROM events", [], |r| r.get(0)).unwrap();
    place.ok("run small.yaml --quiet");
    for ending in ["", "-wal", "-shm", "-mark"] {
        let from = place.path(&format!("retold.db{ending}"));
        fs::copy(from, place.path(&format!("copy.db{ending}"))).unwrap();
    }
    let mut wal = fs::read(place.path("copy.db-wal")).unwrap();
    wal[20_000] ^= 1;
    fs::write(place.path("copy.db-wal"), wal).unwrap();
    let before = names(&place);
    for (mode, folder) in [(0o444, 0o555), (0o666, 0o555)] {
        for ending in ["", "-wal", "-shm", "-mark"] {
            allow(&place, &format!("copy.db{ending}"), mode);
        }
        allow(&place, ".", folder);
        for args in ["log --log copy.db", "verify --log copy.db"] {
            let said = bound(&place, args);
            let both = format!("{}{}", said.out, said.err);
            assert_eq!(said.code, 1, "{both}");
            assert!(both.contains("the WAL is damaged"), "{both}");
            // A command that only reads does not try to copy it.
            assert!(!both.contains("it could not be copied"), "{both}");
            assert!(both.contains("frame 2 does not match its checksum"), "{both}");
        }
        allow(&place, ".", 0o755);
        assert_eq!(names(&place), before);
    }
}
