//! The help of each command uses no word of ours that the glossary lacks.

use std::collections::BTreeSet;
use std::path::Path;

/// Words that mean something particular here, as the help of commands has them, and as the glossary lists them.
const OURS: [(&str, &str); 45] = [
    ("accepted", "accepted"),
    ("answer", "request, answer"),
    ("attempt", "attempt"),
    ("call", "call"),
    ("canonical", "canonical"),
    ("cassette", "cassette"),
    ("choice", "choice"),
    ("cluster", "cluster"),
    ("config", "config"),
    ("decision", "decision"),
    ("derived", "derived"),
    ("event", "event"),
    ("exchange", "request, answer"),
    ("exchanges file", "exchanges file"),
    ("experiment", "experiment"),
    ("fact", "fact"),
    ("figure", "figure"),
    ("flip", "flip"),
    ("fork", "fork"),
    ("head", "head"),
    ("headline figures", "headline figures"),
    ("in force", "in force"),
    ("judge", "judge"),
    ("label", "label"),
    ("lane", "lane"),
    ("last resort", "last resort"),
    ("ledger", "ledger"),
    ("mark", "mark"),
    ("method", "method"),
    ("parser", "parser"),
    ("participant", "participant"),
    ("persona", "persona"),
    ("plan", "plan"),
    ("proof", "proof"),
    ("recording", "recording"),
    ("redaction", "redaction"),
    ("replay", "replay"),
    ("sample", "sample"),
    ("seal", "seal"),
    ("seq", "seq"),
    ("simulated", "simulated"),
    ("snapshot", "snapshot"),
    ("strategy", "strategy"),
    ("template", "template"),
    ("upstream", "upstream"),
];

/// What stands for values in usage lines, where it is no word of ours but one that everybody knows.
const PLAIN: [&str; 45] = [
    "ADDRESS:PORT", "BYTES", "CMD", "COLUMN", "COLUMN=VALUE", "COMMAND", "DIR", "DOLLARS", "FIELD",
    "FILE", "FOLDER", "FORMAT", "HASH", "JSON", "KEY", "KEY=VALUE", "KIND", "LEVEL", "MODE",
    "MODEL", "MODEL=URL", "MODEL=VARIABLE", "N", "NAME", "NAMES", "NAME=URL", "NAME=VALUE",
    "NAME[=COLUMN]", "NAME[=URL]", "ONE", "OPTION", "OTHER", "OUTPUTS", "PACE", "PART", "PATH",
    "PERSON", "PLACE", "PROGRAM", "REGEX", "REGEX=TEXT", "SECONDS", "SHELL", "TEXT", "TIME",
];

/// More of them, which are whole phrases.
const PHRASES: [&str; 13] = [
    "PORT|ADDRESS:PORT", "KIND|MODEL", "CONFIG|RUN", "ORIGINAL", "RUNS", "SHARE", "TABLE", "TO",
    "URL", "VALUES", "VERSION", "WHAT", "WHICH",
];

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("RETOLD_ROOT")).join(path)).unwrap()
}

/// The words of the glossary: the first cells of its rows.
fn glossary() -> BTreeSet<String> {
    let page = read("docs/glossary.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    rows.map(str::to_owned).collect()
}

#[test]
fn every_word_of_ours_in_the_help_is_in_the_glossary() {
    let (known, help) = (glossary(), read("docs/commands.md").to_lowercase());
    for (word, row) in OURS {
        assert!(known.contains(row), "docs/glossary.md has no row {row:?}");
        assert!(help.contains(word), "no command's help has {word:?}: take it off this list");
    }
}

#[test]
fn every_word_of_the_glossary_has_one_row() {
    let page = read("docs/glossary.md");
    let rows = page.lines().filter(|line| line.starts_with("| ")).count();
    assert_eq!(rows, glossary().len());
}

/// A new placeholder is a word that the reader has to know: it is in the glossary, or known to everybody.
#[test]
fn what_stands_for_a_value_is_explained_or_plain() {
    let known: BTreeSet<String> = glossary().into_iter().map(|row| row.to_lowercase()).collect();
    let page = read("docs/commands.md");
    let options = page.lines().filter(|line| line.starts_with("- `"));
    for line in options {
        let Some((option, _)) = line.split_once("`:") else { continue };
        for part in option.split('<').skip(1) {
            let name = part.split('>').next().unwrap();
            let is_known = PLAIN.contains(&name)
                || PHRASES.contains(&name)
                || known.contains(&name.to_lowercase());
            assert!(is_known, "<{name}> in: {line}");
        }
    }
}
