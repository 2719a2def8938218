//! Seals: a whole run that was forged verifies by itself, but not with the seal of the right one.

use std::process::Command;

use crate::support::cli::{Place, Said, assert_said};
use crate::support::forged::with_settings;

/// Makes an SSH key pair in a place.
pub(super) fn key(place: &Place, name: &str) {
    let mut command = Command::new("ssh-keygen");
    let made =
        command.args(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f"]).arg(place.path(name));
    assert!(made.status().unwrap().success());
}

/// A place with a sealed run, and its command line with `PATH`, where `ssh-keygen` is found.
fn sealed() -> (Place, String) {
    let place = Place::with_run();
    for name in ["mine", "other"] {
        key(&place, name);
    }
    let (log, _) = place.json("log");
    let run = log["runs"][0]["run"].as_str().unwrap().to_owned();
    place.ok("export latest right.jsonl");
    place.ok("audit latest solve/0#1 --proof proof.json");
    let said = place.with_path(&["verify", "seal", "latest", "--key", "mine"]);
    assert_eq!(said.code, 0, "{}", said.err);
    (place, run)
}

fn session(place: &Place, commands: &[&str]) -> String {
    let said = |args: &&str| {
        let words: Vec<&str> = args.split_whitespace().collect();
        place.shown(args, &place.with_path(&words))
    };
    let text: String = commands.iter().map(said).collect();
    let long = regex::Regex::new("[0-9a-f]{64}|SHA256:[A-Za-z0-9+/]{43}").unwrap();
    long.replace_all(&text, "[hash]").into_owned()
}

#[test]
fn a_forged_run_has_no_seal() {
    let (place, run) = sealed();
    let forged = with_settings(&place.read("right.jsonl"), |settings| settings["seed"] = 8.into());
    place.write("forged.jsonl", forged);
    let seal = format!("{run}.seal");
    assert_said!(
        "seals",
        session(
            &place,
            &[
                "verify seal latest --key mine",
                &format!("verify latest --seal {seal}"),
                &format!("verify latest --seal {seal} --signer mine.pub"),
                &format!("verify right.jsonl --seal {seal} --signer mine.pub"),
                &format!("verify latest --seal {seal} --signer other.pub"),
                "verify forged.jsonl",
                &format!("verify forged.jsonl --seal {seal} --signer mine.pub"),
                &format!("verify proof proof.json --seal {seal} --signer mine.pub"),
                &format!("verify proof proof.json --seal {seal} --signer other.pub"),
                &format!("verify proof proof.json --seal {seal} --json"),
            ]
        )
    );
}

#[test]
fn a_seal_that_was_changed_is_refused() {
    let (place, run) = sealed();
    let seal = place.read(&format!("{run}.seal"));
    let changed = |name: &str, text: String| place.write(&format!("{name}.seal"), text);
    changed("more", seal.replace("events 22", "events 21"));
    changed("later", seal.replace("retold seal 1", "retold seal 2"));
    changed("none", seal.split("-----BEGIN").next().unwrap().to_owned());
    changed("broken", seal.replacen("\nU1NI", "\nU1NJ", 1));
    assert!(seal.contains("events 22"), "{seal}");
    assert_said!(
        "seals_that_are_none",
        session(
            &place,
            &[
                "verify latest --seal more.seal",
                "verify latest --seal later.seal",
                "verify latest --seal none.seal",
                "verify latest --seal broken.seal",
                "verify latest --seal missing.seal",
                &format!("verify latest --seal {run}.seal --signer small.yaml"),
                "verify --seal more.seal",
                "verify seal latest --key mine --output again.seal",
                "verify seal latest --key mine --output again.seal",
                "verify seal latest --key small.yaml --output new.seal",
                "verify seal latest --key missing --output new.seal",
            ]
        )
    );
    assert!(!place.path("new.seal").exists());
}

#[test]
fn without_ssh_keygen_that_is_said() {
    let place = Place::with_run();
    let mut command = place.command();
    // Nothing is found there.
    command.env("PATH", place.root()).args(["verify", "seal", "latest", "--key", "mine"]);
    let said = Said::ended(&mut command);
    assert_said!("seals_without_openssh", place.shown("verify seal latest --key mine", &said));
}
