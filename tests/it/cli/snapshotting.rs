//! `retold check --snapshots`, and the function for users' own tests.

use std::collections::BTreeSet;
use std::path::Path;

use retold::parse::{FoundValue, LastResort, Strategy, StrategyParser};
use retold::snapshot;
use serde_json::json;

use super::filters::script;
use crate::support::cli::{Place, assert_said};

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// What `cargo insta accept` does with each file.
fn accept(folder: &Path) {
    for name in names(folder).iter().filter(|name| name.ends_with(".snap.new")) {
        std::fs::rename(folder.join(name), folder.join(name.trim_end_matches(".new"))).unwrap();
    }
}

#[test]
fn a_snapshot_per_answer_and_a_changed_parser_beside_it() {
    let place = Place::with_run();
    let shown = place.session(&[
        "check latest --snapshots snaps --parser game24@1",
        "check latest --snapshots snaps --parser game24@1",
        "check latest --snapshots snaps --most 1",
        "check latest --snapshots snaps --parser game24@1",
    ]);
    assert_said!("snapshotting", shown);
    let folder = place.path("snaps");
    let six: Vec<String> = (0..6).map(|n| format!("solve.{}.{}.snap", n / 3, n % 3)).collect();
    assert_eq!(
        names(&folder).into_iter().collect::<Vec<_>>(),
        six,
        "what agrees again is not left beside"
    );
    let (changed, code) = place.json("check latest --snapshots snaps");
    assert_eq!(code, 1);
    let files = changed["changed"].as_array().unwrap();
    assert!(!files.is_empty() && files.len() + changed["same"].as_u64().unwrap() as usize == 6);
    for file in files {
        let path = file["file"].as_str().unwrap();
        assert!(place.path(&format!("{path}.new")).exists(), "{path}");
        assert!(file["diff"].as_str().unwrap().contains("+method: "), "{file}");
    }
    accept(&folder);
    assert_eq!(place.json("check latest --snapshots snaps").0["same"], 6);
    // The parsers of a file decide as well.
    let parsers =
        "parsers:\n  - name: last\n    strategies:\n      - {last_line: true}\n    default: none\n";
    place.write("parsers.yaml", parsers);
    let (of_file, code) = place.json("check latest --snapshots others --parsers parsers.yaml");
    assert_eq!((code, of_file["written"].as_array().unwrap().len()), (0, 6), "{of_file}");
    // A snapshot of part of a run leaves the other files alone and does not list them.
    let (part, code) =
        place.json("check latest --snapshots snaps --call solve/1 --parser game24@2");
    assert_eq!((code, &part["same"], &part["unreferenced"]), (0, &json!(3), &json!([])));
    place.write("snaps/solve.9.9.snap", "---\n---\n");
    let (whole, _) = place.json("check latest --snapshots snaps");
    assert_eq!(whole["unreferenced"], json!(["snaps/solve.9.9.snap"]));
}

/// The files written are as insta writes and reads them.
#[test]
fn insta_takes_them_for_its_own() {
    let place = Place::with_run();
    place.ok("check latest --snapshots snaps");
    let folder = place.path("snaps");
    for name in names(&folder) {
        let text = place.read(&format!("snaps/{name}"));
        let body = text.splitn(3, "---\n").nth(2).unwrap();
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path(&folder);
        settings.set_prepend_module_to_snapshot(false);
        settings.bind(|| insta::assert_snapshot!(name.trim_end_matches(".snap"), body));
    }
    assert_eq!(names(&folder).len(), 6, "insta found them as they should be");
    assert_said!("snapshotting_file", place.read("snaps/solve.0.0.snap"));
    // A file that insta wrote again, and one with other line endings, are compared by their
    // content.
    let text = place.read("snaps/solve.0.0.snap");
    let body = text.splitn(3, "---\n").nth(2).unwrap().to_owned();
    place.write(
        "snaps/solve.0.0.snap",
        format!("---\nsource: x\nassertion_line: 3\n---\n{}", body.trim_end()),
    );
    place.write("snaps/solve.0.1.snap", place.read("snaps/solve.0.1.snap").replace('\n', "\r\n"));
    assert_eq!(place.json("check latest --snapshots snaps").0["same"], 6);
}

#[test]
fn names_and_texts_that_are_hostile_stay_in_the_folder_and_in_their_lines() {
    let place = Place::new();
    let line = |call: &str, answer: &str| {
        format!(
            "{}\n",
            json!({"call": call, "sample": 0, "request": {"model": "m",
            "messages": [{"role": "user", "content": "x"}]}, "response": {"content": answer}})
        )
    };
    let answers = [
        line("../../outside", "one"),
        line("..", "two"),
        line(".ssh/authorized_keys", "three"),
        line("A/b", "four"),
        line("a/b", "five"),
        line("con", "\u{1b}[31m---\nmethod: forged\r\nvalue: 1\n\u{202e}x"),
    ];
    std::fs::create_dir_all(place.path("in/ner")).unwrap();
    place.write("answers.jsonl", answers.concat());
    place.ok("check answers.jsonl --snapshots in/ner/snaps --parser free_text@1");
    assert_eq!(names(&place.path("in/ner")), ["snaps".to_owned()].into());
    assert_eq!(names(&place.path("in")), ["ner".to_owned()].into());
    let files = names(&place.path("in/ner/snaps"));
    assert_eq!(files.len(), 6);
    assert!(files.contains("a.b.0.snap"), "{files:?}");
    let con = files.iter().find(|name| name.starts_with("con-")).unwrap();
    assert_said!("snapshotting_hostile", place.read(&format!("in/ner/snaps/{con}")));
    assert_eq!(
        place.json("check answers.jsonl --snapshots in/ner/snaps --parser free_text@1").0["same"],
        6
    );
    // A link instead of a file is replaced, never written through.
    place.write("precious", "precious");
    std::fs::remove_file(place.path("in/ner/snaps/a.b.0.snap")).unwrap();
    std::os::unix::fs::symlink("../../../precious", place.path("in/ner/snaps/a.b.0.snap.new"))
        .unwrap();
    std::os::unix::fs::symlink("../../../missing", place.path("in/ner/snaps/a.b.0.snap")).unwrap();
    place.ok("check answers.jsonl --snapshots in/ner/snaps --parser free_text@1");
    assert_eq!(place.read("precious"), "precious");
    assert!(!place.path("missing").exists());
}

#[test]
fn a_program_of_the_users_can_be_kept_too() {
    let place = Place::with_run();
    let broken = concat!(env!("RETOLD_ROOT"), "/examples/filters/broken.py");
    place.ok("check latest --snapshots snaps");
    let (seen, code) = place.json(&format!("check latest --snapshots snaps --parser-cmd {broken}"));
    assert_eq!((code, &seen["same"]), (1, &json!(0)), "{seen}");
    script(&place, "none.sh", "exit 7");
    let said = place.run("check latest --snapshots snaps --parser-cmd ./none.sh");
    assert_eq!(
        (said.code, said.err.as_str()),
        (2, "error: the filter ./none.sh ended with exit code 7\n")
    );
}

#[test]
fn what_cannot_be_kept_is_named() {
    let place = Place::with_run();
    place.ok("export latest answers.jsonl --as exchanges");
    place.write("file", "x");
    std::fs::create_dir(place.path("text")).unwrap();
    place.write("text/solve.0.0.snap", "x");
    let commands = [
        "check --snapshots snaps",
        "check latest latest --snapshots snaps",
        "check latest --snapshots snaps --accept",
        "check none --snapshots snaps",
        "check none.jsonl --snapshots snaps",
        "check answers.jsonl --snapshots snaps",
        "check latest --snapshots snaps --parser chess",
        "check latest --snapshots snaps --parser vote",
        "check latest --snapshots snaps --call solve/9",
        "check latest --snapshots file",
        "check latest --snapshots text",
    ];
    for command in commands {
        let said = place.run(command);
        assert!(said.code > 1 && said.out.is_empty(), "{command}: {}", said.out);
    }
    assert_said!("snapshotting_wrong", place.session(&commands));
    assert!(!place.path("snaps").exists());
}

const WAYS: &[Strategy<(), String>] = &[Strategy {
    method: "last_line",
    find: |text, ()| Some(FoundValue::plain(text.lines().next_back()?.to_owned())),
}];

/// As in a user's own test.
#[test]
fn a_parser_of_ones_own_in_a_test() {
    let place = Place::with_run();
    place.ok("export latest answers.jsonl --as exchanges");
    place.ok("export latest run.jsonl.zst");
    let nothing: LastResort<(), String> = ("nothing", |_, ()| FoundValue::plain(String::new()));
    let mine = StrategyParser::new("mine", 1, (), WAYS, nothing, None).unwrap();
    for file in ["answers.jsonl", "run.jsonl.zst"] {
        let seen = snapshot::of_file(&place.path(file), &place.path("snaps"), &mine).unwrap();
        assert!(seen.is_unchanged(), "{seen}");
        assert_eq!(seen.same + seen.written.len(), 6);
    }
    let broken = StrategyParser::new("mine", 1, (), &[], nothing, None).unwrap();
    let seen =
        snapshot::of_file(&place.path("run.jsonl.zst"), &place.path("snaps"), &broken).unwrap();
    assert_eq!((seen.is_unchanged(), seen.changed.len()), (false, 6));
    let said = seen.to_string();
    assert!(said.contains("-method: last_line\n") && said.contains("+method: nothing\n"), "{said}");
    assert!(said.ends_with("6 of 6 snapshots differ: `cargo insta review`"), "{said}");
    let missing = snapshot::of_file(&place.path("none.jsonl"), &place.path("snaps"), &mine);
    assert!(missing.unwrap_err().to_string().contains("none.jsonl: cannot open it"));
}
