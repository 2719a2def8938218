//! Several configs in one command: one summary, one budget, one exit code.

use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::support::cli::{Place, Said, assert_said};
use crate::support::server::{Reply, Server};
use crate::support::studies::answers;
use retold::log::{Backend, SqliteBackend, SqliteOptions};
use retold::run::clock::Stopwatch;

/// A small public goods game, with or without rewards.
fn game(name: &str, reward: bool, seed: usize) -> String {
    let config = concat!(env!("RETOLD_ROOT"), "/config/public_goods_small.yaml");
    let config = std::fs::read_to_string(config).unwrap();
    let changed = config
        .replace("experiment_id: public_goods_small", &format!("experiment_id: {name}"))
        .replace("seed: 5", &format!("seed: {seed}"))
        .replace("game_length: 3", "game_length: 2")
        .replace("communication_enabled: true", "communication_enabled: false")
        .replace("reward_enabled: true", &format!("reward_enabled: {reward}"));
    assert!(changed.contains(name) && changed.contains("game_length: 2"), "{changed}");
    changed
}

/// A place with a control and a treatment.
fn pair() -> Place {
    let place = Place::new();
    for (name, reward) in [("exp_001_control", false), ("exp_001_treatment", true)] {
        place.write(&format!("{name}.yaml"), game(name, reward, 5));
    }
    place
}

const BOTH: &str = "run exp_001_control.yaml exp_001_treatment.yaml";

#[test]
fn a_summary_names_each_run_and_what_to_do_next() {
    let place = pair();
    let quiet = format!("{BOTH} --quiet");
    let said = place.run(&quiet);
    assert_eq!(said.code, 0, "{}", said.err);
    let mut shown = place.shown(&quiet, &said);
    for run in place.json("log").0["runs"].as_array().unwrap() {
        let (name, id) = (run["name"].as_str().unwrap(), run["run"].as_str().unwrap());
        let row = shown.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
        shown = shown.replace(&row, &row.replacen(&id[..4], "[id]", 1));
    }
    assert_said!("several_runs_summary", shown);
    // The commands that it prints work.
    place.ok("stats exp_001_control exp_001_treatment");
    place.ok("table exp_001_control exp_001_treatment --to tables");
    place.ok("report exp_001_control exp_001_treatment -o report.html");
    for name in ["exp_001_control", "exp_001_treatment"] {
        assert!(place.path(&format!("outputs/{name}/config.json")).is_file(), "{name}");
        assert!(place.read(&format!("outputs/{name}.log")).contains(" INFO round 2: "), "{name}");
    }
    let none = place.run(&format!("{BOTH} --resume"));
    assert_eq!(none.code, 0, "{}", none.err);
    assert!(
        none.err.contains("exp_001_control is finished: nothing is asked again\n"),
        "{}",
        none.err
    );
}

/// Must be shown: sixteen configs of a design in one command, to one table and one report, with the outcomes of runs one by one.
#[test]
fn sixteen_configs_of_a_design_make_one_table_and_one_report() {
    let (together, alone) = (Place::new(), Place::new());
    let mut names = Vec::new();
    for number in 1..=8 {
        for (arm, reward) in [("control", false), ("treatment", true)] {
            let name = format!("exp_{number:03}_{arm}");
            let config = game(&name, reward, number);
            together.write(&format!("{name}.yaml"), &config);
            alone.write(&format!("{name}.yaml"), &config);
            names.push(name);
        }
    }
    let configs: Vec<String> = names.iter().map(|name| format!("{name}.yaml")).collect();
    let (all, code) = together.json(&format!("run -q {}", configs.join(" ")));
    assert_eq!(code, 0, "{all}");
    let runs = all["runs"].as_array().unwrap();
    let named: Vec<&str> = runs.iter().map(|run| run["name"].as_str().unwrap()).collect();
    assert_eq!(named, names);
    for (run, config) in runs.iter().zip(&configs) {
        let (one, _) = alone.json(&format!("run -q {config}"));
        for same in ["outcome", "outcome_digest", "exchanges", "decisions", "outputs", "report"] {
            assert_eq!(run[same], one[same], "{config}: {same}");
        }
        assert!(run["figures"][0]["groups"][0]["value"].is_number(), "{run}");
    }
    let all = names.join(" ");
    together.ok(&format!("table {all} --table decisions --to decisions.csv"));
    let table = together.read("decisions.csv");
    for run in runs {
        assert!(table.contains(run["run"].as_str().unwrap()), "{}", run["name"]);
    }
    together.ok(&format!("report {all} -o report.html"));
    let report = together.read("report.html");
    for run in runs {
        assert!(report.contains(&run["run"].as_str().unwrap()[..8]), "{}", run["name"]);
    }
    assert_eq!(together.json("verify").1, 0);
}

#[test]
fn nothing_begins_if_one_of_them_is_refused() {
    let place = pair();
    place.write("twin.yaml", game("exp_001_control", true, 9));
    place.write("wrong.yaml", "experiment: public_goods\nexperiment_id: wrong\nseed: many\n");
    std::fs::create_dir_all(place.path("outputs/exp_001_treatment")).unwrap();
    let shown = place.session(&[
        BOTH,
        "run exp_001_control.yaml twin.yaml",
        "run exp_001_control.yaml wrong.yaml",
        "run exp_001_control.yaml none.yaml",
        // Everything is said at once.
        "run wrong.yaml exp_001_treatment.yaml none.yaml",
        "run exp_001_control.yaml none.yaml wrong.yaml --json",
    ]);
    assert_said!("several_runs_refused", shown);
    assert!(!place.path("retold.db").exists(), "nothing is recorded");
    assert!(!place.path("outputs/exp_001_control.log").exists());
    let (both, code) = place.json(&format!("{BOTH} --new-folder"));
    assert_eq!(code, 0, "{both}");
    assert_eq!(both["runs"][1]["outputs"], "outputs/exp_001_treatment-2");
    assert_eq!(both["runs"][1]["name"], "exp_001_treatment-2");
}

/// A server that answers as the simulated model does, after a while.
fn server() -> Server {
    let answer = answers("public_goods");
    Server::handler(move |received| {
        std::thread::sleep(Duration::from_millis(5));
        answer(received)
    })
}

#[test]
fn limits_count_over_all_and_a_resume_continues_those_that_are_left() {
    let (place, server) = (pair(), server());
    let url = server.base_url();
    let stopped = place.run(&format!("{BOTH} -q --base-url {url} --max-tokens 70"));
    assert_eq!(stopped.code, 4, "{}{}", stopped.out, stopped.err);
    let said = "the runs of this command have used ";
    assert_eq!(stopped.err.matches(said).count(), 2, "both stop: {}", stopped.err);
    let both = "  retold run --resume exp_001_control exp_001_treatment";
    let next =
        format!("{both} --base-url {url} --max-tokens 140   continue within a higher limit\n");
    assert!(stopped.out.contains(&next), "{}", stopped.out);
    let used = tokens(&place);
    assert!((70..140).contains(&used), "little more than both may use: {used}");
    assert!(!place.path("outputs/exp_001_control").exists());
    // One of them is continued alone, so that the other is the only one that is left. What both may use is the limit of that
    // command, and of neither run.
    place.ok(&format!("run --resume exp_001_control -q --base-url {url}"));
    let (rest, code) = place.json(&format!("{BOTH} --resume -q --base-url {url}"));
    assert_eq!(code, 0, "{rest}");
    let runs = rest["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2, "{rest}");
    assert_eq!((&runs[0]["outcome"], &runs[0]["model_calls"]), (&"finished".into(), &0.into()));
    assert_eq!(runs[1]["name"], "exp_001_treatment");
    assert!(runs[1]["model_calls"].as_u64().unwrap() > 0, "{rest}");
    assert!(place.path("outputs/exp_001_treatment").is_dir());
    assert!(runs[1]["dollars"].as_f64().is_some_and(|cost| cost > 0.0), "{rest}");
    let (log, _) = place.json("log");
    assert_eq!(log["runs"].as_array().unwrap().len(), 2, "{log}");
    // With runs in place of configs, and with one that is not there yet.
    let (again, code) = place.json("run --resume exp_001_control exp_001_treatment -q");
    assert_eq!((code, &again["runs"][0]["model_calls"]), (0, &0.into()), "{again}");
    place.write("exp_002_control.yaml", game("exp_002_control", false, 2));
    let more = format!("run exp_001_control.yaml exp_002_control.yaml --resume --base-url {url}");
    let said = place.run(&more);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(
        said.err.contains("exp_002_control.yaml has no run yet: one is started"),
        "{}",
        said.err
    );
    assert!(said.out.starts_with("2 runs: 2 finished\n"), "{}", said.out);
}

/// The flag takes the place of the limits in configs, which are otherwise those of each run.
#[test]
fn a_limit_of_the_command_replaces_those_of_configs() {
    let place = pair();
    for name in ["exp_001_control", "exp_001_treatment"] {
        let config = format!("{name}.yaml");
        place.write(&config, place.read(&config) + "\nlimits: {max_tokens: 10}\n");
    }
    let stopped = place.run(&format!("{BOTH} -q"));
    assert_eq!(stopped.code, 4, "{}", stopped.out);
    assert_eq!(stopped.err.matches("and max_tokens is 10\n").count(), 2, "{}", stopped.err);
    // Each command that is printed continues its run.
    let next: Vec<&str> = stopped.out.lines().filter(|line| line.contains("--resume")).collect();
    assert_eq!(next.len(), 2, "{}", stopped.out);
    for line in next {
        let command = line.split("   ").find(|part| part.contains("--resume")).unwrap();
        let more = place.json(command.trim().strip_prefix("retold ").unwrap()).0;
        assert!(more["model_calls"].as_u64().unwrap() > 0, "{command}: {more}");
    }
    let (all, code) = place.json(&format!("{BOTH} --resume -q --max-tokens 1000000"));
    assert_eq!((code, &all["runs"][1]["outcome"]), (0, &"finished".into()), "{all}");
}

fn tokens(place: &Place) -> u64 {
    let (stats, _) = place.json("stats exp_001_control exp_001_treatment");
    let of = |run: &Value| {
        let tokens = &run["tokens"];
        tokens["prompt"].as_u64().unwrap_or(0) + tokens["completion"].as_u64().unwrap_or(0)
    };
    stats["runs"].as_array().unwrap().iter().map(of).sum()
}

/// A run that fails does not stop the others, and its exit code is that of all.
#[test]
fn one_that_fails_does_not_stop_the_others() {
    let place = pair();
    let answer = answers("public_goods");
    let server = Server::handler(move |received| match received.json()["model"] == "broken" {
        true => Reply::new(400, "{\"error\":{\"message\":\"no such model\"}}"),
        false => answer(received),
    });
    let broken = game("exp_001_treatment", true, 5);
    let broken = broken.replace("llm_model: gpt-4o\n", "llm_model: broken\n");
    let broken = broken.replace("gpt-4o-mini", "broken");
    place.write("exp_001_treatment.yaml", broken);
    let said = place.run(&format!("{BOTH} --json -q --base-url {}", server.base_url()));
    assert_eq!(said.code, 4, "{}{}", said.out, said.err);
    let all: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(all["runs"][0]["outcome"], "finished");
    assert_eq!(all["runs"][0]["failed_calls"], 0);
    assert_eq!(all["runs"][1]["outcome"], "stopped");
    assert!(all["runs"][1]["error"].as_str().unwrap().contains("no such model"), "{all}");
    assert!(said.err.contains("error: exp_001_treatment: "), "{}", said.err);
    assert!(!said.err.contains("error: exp_001_control: "), "{}", said.err);
}

/// Ctrl-C stops all of them, and each can be continued.
#[cfg(unix)]
#[test]
fn an_interrupt_stops_all() {
    let (place, server) = (pair(), server());
    let mut command = place.command();
    command.args(BOTH.split(' ')).args(["--base-url", &server.base_url(), "--concurrency", "1"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let traces = ["outputs/exp_001_control.log", "outputs/exp_001_treatment.log"];
    let mut waited = 0;
    while !traces.iter().all(|trace| place.path(trace).is_file()) {
        waited += 1;
        assert!(waited < 6_000, "a minute");
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(60));
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-s", "INT", &id]).status().unwrap().success());
    let said = Said::new(child.wait_with_output().unwrap());
    assert_eq!(said.code, 130, "{}{}", said.out, said.err);
    assert!(said.out.starts_with("2 runs: 2 interrupted\n"), "{}", said.out);
    for name in ["exp_001_control", "exp_001_treatment"] {
        assert!(
            said.out.contains(&format!("   continue {name} where it stopped\n")),
            "{}",
            said.out
        );
        assert!(place.read(&format!("outputs/{name}.log")).contains(" WARNING interrupted: "));
    }
    let url = server.base_url();
    let said = place.ok(&format!("{BOTH} --resume -q --base-url {url}"));
    assert!(said.starts_with("2 runs: 2 finished\n"), "{said}");
}

/// Two runs of one server ask at its pace together.
#[test]
fn runs_that_ask_one_server_share_its_pace() {
    let (place, server) = (pair(), server());
    let url = server.base_url();
    let began = Stopwatch::start();
    let set = "--set limits.min_interval_seconds=0.05";
    let (all, code) = place.json(&format!("{BOTH} -q --base-url {url} {set}"));
    assert_eq!(code, 0, "{all}");
    let calls: u64 =
        all["runs"].as_array().unwrap().iter().map(|r| r["model_calls"].as_u64().unwrap()).sum();
    let least = Duration::from_millis(50 * (calls - 1) * 9 / 10);
    // Embeddings of one moment are one attempt.
    assert!(calls > 20, "{calls}");
    assert!(began.elapsed() > least / 2, "{calls} calls in {:?}", began.elapsed());
}

#[test]
fn a_config_that_is_named_twice_is_refused_as_such() {
    let place = Place::new();
    let said = place.run("run small.yaml small.yaml --quiet --no-outputs");
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("is named twice in this command"), "{}", said.err);
    assert!(!place.path("retold.db").exists() || place.ok("log").starts_with("0 runs"));
}

#[test]
fn nothing_begins_while_one_of_the_runs_is_being_written() {
    let place = pair();
    place.run("run exp_001_control.yaml --quiet --until round_1");
    let run = place.json("log").0["runs"][0]["run"].as_str().unwrap().parse().unwrap();
    let log = SqliteBackend::open(&place.path("retold.db"), SqliteOptions::default()).unwrap();
    let lease = log.lease(run).unwrap();
    let said = place.run(&format!("{BOTH} --resume --quiet"));
    assert_eq!(said.code, 3, "{}", said.err);
    assert!(said.err.contains("is being written by another process"), "{}", said.err);
    assert_eq!(place.json("log").0["runs"].as_array().unwrap().len(), 1);
    drop(lease);
    let said = place.run(&format!("{BOTH} --resume --quiet"));
    assert_eq!(said.code, 0, "{}", said.err);
}
