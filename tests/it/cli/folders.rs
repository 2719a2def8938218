//! Output folders: written at the end of a run, never over an existing one, never in part.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::support::cli::{Place, assert_said};
use crate::support::server::{Reply, Server};

/// A study with eight participants.
fn place() -> Place {
    let place = Place::new();
    let config = Path::new(env!("RETOLD_ROOT")).join("config/deliberation_small.yaml");
    let text = std::fs::read_to_string(config).unwrap();
    let smaller = "participants_per_condition: 2\nlimits:\n  concurrency: 1\n";
    let text = text.replace("participants_per_condition: 10\n", smaller);
    assert!(text.contains(smaller));
    place.write("pilot.yaml", text);
    place
}

const FOLDER: &str = "outputs/budgeting_small";

#[test]
fn a_folder_that_exists_is_left_alone_and_the_next_is_written_on_request() {
    let place = place();
    std::fs::create_dir_all(place.path(FOLDER)).unwrap();
    place.write("outputs/budgeting_small-2", "a file is in the way as well");
    assert_said!("folders_refused", place.session(&["run pilot.yaml --quiet"]));
    assert!(!place.path("retold.db").exists(), "nothing is recorded, not even an empty log");
    let said = place.run("run pilot.yaml --quiet --new-folder");
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert_said!("folders_exists", said.err);
    assert_eq!(std::fs::read_dir(place.path(FOLDER)).unwrap().count(), 0);
    assert!(place.path("outputs/budgeting_small-3/participants.json").is_file());
}

/// Two runs of one config: two folders, the same answers.
#[test]
fn a_second_run_of_a_config_writes_the_next_folder() {
    let place = place();
    let (first, _) = place.json("run pilot.yaml");
    let (second, code) = place.json("run pilot.yaml --new-folder");
    assert_eq!((code, &second["outputs"]), (0, &"outputs/budgeting_small-2".into()), "{second}");
    assert_ne!(first["run"], second["run"]);
    assert_eq!(first["outcome_digest"], second["outcome_digest"]);
    let files = |folder: &str| {
        let names = std::fs::read_dir(place.path(folder)).unwrap();
        let mut names: Vec<_> =
            names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    assert_eq!(files(FOLDER), files("outputs/budgeting_small-2"));
    // Whatever is made again is made where it belongs.
    let (resumed, code) = place.json("run pilot.yaml --resume");
    assert_eq!((code, &resumed["outputs"]), (0, &second["outputs"]), "{resumed}");
    assert_eq!(place.json("replay latest --outputs").0["identical"], true);
    std::fs::remove_dir_all(place.path("outputs/budgeting_small-2")).unwrap();
    assert_eq!(place.json("export latest --as outputs").0["folder"], second["outputs"]);
    // A folder that was removed is free again.
    std::fs::remove_dir_all(place.path(FOLDER)).unwrap();
    assert_eq!(place.json("run pilot.yaml").0["outputs"], FOLDER);
}

#[test]
fn a_run_that_was_interrupted_writes_the_folder_it_was_given() {
    let place = place();
    place.ok("run pilot.yaml --quiet");
    // Other answers, for which there is not enough room.
    let room = place.path("retold.db").metadata().unwrap().len() + 420_000;
    let second =
        format!("run pilot.yaml --quiet --set random_seed=3 --new-folder --log-limit {room}");
    let stopped = place.run(&second);
    assert_eq!(stopped.code, 3, "{}{}", stopped.out, stopped.err);
    let (unfinished, _) = place.json("show latest");
    assert_eq!(unfinished["outcome"], serde_json::Value::Null, "{unfinished}");
    // A run at the same time gets a folder of its own.
    let beside = place.json("run pilot.yaml --new --new-folder").0;
    assert_eq!(beside["outputs"], "outputs/budgeting_small-3", "{beside}");
    let resumed = place.json(&format!("run --resume {}", unfinished["run"].as_str().unwrap())).0;
    assert_eq!(resumed["outputs"], "outputs/budgeting_small-2", "{resumed}");
}

#[test]
fn a_folder_that_cannot_be_created_is_reported_before_recording() {
    let place = place();
    place.write("outputs", "a file in the way");
    let shown = place.session(&["run pilot.yaml --quiet"]);
    assert_said!("folders_in_the_way", shown);
    assert!(!place.path("retold.db").exists(), "nothing is recorded");
    place.ok("run pilot.yaml --quiet --no-outputs");
    let shown = place.session(&[
        "export latest --as outputs",
        "export latest pilot.yaml --as outputs",
        "export latest - --as outputs",
        "export latest elsewhere --as outputs --force",
    ]);
    assert_said!("folders_later", shown);
    assert_eq!(place.read("outputs"), "a file in the way");
    place.ok("export latest elsewhere --as outputs");
    assert!(place.path("elsewhere/participants.json").is_file());
}

#[test]
fn a_run_writes_its_folder_once() {
    let place = place();
    let (run, code) = place.json("run pilot.yaml");
    assert_eq!((code, &run["outputs"]), (0, &FOLDER.into()), "{run}");
    let mut names: Vec<String> = std::fs::read_dir(place.path(FOLDER))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_said!("folders_files", names.join("\n"));
    let first = place.read(&format!("{FOLDER}/participants.json"));
    assert_said!("folders_again", place.session(&["export latest --as outputs"]));
    // The folder made again from the log is the same to the byte.
    place.ok("export latest again --as outputs");
    for name in names {
        let (one, other) =
            (place.read(&format!("{FOLDER}/{name}")), place.read(&format!("again/{name}")));
        assert_eq!(one, other, "{name}");
    }
    // Continuing a finished run finds the folder as it would write it.
    let (resumed, code) = place.json("run pilot.yaml --resume");
    assert_eq!((code, &resumed["outputs"]), (0, &FOLDER.into()), "{resumed}");
    assert_eq!((&resumed["model_calls"], &resumed["run"]), (&0.into(), &run["run"]));
    assert_eq!(place.read(&format!("{FOLDER}/participants.json")), first);
}

#[test]
fn an_unfinished_run_continues_by_its_config() {
    let place = place();
    let stopped = place.run("run pilot.yaml --quiet --log-limit 450000");
    assert_eq!(stopped.code, 3, "{}{}", stopped.out, stopped.err);
    assert!(!place.path(FOLDER).exists(), "nothing is written of an unfinished run");
    let (begun, _) = place.json("show latest");
    place.ok("export latest so_far --as outputs");
    let so_far: serde_json::Value =
        serde_json::from_str(&place.read("so_far/checkpoint.json")).unwrap();
    assert!(so_far["last_completed_phase"].as_u64().unwrap() < 9, "{so_far}");
    assert!(place.read("so_far/participants.json").contains("\"pending\""));
    assert!(place.read("so_far/experiment.log").contains("WARNING unfinished"));
    assert_eq!(begun["outcome"], serde_json::Value::Null);
    let shown = place.session(&[
        "run pilot.yaml --quiet --resume --set model=gpt-5 --set random_seed=1",
        "run pilot.yaml --quiet --resume --set pilot_id=another",
    ]);
    assert_said!("folders_resume", shown);
    let (resumed, code) = place.json("run pilot.yaml --resume");
    assert_eq!((code, &resumed["outcome"]), (0, &"finished".into()), "{resumed}");
    assert_eq!(resumed["run"], begun["run"]);
    assert!(place.path(FOLDER).is_dir());
    // The files equal those of an uninterrupted run.
    let (whole, _) = place.json("run pilot.yaml --no-outputs");
    assert_eq!(whole["outcome_digest"], resumed["outcome_digest"]);
}

#[test]
fn an_unfinished_run_of_the_same_name_is_offered_instead_of_a_second_one() {
    let place = place();
    assert_eq!(place.run("run pilot.yaml --quiet --log-limit 450000").code, 3);
    let (begun, _) = place.json("show latest");
    let live = place.read(&format!("{FOLDER}.log"));
    let shown = place.session(&[
        "run pilot.yaml --quiet",
        "run pilot.yaml --quiet --no-outputs --set model=gpt-5",
        "run pilot.yaml --quiet --new --resume",
    ]);
    let short = &begun["run"].as_str().unwrap()[..4];
    let answers = format!("{} answers", begun["answers"]);
    assert_said!(
        "folders_unfinished",
        shown.replace(short, "[run]").replace(&answers, "[n] answers")
    );
    assert_eq!(place.json("log").0["runs"].as_array().unwrap().len(), 1, "nothing was begun");
    assert_eq!(place.read(&format!("{FOLDER}.log")), live, "and nothing written over");
    // A run with another name is another study, and `--new` begins another run.
    place.ok("run pilot.yaml --quiet --set pilot_id=another");
    place.ok("run pilot.yaml --quiet --no-outputs --new");
    // An abandoned run does not block anything.
    place.ok(&format!("run --abandon {}", begun["run"].as_str().unwrap()));
    place.ok("run pilot.yaml --quiet");
}

#[test]
fn of_two_runs_of_a_name_that_begin_at_once_one_is_refused() {
    let place = place();
    let run = || {
        let slow = ["run", "pilot.yaml", "-q", "--set", "provider.latency_ms=2"];
        let mut command = place.command();
        command.args(slow).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let children = [run(), run(), run()].map(|child| child.wait_with_output().unwrap());
    let mut codes: Vec<_> = children.iter().map(|output| output.status.code()).collect();
    codes.sort();
    assert_eq!(codes, [Some(0), Some(2), Some(2)]);
    for refused in children.iter().filter(|output| output.status.code() == Some(2)) {
        let said = String::from_utf8_lossy(&refused.stderr);
        assert!(said.contains("error: budgeting_small is being run (process "), "{said}");
        assert!(said.contains("--new to start another run in addition"), "{said}");
    }
    assert_eq!(place.json("log").0["runs"].as_array().unwrap().len(), 1, "only one was paid for");
}

/// A run begun without a folder does not get one when it is resumed.
#[test]
fn no_outputs_is_remembered() {
    let place = place();
    assert_eq!(place.run("run pilot.yaml --quiet --no-outputs --log-limit 450000").code, 3);
    let (resumed, code) = place.json("run --resume latest");
    assert_eq!((code, &resumed["outcome"]), (0, &"finished".into()), "{resumed}");
    assert!(!place.path("outputs").exists());
    assert_eq!(place.json("replay latest").0["identical"], true);
    place.ok("export latest mine --as outputs");
}

#[test]
fn no_outputs_is_taken_back_by_a_resume() {
    let place = place();
    assert_eq!(place.run("run pilot.yaml --quiet --no-outputs --log-limit 450000").code, 3);
    let said = place.run("run --resume latest --outputs --no-outputs");
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(
        said.err
            .starts_with("error: the argument '--outputs' cannot be used with '--no-outputs'\n"),
        "{}",
        said.err
    );
    let (resumed, code) = place.json("run --resume latest --outputs");
    assert_eq!((code, &resumed["outputs"]), (0, &FOLDER.into()), "{resumed}");
    assert!(place.path(FOLDER).is_dir());
}

/// `--no-outputs` on one resumption does not apply to the next, as the help says.
#[test]
fn no_outputs_of_a_resume_holds_once() {
    let place = place();
    assert_eq!(place.run("run pilot.yaml --quiet --log-limit 450000").code, 3);
    let (resumed, code) = place.json("run --resume latest --no-outputs");
    assert_eq!((code, &resumed["outputs"]), (0, &serde_json::Value::Null), "{resumed}");
    assert!(!place.path(FOLDER).exists());
    let (again, code) = place.json("run --resume latest");
    assert_eq!((code, &again["outputs"]), (0, &FOLDER.into()), "{again}");
    assert!(place.path(FOLDER).is_dir());
}

#[test]
fn a_folder_created_meanwhile_does_not_harm_the_run() {
    let place = place();
    assert_eq!(place.run("run pilot.yaml --quiet --log-limit 450000").code, 3);
    std::fs::create_dir_all(place.path(FOLDER)).unwrap();
    place.write(&format!("{FOLDER}/summary.json"), "somebody else's");
    let said = place.run("run --resume latest --quiet");
    assert_eq!(said.code, 2, "{}{}", said.out, said.err);
    assert!(said.out.contains("finished"), "the run is told: {}", said.out);
    assert_said!("folders_meanwhile", format!("{}[exit {}]\n", said.err, said.code));
    assert_eq!(place.read(&format!("{FOLDER}/summary.json")), "somebody else's");
    let left = std::fs::read_dir(place.path("outputs")).unwrap();
    let mut left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["budgeting_small", "budgeting_small.log"], "no draft is left");
    assert_eq!(place.json("show latest").0["outcome"], "finished");
    place.ok("export latest mine --as outputs");
    assert!(place.read("mine/summary.json").contains("by_condition"));
}

#[test]
fn a_game_has_tables_too() {
    let place = Place::with_run();
    let (_, code) = place.json("export latest out --as outputs");
    assert_eq!(code, 0);
    let tables = [place.read("out/puzzles.csv"), place.read("out/answers.csv")].concat();
    assert_said!("folders_game", tables);
}

#[test]
fn made_up_answers_never_come_back_as_an_originals() {
    let place = Place::new();
    let config = concat!(env!("RETOLD_ROOT"), "/config/deliberation_small.yaml");
    place.ok(&format!("run {config} -q"));
    let folder = "outputs/budgeting_small";
    let said = place.run(&format!("import deliberation {folder}"));
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    assert_said!("folders_made_up", said.err);
    place.ok(&format!("study deliberation personas import {folder}"));
    let (pool, _) = place.json("study deliberation personas stats");
    assert_eq!(pool["personas"], 40);
    assert_eq!(pool["simulated"], 40, "all of them are marked");
}

/// The folder that a fork's settings name is its parent's.
#[test]
fn a_fork_writes_no_folder_when_it_is_resumed_either() {
    let place = place();
    place.ok("run pilot.yaml --quiet --no-outputs");
    place.ok("fork latest --quiet --set config.max_socratic_exchanges=3");
    let (resumed, code) = place.json("run --resume latest");
    assert_eq!((code, &resumed["outputs"]), (0, &serde_json::Value::Null), "{resumed}");
    assert!(!place.path("outputs").exists());
    place.ok("run pilot.yaml --quiet");
    let (log, _) = place.json("log");
    let fork = log["runs"][1]["run"].as_str().unwrap();
    assert_eq!(
        place.json(&format!("run --resume {fork}")).1,
        0,
        "the parent's folder is not its own"
    );
    let said = place.run(&format!("run --resume {fork} --outputs"));
    assert_eq!(said.code, 2, "{}", said.out);
    assert!(said.err.contains("outputs/budgeting_small already exists"), "{}", said.err);
}

/// A config without a name is identified by its settings.
#[test]
fn an_unfinished_run_of_the_same_config_is_offered_instead_of_a_second_one() {
    let place = Place::new();
    let run = "run small.yaml --quiet";
    let more = "--set puzzles.rows=0..30 --set samples=10";
    assert_eq!(place.run(&format!("{run} {more} --log-limit 450000")).code, 3);
    let (begun, _) = place.json("show latest");
    let shown = place.session(&[&format!("{run} {more}")]);
    let short = &begun["run"].as_str().unwrap()[..4];
    let answers = format!("{} answers", begun["exchanges"]);
    let shown = shown.replace(short, "[run]").replace(&answers, "[n] answers");
    assert_said!("folders_unfinished_config", shown);
    // Other settings or other answers make another study, and `--new` begins another run.
    place.ok(run);
    place.ok("export latest answers.jsonl --as exchanges");
    place.write("answers.jsonl", place.read("answers.jsonl").replace(r#","simulated":true"#, ""));
    place.ok(&format!("{run} --answers answers.jsonl"));
    place.ok(&format!("{run} --new {more}"));
    // `--resume` continues the unfinished run, although another has finished since.
    let (resumed, code) = place.json(&format!("{run} --resume {more}"));
    assert_eq!(
        (code, &resumed["run"], &resumed["outcome"]),
        (0, &begun["run"], &"finished".into())
    );
    place.ok(&format!("{run} {more}"));
}

/// A config without a name is claimed by its settings, and its first question is paid for before it
/// is answered.
#[test]
fn a_run_of_the_same_config_is_noticed_during_it_and_after_it_was_killed() {
    let place = Place::new();
    let slow = Server::handler(|_| Reply::chat("Answer: 1").slow_start(Duration::from_secs(60)));
    let run = format!("run small.yaml --quiet --base-url {}", slow.base_url());
    let mut command = place.command();
    command.args(run.split_whitespace()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    super::interrupted::wait_for_events(&place, 2);
    while slow.received().is_empty() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let during = place.session(&[&run]).replace(&child.id().to_string(), "[process]");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(place.json("log").0["runs"].as_array().unwrap().len(), 1, "nothing was begun");
    let (begun, _) = place.json("show latest");
    let after = place.session(&[&run]);
    let after = after.replace(&begun["run"].as_str().unwrap()[..4], "[run]");
    assert_said!("folders_going_on", format!("{during}{after}"));
    assert_eq!(slow.received().len(), 1, "nothing was asked again");
    let address = slow.address();
    drop(slow);
    let quick = Server::on(address, |_| Reply::chat("Answer: 1"));
    let (resumed, code) = place.json(&format!("{run} --resume"));
    assert_eq!(
        (code, &resumed["run"], &resumed["outcome"]),
        (0, &begun["run"], &"finished".into()),
        "{resumed}"
    );
    assert_eq!(quick.received().len(), 6, "each question once");
}

#[test]
fn of_runs_without_a_name_that_begin_at_once_one_is_refused() {
    let place = Place::new();
    let run = || {
        let slow = ["run", "small.yaml", "-q", "--set", "model.latency_ms=300"];
        let mut command = place.command();
        command.args(slow).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let children = [run(), run(), run()].map(|child| child.wait_with_output().unwrap());
    let mut codes: Vec<_> = children.iter().map(|output| output.status.code()).collect();
    codes.sort();
    assert_eq!(codes, [Some(0), Some(2), Some(2)]);
    for refused in children.iter().filter(|output| output.status.code() == Some(2)) {
        let said = String::from_utf8_lossy(&refused.stderr);
        assert!(said.contains("error: this config is being run (process "), "{said}");
    }
    assert_eq!(place.json("log").0["runs"].as_array().unwrap().len(), 1, "only one was paid for");
}
