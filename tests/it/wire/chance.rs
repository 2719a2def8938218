//! Python programs that draw and name no seed: their runs have it, so that a replay draws the same, and a run that was cut off
//! goes on where it was.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::python::python;
use super::{KEY, PATH, assert_no_key, program, record_with, replay, replay_with, with};
use crate::support::cli::{Place, Said};
use crate::support::forged::with_settings;
use crate::support::server::{Reply, Server};

/// Answers each prompt with a text of its own, some late, and now and then only when it is asked again.
fn server(failing: bool) -> Server {
    let mut requests = 0;
    Server::handler(move |received| {
        requests += 1;
        if failing && requests % 7 == 0 {
            return Reply::error(500, "overloaded", "later").header("retry-after-ms", "1");
        }
        let late = Duration::from_millis(requests * 7 % 23);
        let text = received.json()["messages"][0]["content"].as_str().unwrap().len();
        Reply::chat(&format!("answer {requests} to {text} letters")).slow_start(late)
    })
}

/// How often each request was received.
fn received(server: &Server) -> BTreeMap<Vec<u8>, usize> {
    let mut times = BTreeMap::new();
    for request in server.received() {
        *times.entry(request.body).or_default() += 1;
    }
    times
}

fn study(scene: &str) -> [String; 3] {
    [python(), program("chance_study.py").to_str().unwrap().to_owned(), scene.to_owned()]
}

#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn a_program_that_draws_is_replayed_five_times_of_five() {
    for scene in ["tasks", "threads", "processes"] {
        let (place, upstream, study) = (Place::new(), server(scene == "tasks"), study(scene));
        let study: Vec<&str> = study.iter().map(String::as_str).collect();
        let recorded = record_with(&place, "--chance", &upstream.base_url(), &study, &[]);
        assert_eq!(recorded.code, 0, "{scene}: {}{}", recorded.out, recorded.err);
        drop(upstream);
        assert_no_key(&place, &recorded);
        for _ in 0..5 {
            let replayed = replay(&place, "latest", &study);
            assert_eq!((replayed.code, &replayed.out), (0, &recorded.out), "{}", replayed.err);
            assert!(!replayed.err.contains("never asked"), "{}", replayed.err);
        }
        assert!(place.ok("show latest").contains("chance: "));
    }
}

#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn a_program_that_was_killed_asks_only_what_is_missing() {
    for (scene, dies_at) in
        [("tasks", ["2", "9", "17"]), ("threads", ["2", "9", "17"]), ("processes", ["2", "4", "6"])]
    {
        for dies_at in dies_at {
            let (place, upstream, study) = (Place::new(), server(false), study(scene));
            let study: Vec<&str> = study.iter().map(String::as_str).collect();
            let url = upstream.base_url();
            let killed = record_with(&place, "--chance", &url, &study, &[("DIE_AT", dies_at)]);
            assert_eq!(killed.code, 128 + 9, "{scene} {dies_at}: {}", killed.err);
            let resumed = with(&place, "record --resume latest", &url, &study, &[]);
            assert_eq!(resumed.code, 0, "{scene} {dies_at}: {}{}", resumed.out, resumed.err);
            let times = received(&upstream);
            assert_eq!(times.len(), 18, "{scene} {dies_at}");
            assert!(times.values().all(|times| *times == 1), "{scene} {dies_at}: {times:?}");
            drop(upstream);
            let replayed = replay(&place, "latest", &study);
            assert_eq!((replayed.code, &replayed.out), (0, &resumed.out), "{}", replayed.err);
        }
    }
}

/// The same inside a block, and each run is replayed in the other way, too.
#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn a_block_has_the_draws_of_its_run() {
    for scene in ["tasks", "threads", "processes"] {
        let (place, upstream, study) = (Place::new(), server(false), study(scene));
        let inside = |how: &str| {
            let mut command = Command::new("/usr/bin/unshare");
            place.shut_off(&mut command);
            command.args(["--map-root-user", &study[0], "-c", BLOCK, how]);
            command.arg(place.path("retold.db")).args(&study[1..]).env("PATH", PATH);
            command.env("RETOLD_PROGRAM", env!("CARGO_BIN_EXE_retold"));
            command.env("PYTHONPATH", Path::new(env!("RETOLD_ROOT")).join("python"));
            command.env("PYTHONDONTWRITEBYTECODE", "1").env("OPENAI_API_KEY", KEY);
            Said::ended(command.env("OPENAI_BASE_URL", upstream.base_url()))
        };
        let recorded = inside("record");
        assert_eq!(recorded.code, 0, "{scene}: {}{}", recorded.out, recorded.err);
        let again = inside("replay");
        assert_eq!((again.code, &again.out), (0, &recorded.out), "{scene}: {}", again.err);
    }
}

const BLOCK: &str = "
import runpy, sys
import random
from random import random as early
import retold
how, log, script, scene = sys.argv[1:]
sys.argv = [script, scene]
before = random.random
with getattr(retold, how)(log, **({'chance': True} if how == 'record' else {})) as run:
    runpy.run_path(script, run_name='__main__')
    print(early(), random.random())
assert random.random is before is early, 'it is taken back'
";

#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn a_replay_says_that_a_difference_looks_like_chance_and_where_it_was_asked() {
    let (place, upstream, study) = (Place::new(), server(false), study("threads"));
    let study: Vec<&str> = study.iter().map(String::as_str).collect();
    let url = upstream.base_url();
    let recorded = record_with(&place, "", &url, &study, &[]);
    assert_eq!(recorded.code, 0, "{}", recorded.err);
    let replayed = replay(&place, "latest", &study);
    assert_eq!(replayed.code, 1);
    let advice = "looks like an unseeded draw: record with --chance";
    assert_eq!(replayed.err.matches(advice).count(), 1, "{}", replayed.err);
    assert!(!replayed.err.contains("asked at"), "{}", replayed.err);

    // The order of this set is another in each process, because the program's environment says so.
    let set = [("SETS", "1"), ("PYTHONHASHSEED", "random"), ("DIE_AT", "0")];
    let recorded = record_with(&place, "--chance", &url, &study, &set);
    assert_eq!(recorded.code, 0, "{}", recorded.err);
    let differs = (0..5).map(|_| replay_with(&place, "latest", &study, &set));
    let replayed = differs.into_iter().find(|it| it.code != 0).expect("a set in another order");
    let said = &replayed.err;
    assert!(said.contains("the same words in another order"), "{said}");
    assert!(said.contains("cannot be recorded: put it in order with sorted()"), "{said}");
    let at = said.lines().find(|line| line.starts_with("asked at ")).expect(said);
    assert!(
        at.contains(" in ask < chance_study.py:") && at.contains(" in agent_in_thread"),
        "{at}"
    );
}

#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn uuids_are_the_run_s_if_that_is_asked_for_and_forks_draw_what_their_parent_drew() {
    let (place, upstream, study) = (Place::new(), server(false), study("threads"));
    let study: Vec<&str> = study.iter().map(String::as_str).collect();
    let (url, set) = (upstream.base_url(), [("UUIDS", "1")]);
    let recorded = record_with(&place, "--chance=uuid", &url, &study, &set);
    assert_eq!(recorded.code, 0, "{}", recorded.err);
    let replayed = replay_with(&place, "latest", &study, &set);
    assert_eq!((replayed.code, &replayed.out), (0, &recorded.out), "{}", replayed.err);
    let before = upstream.received().len();
    let forked = with(&place, "fork latest", &url, &study, &set);
    assert_eq!((forked.code, &forked.out), (0, &recorded.out), "{}", forked.err);
    assert_eq!(upstream.received().len(), before, "a fork asks nothing new");
    let replayed = replay_with(&place, "latest", &study, &set);
    assert_eq!((replayed.code, &replayed.out), (0, &recorded.out), "{}", replayed.err);
}

#[test]
fn a_program_that_python_does_not_reach_is_told_so() {
    let (place, upstream) = (Place::new(), server(false));
    let url = upstream.base_url();
    let shell = record_with(&place, "--chance", &url, &["sh", "-c", "true"], &[]);
    let said = "no Python process of the program took its draws from the run";
    assert!(shell.code == 0 && shell.err.contains(said), "{}", shell.err);
    let isolated = ["/usr/bin/python3", "-I", "-c", "import random; random.random()"];
    let isolated = record_with(&place, "--chance", &url, &isolated, &[]);
    assert!(isolated.err.contains(said), "{}", isolated.err);
    let reached = ["/usr/bin/python3", "-c", "import random; random.random()"];
    let reached = record_with(&place, "--chance", &url, &reached, &[]);
    assert!(reached.code == 0 && !reached.err.contains(said), "{}", reached.err);
    assert_eq!(place.ok("export latest").matches("\\\"seed\\\"").count(), 1);
}

/// A recording may come from anyone, and its seed becomes a variable of the program.
#[test]
fn a_seed_of_a_recording_is_nothing_but_digits() {
    let (place, upstream) = (Place::new(), server(false));
    record_with(&place, "--chance", &upstream.base_url(), &["true"], &[]);
    place.ok("export latest run.jsonl");
    let forged = with_settings(&place.read("run.jsonl"), |settings| {
        assert_eq!(settings["chance"]["seed"].as_str().unwrap().len(), 32);
        settings["chance"]["seed"] = "0; import os".into();
    });
    place.write("forged.jsonl", forged);
    let replayed = replay(&place, "forged.jsonl", &["touch", "was_run"]);
    assert_eq!(replayed.code, 2, "{}", replayed.err);
    assert!(replayed.err.contains("32 hexadecimal digits"), "{}", replayed.err);
    assert!(!place.path("was_run").exists());
}
