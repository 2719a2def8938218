//! A recording from a stranger cannot choose a server that gets a key or a prompt, a file that is
//! read, or a path that is written.

use std::process::Command;

use retold::id::RunId;
use serde_json::{Value, json};

use crate::support::cli::{Place, Said, assert_said};
use crate::support::forge::{Listener, forged, recording, settings};
use crate::support::server::{Reply, Server};

const KEY: &str = "sk-live-0123456789abcdefSECRET";

/// A place with an imported recording of a study, cut off in the middle and with changed settings.
fn place(study: &str, real: bool, change: impl FnOnce(&mut Value)) -> Place {
    let place = Place::new();
    let folder = concat!(env!("RETOLD_ROOT"), "/recordings");
    let base = recording(&std::path::Path::new(folder).join(study));
    let mut settings = settings(&base);
    change(&mut settings);
    let events = base.head.seq.0 as usize / 2;
    place.write("r.jsonl", forged(&base, RunId([0xab; 8]), &settings, events, real));
    place.ok("import r.jsonl");
    place
}

/// A game of 24 whose recording claims that a server at a URL answered it.
fn at(url: &str) -> Place {
    place("game24_small.jsonl", true, |settings| {
        settings["runtime"]["model"]["kind"] = "openai".into();
        settings["runtime"]["model"]["base_url"] = url.into();
    })
}

/// Runs a command with a key and the given variables in the environment.
fn with_key(place: &Place, args: &[&str], more: &[(&str, &str)]) -> Said {
    let mut command = place.command();
    command.args(args).env("OPENAI_API_KEY", KEY).envs(more.iter().copied());
    Said::ended(&mut command)
}

#[test]
fn the_url_of_a_recording_gets_neither_a_key_nor_a_prompt() {
    let listener = Listener::new();
    let place = at(&format!("{}/v1", listener.url()));
    let mut shown = String::new();
    for args in
        ["run --resume latest", "fork latest --set samples=9", "run --resume latest --model openai"]
    {
        let said = with_key(&place, &args.split(' ').collect::<Vec<_>>(), &[]);
        assert_eq!(said.code, 2, "{}{}", said.out, said.err);
        shown.push_str(&place.shown(args, &said));
    }
    assert_eq!(listener.heard().connections, 0);
    assert_said!("strangers_url", shown);
    place.ok("verify");
}

/// The command that the error prints, run by a shell.
fn repeat(place: &Place, error: &str) -> Said {
    let (_, command) = error.rsplit_once("trust that server: `").unwrap();
    let (command, _) = command.rsplit_once('`').unwrap();
    let program = env!("CARGO_BIN_EXE_retold");
    let mut shell = Command::new("/bin/sh");
    place.shut_off(&mut shell);
    shell.env("OPENAI_API_KEY", KEY).arg("-c");
    shell.arg(format!("retold() {{ '{program}' \"$@\"; }}\n{command}"));
    Said::ended(&mut shell)
}

#[test]
fn the_command_that_is_printed_names_the_recorded_url() {
    let server = Server::handler(|_| Reply::chat("Answer: 24"));
    let place = at(&format!("http://me:secret@{}/it's $(touch evil)/v1?x=`id`", server.address()));
    let refused = with_key(&place, &["run", "--resume", "latest", "--quiet"], &[]);
    assert_eq!((refused.code, server.received().len()), (2, 0), "{}", refused.err);
    let said = repeat(&place, &refused.err);
    assert_eq!(said.code, 0, "{}{}", refused.err, said.err);
    let sent = server.received();
    assert!(!sent.is_empty());
    assert_eq!(sent[0].target, "/it's%20$(touch%20evil)/v1/chat/completions");
    assert_eq!(sent[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert!(!place.path("evil").exists());
    // The approval is not remembered: the next run of the file is refused again, and so is a fork
    // of this one.
    let fork = with_key(&place, &["fork", "latest", "--set", "samples=9"], &[]);
    assert_eq!(fork.code, 2, "{}{}", fork.out, fork.err);
    // The run is finished now, so no model is asked.
    assert_eq!(with_key(&place, &["run", "--resume", "latest"], &[]).code, 0);
}

#[test]
fn a_url_that_cannot_be_shown_is_not_repeated() {
    let long = format!("http://127.0.0.1:1/{}", "x".repeat(1000));
    for url in ["\u{1b}[2J", "no URL", "", &long] {
        let said = with_key(&at(url), &["run", "--resume", "latest"], &[]);
        let expected = "error: this run was recorded from a server whose URL cannot be shown, and nothing in this \
            command names that server\n  hint: recordings can come from anyone, so they never decide where prompts and \
            your keys are sent\n  hint: name the servers to ask with --base-url URL and --endpoint MODEL=URL\n";
        assert_eq!((said.code, said.err.as_str()), (2, expected), "{url:?}");
    }
}

#[test]
fn the_environment_names_a_server_too() {
    let server = Server::handler(|_| Reply::chat("Answer: 24"));
    let other = Listener::new();
    let place = at(&server.base_url());
    let named =
        |url: &str| with_key(&place, &["run", "--resume", "latest"], &[("OPENAI_BASE_URL", url)]);
    let elsewhere = named(&other.url());
    assert_eq!((elsewhere.code, server.received().len()), (2, 0), "{}", elsewhere.err);
    assert_eq!(other.heard().connections, 0, "the run was not recorded from there");
    let said = named(&format!("{}/", server.base_url()));
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(!server.received().is_empty());
}

#[test]
fn a_new_run_asks_the_server_that_the_environment_names() {
    let server = Server::handler(|_| Reply::chat("Answer: 24"));
    let place = Place::new();
    let url = server.base_url();
    let args = ["run", "small.yaml", "--quiet", "--model", "openai", "--set", "samples=1"];
    let said = with_key(&place, &args, &[("OPENAI_BASE_URL", &url)]);
    assert_eq!((said.code, server.received().len()), (0, 2), "{}", said.err);
    place.ok("export latest run.jsonl");
    let recorded = settings(&recording(&place.path("run.jsonl")));
    assert_eq!(recorded["runtime"]["model"]["base_url"], url.as_str());
    // What the config names takes precedence.
    place.write(
        "named.yaml",
        format!("{}model: {{kind: openai, base_url: \"{url}\"}}\n", crate::support::cli::SMALL),
    );
    let other = Listener::new();
    let said =
        with_key(&place, &["run", "named.yaml", "--quiet"], &[("OPENAI_BASE_URL", &other.url())]);
    assert_eq!((said.code, other.heard().connections), (0, 0), "{}", said.err);
}

#[test]
fn a_config_given_again_names_its_server() {
    let server = Server::handler(|_| Reply::error(401, "invalid_api_key", "No."));
    let place = Place::new();
    let config = format!(
        "{}model: {{kind: openai, base_url: \"{}\"}}\n",
        crate::support::cli::SMALL,
        server.base_url()
    );
    place.write("named.yaml", config);
    assert_eq!(with_key(&place, &["run", "named.yaml"], &[]).code, 4);
    let before = server.received().len();
    assert_eq!(with_key(&place, &["run", "--resume", "latest"], &[]).code, 2);
    assert_eq!(server.received().len(), before, "the log alone names it");
    assert_eq!(with_key(&place, &["run", "named.yaml", "--resume"], &[]).code, 4);
    assert!(server.received().len() > before);
}

#[test]
fn a_file_of_answers_that_only_a_recording_names_is_not_read() {
    let place = place("game24_small.jsonl", true, |settings| {
        settings["runtime"]["model"] = json!({"kind": "scripted", "answers": "/dev/zero"});
    });
    let shown = place.session(&["run --resume latest", "fork latest --set samples=9"]);
    assert_said!("strangers_answers", shown);
    let place = place_of_secret();
    let said = place.run("run --resume latest");
    assert_eq!(said.code, 2);
    assert!(!said.err.contains("TOPSECRET"), "{}", said.err);
}

fn place_of_secret() -> Place {
    let place = place("game24_small.jsonl", true, |settings| {
        settings["runtime"]["model"] = json!({"kind": "scripted", "answers": "secret.jsonl"});
    });
    place.write("secret.jsonl", "TOPSECRET\n");
    place
}

#[test]
fn a_recorded_name_of_a_folder_leads_nowhere_else() {
    let mut shown = String::new();
    for name in ["../../evil", "/tmp/evil", "..", ".", "", ".evil", "a/b", "a\\b", "a\u{202e}b"] {
        let place = place("deliberation_small.jsonl.zst", false, |settings| {
            settings["experiment"]["config"]["pilot_id"] = name.into();
        });
        let said = place.run("export latest --as outputs");
        assert_eq!(said.code, 2, "{name:?}: {}{}", said.out, said.err);
        shown.push_str(&said.err);
        let said = place.run("run --resume latest");
        assert_eq!(said.code, 2, "{name:?}: {}{}", said.out, said.err);
        assert!(!place.path("outputs").exists(), "{name:?}");
        assert!(!place.path("../../evil").exists());
        place.ok("export latest mine --as outputs");
    }
    assert_said!("strangers_folder", shown);
}

/// Which folder of its name a run writes is a number: anything else is passed over.
#[test]
fn a_recorded_number_of_a_folder_is_a_number() {
    for (number, folder) in [
        (json!("../../evil"), "outputs/budgeting_small"),
        (json!(-1), "outputs/budgeting_small"),
        (json!(1e15), "outputs/budgeting_small"),
        (json!(0), "outputs/budgeting_small"),
        (json!(7), "outputs/budgeting_small-7"),
    ] {
        let place = place("deliberation_small.jsonl.zst", false, |settings| {
            settings["output_folder"] = number.clone();
        });
        assert_eq!(place.json("export latest --as outputs").0["folder"], folder, "{number}");
        assert_eq!(std::fs::read_dir(place.path("outputs")).unwrap().count(), 1);
    }
}

#[test]
fn a_recorded_pool_is_not_written() {
    let place = place("deliberation_small.jsonl.zst", false, |settings| {
        settings["experiment"]["config"]["persona_storage"] = "../stolen.json".into();
        settings["experiment"]["config"]["use_persona_storage"] = true.into();
        let drawn = vec![Value::Null; settings["experiment"]["personas"].as_array().unwrap().len()];
        settings["experiment"]["pool"] = json!({"drawn": drawn, "spare": []});
    });
    let above = place.path("../stolen.json");
    let said = place.run("run --resume latest --quiet --no-outputs");
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(!above.exists());
    let at = said.err.find("its personas").expect("there are personas to store");
    assert_said!("strangers_pool", said.err[at..]);
}
