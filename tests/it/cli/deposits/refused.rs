//! Deposits that cannot be made, and options that belong to others.

use super::deposited;
use crate::support::cli::{Place, assert_said};

#[test]
fn what_cannot_be_deposited_is_refused_with_what_to_do() {
    let place = Place::with_run();
    place.write("not.seal", "retold seal 1\nrun 0000000000000001\nevents 1\nhead 00\n");
    place.write("file.seal", "x");
    std::fs::create_dir(place.path("there")).unwrap();
    place.write("kept-nonces.csv", "x");
    let session = place.session(&[
        "export latest --as deposit",
        "export latest - --as deposit",
        "export latest there --as deposit",
        "export latest retold.db --as deposit",
        "export latest new --as deposit --force",
        "export latest new --as deposit --seal not.seal",
        "export latest new --as deposit --seal file.seal",
        "export latest kept --as deposit --without-texts",
        "export latest new.jsonl --without-texts",
        "export latest one.jsonl two.jsonl",
        "export latest new --as deposit --figure nonsense",
    ]);
    assert!(!place.path("new").exists() && !place.path("kept").exists());
    let left = std::fs::read_dir(place.root()).unwrap().map(|it| it.unwrap().file_name());
    assert!(!left.into_iter().any(|name| name.to_str().unwrap().ends_with(".part")));
    let short = regex::Regex::new(r"run [0-9a-f]{8}\b").unwrap();
    assert_said!("deposit_refused", short.replace_all(&session, "run [id]").to_string());
}

#[test]
fn runs_of_two_studies_are_two_deposits() {
    let place = Place::with_run();
    let config = format!("{}/society_small.yaml", super::CONFIGS);
    place.ok(&format!("run {config} -q --no-outputs"));
    let runs = place.json("log").0["runs"].clone();
    let names: Vec<&str> =
        runs.as_array().unwrap().iter().map(|run| run["run"].as_str().unwrap()).collect();
    let said = place.run(&format!("export {} {} new --as deposit", names[0], names[1]));
    assert!(said.code == 2 && said.err.contains("runs of one experiment"), "{said:?}");
    assert!(!place.path("new").exists());
}

#[test]
fn a_damaged_run_is_not_deposited() {
    let place = deposited();
    place.ok("export latest run.jsonl");
    let text = place.read("run.jsonl").replacen("ResponseReceived", "ResponseForgotten", 1);
    place.write("run.jsonl", text);
    let said = place.run("export run.jsonl new --as deposit");
    assert_eq!(said.code, 1, "{said:?}");
    assert!(!place.path("new").exists());
}

#[test]
fn a_seal_goes_into_the_deposit() {
    let place = deposited();
    let mut keygen = std::process::Command::new("/usr/bin/ssh-keygen");
    keygen.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(place.path("key"));
    assert!(keygen.status().unwrap().success());
    let said = place.with_path(&["verify", "seal", "latest", "--key", "key", "-o", "run.seal"]);
    assert_eq!(said.code, 0, "{said:?}");
    place.ok("export latest sealed --as deposit --seal run.seal");
    let (back, code) = place.json("--log reader.db import sealed");
    assert_eq!(code, 0, "{back}");
    let run = back["runs"][1]["run"].as_str().unwrap();
    let seal = format!("sealed/seals/{run}.seal");
    let said = place
        .with_path(&["--log", "reader.db", "verify", run, "--seal", &seal, "--signer", "key.pub"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(place.read("sealed/README.md").contains("signatures over the heads"));
}
