//! The programs of this folder inside a block of the Python package: what they print is the same as by the command
//! line, and a run that was recorded in one way is replayed in the other.

use std::path::Path;
use std::process::Command;

use super::python::{frameworks_python, python};
use super::upstream::{Failing, server};
use super::{KEY, PATH, assert_no_key, program, record_with, replay_with};
use crate::support::cli::{Place, Said};
use crate::support::server::Server;

const BLOCK: &str = "
import os, runpy, sys
import retold
how, log, script = sys.argv[1:]
with getattr(retold, how)(log, hosts=os.environ.get('HOSTS', '').split()) as run:
    runpy.run_path(script, run_name='__main__')
";

/// Runs a program inside a block.
fn inside(place: &Place, how: &str, program: [&str; 2], set: &[(&str, &str)]) -> Said {
    let [python, script] = program;
    let mut command = Command::new("/usr/bin/unshare");
    place.shut_off(&mut command);
    // A replay has no network but loopback.
    let net: &[&str] = match how {
        "replay" => {
            &["--net", "--map-root-user", "sh", "-c", "ip link set lo up && exec \"$@\"", "sh"]
        }
        _ => &["--map-root-user"],
    };
    command.args(net).arg(python).args(["-c", BLOCK, how]);
    command.arg(place.path("retold.db")).arg(script).env("PATH", PATH);
    command.env("RETOLD_PROGRAM", env!("CARGO_BIN_EXE_retold"));
    command.env("PYTHONPATH", Path::new(env!("RETOLD_ROOT")).join("python"));
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    Said::ended(command.envs(set.iter().copied()))
}

/// Records a program inside a block and on the command line, and replays each run in the other way.
fn both_ways(
    python: &str,
    script: &str,
    upstream: impl Fn() -> Server,
    variables: impl Fn(&str) -> Vec<(&'static str, String)>,
) {
    let script = program(script);
    let program = [python, script.to_str().unwrap()];
    let variables = |address: &str| {
        let mut set = variables(address);
        set.push(("OPENAI_API_KEY", KEY.to_owned()));
        set
    };
    let (place, server) = (Place::new(), upstream());
    let set = variables(&format!("http://{}", server.address()));
    let set: Vec<(&str, &str)> = set.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let recorded = inside(&place, "record", program, &set);
    assert_eq!(recorded.code, 0, "{}{}", recorded.out, recorded.err);
    assert!(!server.received().is_empty());
    assert_no_key(&place, &recorded);
    drop(server);
    let replayed = inside(&place, "replay", program, &set);
    assert_eq!((replayed.code, &replayed.out), (0, &recorded.out), "{}", replayed.err);
    // The package beside the program records its tools, and answers for them.
    let package = Path::new(env!("RETOLD_ROOT")).join("python").display().to_string();
    let beside = [("PYTHONPATH", package.as_str()), ("PYTHONDONTWRITEBYTECODE", "1")];
    let replayed = replay_with(&place, "latest", &program, &beside);
    assert_eq!((replayed.code, &replayed.out), (0, &recorded.out), "{}", replayed.err);
    assert!(!replayed.err.contains("never asked"), "{}", replayed.err);
    place.ok("verify");

    let (place, server) = (Place::new(), upstream());
    let set = variables(&format!("http://{}", server.address()));
    let set: Vec<(&str, &str)> = set.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let set: Vec<(&str, &str)> = set.into_iter().chain(beside).collect();
    let recorded = record_with(&place, "", "http://127.0.0.1:1", &program, &set);
    assert_eq!(recorded.code, 0, "{}{}", recorded.out, recorded.err);
    drop(server);
    let replayed = inside(&place, "replay", program, &set);
    assert_eq!((replayed.code, &replayed.out), (0, &recorded.out), "{}", replayed.err);
}

fn openai(address: &str) -> Vec<(&'static str, String)> {
    vec![("OPENAI_BASE_URL", format!("{address}/v1"))]
}

#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn openai_s_sdk() {
    both_ways(&python(), "openai_study.py", || server(Failing { one_in: 5 }), openai);
    both_ways(&python(), "parts_study.py", || server(Failing { one_in: 5 }), openai);
}

#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn agents_in_threads_and_tasks() {
    both_ways(&python(), "agents.py", || server(Failing { one_in: 6 }), openai);
}

#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn langchain() {
    both_ways(&python(), "langchain_study.py", || server(Failing { one_in: 5 }), openai);
}

#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn anthropic_s_sdk_and_those_of_other_apis() {
    let all = |address: &str| {
        vec![
            ("OPENAI_BASE_URL", format!("{address}/openai")),
            ("ANTHROPIC_BASE_URL", format!("{address}/anthropic")),
            ("ANTHROPIC_API_KEY", KEY.to_owned()),
            ("GOOGLE_GEMINI_BASE_URL", format!("{address}/gemini")),
            ("GEMINI_API_KEY", KEY.to_owned()),
        ]
    };
    both_ways(&python(), "anthropic_study.py", super::apis::server, all);
    both_ways(&python(), "apis_study.py", super::apis::server, all);
}

#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn an_eval_of_inspect() {
    both_ways(&python(), "inspect_study.py", || server(Failing { one_in: 5 }), openai);
}

#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn frameworks_for_agents() {
    both_ways(
        &frameworks_python(),
        "frameworks/study.py",
        || server(Failing { one_in: 7 }),
        openai,
    );
}

/// The server of Bedrock here is not one of Amazon's, so it has to be named.
#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn bedrock_by_boto3_and_mistral_s_sdk() {
    let (place, server) = (Place::new(), server(Failing { one_in: 0 }));
    let address = format!("http://{}", server.address());
    let script = program("frameworks/amazon_and_mistral.py");
    let study = [&frameworks_python(), script.to_str().unwrap()];
    let set = [
        ("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", address.as_str()),
        ("OPENAI_API_KEY", KEY),
        ("HOSTS", "127.0.0.1"),
    ];
    let recorded = inside(&place, "record", study, &set);
    assert_eq!(recorded.code, 0, "{}{}", recorded.out, recorded.err);
    assert!(recorded.out.contains("Answer 3"), "{}", recorded.out);
    assert_no_key(&place, &recorded);
    drop(server);
    let replayed = inside(&place, "replay", study, &set);
    assert_eq!((replayed.code, &replayed.out), (0, &recorded.out), "{}", replayed.err);
}
