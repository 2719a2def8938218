//! Every original run, run again. Needs `../shared/data`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::support::program as registry;
use retold::check::{CheckError, check};
use retold::decide::{self, Choices, ParserParams, Selection};
use retold::run::{Mode, RunRecord};
use retold_public_goods::measures::stated_contribution;
use retold_study::original::{Original, OriginalComparison};
use serde_json::Value;

use crate::support::block_on;
use crate::support::csv;
use crate::support::data::folder;
use crate::support::trial::Trial;

/// The folders of all original runs with answers in tags.
fn folders() -> Vec<PathBuf> {
    let data = folder("public_goods");
    let inside = |name: &str| std::fs::read_dir(data.join(name)).unwrap();
    let both = inside("experiments").chain(inside("experiments2"));
    let mut folders: Vec<PathBuf> = both.map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    folders
}

/// A run that was run again, replayed, and compared.
struct Again {
    name: String,
    comparison: OriginalComparison,
    notes: Vec<String>,
    exchanges: u64,
    trial: Trial,
    rows: usize,
}

fn again(folder: &Path) -> Again {
    let imported = registry::import_original("public-goods", folder).unwrap().unwrap();
    let Original { study, model, notes, compare } = imported.unwrap();
    let experiment = registry::build(&study.experiment, &study.settings.experiment).unwrap();
    let trial = Trial::in_memory(model);
    let ended = block_on(trial.go(Mode::Record, experiment.as_ref()));
    assert_eq!(block_on(trial.replay(experiment.as_ref())), ended.outcome_digest);
    let mut reader = trial.log.reader().unwrap();
    let mut record = RunRecord::read(reader.as_mut(), trial.run).unwrap();
    let comparison = compare(&experiment.outputs_any(&mut record).unwrap());
    Again {
        name: folder.file_name().unwrap().to_str().unwrap().to_owned(),
        comparison,
        notes,
        exchanges: ended.progress.exchanges,
        rows: csv::rows(&folder.join("game_log.csv")).len(),
        trial,
    }
}

/// Nothing differs, to the last bit, in any row of any file; what the files do not contain is
/// reported. `check` lists what version 2 of the parsers changes: the same classes as on the bare
/// answers, discussed in `public_goods_parsers`.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn all_original_public_goods_runs_come_out_as_they_were() {
    let (mut exchanges, mut compared, mut rows) = (0, 0, 0);
    let mut notes: BTreeMap<String, usize> = BTreeMap::new();
    let mut flips: BTreeMap<(String, String), usize> = BTreeMap::new();
    let all: Vec<Again> = folders().iter().map(|folder| again(folder)).collect();
    for run in &all {
        assert_eq!(run.comparison.differences, Vec::<String>::new(), "{}", run.name);
        exchanges += run.exchanges;
        compared += run.comparison.compared;
        rows += run.rows;
        run.notes.iter().for_each(|note| *notes.entry(note.clone()).or_default() += 1);
        let mut reader = run.trial.log.reader().unwrap();
        let parsers = registry::studies().parsers();
        let by = decide::Again::Latest;
        let choice = Selection {
            name: None,
            by,
            params: &ParserParams::Recorded,
            only: None,
            choices: Choices::First,
            parsers,
        };
        let checked = check::<CheckError>(reader.as_mut(), run.trial.run, choice, |_, _| Ok(()));
        let checked = checked.unwrap();
        assert_eq!(checked.unfaithful, vec![]);
        for flip in checked.flipped {
            *flips.entry((flip.from.method, flip.to.method)).or_default() += 1;
        }
    }
    // 984 answers, and 104 amounts that were asked for separately.
    assert_eq!((all.len(), rows, exchanges, compared), (55, 472, 984 + 104, 13_897));
    let notes: Vec<String> = notes.iter().map(|(note, n)| format!("{n}: {note}")).collect();
    insta::assert_snapshot!("notes_of_original_runs", notes.join("\n"));
    let flips: Vec<String> =
        flips.iter().map(|((from, to), n)| format!("{from} -> {to}: {n}")).collect();
    insta::assert_snapshot!("flips_of_original_runs", flips.join("\n"));
}

/// How often the answer does what its reasoning announces, in real runs. Not all differences are
/// misreadings: where coins are withdrawn, some answers put into the tag what they mean to
/// contribute.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn announced_and_made_contributions_of_real_answers() {
    let mut counts: BTreeMap<String, (u32, u32, u32)> = BTreeMap::new();
    for folder in folders() {
        let config = std::fs::read_to_string(folder.join("config.json")).unwrap();
        let config: Value = serde_json::from_str::<Value>(&config).unwrap()["config"].clone();
        for row in csv::rows(&folder.join("raw_responses.csv")) {
            if row["prompt_type"] != "contribution" {
                continue;
            }
            let reasoning = row["raw_response"].split("</REASONING>").next().unwrap();
            let made: i64 = row["parsed_result"].parse().unwrap();
            let key = format!("{} {}", config["contribution_framing"], config["contribution_type"]);
            let (all, announced, same) = counts.entry(key).or_default();
            *all += 1;
            if let Some(coins) =
                stated_contribution(reasoning, config["endowment"].as_i64().unwrap())
            {
                *announced += 1;
                *same += u32::from(coins == made);
            }
        }
    }
    let line = |(key, (all, announced, same)): (&String, &(u32, u32, u32))| {
        format!("{key}: {all} answers, {announced} announce an amount, {same} of them the one made")
    };
    let lines: Vec<String> = counts.iter().map(line).collect();
    insta::assert_snapshot!("announced_contributions", lines.join("\n"));
}
