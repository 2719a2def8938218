//! Names of runs, calls, prompts and parsers that match nothing, or several things.

use std::process::Stdio;
use std::time::Duration;

use crate::serve::Served;
use crate::support::cli::{Place, Said, assert_said};
use crate::support::server::{Reply, Server};

/// A program that asks one question.
const ASK: &str = "curl -sS --max-time 20 -H 'content-type: application/json' $OPENAI_BASE_URL/chat/completions \
    -d '{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}'";

#[test]
fn runs() {
    let place = Place::with_run();
    assert_said!(
        "names_runs",
        place.session(&[
            "replay 00000000000", "replay xyz", "show xyz", "run --resume none", "log 00000000"
        ])
    );
}

#[test]
fn a_prefix_of_several_runs() {
    // With seventeen runs, two begin with the same hexadecimal digit (pigeonhole principle).
    let place = Place::new();
    for _ in 0..17 {
        place.ok("run small.yaml --quiet --set samples=1 --set puzzles.rows=0..1");
    }
    let (log, _) = place.json("log");
    let ids: Vec<&str> =
        log["runs"].as_array().unwrap().iter().map(|r| r["run"].as_str().unwrap()).collect();
    let shared = |d: &char| ids.iter().filter(|id| id.starts_with(*d)).count() > 1;
    let digit = "0123456789abcdef".chars().find(shared).unwrap();
    let said = place.run(&format!("replay {digit}"));
    let named: Vec<&str> = ids.iter().copied().filter(|id| id.starts_with(digit)).collect();
    let expected =
        format!("error: {digit} could be any of {}\n  hint: give more digits\n", named.join(", "));
    assert_eq!((said.code, said.err, said.out), (2, expected, String::new()));
    // A run's short name, as a command prints it, is enough to name the run.
    for id in ids {
        assert!(place.ok(&format!("show {id}")).contains(id));
    }
}

/// A name of few digits is one, whatever ids there are; a longer one that an id begins with may mean either.
#[test]
fn a_name_that_could_be_the_beginning_of_an_id() {
    let place = Place::new();
    place.ok("run small.yaml --quiet --set samples=1 --set puzzles.rows=0..1");
    let id = place.json("log").0["runs"][0]["run"].as_str().unwrap().to_owned();
    let upstream = Server::handler(|_| Reply::chat("hello"));
    let named: Vec<String> = [1, 3, 4, 7, 8].map(|digits| id[..digits].to_owned()).into();
    for name in &named {
        let mut command = place.command();
        command.args(["record", "--name", name, "--", "sh", "-c", ASK]);
        let said = Said::ended(command.env("OPENAI_BASE_URL", upstream.base_url()));
        assert_eq!(said.code, 0, "{}", said.err);
    }
    for name in &named[..2] {
        assert!(place.ok(&format!("show {name}")).contains("experiment program"), "{name}");
    }
    for name in &named[2..4] {
        let said = place.run(&format!("show {name}"));
        assert_eq!(said.code, 2, "{name}: {}", said.out);
        assert!(said.err.contains(&format!(", and the beginning of {id}")), "{}", said.err);
        assert!(said.err.contains("hint: give more digits"), "{}", said.err);
    }
    assert!(place.ok(&format!("show {}", named[4])).contains("experiment game24"));
}

/// Two machines that begin at once do not see each other.
#[test]
fn a_name_of_two_runs_that_were_recorded_at_once() {
    let place = Place::new();
    let upstream = Server::handler(|_| Reply::chat("hello"));
    let record = |script: &str| {
        let mut command = place.command();
        command.args(["record", "--name", "study", "--", "sh", "-c", script]);
        command.env("OPENAI_BASE_URL", upstream.base_url());
        command
    };
    let said = Said::ended(&mut record(ASK));
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(place.run("show study").code == 0);
    let slow = format!("{ASK}; sleep 3; {ASK}");
    let mut first = record(&slow).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let asked = || place.json("log").0["runs"][1]["calls"].as_u64() >= Some(1);
    while !asked() {
        std::thread::sleep(Duration::from_millis(50));
    }
    let second = Said::ended(&mut record(ASK));
    assert_eq!(second.code, 0, "{}", second.err);
    assert!(first.wait().unwrap().success());
    let ids: Vec<String> = (1..3)
        .map(|at| place.json("log").0["runs"][at]["run"].as_str().unwrap().to_owned())
        .collect();
    let said = place.run("show study");
    let expected = format!(
        "error: study is the name of {} and of {}, which were recorded at the same time\n  hint: give the first digits of the \
         id of the one that you mean\n",
        ids[0], ids[1]
    );
    assert_eq!((said.code, said.err), (2, expected));
    place.ok(&format!("show {}", ids[0]));
    // One that is recorded later is meant again.
    assert_eq!(Said::ended(&mut record(ASK)).code, 0);
    place.ok("show study");
}

#[test]
fn the_latest_of_no_runs() {
    let place = Place::new();
    place.write("broken.jsonl", "{}\n");
    let shown = place.session(&[
        "log --log new.db",
        "replay latest --log new.db",
        "import broken.jsonl --log new.db",
        "log --log new.db",
    ]);
    retold::log::SqliteBackend::open_or_create(&place.path("new.db"), Default::default()).unwrap();
    let shown = shown
        + &place.session(&[
            "log --log new.db",
            "replay latest --log new.db",
            "verify --log new.db",
        ]);
    assert_said!("names_latest", shown);
}

#[test]
fn calls_and_prompts() {
    let place = Place::with_run();
    assert_said!(
        "names_calls",
        place.session(&[
            "audit latest solve/7",
            "audit latest solve/0",
            "audit latest solve/0#9",
            "audit latest 99",
            "audit latest 1",
            "audit latest //",
            "show latest 99",
            "show latest solve/7",
            "show abcdef012345",
            "show abc --canonical",
            "show abcdef012345 --canonical",
        ])
    );
}

#[test]
fn parsers() {
    let place = Place::with_run();
    assert_said!(
        "names_parsers",
        place.session(&[
            "check latest --parser chess",
            "check latest --parser game24@7",
            "check latest --parser game24@x",
            "check latest none.jsonl",
        ])
    );
}

#[test]
fn bare_exchanges_have_nothing_to_execute() {
    let place = Place::new();
    let line = r#"{"request":{"model":"x","messages":[{"role":"user","content":"hi"}]},"response":{"content":"yo"}}"#;
    place.write("two.jsonl", format!("{line}\n{line}\n"));
    assert_said!(
        "names_exchanges",
        place.session(&[
            "import two.jsonl",
            "run --resume latest",
            "replay latest",
            "check latest",
            "show latest",
            "audit latest exchange",
            "audit latest exchange#1",
            "verify",
        ])
    );
}

/// A run that does not exist is not damage, and no file is created for it.
#[test]
fn a_run_that_the_log_does_not_have() {
    use retold::id::RunId;
    use retold::log::{Log, LogError};
    let place = Place::with_run();
    let files = || {
        let entries = std::fs::read_dir(place.root()).unwrap();
        entries.map(|entry| entry.unwrap().file_name()).collect::<std::collections::BTreeSet<_>>()
    };
    let (none, before) = (RunId([0xde; 8]), files());
    let log = Log::in_file(&place.path("retold.db")).unwrap();
    let is_none = |error: LogError| matches!(error, LogError::NoSuchRun { run, .. } if run == none);
    assert!(is_none(log.go_on(none).err().unwrap()));
    let mut reader = log.reader().unwrap();
    assert!(is_none(retold::run::run_start(reader.as_mut(), none).unwrap_err()));
    assert!(is_none(retold::run::RunRecord::read(reader.as_mut(), none).err().unwrap()));
    assert!(is_none(retold::run::Setup::replay(&log, none).err().unwrap()));
    drop((reader, log));
    let commands = [
        "replay",
        "run --resume",
        "record --resume",
        "log",
        "show",
        "check",
        "audit",
        "export",
        "export --as outputs",
        "run --abandon",
        "check --snapshots snaps",
        "fork",
    ];
    for command in commands {
        let rest = match command {
            "audit" => " a",
            "export" => " x.jsonl",
            "fork" => " --at a",
            _ => "",
        };
        let said = place.run(&format!("{command} dededede{rest}"));
        let due =
            "error: there is no run dededede in retold.db\n  hint: `retold log` lists the runs\n";
        assert_eq!((said.code, said.err.as_str()), (2, due), "{command}");
    }
    assert_eq!(files(), before, "nothing was made");
}

/// A name, the first digits of an id and `latest` lead to the same run on the page as in every command.
#[test]
fn the_page_finds_runs_as_commands_do() {
    let place = Place::new();
    let log = format!("{}/fixtures/logs/program.db", env!("RETOLD_ROOT"));
    std::fs::copy(log, place.path("retold.db")).unwrap();
    let (list, _) = place.json("log");
    let run = list["runs"][0]["run"].as_str().unwrap();
    let served = Served::log(&place, "retold.db");
    for name in ["frozen", &run[..8], "latest"] {
        assert_eq!(served.json(&format!("/run/{name}"))["run"]["run"], run, "{name}");
        assert!(place.ok(&format!("show {name}")).contains(run), "{name}");
    }
    assert_eq!(served.get("/run/thawed").status, 404);
    assert_eq!(place.run("show thawed").code, 2);
}

/// The commands of `verify` come before runs of the same names.
#[test]
fn a_run_that_is_named_like_a_command_of_verify() {
    let place = Place::new();
    let recorded = place.with_path(&["record", "--name", "head", "--", "true"]);
    assert_eq!(recorded.code, 0, "{}", recorded.err);
    let shown = place.session(&["verify latest head", "verify --head 12 seal"]);
    assert_said!("names_verify", shown);
    assert!(place.ok("verify -- head").ends_with("1 run verified\n"));
    assert!(place.ok("verify --log retold.db head").ends_with(" entries, 1 run\n"));
}

/// A run that broke off before its first call does not hide the one before it; one that broke off later can be continued,
/// and that is said when another is begun.
#[test]
fn a_name_is_that_of_the_last_run_that_asked_something() {
    let place = Place::new();
    let upstream = Server::handler(|_| Reply::chat("hello"));
    let record = |shell: &str| {
        let mut command = place.command();
        command.args(["record", "--name", "pilot", "--", "sh", "-c", shell]);
        Said::ended(command.env("OPENAI_BASE_URL", upstream.base_url()))
    };
    let runs = || -> Vec<String> {
        let (log, _) = place.json("log");
        let runs = log["runs"].as_array().unwrap();
        runs.iter().map(|run| run["run"].as_str().unwrap().to_owned()).collect()
    };
    let said = record(ASK);
    assert!(said.code == 0 && !said.err.contains("also named"), "{said:?}");
    record("exit 3");
    let all = runs();
    assert!(place.ok("show pilot").contains(&all[0]), "{all:?}");
    // A finished run is not to be continued, nor is one without a call.
    assert!(!record(ASK).err.contains("also named"));
    // One that a kill cut off.
    record(&format!("{ASK}; kill -9 $PPID"));
    let cut = runs().pop().unwrap();
    let said = record(ASK);
    let note = format!("note: run {}, which is also named \"pilot\", is not finished: ", &cut[..8]);
    assert!(said.err.contains(&note), "{}", said.err);
    assert!(said.err.contains(&format!("record --resume {} ", &cut[..8])), "{}", said.err);
}

/// A name may look like a file's; a file that exists comes first.
#[test]
fn a_name_with_dots_and_slashes_finds_its_run() {
    let place = Place::new();
    let upstream = Server::handler(|_| Reply::chat("hello"));
    for name in ["gpt-4.1", "pilots/3", "answers.jsonl"] {
        let mut command = place.command();
        command.args(["record", "--name", name, "--", "sh", "-c", ASK]);
        let said = Said::ended(command.env("OPENAI_BASE_URL", upstream.base_url()));
        assert_eq!(said.code, 0, "{}", said.err);
    }
    let runs = place.json("log").0["runs"].clone();
    for run in runs.as_array().unwrap() {
        let (name, id) = (run["name"].as_str().unwrap(), &run["run"]);
        for command in ["show", "stats", "log", "verify"] {
            assert_eq!(place.json(&format!("{command} {name}")).0["run"], *id, "{command} {name}");
        }
        assert!(place.ok(&format!("export {name}")).contains(id.as_str().unwrap()));
        let mut replay = place.command();
        let said = Said::ended(replay.args(["replay", name, "--", "sh", "-c", ASK]));
        assert_eq!(said.code, 0, "{}", said.err);
    }
    place.ok("export gpt-4.1 answers.jsonl");
    assert_eq!(place.json("show answers.jsonl").0["run"], runs[0]["run"]);
    let said = place.run("show gpt-4.2");
    assert!(said.code == 3 && said.err.contains("gpt-4.2"), "{}", said.err);
}

/// A run cannot have a name that commands read as something else.
#[test]
fn a_name_that_would_not_find_the_run_is_refused() {
    let place = Place::new();
    place.write("traffic.har", "{\"log\":{\"entries\":[]}}");
    for (name, why) in [
        ("latest", "`latest` stands for the last run"),
        ("-x", "would be read as an option"),
        ("", "has at least one character"),
    ] {
        let name = format!("--name={name}");
        for args in [vec!["record", &name, "--", "true"], vec!["import", &name, "traffic.har"]] {
            let said = place.args(&args);
            assert_eq!(said.code, 2, "{args:?}: {}{}", said.out, said.err);
            assert!(said.err.contains(why), "{args:?}: {}", said.err);
        }
    }
    let config = concat!(env!("RETOLD_ROOT"), "/config/public_goods_small.yaml");
    let said = place.run(&format!("run {config} --quiet --set experiment_id=latest"));
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("\"latest\" cannot name a run: "), "{}", said.err);
    assert!(!place.path("retold.db").exists());
}
