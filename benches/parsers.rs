//! Parse throughput: MB/s of each parser on answers of 1 kB, compared with a plain `regex` version
//! of the document's rule on the same answers in the same run.
//!
//! The answers are the frozen ones of each parser, padded to 1 kB with sentences in the reasoning
//! or at the beginning. Run with `cargo bench --bench parsers`.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "a bench"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use regex::Regex;
use retold::parse::{ParserSpec, json_repair};
use serde_json::{Value, json};

/// The document's rule as its program states it: a pattern, and what is done with the match.
type Rule = Box<dyn Fn(&str) -> usize>;

/// The options of the frozen votes.
const OPTIONS: [&str; 4] = ["Night buses", "Bike lanes downtown", "Bike lanes", "Street trees"];

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|w| name.starts_with(w));
    println!("{:<20} {:>9} {:>9} {:>7}", "parser", "MB/s", "regex", "ratio");
    let catalogue = retold_cli::program::catalogue().expect("each study has a name of its own");
    let parsers = catalogue.studies().parsers();
    for (name, version) in
        parsers.all().filter(|(name, version)| is_wanted(&format!("{name}@{version}")))
    {
        let params = match name {
            "game24" => json!({ "numbers": [4, 6, 7, 8] }),
            "redistribution" => json!({ "targets": 4 }),
            "vote" => json!({ "options": OPTIONS }),
            _ => Value::Null,
        };
        let spec = ParserSpec { name: name.into(), params, version };
        let parser = parsers.parser(&spec).expect("registered");
        let answers = answers(name);
        let ours = measure(&answers, |text| parser.parse_any(text).0.warnings.len());
        let rule = rule(name);
        let regex = measure(&answers, rule);
        println!("{:<20} {ours:>9.1} {regex:>9.1} {:>7.2}", spec.to_string(), ours / regex);
    }
    if !is_wanted("json_repair") {
        return;
    }
    let answers = answers("action");
    let ours = measure(&answers, |text| json_repair::repair(text).repairs.len());
    let regex = measure(&answers, rule("action"));
    println!("{:<20} {ours:>9.1} {regex:>9.1} {:>7.2}", "json_repair", ours / regex);
}

/// The parser's frozen answers, each of at least 1 kB.
fn answers(name: &str) -> Vec<String> {
    const FILLER: &str =
        "The others were kind last time, and I weigh what that is worth to me now. ";
    let folder = concat!(env!("RETOLD_ROOT"), "/fixtures/responses/");
    let files = std::fs::read_dir(format!("{folder}{name}")).expect("frozen answers");
    let mut answers: Vec<String> = files
        .map(|file| {
            let text = std::fs::read_to_string(file.expect("a file").path()).expect("UTF-8");
            let answer = text.split_once("\n---\n").map_or("", |(_, answer)| answer);
            let filler =
                FILLER.repeat((1_024_usize.saturating_sub(answer.len())).div_ceil(FILLER.len()));
            match answer.split_once("<REASONING>") {
                Some((head, tail)) => format!("{head}<REASONING>{filler}{tail}"),
                None => format!("{filler}\n{answer}"),
            }
        })
        .collect();
    answers.sort();
    answers
}

/// MB/s of a function over the answers, the best of several rounds.
fn measure(answers: &[String], parse: impl Fn(&str) -> usize) -> f64 {
    let bytes: usize = answers.iter().map(String::len).sum();
    let round = || {
        let start = Instant::now();
        let mut passes = 0_u32;
        while start.elapsed() < Duration::from_millis(150) {
            for answer in answers {
                black_box(parse(black_box(answer)));
            }
            passes += 1;
        }
        start.elapsed().as_secs_f64() / f64::from(passes)
    };
    let best = (0..4).map(|_| round()).fold(f64::INFINITY, f64::min);
    #[expect(clippy::cast_precision_loss, reason = "a few kilobytes")]
    let megabytes = bytes as f64 / 1e6;
    megabytes / best
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern")
}

/// The document's rule, in plain regular expressions.
fn rule(name: &str) -> Rule {
    let first = |tag: Regex, fallback: Regex| -> Rule {
        Box::new(move |text| {
            let found = tag.captures(text).and_then(|c| c.get(1)).or_else(|| fallback.find(text));
            found.map_or(0, |found| found.as_str().len())
        })
    };
    match name {
        "contribution" => {
            first(regex(r"(?is)<CONTRIBUTE>\s*(\d+)\s*</CONTRIBUTE>"), regex(r"\b\d+\b"))
        }
        "chat" => first(regex(r"(?is)<MESSAGE>\s*(.+?)\s*</MESSAGE>"), regex(r"(?s)^.*$")),
        "redistribution" => {
            first(regex(r"(?is)<REDISTRIBUTE>\s*(.+?)\s*</REDISTRIBUTE>"), regex(r"\d+"))
        }
        "game24" => first(regex(r"(?s)<answer>(.*?)</answer>"), regex(r"(?m)^Output:.*$")),
        "narrative" => {
            let names =
                ["LOCATION", "ACQUIRED_ITEMS", "REMOVED_ITEMS", "SUGGESTED_ACTIONS", "COMBAT"];
            let patterns = names.map(|name| regex(&format!(r"{name}:[^\S\n]*(\[[^\]]*\]|[^\n]*)")));
            Box::new(move |text| patterns.iter().filter(|p| p.captures(text).is_some()).count())
        }
        "character" | "demographics" => json_in(regex(r"(?s)\{.*\}")),
        "vote" => first(regex(&format!("({})", OPTIONS.join("|"))), regex(r"\b\d+\b")),
        "moderator" => first(regex(r"^\s*(SATISFIED)\s*$"), regex(r"(?s)\S.*")),
        // The text without the white space around it.
        "free_text" | "vector" => first(regex(r"(?s)^\s*(.*\S)"), regex(r"^\s*$")),
        _ => json_in(regex(r"(?s)\{[^{}]*\}")),
    }
}

/// Parses the JSON that a pattern finds.
fn json_in(pattern: Regex) -> Rule {
    Box::new(move |text| {
        let found = pattern.find(text).map(|found| found.as_str());
        let value: Option<Value> = found.and_then(|json| serde_json::from_str(json).ok());
        value.map_or(0, |value| value.as_object().map_or(0, serde_json::Map::len))
    })
}
