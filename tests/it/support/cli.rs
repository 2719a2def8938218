//! The real program in a folder of its own, isolated from the environment.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use super::waiting::ended;

/// Two puzzles, three samples, simulated. One call at a time, so that events are always in the same
/// order.
pub(crate) const SMALL: &str = "\
experiment: game24
seed: 7
puzzles:
  rows: 0..2
samples: 3
template: cot
parser: game24@2
request:
  model: gpt-4
  temperature: 0.7
limits:
  concurrency: 1
retry:
  max_retries: 2
  base_seconds: 0.01
  max_seconds: 0.05
  quota_seconds: 0.02
";

/// A temporary folder, and the program run in it.
pub(crate) struct Place(tempfile::TempDir);

/// What a command printed, and its exit code.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Place {
    /// A folder with `small.yaml` in it.
    pub(crate) fn new() -> Self {
        let place = Place(tempfile::tempdir().unwrap());
        place.write("small.yaml", SMALL);
        place
    }

    /// A folder where `small.yaml` was run once.
    pub(crate) fn with_run() -> Self {
        let place = Place::new();
        place.ok("run small.yaml --quiet");
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn root(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// The program, ready for arguments.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_retold"));
        self.shut_off(&mut command);
        command
    }

    /// Isolates a command from the environment.
    pub(crate) fn shut_off(&self, command: &mut Command) {
        command.current_dir(self.root()).env_clear().env("COLUMNS", "100");
        command.env("HOME", self.root()).env("LANG", "C.UTF-8").stdin(Stdio::null());
    }

    /// Runs the program with arguments that have no spaces in them.
    pub(crate) fn run(&self, args: &str) -> Said {
        self.args(&args.split_whitespace().collect::<Vec<_>>())
    }

    pub(crate) fn args(&self, args: &[&str]) -> Said {
        Said::ended(self.command().args(args))
    }

    /// Runs the program where it finds other programs.
    pub(crate) fn with_path(&self, args: &[&str]) -> Said {
        let path = "/usr/local/bin:/usr/bin:/bin";
        Said::ended(self.command().env("PATH", path).args(args))
    }

    /// Runs the program with something on its standard input: one byte first, the rest afterwards.
    pub(crate) fn fed(&self, args: &[&str], input: &[u8]) -> Said {
        let mut command = self.command();
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        let (first, rest) = input.split_at(input.len().min(1));
        std::thread::scope(|scope| {
            // What it prints is read meanwhile: it need not read on before it has printed.
            scope.spawn(move || {
                // It may have read enough and ended already.
                let _ = pipe.write_all(first).and_then(|()| pipe.flush());
                std::thread::sleep(std::time::Duration::from_millis(20));
                let _ = pipe.write_all(rest);
            });
            Said::new(ended(child))
        })
    }

    /// Runs the program, which must succeed; returns what it printed.
    pub(crate) fn ok(&self, args: &str) -> String {
        let said = self.run(args);
        assert_eq!(said.code, 0, "retold {args}\n{}{}", said.out, said.err);
        said.out
    }

    /// Runs the program with `--json`; returns the one object that it printed, and the exit code.
    pub(crate) fn json(&self, args: &str) -> (Value, i32) {
        let said = self.run(&format!("{args} --json"));
        assert_eq!(said.out.lines().count(), 1, "one object\n{}{}", said.out, said.err);
        (serde_json::from_str(&said.out).unwrap(), said.code)
    }

    /// What a reader of the terminal sees of some commands, without what differs from run to run.
    pub(crate) fn session(&self, commands: &[&str]) -> String {
        commands.iter().map(|args| self.shown(args, &self.run(args))).collect()
    }

    pub(crate) fn shown(&self, args: &str, said: &Said) -> String {
        let Said { code, out, err } = said;
        let root = self.root().display().to_string();
        format!("$ retold {args}\n{out}{err}[exit {code}]\n").replace(&root, "[folder]")
    }
}

impl Said {
    /// Runs a command, without a standard input of its own, to its end.
    pub(crate) fn ended(command: &mut Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Said::new(ended(command.spawn().unwrap()))
    }

    pub(crate) fn new(output: Output) -> Self {
        Said {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: without_progress(&String::from_utf8(output.stderr).unwrap()),
        }
    }
}

/// Removes lines of progress (`42 of 80 answers (52 %), 5 s left, 8/s, 0 failed`), which appear
/// after five seconds: whether they do depends on the machine. The trace of a run, whose lines begin with a time, is in its
/// log file.
fn without_progress(err: &str) -> String {
    let is_progress = |line: &str| {
        line.contains(" answers")
            && line.trim_end().ends_with(" failed")
            && line.contains("/s, ")
            && line.starts_with(|c: char| c.is_ascii_digit())
    };
    let levels = [" INFO ", " WARNING ", " ERROR "];
    let is_traced = |line: &str| {
        let time = line.get(..24).filter(|time| time.starts_with("20") && time.ends_with('Z'));
        time.is_some() && levels.iter().any(|level| line[24..].starts_with(level))
    };
    err.split_inclusive('\n').filter(|line| !is_progress(line) && !is_traced(line)).collect()
}

/// Removes the seqs of decisions: with many calls at once they differ from run to run.
pub(crate) fn without_seqs(text: &str) -> String {
    let line = |line: &str| match line.strip_prefix("  seq ").and_then(|l| l.split_once(' ')) {
        Some((_, rest)) => format!("  seq [n] {rest}\n"),
        None => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

/// Snapshots a text in which ids, hashes of events, times and durations are replaced.
macro_rules! assert_said {
    ($name:literal, $text:expr) => {
        insta::with_settings!({
            filters => vec![
                (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", "[time]"),
                (r"in \d+\.\d\d s", "in [n] s"),
                (r" +\d+:\d\d:\d\d ", " [took] "),
                (r"\(\d+/s\)", "([n]/s)"),
                // A latency of zero is left out of an event.
                (r#""latency_ms":\d+,"#, ""),
                (r#""seconds":[0-9.e-]+"#, "\"seconds\":[n]"),
                (r"hash [0-9a-f]{64}", "hash [hash]"),
                (r"hash: [0-9a-f]{64}", "hash: [hash]"),
                (r"head [0-9a-f]{12}\b", "head [hash]"),
                (r"head [0-9a-f]{64}", "head [hash]"),
                (r"head is [0-9a-f]{12}", "head is [hash]"),
                (r#""(head|hash)":"[0-9a-f]{64}""#, "\"$1\":\"[hash]\""),
                (r"\b[0-9a-f]{16}\b", "[run]"),
                (r"checked: [\d,]+ events? read", "checked: [n] events read"),
                (r"(replay|check|show|verify|export|resume|log|outputs|fork|abandon|label) [0-9a-f]{4,8}\b(?:  )?", "$1 [run]"),
                (r"127\.0\.0\.1:\d+", "127.0.0.1:[port]"),
            ],
            omit_expression => true,
            prepend_module_to_snapshot => false,
        }, { insta::assert_snapshot!($name, $text) })
    };
}
pub(crate) use assert_said;
