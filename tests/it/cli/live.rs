//! `outputs/NAME.log`: the log lines of a run while it is executing.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::support::cli::Place;

/// Eight participants, and a slow model.
fn place() -> Place {
    let place = Place::new();
    let config = Path::new(env!("RETOLD_ROOT")).join("config/deliberation_small.yaml");
    let text = std::fs::read_to_string(config).unwrap();
    let smaller = "participants_per_condition: 2\nlimits:\n  concurrency: 1\n";
    place.write("pilot.yaml", text.replace("participants_per_condition: 10\n", smaller));
    place
}

const FOLDER: &str = "outputs/budgeting_small";
const LIVE: &str = "outputs/budgeting_small.log";
const MARK: &str = "# written by retold while the run goes on\n";

#[test]
fn phases_are_shown_during_the_run() {
    let place = place();
    let mut command = place.command();
    let slow = ["run", "pilot.yaml", "-q", "--set", "provider.latency_ms=20"];
    let mut child = command.args(slow).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let (mut waited, mut said) = (0, String::new());
    while !said.contains("phase 1 (initial vote) completed") {
        waited += 1;
        assert!(waited < 12_000, "a minute: {said}");
        assert_eq!(child.try_wait().unwrap(), None, "it goes on: {said}");
        std::thread::sleep(Duration::from_millis(5));
        said = std::fs::read_to_string(place.path(LIVE)).unwrap_or_default();
    }
    assert!(!place.path(FOLDER).exists());
    child.kill().unwrap();
    child.wait().unwrap();
    let said = place.read(LIVE);
    let lines = said.strip_prefix(MARK).unwrap();
    assert!(lines.ends_with('\n'), "whole lines");
    for line in ["INFO prepared: 8 enrolled", "INFO phase 1 (initial vote) began"] {
        assert!(lines.contains(line), "{line}: {lines}");
    }
    place.ok("run pilot.yaml -q --resume");
    let log = place.read(&format!("{FOLDER}/experiment.log"));
    // The last facts were on their way to the log when the program was killed, so they occur again,
    // at another time.
    let same = log.lines().zip(lines.lines()).take_while(|(one, other)| one == other).count();
    assert!(same >= 4, "{same} lines\n{lines}\n---\n{log}");
    let untimed = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.split_once(' ').unwrap().1.to_owned()).collect()
    };
    assert!(untimed(&log).starts_with(&untimed(lines)), "{lines}\n---\n{log}");
    assert!(log.contains("INFO phase 8 (final votes) began\n"), "{log}");
    assert!(!place.path(LIVE).exists(), "its lines are in the folder");
    // The file is made from the log, so its digest is the recorded one.
    let (replayed, code) = place.json("replay latest --outputs");
    assert_eq!(
        (code, &replayed["outputs"]["different"]),
        (0, &serde_json::json!([])),
        "{replayed}"
    );
}

/// The lines written live equal the file that the folder has in the end.
#[test]
fn a_run_that_stopped_leaves_its_log() {
    let place = place();
    assert_eq!(place.run("run pilot.yaml --quiet --log-limit 600000").code, 3);
    let before = place.read(LIVE);
    assert!(before.starts_with(MARK) && before.lines().count() > 3, "{before}");
    place.ok("run pilot.yaml -q --resume");
    let log = place.read(&format!("{FOLDER}/experiment.log"));
    assert!(log.starts_with(before.lines().nth(1).unwrap()), "{before}");
    assert!(log.lines().count() > before.lines().count());
    assert!(!place.path(LIVE).exists());
    // Without a folder there is no log file either.
    place.ok("run pilot.yaml -q --no-outputs");
    assert!(!place.path(LIVE).exists());
}

#[test]
fn what_is_in_the_way_is_left_alone() {
    let place = place();
    std::fs::create_dir(place.path("outputs")).unwrap();
    place.write(LIVE, "my notes\n");
    let said = place.run("run pilot.yaml -q");
    assert_eq!(said.code, 2);
    assert_eq!(
        said.err,
        "error: outputs/budgeting_small.log already exists and is not the log of a run\n  \
         hint: move it away, or use --no-outputs\n"
    );
    assert_eq!(place.read(LIVE), "my notes\n");
    std::fs::remove_file(place.path(LIVE)).unwrap();
    #[cfg(unix)]
    {
        place.write("elsewhere", MARK);
        std::os::unix::fs::symlink(place.path("elsewhere"), place.path(LIVE)).unwrap();
        let said = place.run("run pilot.yaml -q");
        assert_eq!(said.code, 3, "{}", said.err);
        let expected =
            "error: outputs/budgeting_small.log is a link, and links are not followed there\n";
        assert!(said.err.starts_with(expected), "{}", said.err);
        assert_eq!(place.read("elsewhere"), MARK);
    }
}
