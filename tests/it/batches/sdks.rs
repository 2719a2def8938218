//! The providers' SDKs upload, create, poll, list, cancel and read results: the fakes are what they expect.

use std::process::Command;

use serde_json::Value;

use crate::support::batches::{BatchFake, Options, echo};
use crate::support::cli::Said;

/// Runs a program with an SDK against a fake whose batches have ended after a few polls.
fn run(program: &str) -> (Value, BatchFake) {
    let options = Options { per_get: 1000, ..Options::default() };
    let (url, fake) = BatchFake::with(options, echo());
    let root = env!("RETOLD_ROOT");
    let mut command = Command::new(format!("{root}/target/clients/python/bin/python"));
    command.arg(format!("{root}/tests/it/batches/programs/{program}")).arg(url);
    command.env_clear().env("PATH", "/usr/bin:/bin");
    let said = Said::ended(&mut command);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    (serde_json::from_str(said.out.lines().last().unwrap()).unwrap(), fake)
}

/// What a program found, by batch and by live requests, and whether the fake counts the same.
fn check(found: &Value, fake: &BatchFake) {
    assert_eq!(found["by_batch"].as_object().unwrap().len(), 5, "{found}");
    assert_eq!(found["by_batch"], found["live"], "{found}");
    assert_eq!(found["refused"], 400, "{found}");
    let counts = fake.counts();
    assert_eq!(counts.batches, 2, "{counts:?}");
    assert!(counts.paid.values().all(|count| *count == 2), "{counts:?}");
}

#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn openai_s_sdk_reads_what_the_fake_answers() {
    let (found, fake) = run("openai_batch.py");
    check(&found, &fake);
    assert_eq!(found["files"], serde_json::json!(["named.jsonl"]));
    assert_eq!(found["cancelled"], "cancelled");
}

#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn anthropic_s_sdk_reads_what_the_fake_answers() {
    let (found, fake) = run("anthropic_batch.py");
    check(&found, &fake);
    assert_eq!(found["cancelled"], "ended");
}

#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn gemini_s_sdk_reads_what_the_fake_answers() {
    let (found, fake) = run("gemini_batch.py");
    check(&found, &fake);
    assert_eq!(found["files"], serde_json::json!(["named"]));
}
