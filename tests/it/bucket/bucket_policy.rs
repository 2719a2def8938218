//! The policy of a bucket that the guide gives.

use std::process::Command;

use serde_json::{Value, json};

use super::lab::{Lab, SECRET};

/// The policy in the guide, for the bucket of these tests.
fn policy() -> Value {
    let guide = include_str!("../../../docs/guide/machines.md");
    let (_, block) = guide.split_once("```json\n").unwrap();
    let (policy, _) = block.split_once("```").unwrap();
    serde_json::from_str(&policy.replace("BUCKET", "lab").replace("PREFIX", "study")).unwrap()
}

/// Asks the store something; returns the status.
fn asked(lab: &Lab, method: &str, path: &str, body: &str) -> String {
    let user = format!("AKIAEXAMPLE:{SECRET}");
    let done = Command::new("curl")
        .args(["-s", "-o", "/dev/null", "-w", "%{http_code}", "-X", method, "--data-binary", body])
        .args([
            "-H",
            "Content-Type: application/json",
            "--aws-sigv4",
            "aws:amz:us-east-1:s3",
            "--user",
            &user,
        ])
        .arg(format!("{}/lab{path}", lab.endpoint()))
        .output()
        .unwrap();
    String::from_utf8(done.stdout).unwrap()
}

#[test]
#[cfg_attr(not(real_clients), ignore = "scripts/test installs moto")]
fn nothing_is_deleted_and_retold_needs_no_deletion() {
    let lab = Lab::bucket();
    let mut policy = policy();
    // Moto takes a condition for a refusal, whatever it says, so that it can only be given what has none.
    let statements = policy["Statement"].as_array_mut().unwrap();
    statements.retain(|statement| statement.get("Condition").is_none());
    assert_eq!(statements.len(), 1);
    assert_eq!(asked(&lab, "PUT", "?policy", &policy.to_string()), "200");
    lab.ok("run small.yaml --quiet --no-outputs");
    lab.ok("replay latest");
    for object in ["retold.json", "ledger/0000000001.jsonl.zst"] {
        assert_eq!(asked(&lab, "DELETE", &format!("/study/{object}"), ""), "403", "{object}");
    }
    assert_eq!(lab.json("verify")["problems"], json!([]));
}

#[test]
fn the_policy_covers_what_changes_a_log() {
    let policy = policy();
    let statements = policy["Statement"].as_array().unwrap();
    assert!(statements.iter().all(|statement| statement["Effect"] == "Deny"));
    let objects = "arn:aws:s3:::lab/study/*";
    let of = |action: &str| {
        let has = |statement: &&Value| match &statement["Action"] {
            Value::Array(actions) => actions.iter().any(|one| one == action),
            one => one == action,
        };
        statements.iter().find(has).unwrap()
    };
    let put = of("s3:PutObject");
    assert_eq!(put["Resource"], objects);
    assert_eq!(put["Condition"], json!({"Null": {"s3:if-none-match": "true"}}));
    for action in ["s3:DeleteObject", "s3:DeleteObjectVersion"] {
        assert_eq!((&of(action)["Resource"], of(action).get("Condition")), (&json!(objects), None));
    }
    for action in ["s3:PutBucketPolicy", "s3:DeleteBucketPolicy", "s3:PutLifecycleConfiguration"] {
        assert_eq!(of(action)["Resource"], "arn:aws:s3:::lab");
    }
}
