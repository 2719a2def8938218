//! A short run of the fuzz targets: frozen answers, mutated from a fixed seed.

use std::collections::BTreeSet;

use crate::support::parsers as registry;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::fuzz_files::fuzz_file;
use crate::fuzz_targets::fuzz_one;
use crate::support::cases::cases;

/// How many mutants are made of each parser's cases: a few seconds in a debug build. For a long
/// run: `RETOLD_FUZZ_MUTANTS=100000 RETOLD_FUZZ_SEED=7 cargo test --test it fuzz_smoke`.
const MUTANTS: u64 = 500;
const SEED: u64 = 0x7265_746f_6c64;

/// The targets of what others have written.
const TARGETS: [&str; 10] = [
    "vcrpy", "har", "nock", "batch", "inspect", "otlp", "parser_file", "keys", "wire_answer",
    "wire_shape",
];

/// A number from the environment.
#[expect(clippy::disallowed_methods, reason = "a longer run is asked for by hand")]
fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().expect("a number"))
}

#[test]
fn mutated_answers_are_decided_without_a_panic() {
    let names: BTreeSet<&str> = registry::all().map(|(name, _)| name).collect();
    for name in names {
        mutate(name, &answers(name));
    }
    let all: Vec<Vec<u8>> = ["action", "narrative", "character"].map(answers).concat();
    mutate("json_repair", &all);
}

/// Files of other tools, parser files, and requests with their answers.
#[test]
fn mutated_files_are_read_without_a_panic() {
    for target in TARGETS {
        mutate_by(target, &seeds(target), fuzz_file, 10);
    }
}

#[test]
fn every_parser_has_a_fuzz_target_and_there_are_enough_cases() {
    let fuzz = concat!(env!("RETOLD_ROOT"), "/fuzz");
    let listed = std::fs::read_to_string(format!("{fuzz}/Cargo.toml")).unwrap();
    let names: BTreeSet<&str> = registry::all().map(|(name, _)| name).collect();
    for name in names.iter().copied().chain(["json_repair"]) {
        let target = std::fs::read_to_string(format!("{fuzz}/fuzz_targets/{name}.rs"));
        assert!(target.is_ok_and(|text| text.contains(&format!("(\"{name}\", data)"))), "{name}");
        assert!(listed.contains(&format!("path = \"fuzz_targets/{name}.rs\"")), "{name}");
    }
    for target in TARGETS {
        let text = std::fs::read_to_string(format!("{fuzz}/fuzz_targets/{target}.rs")).unwrap();
        assert!(text.contains(&format!("(\"{target}\", data)")), "{target}");
        assert!(listed.contains(&format!("path = \"fuzz_targets/{target}.rs\"")), "{target}");
    }
    let all: usize = names.iter().map(|name| cases(name).len()).sum();
    assert!(all >= 150, "{all} cases");
}

/// The inputs that coverage-guided fuzzing found worth keeping: see `fuzz/README.md`.
#[test]
fn the_kept_corpus_is_decided_without_a_panic() {
    let names: BTreeSet<&str> = registry::all().map(|(name, _)| name).collect();
    let mut inputs = 0;
    let parsers = names.into_iter().chain(["json_repair"]);
    let parsers = parsers.map(|name| (name, fuzz_one as fn(&str, &[u8])));
    let files = TARGETS.map(|target| (target, fuzz_file as fn(&str, &[u8])));
    for (name, check) in parsers.chain(files) {
        let path = concat!(env!("RETOLD_ROOT"), "/fuzz/corpus");
        // No corpus is kept for a parser whose frozen answers reach the same coverage.
        let kept = std::fs::read_to_string(format!("{path}/{name}")).unwrap_or_default();
        for line in kept.lines() {
            let input = data_encoding::BASE64.decode(line.as_bytes()).unwrap();
            let outcome = std::panic::catch_unwind(|| check(name, &input));
            assert!(outcome.is_ok(), "{name}: {:?}", String::from_utf8_lossy(&input));
            inputs += 1;
        }
    }
    assert!(inputs >= 10_000, "{inputs} inputs are kept");
}

fn answers(name: &str) -> Vec<Vec<u8>> {
    cases(name).into_iter().map(|case| case.answer.into_bytes()).collect()
}

/// Where the fuzzer begins, as in scripts/fuzz.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folders = match target {
        "vcrpy" => vec!["fixtures/cassettes".to_owned(), "fixtures/vcr".to_owned()],
        "har" | "nock" | "batch" | "inspect" | "otlp" => vec![format!("fixtures/{target}")],
        _ => vec![format!("fuzz/seeds/{target}")],
    };
    let root = std::path::Path::new(env!("RETOLD_ROOT"));
    let entries = |folder| std::fs::read_dir(root.join(folder)).unwrap();
    let entries = folders.into_iter().flat_map(entries);
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| std::fs::read(file).unwrap()).collect()
}

fn mutate(name: &str, answers: &[Vec<u8>]) {
    mutate_by(name, answers, fuzz_one, 1);
}

/// Makes one mutant of `share`.
fn mutate_by(name: &str, answers: &[Vec<u8>], check: fn(&str, &[u8]), share: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(setting("RETOLD_FUZZ_SEED", SEED));
    let mut below = |limit: usize| usize::try_from(random.next_u32()).unwrap() % limit.max(1);
    for _ in 0..setting("RETOLD_FUZZ_MUTANTS", MUTANTS) / share {
        let mut text = answers[below(answers.len())].clone();
        for _ in 0..=below(4) {
            let at = below(text.len() + 1);
            let to = (at + below(24)).min(text.len());
            match below(6) {
                0 => text.truncate(at),
                1 => drop(text.drain(at..to)),
                2 => {
                    let piece = text[at..to].to_vec();
                    text.splice(at..at, piece.repeat(1 + below(5)));
                }
                3 => {
                    let other = &answers[below(answers.len())];
                    let from = below(other.len() + 1);
                    text.splice(at..to, other[from..].iter().copied());
                }
                4 => {
                    let pieces = b"{}[]()\"'`<>/\\:,|-.*&#\n \xf0\x9f\x98\x80\xe2\x80\x9c0";
                    text.insert(at, pieces[below(pieces.len())]);
                }
                _ => {
                    if let Some(byte) = text.get_mut(at) {
                        *byte ^= 1 << below(8);
                    }
                }
            }
        }
        // A panic says what was wrong, but not with which text.
        let outcome = std::panic::catch_unwind(|| check(name, &text));
        assert!(outcome.is_ok(), "{name}: {:?}", String::from_utf8_lossy(&text));
    }
}
