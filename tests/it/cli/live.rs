//! `outputs/NAME.log`, the trace of a run, and `outputs/NAME.partial`, what a run leaves that is killed.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

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

/// The lines of a trace that the folder's log has as well: all but those about marks and the end.
fn of_study(lines: &str) -> Vec<&str> {
    let is_count = |line: &&str| line.contains(" answers, ") || line.contains(" answer, ");
    lines.lines().filter(|line| !is_count(line)).collect()
}

/// Starts a run that asks slowly, and kills it when its log says that something has happened.
fn killed_at(place: &Place, line: &str) -> String {
    let mut command = place.command();
    let slow = ["run", "pilot.yaml", "-q", "--set", "provider.latency_ms=20"];
    let mut child = command.args(slow).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let (mut waited, mut said) = (0, String::new());
    while !said.contains(line) {
        waited += 1;
        assert!(waited < 12_000, "a minute: {said}");
        assert_eq!(child.try_wait().unwrap(), None, "it goes on: {said}");
        std::thread::sleep(Duration::from_millis(5));
        said = std::fs::read_to_string(place.path(LIVE)).unwrap_or_default();
    }
    assert!(!place.path(FOLDER).exists());
    child.kill().unwrap();
    child.wait().unwrap();
    place.read(LIVE)
}

#[test]
fn phases_are_shown_during_the_run() {
    let place = place();
    let said = killed_at(&place, "phase 1 (initial vote) completed");
    let lines = said.strip_prefix(MARK).unwrap();
    assert!(lines.ends_with('\n'), "whole lines");
    for line in ["INFO prepared: 8 enrolled", "INFO phase 1 (initial vote) began"] {
        assert!(lines.contains(line), "{line}: {lines}");
    }
    place.ok("run pilot.yaml -q --resume");
    let log = place.read(&format!("{FOLDER}/experiment.log"));
    assert!(log.contains("INFO phase 8 (final votes) began\n"), "{log}");
    // The log file stays. The resume has added its lines, which are those of the folder's log from there on.
    let whole = place.read(LIVE);
    let (before, after) = whole.split_once(" INFO resumed\n").unwrap();
    assert_eq!(before.rsplit_once('\n').unwrap().0, said.trim_end(), "{whole}");
    let of_log = of_study(&log);
    let (added, all) = (of_study(after), &of_log[..of_log.len() - 1]);
    assert!(all.ends_with(&added) && added.len() > 10, "{added:?}\n---\n{log}");
    // The last facts were on their way to the log when the program was killed, so they occur again,
    // at another time.
    let earlier = of_study(lines);
    let same = all.iter().zip(&earlier).take_while(|(one, other)| one == other).count();
    assert!(same >= 4, "{same} lines\n{earlier:?}\n---\n{log}");
    let last = whole.lines().last().unwrap();
    assert!(last.contains(" INFO finished: ") && last.ends_with(" answers, 0 failed"), "{last}");
    // The file is made from the log, so its digest is the recorded one.
    let (replayed, code) = place.json("replay latest --outputs");
    assert_eq!(
        (code, &replayed["outputs"]["different"]),
        (0, &serde_json::json!([])),
        "{replayed}"
    );
}

/// As the deliberation's document promises: after each phase, its checkpoint and all participants are on disk.
#[test]
fn a_run_that_is_killed_leaves_the_files_of_its_last_phase() {
    let place = place();
    let lines = killed_at(&place, "phase 4 (summaries and clusters) began");
    let partial = format!("{FOLDER}.partial");
    let mut names: Vec<String> = std::fs::read_dir(place.path(&partial))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["SIMULATED.txt", "checkpoint.json", "participants.json"]);
    let json = |name: &str| -> Value {
        serde_json::from_str(&place.read(&format!("{partial}/{name}"))).unwrap()
    };
    let checkpoint = json("checkpoint.json");
    assert_eq!(checkpoint["last_completed_phase"], 3, "{checkpoint}");
    assert_eq!(checkpoint["clusters"], serde_json::json!([]), "they are made in phase 4");
    let completed = lines.lines().find(|line| line.contains("phase 3 (clarification) completed"));
    assert_eq!(checkpoint["checkpoint_time"], completed.unwrap()[..24], "{lines}");
    let everyone = json("participants.json");
    let everyone = everyone["participants"].as_array().unwrap();
    assert_eq!(everyone.len(), 8);
    assert!(everyone.iter().all(|person| person["initial_choice"].is_string()), "{everyone:?}");
    let clarified = |person: &&Value| person["clarification_transcript"].is_array();
    assert_eq!(everyone.iter().filter(clarified).count(), 4);
    assert!(everyone.iter().all(|person| person["individual_summary"].is_null()), "{everyone:?}");
    // Nothing but the outputs is left after the end.
    place.ok("run pilot.yaml -q --resume");
    assert!(!place.path(&partial).exists());
    let whole: Value =
        serde_json::from_str(&place.read(&format!("{FOLDER}/checkpoint.json"))).unwrap();
    assert_eq!(whole["last_completed_phase"], 9);
}

/// Studies without lines of their own have the counts at each mark.
#[test]
fn any_study_shows_its_rounds_while_it_runs() {
    let place = Place::new();
    let config = concat!(env!("RETOLD_ROOT"), "/config/public_goods_small.yaml");
    let said = place.command().args(["run", config]).output().unwrap();
    let err = String::from_utf8(said.stderr).unwrap();
    let log = place.read("outputs/public_goods_small.log");
    assert_eq!(log.strip_prefix(MARK), Some(&*err), "the console has the lines of the file");
    let said: Vec<&str> = err.lines().map(|line| line.split_once(' ').unwrap().1).collect();
    assert!(said[0].starts_with("INFO public_goods: run "), "{err}");
    assert!(said[1].starts_with("WARNING SIMULATED: "), "{err}");
    assert_eq!(
        said[2..],
        [
            "INFO round 1: 12 answers, 0 failed so far",
            "INFO round 2: 24 answers, 0 failed so far",
            "INFO round 3: 36 answers, 0 failed so far",
            "INFO finished: 47 answers, 0 failed",
        ]
    );
    let again = place.command().args(["run", config, "-q", "--new-folder"]).output().unwrap();
    let err = String::from_utf8(again.stderr).unwrap();
    assert_eq!(err.lines().count(), 1, "only that the folder is taken: {err}");
}

#[test]
fn a_run_that_stopped_leaves_its_log() {
    let place = place();
    assert_eq!(place.run("run pilot.yaml --quiet --log-limit 600000").code, 3);
    let before = place.read(LIVE);
    assert!(before.starts_with(MARK) && before.lines().count() > 3, "{before}");
    assert!(before.lines().last().unwrap().contains(" ERROR stopped: "), "{before}");
    place.ok("run pilot.yaml -q --resume");
    let log = place.read(LIVE);
    assert!(log.starts_with(&before), "{before}\n---\n{log}");
    assert!(log[before.len()..].contains(" INFO resumed\n"), "{log}");
    // Without a folder there is no log file either.
    std::fs::remove_file(place.path(LIVE)).unwrap();
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
