//! Files that come through a pipe: read once, and recognised as packed or not by their first bytes.

use std::fs::File;

use crate::support::cli::{Place, Said, assert_said};

fn fed(place: &Place, args: &str, input: &[u8]) -> Said {
    place.fed(&args.split_whitespace().collect::<Vec<_>>(), input)
}

fn files(place: &Place) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for (name, form) in [("run", ""), ("answers", " --as exchanges")] {
        for end in ["jsonl", "jsonl.gz", "jsonl.zst"] {
            let name = format!("{name}.{end}");
            place.ok(&format!("export latest {name}{form}"));
            let bytes = std::fs::read(place.path(&name)).unwrap();
            files.push((name, bytes));
        }
    }
    files
}

#[test]
fn import_reads_a_pipe_once() {
    let place = Place::with_run();
    for (file, bytes) in files(&place) {
        for (name, shown) in [("-", "standard input"), ("/dev/stdin", "/dev/stdin")] {
            let new = format!("{}{}.db", file.replace('.', "_"), shown.len());
            let said = fed(&place, &format!("import {name} --log {new}"), &bytes);
            assert_eq!(said.code, 0, "{file}: {}{}", said.out, said.err);
            let what = if file.starts_with("run") { "22 events" } else { "6 exchanges" };
            let due = format!(": {what} imported from {shown}\n");
            assert!(said.out.contains(&due), "{file}: {}", said.out);
        }
    }
}

#[test]
fn answers_are_read_from_a_pipe() {
    let place = Place::with_run();
    for (file, bytes) in files(&place).iter().filter(|(file, _)| file.starts_with("answers")) {
        for name in ["-", "/dev/stdin"] {
            let args = format!("run small.yaml --quiet --json --log new.db --answers {name}");
            let said = fed(&place, &args, bytes);
            assert_eq!(said.code, 0, "{file}: {}{}", said.out, said.err);
            assert!(said.out.contains("\"exchanges\":6,"), "{file}: {}", said.out);
        }
    }
}

#[test]
fn a_pipe_with_nothing_of_use() {
    let place = Place::with_run();
    let packed = files(&place)[2].1.clone();
    let mut shown = String::new();
    for (what, bytes) in [
        ("nothing", &b""[..]),
        ("no JSON", b"hello\n"),
        ("a recording, cut off", &packed[..packed.len() / 2]),
        ("UTF-16", b"\xFF\xFEh\0"),
    ] {
        for args in ["import -", "run small.yaml --quiet --answers -"] {
            let said = fed(&place, args, bytes);
            shown.push_str(&format!("{what}: {}", place.shown(args, &said)));
        }
    }
    assert_said!("pipes", shown);
}

#[test]
fn a_file_that_is_given_as_the_input_is_a_file() {
    let place = Place::with_run();
    place.ok("export latest run.jsonl");
    let mut command = place.command();
    command.args(["import", "-", "--log", "new.db"]);
    let input = File::open(place.path("run.jsonl")).unwrap();
    let said = Said::ended(command.stdin(input));
    assert_eq!(said.code, 0, "{}", said.err);
}
