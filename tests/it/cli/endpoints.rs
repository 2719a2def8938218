//! Several servers in one run, chosen by the name of the model: each gets only its own requests and
//! its own key, and only servers that this command names get any.

use retold::id::RunId;
use serde_json::json;

use crate::support::cli::{Place, Said, assert_said};
use crate::support::forge::{Listener, forged, recording, settings};
use crate::support::server::{Received, Reply, Server};

const KEY: &str = "sk-live-0123456789abcdefSECRET";
const MINI: &str = "sk-mini-fedcba9876543210SECRET";

/// Runs a command with both keys in the environment.
fn with_keys(place: &Place, args: &str) -> Said {
    let mut command = place.command();
    command.args(args.split_whitespace()).env("OPENAI_API_KEY", KEY).env("MINI_KEY", MINI);
    Said::ended(&mut command)
}

fn server() -> Server {
    let said = "{\"contribution\": 10, \"rewards\": {}} I say <contribute>10</contribute>";
    Server::handler(move |_| Reply::chat(said))
}

/// The models that a server was asked for, and the keys that it was sent, each listed once.
fn asked(server: &Server) -> (Vec<String>, Vec<String>) {
    let of = |value: &dyn Fn(&Received) -> String| {
        let mut all: Vec<String> = server.received().iter().map(value).collect();
        all.sort();
        all.dedup();
        all
    };
    let key = |request: &Received| request.header("authorization").unwrap_or("none").to_owned();
    (of(&|request| request.json()["model"].as_str().unwrap().to_owned()), of(&key))
}

const GAME: &str = concat!(env!("RETOLD_ROOT"), "/config/public_goods_small.yaml");

/// The small game, with model settings in place of the simulated model.
fn game(place: &Place, model: &str) {
    let text = std::fs::read_to_string(GAME).unwrap();
    place.write("game.yaml", text.replace("model:\n  kind: simulated\n", model));
}

fn bearer(key: &str) -> Vec<String> {
    vec![format!("Bearer {key}")]
}

#[test]
fn each_model_is_asked_at_its_server_with_its_key() {
    let (place, mini, others) = (Place::new(), server(), server());
    let (at_mini, at_others) = (mini.base_url(), others.base_url());
    game(
        &place,
        &format!(
            "model:\n  kind: openai\n  base_url: {at_others}\n  endpoints:\n    gpt-4o-mini: {{base_url: \"{at_mini}\", key: MINI_KEY}}\n"
        ),
    );
    let said = with_keys(&place, "run game.yaml --quiet --trust");
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(asked(&mini), (vec!["gpt-4o-mini".to_owned()], bearer(MINI)));
    assert_eq!(asked(&others), (vec!["gpt-4o".to_owned()], bearer(KEY)));
    // Neither a key nor the name of its variable is recorded; the name of the model that answered
    // is.
    place.ok("export latest run.jsonl");
    let log = place.read("run.jsonl");
    assert!(!log.contains("SECRET") && !log.contains("MINI_KEY"));
    let source = format!("\"source\":\"{at_others}; gpt-4o-mini: {at_mini}\"");
    assert!(log.contains(&source), "{}", &log[..500]);
    place.ok("replay latest");
}

#[test]
fn flags_name_servers_and_the_variables_of_their_keys() {
    let (place, mini, others) = (Place::new(), server(), server());
    let (at_mini, at_others) = (mini.base_url(), others.base_url());
    game(&place, "");
    let args = format!(
        "run game.yaml --quiet --base-url {at_others} --endpoint gpt-4o-mini={at_mini} --endpoint-key gpt-4o-mini=MINI_KEY"
    );
    let said = with_keys(&place, &args);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(asked(&mini), (vec!["gpt-4o-mini".to_owned()], bearer(MINI)));
    assert_eq!(asked(&others).1, bearer(KEY));
}

/// A user's own server needs no key, and does not get that of another server.
#[test]
fn an_endpoint_without_a_key_gets_none() {
    let (place, mini, others) = (Place::new(), server(), server());
    game(&place, "");
    let (at_mini, at_others) = (mini.base_url(), others.base_url());
    let said = with_keys(
        &place,
        &format!("run game.yaml --quiet --base-url {at_others} --endpoint gpt-4o-mini={at_mini}"),
    );
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(asked(&mini).1, ["none"]);
}

#[test]
fn a_resumed_run_asks_only_endpoints_that_are_named_again() {
    let (place, mini, others) = (Place::new(), server(), server());
    let (at_mini, at_others) = (mini.base_url(), others.base_url());
    game(&place, "");
    let endpoints = format!("--endpoint gpt-4o-mini={at_mini} --endpoint-key gpt-4o-mini=MINI_KEY");
    let args = format!("run game.yaml --base-url {at_others} {endpoints} --max-tokens 40");
    let stopped = with_keys(&place, &args);
    assert_eq!(stopped.code, 4, "the tokens are used up\n{}", stopped.err);
    let (before, rest) = (mini.received().len(), others.received().len());
    let refused = with_keys(
        &place,
        &format!("run --resume latest --base-url {at_others} --max-tokens 100000"),
    );
    assert_eq!(refused.code, 2, "{}", refused.out);
    assert_eq!((mini.received().len(), others.received().len()), (before, rest));
    assert_said!("endpoint_unnamed", refused.err);
    // Only the URL of the server is named: its key is not taken from the recording.
    let named = format!(
        "run --resume latest --base-url {at_others} --max-tokens 100000 --endpoint gpt-4o-mini={at_mini}"
    );
    let said = with_keys(&place, &named);
    assert_eq!(said.code, 0, "{}", said.err);
    let keys: Vec<_> = mini
        .received()
        .split_off(before)
        .iter()
        .map(|r| r.header("authorization").map(str::to_owned))
        .collect();
    assert!(!keys.is_empty() && keys.iter().all(Option::is_none), "{keys:?}");
    let forked = with_keys(&place, &format!("fork latest --set seed=6 --base-url {at_others}"));
    assert_eq!(forked.code, 2, "{}", forked.out);
}

#[test]
fn the_endpoints_of_a_strangers_recording_get_neither_a_key_nor_a_prompt() {
    let (place, listener) = (Place::new(), Listener::new());
    let folder = concat!(env!("RETOLD_ROOT"), "/recordings/game24_small.jsonl");
    let base = recording(std::path::Path::new(folder));
    let mut settings = settings(&base);
    let url = format!("{}/v1", listener.url());
    let model = &mut settings["runtime"]["model"];
    model["kind"] = "openai".into();
    model["endpoints"] = json!({"gpt-4": {"base_url": url, "key": "OPENAI_API_KEY"}, "\u{1b}[2J": {"base_url": url}});
    let events = base.head.seq.0 as usize / 2;
    place.write("r.jsonl", forged(&base, RunId([0xab; 8]), &settings, events, true));
    place.ok("import r.jsonl");
    for args in [
        "run --resume latest",
        "fork latest --set samples=9",
        "run --resume latest --endpoint other=http://127.0.0.1:1/v1",
    ] {
        let said = with_keys(&place, args);
        assert_eq!(said.code, 2, "{args}: {}{}", said.out, said.err);
        assert!(said.err.contains("nothing in this command names that server"), "{}", said.err);
        assert!(!said.err.contains('\u{1b}'), "{}", said.err);
    }
    assert_eq!(listener.heard().connections, 0);
}

#[test]
fn endpoints_that_make_no_sense_are_explained() {
    let place = Place::new();
    let far = "https://models.example.org/v1";
    let flags = [
        "--endpoint gpt-4",
        "--endpoint =http://127.0.0.1:1/v1",
        "--endpoint gpt-4=ftp://example.org",
        "--endpoint gpt-4=https://models.example.org/v1",
        "--endpoint gpt-4=https://models.example.org/v1 --endpoint-key gpt-4=NOT_SET",
        "--endpoint gpt-4=https://models.example.org/v1 --endpoint-key gpt-4=sk-live-SECRET",
        "--endpoint-key gpt-4=MINI_KEY",
        "--endpoint-key MINI_KEY",
        "--endpoint gpt-4=http://127.0.0.1:1/v1 --answers a.jsonl",
    ];
    let mut shown = String::new();
    for flags in flags {
        let args = format!("run small.yaml {flags}");
        let said = with_keys(&place, &args);
        assert_eq!(said.code, 2, "{args}: {}{}", said.out, said.err);
        let args = args.replace("sk-live-SECRET", "[a key]");
        shown.push_str(&place.shown(&args, &said));
    }
    let configs = [
        format!("{{gpt-4: {{base_url: \"{far}\", key: sk-live-SECRET}}}}"),
        format!("{{gpt-4: {{base_url: \"{far}\", key: NOT_SET}}}}"),
        "{gpt-4: {key: MINI_KEY}}".to_owned(),
        format!("{{\" \": {{base_url: \"{far}\"}}}}"),
        format!("{{gpt-4: {{base_url: \"{far}\", keys: MINI_KEY}}}}"),
    ];
    for endpoints in configs {
        let model = format!("model:\n  kind: openai\n  endpoints: {endpoints}\n");
        place.write("wrong.yaml", place.read("small.yaml") + &model);
        let said = with_keys(&place, "run wrong.yaml");
        assert_eq!(said.code, 2, "{endpoints}: {}{}", said.out, said.err);
        shown.push_str(&place.shown(
            &format!("run wrong.yaml  # {}", endpoints.replace("sk-live-SECRET", "[a key]")),
            &said,
        ));
    }
    assert!(!shown.contains("SECRET"), "{shown}");
    assert_said!("endpoints_wrong", shown);
    assert!(!place.path("retold.db").exists(), "nothing was recorded");
}

/// Only some models have a server, but the others are asked for as well.
#[test]
fn a_model_without_a_server_stops_the_run() {
    let (place, mini) = (Place::new(), server());
    game(&place, "");
    let mut command = place.command();
    let args = format!("run game.yaml --quiet --endpoint gpt-4o-mini={}", mini.base_url());
    let said = Said::ended(command.args(args.split(' ')));
    assert_eq!(said.code, 4, "{}{}", said.out, said.err);
    let why = "there is no server for the model \"gpt-4o\": it is not among the endpoints (gpt-4o-mini), and there is no \
               API key for another";
    assert!(said.err.contains(why), "{}", said.err);
}

/// A misspelt name does not send a prompt to another server than the user's own.
#[test]
fn an_endpoint_for_a_model_that_no_setting_names_is_refused() {
    let (place, others) = (Place::new(), server());
    let (far, at_others) = ("http://127.0.0.1:1/v1", others.base_url());
    game(&place, "");
    let mut shown = String::new();
    let mut refused = |args: String| {
        let said = with_keys(&place, &args);
        assert_eq!(said.code, 2, "{args}: {}{}", said.out, said.err);
        shown.push_str(&place.shown(&args, &said));
    };
    refused(format!("run game.yaml --base-url {at_others} --endpoint gpt-4o-mni={far}"));
    refused(format!("run game.yaml --endpoint gpt-4o={far} --endpoint gpt-4o={at_others}"));
    refused(format!(
        "run game.yaml --endpoint gpt-4o={far} --endpoint-key gpt-4o=A --endpoint-key gpt-4o=MINI_KEY"
    ));
    let model = format!(
        "model:\n  kind: openai\n  base_url: {at_others}\n  endpoints:\n    gpt-5: {{base_url: \"{far}\"}}\n"
    );
    game(&place, &model);
    refused("run game.yaml".to_owned());
    assert!(!place.path("retold.db").exists(), "nothing was recorded");
    // The same holds when a run is resumed or forked.
    game(&place, "");
    let stopped =
        with_keys(&place, &format!("run game.yaml --quiet --base-url {at_others} --max-tokens 40"));
    assert_eq!(stopped.code, 4, "{}", stopped.err);
    let before = others.received().len();
    let typo = format!("--base-url {at_others} --endpoint gpt-4o-mni={far} --max-tokens 100000");
    refused(format!("run --resume latest {typo}"));
    refused(format!("fork latest --set config.max_message_chars=400 {typo}"));
    assert_eq!(others.received().len(), before, "nothing was sent");
    assert_said!("endpoints_unused", shown);
}

/// The settings name a model that no request uses: every agent has another one.
#[test]
fn an_endpoint_that_was_never_asked_is_reported_at_the_end() {
    let (place, server) = (Place::new(), server());
    let config = concat!(env!("RETOLD_ROOT"), "/config/society_small.yaml");
    let at = server.base_url();
    let args = format!(
        "run {config} --quiet --set agents=2 --set days=1 --set models=[{{\"model\":\"b\",\"share\":1.0}}] \
         --endpoint gpt-4o={at} --base-url {at}"
    );
    let said = with_keys(&place, &args);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert_eq!(asked(&server).0, ["b"]);
    let due = "warning: the endpoint for the model \"gpt-4o\" was never asked: no request named that model\n";
    assert!(said.err.contains(due), "{}", said.err);
}

#[test]
fn flags_that_name_two_models_are_refused() {
    let place = Place::new();
    assert_said!(
        "endpoints_two_models",
        place.session(&[
            "run small.yaml --model simulated --base-url http://localhost:9/v1",
            "run small.yaml --model simulated --endpoint gpt-4=http://localhost:9/v1",
            "run small.yaml --model scripted --base-url http://localhost:9/v1",
            "run small.yaml --model openai --answers answers.jsonl",
        ])
    );
    assert!(!place.path("retold.db").exists(), "nothing was recorded");
}
