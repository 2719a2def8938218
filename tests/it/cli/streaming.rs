//! `retold check --jsonl`: as many lines as there are, each answered before the next one comes.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use super::filters::script;
use crate::support::cli::{Place, Said};

/// A program whose input stays open.
struct Open {
    child: Child,
    input: ChildStdin,
    out: BufReader<ChildStdout>,
}

impl Open {
    fn start(place: &Place, args: &[&str]) -> Self {
        let mut command = place.command();
        command.args(["check", "--jsonl", "-"]).args(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (input, out) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Open { child, input, out: BufReader::new(out) }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.out.read_line(&mut line).unwrap();
        line
    }

    /// The most memory that it has taken so far, in kB.
    fn peak(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        peak.trim().trim_end_matches(" kB").parse().unwrap()
    }

    /// Closes the input: what else it says.
    fn end(self) -> Said {
        let Open { child, input, mut out } = self;
        drop(input);
        let mut rest = String::new();
        out.read_to_string(&mut rest).unwrap();
        let said = Said::new(child.wait_with_output().unwrap());
        Said { out: rest, ..said }
    }
}

/// The objects of `--json`, one per line.
pub(super) fn objects(said: &Said) -> Vec<Value> {
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    said.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_line_is_answered_before_the_next_one_comes() {
    let place = Place::new();
    let mut json = Open::start(&place, &["--json", "--parser", "game24@2"]);
    // The first is shorter than the signature of a packed file.
    for (number, line) in [(1, r#""""#), (2, r#""Answer: 4 * 6""#), (3, r#"{"error":{}}"#)] {
        writeln!(json.input, "{line}").unwrap();
        let made: Value = serde_json::from_str(&json.line()).unwrap();
        assert_eq!(made["line"], number, "{made}");
        assert_eq!(made.get("left").is_some(), number == 3, "{made}");
    }
    assert_eq!(json.end().code, 0);
    let mut text = Open::start(&place, &["--parser", "game24@2"]);
    for number in 1..4 {
        writeln!(text.input, "\"Answer: 4 * {number}\"").unwrap();
        let lines: Vec<String> =
            (0..if number == 1 { 4 } else { 5 }).map(|_| text.line()).collect();
        let all = lines.concat();
        assert!(all.trim_start().starts_with(&format!("line {number}\n")), "{all}");
        assert!(all.contains(&format!("\"4 * {number}\"")), "{all}");
    }
    assert_eq!(text.end().code, 0);
}

#[test]
fn memory_does_not_grow_with_the_lines() {
    let place = Place::new();
    for args in [
        &["--json", "--parser", "game24@2"][..],
        &["--parser", "vote@1", "--params", r#"{"options":["a","b"]}"#],
    ] {
        let mut parsing = Open::start(&place, args);
        let lines = 100_000;
        let is_last = |line: &str| {
            line.contains(&format!("\"line\":{lines},")) || line == format!("line {lines}")
        };
        let Open { input, out, .. } = &mut parsing;
        std::thread::scope(|scope| {
            scope.spawn(|| input.write_all("\"\"\n".repeat(lines).as_bytes()).unwrap());
            assert!(out.lines().map(Result::unwrap).any(|line| is_last(&line)));
        });
        let peak = parsing.peak();
        eprintln!("{lines} lines: {peak} kB");
        assert!(peak < 150_000, "{peak} kB");
        assert_eq!(parsing.end().code, 0);
    }
}

#[test]
fn the_order_is_that_of_the_lines_on_any_number_of_threads() {
    let place = Place::new();
    let line = |n: usize| {
        let long = "so ".repeat(if n.is_multiple_of(97) { 20_000 } else { n % 50 });
        format!("{}\n", json!({"call": format!("c/{n}"), "text": format!("{long}Answer: {n} + 1")}))
    };
    let lines: String = (1..=1500).map(line).collect();
    let parsed = |jobs: &str| {
        let args = ["check", "--parser", "game24@2", "--jsonl", "-", "--json", "--jobs", jobs];
        place.fed(&args, lines.as_bytes())
    };
    let one = parsed("1");
    let numbers: Vec<u64> = objects(&one).iter().map(|it| it["line"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=1500).collect::<Vec<u64>>());
    assert_eq!(objects(&one)[99]["value"], "100 + 1");
    for jobs in ["2", "7"] {
        assert_eq!(parsed(jobs).out, one.out);
    }
}

#[test]
fn what_comes_before_a_wrong_line_is_printed() {
    let place = Place::new();
    script(&place, "constant.sh", r#"while read -r line; do echo '{"value":1}'; done"#);
    let lines = format!("{}7\n\"never\"\n", "\"Answer: 4 * 6\"\n".repeat(200));
    for parser in [["--parser", "game24"], ["--parser-cmd", "./constant.sh"]] {
        for (json, before) in [(&["--json"][..], 200), (&[], 5 * 200 - 1)] {
            let args = [&["check", "--jsonl", "-"], &parser[..], json].concat();
            let said = place.fed(&args, lines.as_bytes());
            assert_eq!(said.code, 2, "{}", said.err);
            assert!(
                said.err.contains("standard input, line 201: write a JSON text"),
                "{}",
                said.err
            );
            assert_eq!(said.out.lines().count(), before, "{args:?}");
            assert!(!said.out.contains("never"));
        }
    }
}

/// An input without end ends with its reader.
#[test]
fn nothing_is_parsed_for_a_reader_that_has_left() {
    let place = Place::new();
    for args in ["", "--json"] {
        let retold = env!("CARGO_BIN_EXE_retold");
        let line = format!(
            "yes '\"Answer: 4 * 6\"' | {retold} check --parser game24@2 --jsonl - {args} | head -n 3"
        );
        let mut command = Command::new("timeout");
        command.args(["60", "sh", "-c", &line]).current_dir(place.root());
        let said = Said::ended(&mut command);
        assert_eq!((said.code, said.out.lines().count()), (0, 3), "{}", said.err);
    }
}

/// A program decides about 10,000 lines together, twice: with fewer, it might depend on their order unseen.
#[test]
fn a_program_decides_about_many_lines_in_parts() {
    let place = Place::new();
    place.write(
        "length.py",
        "import json, sys\nopen('starts', 'a').write('x')\n\
        for line in sys.stdin: print(json.dumps({'value': len(json.loads(line)['text'])}))\n",
    );
    let lines: String = (0..25_000).map(|n| format!("\"{}\"\n", "x".repeat(n % 7))).collect();
    let args = ["check", "--jsonl", "-", "--json", "--parser-cmd", "python3 length.py"];
    let said = place.fed(&args, lines.as_bytes());
    let made = objects(&said);
    assert_eq!(made.len(), 25_000);
    assert!(made.iter().enumerate().all(|(n, it)| it["value"] == n % 7 && it["line"] == n + 1));
    assert_eq!(place.read("starts").len(), 6);
}

#[test]
fn jobs_that_cannot_be_are_refused() {
    let place = Place::new();
    for (args, why) in [
        ("check latest --parser game24 --jobs 2", "cannot be used with"),
        ("check --parser-cmd cat --jsonl - --jobs 2", "cannot be used with"),
        ("check --parser game24 --jsonl - --jobs 0", "0 is not in 1..=1024"),
    ] {
        let said = place.run(args);
        assert_eq!(said.code, 2, "{args}: {}", said.err);
        assert!(said.err.contains(why), "{args}: {}", said.err);
    }
}
