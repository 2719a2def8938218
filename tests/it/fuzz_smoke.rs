//! A short run of the fuzz targets: frozen answers, mutated from a fixed seed.

use std::collections::BTreeSet;

use crate::support::parsers as registry;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::fuzz_targets::fuzz_one;
use crate::support::cases::cases;

/// How many mutants are made of each parser's cases: a few seconds in a debug build. For a long
/// run: `RETOLD_FUZZ_MUTANTS=100000 RETOLD_FUZZ_SEED=7 cargo test --test it fuzz_smoke`.
const MUTANTS: u64 = 500;
const SEED: u64 = 0x7265_746f_6c64;

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
    let all: usize = names.iter().map(|name| cases(name).len()).sum();
    assert!(all >= 150, "{all} cases");
}

/// The inputs that coverage-guided fuzzing found worth keeping: see `fuzz/README.md`.
#[test]
fn the_kept_corpus_is_decided_without_a_panic() {
    let names: BTreeSet<&str> = registry::all().map(|(name, _)| name).collect();
    let mut inputs = 0;
    for name in names.into_iter().chain(["json_repair"]) {
        let path = concat!(env!("RETOLD_ROOT"), "/fuzz/corpus");
        // No corpus is kept for a parser whose frozen answers reach the same coverage.
        let kept = std::fs::read_to_string(format!("{path}/{name}")).unwrap_or_default();
        for line in kept.lines() {
            let input = data_encoding::BASE64.decode(line.as_bytes()).unwrap();
            let outcome = std::panic::catch_unwind(|| fuzz_one(name, &input));
            assert!(outcome.is_ok(), "{name}: {:?}", String::from_utf8_lossy(&input));
            inputs += 1;
        }
    }
    assert!(inputs >= 10_000, "{inputs} inputs are kept");
}

fn answers(name: &str) -> Vec<Vec<u8>> {
    cases(name).into_iter().map(|case| case.answer.into_bytes()).collect()
}

fn mutate(name: &str, answers: &[Vec<u8>]) {
    let mut random = ChaCha8Rng::seed_from_u64(setting("RETOLD_FUZZ_SEED", SEED));
    let mut below = |limit: usize| usize::try_from(random.next_u32()).unwrap() % limit.max(1);
    for _ in 0..setting("RETOLD_FUZZ_MUTANTS", MUTANTS) {
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
        let outcome = std::panic::catch_unwind(|| fuzz_one(name, &text));
        assert!(outcome.is_ok(), "{name}: {:?}", String::from_utf8_lossy(&text));
    }
}
