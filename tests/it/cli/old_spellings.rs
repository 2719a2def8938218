//! Commands that are now part of others answer with their new spelling.

use crate::support::cli::{Place, assert_said};

/// What was typed, one line for each way in which arguments are carried over.
const OLD: [&str; 22] = [
    "resume",
    "resume latest --concurrency 4",
    "resume latest --retry-failed -- sh -c x",
    "resume --retry-failed latest -- sh -c x",
    "--log other.db --wait 3 resume latest",
    "parse --parser game24@3",
    "parse --parser game24@3 --jsonl",
    "snapshot latest snaps --parser game24@3",
    "snapshot --call a latest snaps",
    "outputs latest",
    "outputs latest --to tables",
    "outputs latest --to=tables",
    "head",
    "head --log other.db",
    "seal latest --key mine",
    "verify-proof proof.json --root 12",
    "personas list --most 3",
    "play config/adventure.yaml",
    "play --resume latest",
    "play",
    "help resume",
    "resume --help",
];

/// The command that a message says to type.
fn new_spelling(message: &str) -> &str {
    message.split('`').nth(3).unwrap()
}

#[test]
fn an_old_spelling_answers_with_the_new_one() {
    let place = Place::new();
    assert_said!("old_spellings", place.session(&OLD));
    for old in OLD {
        let said = place.run(old);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{old}");
        let args = new_spelling(&said.err).strip_prefix("retold ").unwrap();
        // What it says is a command with options that exist.
        let tried = place.run(args);
        assert!(!tried.err.contains("unexpected argument"), "{old}: {args}: {}", tried.err);
        assert!(!tried.err.contains("unrecognized"), "{old}: {args}: {}", tried.err);
        // With --json, it is an object like other errors.
        if !old.contains("--") && !old.starts_with("help") {
            let (object, code) = place.json(old);
            let message = object["error"]["message"].as_str().unwrap();
            assert_eq!((code, object["error"]["exit_code"].as_u64()), (2, Some(2)), "{old}");
            assert!(message.contains("is now"), "{message}");
        }
    }
}

#[test]
fn what_cannot_be_typed_is_not_repeated() {
    let place = Place::new();
    let said = place.args(&["resume", "\u{1b}[2J"]);
    let due = "error: `retold resume` is now `retold run --resume RUN`\n";
    assert_eq!((said.code, said.err.as_str()), (2, due));
    let said = place.args(&["seal", "a; rm -rf ~", "--key", "k"]);
    assert!(said.err.contains("now `retold verify seal 'a; rm -rf ~' --key k`"), "{}", said.err);
}
