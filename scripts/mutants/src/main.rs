//! Chooses mutants of retold's studies from the syntax tree, and writes a copy of the sources that
//! has all of them.
//!
//!     mutants --seed N --count N [--skip FILE] SOURCES COPY
//!
//! A mutant is one small change: another operator, an inverted condition, a literal, a statement
//! left out. In the copy, each is switched by `crate::mutants::on(ID)`, which the environment
//! variable RETOLD_MUTANT turns on, so that all are built at once. It prints one line per mutant:
//! id, study, part, file, line, key and change, separated by tabs. FILE lists the keys of mutants
//! to leave out, one per line: those that do not compile. For the same seed, others take their
//! places and the rest stay.

mod find;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use find::Candidate;

/// Where the parts of the studies are.
const PARTS: &[(&str, &str, &[&str])] = &[
    ("game24", "apply", &["crates/studies/game24/src/state.rs"]),
    ("game24", "statistics", &["crates/studies/game24/src/experiment.rs"]),
    ("game24", "outputs", &["crates/studies/game24/src/outputs.rs"]),
    ("game24", "parsers", &["crates/studies/game24/src/parse"]),
    ("deliberation", "apply", &["crates/studies/deliberation/src/state.rs"]),
    (
        "deliberation",
        "statistics",
        &[
            "crates/studies/deliberation/src/summary.rs",
            "crates/studies/deliberation/src/grouping.rs",
            "crates/stats/src",
        ],
    ),
    ("deliberation", "outputs", &["crates/studies/deliberation/src/outputs"]),
    (
        "deliberation",
        "parsers",
        &["src/parse/vote", "crates/studies/deliberation/src/parse", "src/parse/text"],
    ),
    ("public_goods", "apply", &["crates/studies/public_goods/src/state.rs"]),
    (
        "public_goods",
        "statistics",
        &["crates/studies/public_goods/src/measures", "crates/studies/public_goods/src/report.rs"],
    ),
    ("public_goods", "outputs", &["crates/studies/public_goods/src/outputs"]),
    ("public_goods", "parsers", &["crates/studies/public_goods/src/parse"]),
    (
        "society",
        "apply",
        &["crates/studies/society/src/world/apply.rs", "crates/studies/society/src/world/books.rs"],
    ),
    (
        "society",
        "statistics",
        &["crates/studies/society/src/world/figures.rs", "crates/studies/society/src/report.rs"],
    ),
    ("society", "outputs", &["crates/studies/society/src/outputs.rs"]),
    ("society", "parsers", &["crates/studies/society/src/parse"]),
    ("adventure", "apply", &["crates/studies/adventure/src/state.rs"]),
    ("adventure", "statistics", &["crates/studies/adventure/src/report.rs"]),
    ("adventure", "outputs", &["crates/studies/adventure/src/outputs.rs"]),
    ("adventure", "parsers", &["crates/studies/adventure/src/parse"]),
];

/// The file `mutants.rs` that the copy has in each crate with a mutant.
const SWITCH: &str = "\
//! Which mutant is on.

use std::sync::OnceLock;

/// Whether it is this one.
pub fn on(id: u32) -> bool {
    static ON: OnceLock<Option<u32>> = OnceLock::new();
    *ON.get_or_init(|| std::env::var(\"RETOLD_MUTANT\").ok()?.parse().ok()) == Some(id)
}
";

struct ChosenMutant {
    study: &'static str,
    part: &'static str,
    file: PathBuf,
    candidate: Candidate,
}

fn main() {
    let mut args = std::env::args().skip(1);
    let (mut seed, mut count, mut skipped, mut folders) = (1, 30, Vec::new(), Vec::new());
    while let Some(arg) = args.next() {
        let mut value = || args.next().unwrap_or_else(|| panic!("{arg} needs a value"));
        match arg.as_str() {
            "--seed" => seed = value().parse().expect("--seed is a number"),
            "--count" => count = value().parse().expect("--count is a number"),
            "--skip" => {
                let keys = fs::read_to_string(value()).expect("the file of --skip can be read");
                skipped = keys.lines().map(str::to_owned).collect();
            }
            _ => folders.push(PathBuf::from(arg)),
        }
    }
    let [sources, copy] = folders.as_slice() else { panic!("give SOURCES and COPY") };
    let chosen = choose(sources, seed, count, &skipped);
    write(sources, copy, &chosen);
    for (id, chosen) in (1..).zip(&chosen) {
        let ChosenMutant { study, part, file, candidate } = chosen;
        let (file, key) = (file.display(), key(chosen));
        println!("{id}\t{study}\t{part}\t{file}\t{}\t{key}\t{}", candidate.line, candidate.what);
    }
}

/// Identifies a mutant whatever else is chosen, and wherever in its file it moves: its line and its
/// change.
fn key(ChosenMutant { file, candidate, .. }: &ChosenMutant) -> String {
    format!("{}: {}: {}", file.display(), candidate.text_of_line, candidate.what)
}

/// One mutant of each part of each study in turn, until there are enough.
fn choose(sources: &Path, seed: u64, count: usize, skipped: &[String]) -> Vec<ChosenMutant> {
    let mut random = Random(seed);
    let mut waiting: Vec<Vec<ChosenMutant>> = Vec::new();
    for (study, part, places) in PARTS {
        let mut all = Vec::new();
        for place in *places {
            for file in files(&sources.join(place)) {
                let text = fs::read_to_string(&file).expect("a source file can be read");
                let file = file.strip_prefix(sources).expect("it is one of the sources").to_owned();
                let found = find::candidates(&text).into_iter();
                all.extend(found.map(|candidate| ChosenMutant {
                    study,
                    part,
                    file: file.clone(),
                    candidate,
                }));
            }
        }
        // Mutants are taken from the end of the shuffled list.
        for i in (1..all.len()).rev() {
            all.swap(i, random.below(i + 1));
        }
        waiting.push(all);
    }
    let mut chosen: Vec<ChosenMutant> = Vec::new();
    while chosen.len() < count && waiting.iter().any(|part| !part.is_empty()) {
        for part in &mut waiting {
            let fits = |new: &ChosenMutant| {
                let apart = |old: &ChosenMutant| {
                    old.file != new.file
                        || old.candidate.end <= new.candidate.start
                        || new.candidate.end <= old.candidate.start
                };
                !skipped.contains(&key(new)) && chosen.iter().all(apart)
            };
            while let Some(next) = part.pop() {
                if fits(&next) {
                    if chosen.len() < count {
                        chosen.push(next);
                    }
                    break;
                }
            }
        }
    }
    chosen
}

/// The Rust files of a folder, or the file itself, in the order of their names.
fn files(place: &Path) -> Vec<PathBuf> {
    if place.is_file() {
        return vec![place.to_owned()];
    }
    let entries = fs::read_dir(place).unwrap_or_else(|e| panic!("{}: {e}", place.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let rust = |path: &PathBuf| path.is_dir() || path.extension().is_some_and(|e| e == "rs");
    paths.into_iter().filter(rust).flat_map(|path| files(&path)).collect()
}

/// The folder of a crate's sources that a file is in: `src`, or that of a member of the workspace.
fn source_folder(file: &Path) -> &Path {
    file.ancestors().find(|folder| folder.ends_with("src")).expect("a source file is below src")
}

/// Writes the changed files, and the switches.
fn write(sources: &Path, copy: &Path, chosen: &[ChosenMutant]) {
    let mut by_file: BTreeMap<&Path, Vec<(usize, &Candidate)>> = BTreeMap::new();
    for (id, chosen) in (1..).zip(chosen) {
        by_file.entry(&chosen.file).or_default().push((id, &chosen.candidate));
    }
    for (file, mut mutants) in by_file {
        let mut text = fs::read_to_string(sources.join(file)).expect("a source file can be read");
        // From the end, so that earlier positions stay valid.
        mutants.sort_by_key(|(_, candidate)| std::cmp::Reverse(candidate.start));
        for (id, Candidate { start, end, switched, .. }) in mutants {
            let on = format!("crate::mutants::on({id})");
            text.replace_range(*start..*end, &switched.replace("ON!", &on));
        }
        fs::write(copy.join(file), text).expect("the copy can be written");
    }
    let crates: BTreeSet<&Path> = chosen.iter().map(|chosen| source_folder(&chosen.file)).collect();
    for folder in crates {
        fs::write(copy.join(folder).join("mutants.rs"), SWITCH).expect("the copy can be written");
        let root = folder.join("lib.rs");
        let text = fs::read_to_string(sources.join(&root)).expect("lib.rs can be read");
        let text = format!("{text}\n#[doc(hidden)]\npub mod mutants;\n");
        fs::write(copy.join(root), text).expect("the copy can be written");
    }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }
}
