//! Every example of the README and of the guides is run, so that they stay true.
//! In blocks marked `sh` or `console`, lines that begin with `retold` or `cargo run --`
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
    let args = line.strip_prefix("cargo run -- ").or_else(|| line.strip_prefix("retold "))?;
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

/// Runs the examples in a document's blocks of the given kinds, and returns how many there are.
fn run_examples(document: &str, kinds: &[&str]) -> usize {
    let here = Path::new(env!("RETOLD_ROOT"));
    let text = std::fs::read_to_string(here.join(document)).unwrap();
    let outer = Place::new();
    let folder = project(&outer);
    let mut run = 0;
    for line in commands(&text, kinds) {
        if line.starts_with("scripts/test") {
            let script = here.join("scripts/test").metadata().unwrap();
            assert!(script.permissions().mode() & 0o111 != 0, "scripts/test is not executable");
        }
        let Some(Example { args, code }) = example(&line) else { continue };
        let output = outer.command().args(&args).current_dir(&folder).output().unwrap();
        assert_eq!(
            output.status.code(),
            Some(code),
            "{document}: {line}\n{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        run += 1;
    }
    run
}

#[test]
fn every_example_works() {
    assert!(run_examples("README.md", &["sh", "console"]) > 10);
}

/// Each guide begins with a new log.
#[test]
fn every_example_of_the_guides_works() {
    // The guide on ballots needs its program and a model, and has a test of its own.
    let is_run = |document: &String| {
        document.starts_with("docs/guide/") && !document.ends_with("/ballots.md")
    };
    let guides = documents().into_iter().filter(is_run);
    let run: usize = guides.map(|guide| run_examples(&guide, &["sh", "console"])).sum();
    assert!(run > 20, "{run}");
}

/// The documents, below the root of the repository.
fn documents() -> Vec<String> {
    let root = Path::new(env!("RETOLD_ROOT"));
    let mut found =
        vec!["README.md".to_owned(), "ARCHITECTURE.md".to_owned(), "CONTRIBUTING.md".to_owned()];
    for folder in ["docs", "docs/guide", "docs/clients", "docs/python", "docs/decisions"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap().map(Result::unwrap) {
            let name = entry.file_name().into_string().unwrap();
            if name.ends_with(".md") {
                found.push(format!("{folder}/{name}"));
            }
        }
    }
    found.sort();
    found
}

/// The targets of the links in a text, without those to other servers and within the document.
fn links(text: &str) -> Vec<&str> {
    let target = |after: &'_ str| after.split_once(')').map(|(target, _)| target.len());
    let mut found = Vec::new();
    for (at, _) in text.match_indices("](") {
        let after = &text[at + 2..];
        let Some(length) = target(after) else { continue };
        let link = after[..length].split('#').next().unwrap();
        if !link.is_empty() && !link.contains("://") {
            found.push(link);
        }
    }
    found
}

#[test]
fn every_link_leads_to_a_file() {
    let root = Path::new(env!("RETOLD_ROOT"));
    for document in documents() {
        let text = std::fs::read_to_string(root.join(&document)).unwrap();
        let folder = root.join(&document).parent().unwrap().to_owned();
        for link in links(&text) {
            assert!(folder.join(link).exists(), "{document}: {link}");
        }
    }
}

#[test]
fn the_book_has_every_page() {
    let summary = Path::new(env!("RETOLD_ROOT")).join("docs/SUMMARY.md");
    let summary = std::fs::read_to_string(summary).unwrap();
    let listed = links(&summary);
    for document in documents() {
        if let Some(page) = document.strip_prefix("docs/").filter(|page| *page != "SUMMARY.md") {
            assert!(listed.contains(&page), "{page} is not in docs/SUMMARY.md");
        }
    }
}

#[test]
fn the_readme_is_short() {
    let readme = Path::new(env!("RETOLD_ROOT")).join("README.md");
    let words = std::fs::read_to_string(readme).unwrap().split_whitespace().count();
    assert!(words <= 1600, "{words} words");
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn every_example_on_real_data_works() {
    assert!(run_examples("README.md", &["sh shared-data"]) > 0);
}

#[test]
fn examples_are_found() {
    let text = "```sh\n$ retold log\nretold check latest  # exit 1\n```\n```yaml\nretold no\n```\n\
                ```console\ncargo run -- run x.yaml\nscripts/test\n```\nretold no\n";
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
    place.ok("export latest tables --as outputs");
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
