//! Tables that are written to a bucket.

use std::fs;
use std::process::Command;

use serde_json::Value;

use super::lab::{Lab, SECRET};

/// The files that a command says it has written or found.
fn files(said: &Value) -> Vec<(String, bool)> {
    let files = said["files"].as_array().unwrap();
    let file = |file: &Value| {
        let name = file["file"].as_str().unwrap().to_owned();
        (name, file["written"].as_bool().unwrap())
    };
    files.iter().map(file).collect()
}

/// An object, as the store has it.
fn object(lab: &Lab, url: &str) -> Vec<u8> {
    let place = url.strip_prefix("s3://").unwrap();
    let user = format!("AKIAEXAMPLE:{SECRET}");
    let got = Command::new("curl")
        .args(["-sf", "--aws-sigv4", "aws:amz:us-east-1:s3", "--user", &user])
        .arg(format!("{}/{place}", lab.endpoint()))
        .output()
        .unwrap();
    assert!(got.status.success(), "{url}");
    got.stdout
}

#[test]
#[cfg_attr(not(real_clients), ignore = "scripts/test installs moto")]
fn a_bucket_gets_the_files_that_a_folder_gets_and_each_once() {
    let lab = Lab::bucket();
    for seed in [1, 2] {
        lab.ok(&format!("run small.yaml --quiet --no-outputs --set seed={seed}"));
    }
    lab.ok("table --all --to tables");
    let first = lab.json("table --all --to s3://lab/tables");
    let written = files(&first);
    assert_eq!(written.len(), 14, "seven tables of two runs");
    for (url, is_new) in &written {
        let name = url.strip_prefix("s3://lab/").unwrap();
        assert!(is_new, "{url}");
        assert!(object(&lab, url) == fs::read(lab.place.path(name)).unwrap(), "{url}");
    }
    for run in written.chunks(7) {
        assert!(run[6].0.contains("/runs/"), "the row of a run comes last: {run:?}");
    }
    // The same again writes nothing; a third run is the only one that is new.
    let again = lab.ok("table --all --to s3://lab/tables");
    assert!(
        again.contains("2 runs written to s3://lab/tables; 14 files were there already"),
        "{again}"
    );
    lab.ok("run small.yaml --quiet --no-outputs --set seed=3");
    let later = files(&lab.json("table --all --to s3://lab/tables"));
    assert_eq!(later.iter().filter(|(_, is_new)| *is_new).count(), 7, "{later:?}");
}

#[test]
#[cfg_attr(not(real_clients), ignore = "scripts/test installs moto")]
fn what_is_there_is_not_replaced_unasked() {
    let lab = Lab::bucket();
    lab.ok("run small.yaml --quiet --no-outputs");
    let before = files(&lab.json("table --to s3://lab/tables"));
    let exchanges = &before[0].0;
    assert!(exchanges.contains("/exchanges/"), "{before:?}");
    let bytes = object(&lab, exchanges);
    let said = lab.run("table --to s3://lab/tables --prompts");
    assert_eq!(said.code, 2, "{}", said.err);
    let there = format!("{exchanges} is there already, and is not the same");
    assert!(said.err.contains(&there) && said.err.contains("--force"), "{}", said.err);
    assert!(object(&lab, exchanges) == bytes);
    let replaced = files(&lab.json("table --to s3://lab/tables --prompts --force"));
    let new: Vec<_> = replaced.iter().filter(|(_, is_new)| *is_new).collect();
    assert!(matches!(new[..], [(url, _)] if url == exchanges), "only exchanges differ: {new:?}");
    assert!(object(&lab, exchanges).len() > bytes.len());
}

#[test]
#[cfg_attr(not(real_clients), ignore = "scripts/test installs moto")]
fn tables_are_not_written_into_a_log_or_without_a_bucket() {
    let lab = Lab::bucket();
    lab.ok("run small.yaml --quiet --no-outputs");
    let said = lab.run(&format!("table --to {}", lab.log));
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("is a log, which has files of its own"), "{}", said.err);
    let said = lab.run("table --to s3://nobody/tables");
    assert_eq!(said.code, 3, "{}", said.err);
    assert!(said.err.contains("s3://nobody/tables/"), "{}", said.err);
    assert!(said.err.contains("the same command then writes what is missing"), "{}", said.err);
}

#[test]
fn a_folder_is_named_by_its_url_as_well() {
    let lab = Lab::folder();
    lab.ok("run small.yaml --quiet --no-outputs");
    let folder = lab.place.path("tables");
    lab.ok(&format!("table --to file://{}", folder.display()));
    assert_eq!(fs::read_dir(folder.join("exchanges")).unwrap().count(), 1);
    let said = lab.run(&format!("table --to {}", lab.log));
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("is a log, which has files of its own"), "{}", said.err);
}

#[test]
fn a_url_that_is_not_that_of_a_folder_is_refused_and_secrets_are_not_repeated() {
    let lab = Lab::folder();
    lab.ok("run small.yaml --quiet --no-outputs");
    for (url, why) in [
        (format!("s3://AKIA:{SECRET}@lab/x"), "--to s3://...: it has a name or a password"),
        (format!("s3://lab/x?X-Amz-Signature={SECRET}"), "--to s3://...: it has a query"),
        ("https://lab.example/x".to_owned(), "--to https://...: https:// is not supported"),
        ("s3://lab/x.parquet".to_owned(), "s3://lab/x.parquet has the name of a file"),
    ] {
        let said = lab.run(&format!("table --to {url}"));
        assert_eq!(said.code, 2, "{}", said.err);
        assert!(said.err.contains(why), "{}", said.err);
    }
}
