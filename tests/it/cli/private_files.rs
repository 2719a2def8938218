//! Whatever holds prompts is for its owner alone, and nothing temporary stays.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::serve::Served;
use crate::support::cli::Place;
use crate::support::waiting::soon;

/// Everything below a folder.
fn all(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.extend(all(&entry.path()));
        }
        found.insert(entry.path());
    }
    found
}

/// What others may do with anything below a folder that was not there before.
fn open_to_others(folder: &Path, before: &BTreeSet<PathBuf>) -> Vec<String> {
    let mode = |path: &PathBuf| Some(path.symlink_metadata().ok()?.permissions().mode());
    let new = all(folder).into_iter().filter(|path| !before.contains(path));
    let new = new.filter_map(|path| Some((mode(&path)?, path)));
    new.filter(|(mode, _)| mode & 0o077 != 0)
        .map(|(mode, path)| format!("{:o} {}", mode & 0o777, path.display()))
        .collect()
}

/// One exchange that was recorded elsewhere.
fn exchange(n: usize) -> String {
    format!(
        r#"{{"request":{{"model":"m","messages":[{{"role":"user","content":"question {n}"}}]}},"response":{{"content":"yes"}},"call":"a/{n}"}}"#
    )
}

#[test]
fn what_twenty_commands_make_is_for_its_owner() {
    let place = Place::new();
    fs::create_dir(place.path("tmp")).unwrap();
    let asked: String = (0..9_000).map(|n| exchange(n) + "\n").collect();
    place.write("asked.jsonl", asked);
    let root = env!("RETOLD_ROOT");
    let before = all(place.root());
    for command in [
        "run small.yaml --quiet".to_owned(),
        format!("run {root}/config/deliberation_small.yaml --quiet --set pilot_id=small"),
        format!("--log file://{0}/shared/log run small.yaml --quiet", place.root().display()),
        format!("--log file://{0}/shared/log copy --compact", place.root().display()),
        "import asked.jsonl".to_owned(),
        "log latest --search question".to_owned(),
        "show latest".to_owned(),
        "export latest run.jsonl".to_owned(),
        "export latest run.jsonl.zst".to_owned(),
        "export latest exchanges.jsonl --as exchanges".to_owned(),
        "copy --to copy.db".to_owned(),
        "table latest --to table.csv".to_owned(),
        "table latest --to table.parquet".to_owned(),
        "table --all --to tables".to_owned(),
        format!("report {root}/recordings/game24_small.jsonl -o report.html"),
        format!("import {root}/recordings/society_small.jsonl"),
        "export latest society --as outputs".to_owned(),
        "verify".to_owned(),
        format!("check {root}/recordings/game24_small.jsonl --parser game24@2"),
        "record -- true".to_owned(),
        "init game24 mine.yaml".to_owned(),
    ] {
        let mut asked = place.command();
        asked.env("TMPDIR", place.path("tmp")).env("PATH", "/usr/local/bin:/usr/bin:/bin");
        let said = asked.args(command.split_whitespace()).output().unwrap();
        let code = said.status.code();
        let err = String::from_utf8_lossy(&said.stderr).into_owned();
        assert!(code.is_some_and(|code| code < 2), "{command}: {code:?} {err}");
        assert_eq!(open_to_others(place.root(), &before), Vec::<String>::new(), "{command}");
        assert_eq!(all(&place.path("tmp")).len(), 0, "{command} left something");
    }
    let made = all(place.root());
    for name in ["shared/log", "outputs/small", "retold.db", "copy.db", "tables", "society"] {
        assert!(made.contains(&place.path(name)), "{name}");
    }
}

#[test]
fn a_mode_that_was_chosen_and_a_stricter_mask_are_kept() {
    let place = Place::with_run();
    place.ok("export latest run.jsonl");
    fs::set_permissions(place.path("run.jsonl"), fs::Permissions::from_mode(0o644)).unwrap();
    place.ok("export latest run.jsonl --force");
    let mode = |name: &str| place.path(name).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("run.jsonl"), 0o644);
    // The program of a recording is the user's own: its files are as they always are.
    let said = place.with_path(&["record", "--", "sh", "-c", "umask >mask; touch made"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let mine = std::process::Command::new("sh").args(["-c", "umask"]).output().unwrap();
    assert_eq!(place.read("mask"), String::from_utf8_lossy(&mine.stdout));
    let program = env!("CARGO_BIN_EXE_retold");
    let strict = format!("umask 277; exec {program} export latest strict.jsonl");
    let mut strict = std::process::Command::new("sh")
        .args(["-c", &strict])
        .current_dir(place.root())
        .spawn()
        .unwrap();
    assert!(strict.wait().unwrap().success());
    assert_eq!(mode("strict.jsonl"), 0o400);
}

/// An import in the middle of its file, and the folder of its scratch log.
fn importing(place: &Place) -> (Child, PathBuf) {
    fs::create_dir_all(place.path("tmp")).unwrap();
    let before = all(&place.path("tmp"));
    let mut command = place.command();
    command.args(["import", "-"]).env("TMPDIR", place.path("tmp"));
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    // It goes on reading, so that it is there until it is told to end.
    std::thread::spawn(move || {
        (0..).try_for_each(|n| pipe.write_all((exchange(n) + "\n").as_bytes()))
    });
    let folder = soon("a scratch log", || {
        let there = all(&place.path("tmp"));
        let log =
            there.iter().find(|path| path.ends_with("scratch.db") && !before.contains(*path))?;
        (log.metadata().ok()?.len() > 0).then(|| log.parent().unwrap().to_owned())
    });
    (child, folder)
}

#[test]
fn a_scratch_log_is_removed_by_every_signal_that_can_be_caught() {
    for (signal, code) in [
        (Signal::TERM, 143),
        (Signal::INT, 130),
        (Signal::HUP, 129),
        (Signal::QUIT, 131),
        (Signal::USR1, 138),
        (Signal::ALARM, 142),
        (Signal::XCPU, 152),
    ] {
        let place = Place::new();
        let (mut child, folder) = importing(&place);
        assert_eq!(open_to_others(&place.path("tmp"), &BTreeSet::new()), Vec::<String>::new());
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(code), "{signal:?}");
        assert!(!folder.exists());
        assert_eq!(all(&place.path("tmp")).len(), 0, "{signal:?}");
    }
}

/// A command that waits for Ctrl-C by itself knows no others: they end it as they end any.
#[test]
fn a_server_is_ended_by_signals_that_it_does_not_wait_for() {
    for (signal, code) in [(Signal::QUIT, 131), (Signal::XCPU, 152)] {
        let place = Place::with_run();
        let mut command = place.command();
        command.args(["serve", "--listen", "0"]).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        // It listens once it says where.
        let mut said = [0];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut said).unwrap();
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(code), "{signal:?}");
    }
}

#[test]
fn a_log_is_in_order_after_a_signal_in_the_middle_of_an_import() {
    let place = Place::new();
    place.write("few.jsonl", exchange(0));
    place.ok("import few.jsonl");
    place.write("many.jsonl", (0..60_000).map(|n| exchange(n) + "\n").collect::<String>());
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 129)] {
        let mut command = place.command();
        command.args(["import", "many.jsonl"]).stdout(Stdio::null()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        let wal = place.path("retold.db-wal");
        soon("a WAL", || (wal.metadata().ok()?.len() > 1 << 20).then_some(()));
        kill_process(Pid::from_child(&child), signal).unwrap();
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(code));
        assert!(!String::from_utf8_lossy(&ended.stderr).contains("error"), "{ended:?}");
        assert!(!wal.exists(), "{signal:?}");
        assert_eq!(place.json("log").0["runs"].as_array().unwrap().len(), 1);
        place.ok("verify");
    }
}

#[test]
fn the_scratch_log_of_a_killed_process_is_removed_by_the_next_command() {
    let place = Place::new();
    let ((mut killed, folder), (mut living, other)) = (importing(&place), importing(&place));
    kill_process(Pid::from_child(&killed), Signal::KILL).unwrap();
    killed.wait().unwrap();
    assert!(folder.exists());
    assert_eq!(open_to_others(&place.path("tmp"), &BTreeSet::new()), Vec::<String>::new());
    let mut next = place.command();
    next.args(["log"]).env("TMPDIR", place.path("tmp"));
    next.output().unwrap();
    assert!(!folder.exists(), "it is nobody's");
    assert!(other.exists(), "its process is alive");
    kill_process(Pid::from_child(&living), Signal::TERM).unwrap();
    living.wait().unwrap();
    assert_eq!(all(&place.path("tmp")).len(), 0);
}

#[test]
fn a_served_file_leaves_nothing() {
    let place = Place::new();
    fs::create_dir(place.path("tmp")).unwrap();
    place.write("asked.jsonl", (0..9_000).map(|n| exchange(n) + "\n").collect::<String>());
    let mut command = place.command();
    command.args(["serve", "asked.jsonl", "--listen", "0", "--quiet"]);
    let served = Served::of(command.env("TMPDIR", place.path("tmp")));
    assert!(served.json("/")["runs"].is_array());
    assert!(all(&place.path("tmp")).iter().any(|path| path.ends_with("scratch.db")));
    assert_eq!(open_to_others(&place.path("tmp"), &BTreeSet::new()), Vec::<String>::new());
    drop(served);
    assert_eq!(all(&place.path("tmp")).len(), 0);
}
