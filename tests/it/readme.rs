//! Every example of the README is run, so that it stays true.
//! In blocks marked `sh` or `console`, lines that begin with `retold` or `cargo run --release --`
//! are run in order in one folder that has the repository's `config`. A line must succeed, unless
//! `# exit N` follows it. Blocks marked `sh shared-data` use real data from outside the repository
//! and have a test of their own.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::support::cli::Place;

/// A line that is run, and the exit code that it promises.
struct Example {
    args: Vec<String>,
    code: i32,
}

/// The commands in a text's blocks of the given kinds, without prompts.
fn commands(readme: &str, kinds: &[&str]) -> Vec<String> {
    let (mut inside, mut commands) = (false, Vec::new());
    for line in readme.lines() {
        let line = line.trim();
        if let Some(language) = line.strip_prefix("```") {
            inside = !inside && kinds.contains(&language);
        } else if inside {
            commands.push(line.strip_prefix("$ ").unwrap_or(line).to_owned());
        }
    }
    commands
}

fn example(line: &str) -> Option<Example> {
    let (line, comment) = line.split_once(" #").unwrap_or((line, ""));
    let args =
        line.strip_prefix("cargo run --release -- ").or_else(|| line.strip_prefix("retold "))?;
    let code = comment.trim().strip_prefix("exit ").map_or(0, |code| {
        // An explanation may follow the code: `# exit 1: some decisions flip`.
        code.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
    });
    // A pipe is only for the reader; the command before it must work by itself.
    let args = args.split(" | ").next().unwrap_or(args);
    assert!(!args.contains(['"', '\'', '$', '>']), "this test cannot quote: {line}");
    Some(Example { args: args.split_whitespace().map(str::to_owned).collect(), code })
}

/// A project folder as a newcomer has it: the configs, and the data next to it.
fn project(outer: &Place) -> std::path::PathBuf {
    let here = Path::new(env!("RETOLD_ROOT"));
    let folder = outer.path("retold");
    std::fs::create_dir_all(folder.join("config/prompts/game24")).unwrap();
    for part in ["config", "config/prompts/game24"] {
        for entry in std::fs::read_dir(here.join(part)).unwrap().map(Result::unwrap) {
            if entry.path().is_file() {
                std::fs::copy(entry.path(), folder.join(part).join(entry.file_name())).unwrap();
            }
        }
    }
    for linked in ["recordings", "fixtures", "examples"] {
        std::os::unix::fs::symlink(here.join(linked), folder.join(linked)).unwrap();
    }
    std::os::unix::fs::symlink(here.join("../shared"), outer.path("shared")).unwrap();
    folder
}

/// Runs the examples in the README's blocks of the given kinds.
fn run_examples(kinds: &[&str]) {
    let here = Path::new(env!("RETOLD_ROOT"));
    let readme = std::fs::read_to_string(here.join("README.md")).unwrap();
    let outer = Place::new();
    let folder = project(&outer);
    let mut run = 0;
    for line in commands(&readme, kinds) {
        if line.starts_with("scripts/test") {
            let script = here.join("scripts/test").metadata().unwrap();
            assert!(script.permissions().mode() & 0o111 != 0, "scripts/test is not executable");
        }
        let Some(Example { args, code }) = example(&line) else { continue };
        let output = outer.command().args(&args).current_dir(&folder).output().unwrap();
        assert_eq!(
            output.status.code(),
            Some(code),
            "{line}\n{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        run += 1;
    }
    assert!(run > 0, "the README has no such example");
}

#[test]
fn every_example_works() {
    run_examples(&["sh", "console"]);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn every_example_on_real_data_works() {
    run_examples(&["sh shared-data"]);
}

#[test]
fn examples_are_found() {
    let text = "```sh\n$ retold log\nretold check latest  # exit 1\n```\n```yaml\nretold no\n```\n\
                ```console\ncargo run --release -- run x.yaml\nscripts/test\n```\nretold no\n";
    let found: Vec<(String, i32)> = commands(text, &["sh", "console"])
        .iter()
        .filter_map(|line| example(line))
        .map(|e| (e.args.join(" "), e.code))
        .collect();
    let expected = [("log", 0), ("check latest", 1), ("run x.yaml", 0)];
    assert_eq!(found, expected.map(|(args, code)| (args.to_owned(), code)));
}

/// The README asks why a participant changed their vote.
#[test]
fn the_participant_of_the_readme_changed_their_vote() {
    let readme = std::fs::read_to_string(concat!(env!("RETOLD_ROOT"), "/README.md")).unwrap();
    let asked = readme.split("Why did ").nth(1).unwrap();
    let who = asked.strip_suffix(" change their vote?").unwrap_or(asked).split(' ').next().unwrap();
    let place = Place::new();
    let config = concat!(env!("RETOLD_ROOT"), "/config/deliberation_small.yaml");
    place.ok(&format!("run {config} --no-outputs --quiet"));
    place.ok("outputs latest --to tables");
    let table = place.read("tables/participants.csv");
    let columns: Vec<&str> = table.lines().next().unwrap().split(',').collect();
    let changed = columns.iter().position(|column| *column == "position_changed").unwrap();
    let row = table.lines().find(|line| line.starts_with(who)).unwrap();
    assert_eq!(row.split(',').nth(changed), Some("true"), "{row}");
    for command in [format!("show latest {who}"), format!("audit latest final_vote/{who}")] {
        assert!(readme.contains(&format!("`retold {command}`")), "{command}");
        place.ok(&command);
    }
}
