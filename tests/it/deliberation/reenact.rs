//! Original runs, run again: our experiment asks, and their recorded answers reply.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::support::program::{build, import_original};
use retold::event::Event;
use retold::prompt::Api;
use retold::run::{ExecutionResult, Experiment, Finish, Mode, OutputFile, RunRecord};
use retold_deliberation::{Deliberation, DeliberationState, Fact};
use retold_study::original::{Original, OriginalComparison};
use serde::Deserialize;
use serde_json::Value;

use crate::support::block_on;
use crate::support::cases::fixtures;
use crate::support::data::folder;
use crate::support::logs::{assert_sound, events, facts};
use crate::support::trial::Trial;

/// An original run that was run again.
struct Again {
    trial: Trial,
    ended: ExecutionResult,
    state: DeliberationState,
    notes: Vec<String>,
    comparison: OriginalComparison,
    /// Their output files, by name.
    theirs: BTreeMap<&'static str, Value>,
}

fn again(original: &Path) -> Again {
    let Original { study, model, notes, compare } =
        import_original("deliberation", original).unwrap().unwrap().unwrap();
    let experiment = build("deliberation", &study.settings.experiment).unwrap();
    let trial = Trial::in_memory(model);
    let ended = block_on(trial.go(Mode::Record, experiment.as_ref()));
    assert!(matches!(ended.finish, Finish::Finished), "{:?}", ended.finish);
    assert_eq!(block_on(trial.replay(experiment.as_ref())), ended.outcome_digest);
    assert_sound(&trial.log);
    let mut state = DeliberationState::default();
    for event in facts(&trial.log, trial.run) {
        if let Event::Occurred(occurred) = event {
            Deliberation::apply(&mut state, &Fact::deserialize(&occurred.fact).unwrap());
        }
    }
    let mut reader = trial.log.reader().unwrap();
    let mut record = RunRecord::read(reader.as_mut(), trial.run).unwrap();
    let comparison = compare(&experiment.outputs_any(&mut record).unwrap());
    let files = ["participants.json", "summary.json", "cluster_embeddings.json"];
    let theirs = files.iter().filter_map(|file| {
        let text = std::fs::read_to_string(original.join(file)).ok()?;
        Some((*file, serde_json::from_str(&text).unwrap()))
    });
    let theirs = theirs.collect();
    drop(reader);
    Again { trial, ended, state, notes, comparison, theirs }
}

fn pilot(name: &str) -> PathBuf {
    folder("deliberation").join("outputs").join(name)
}

impl Again {
    /// Asserts that our output files have the same values as theirs.
    fn assert_same_outputs(&self, values: u64, not_compared: &[&str]) {
        assert_eq!(self.comparison.not_compared, not_compared);
        assert_eq!(self.comparison.differences, Vec::<String>::new());
        assert_eq!(self.comparison.compared, values);
    }

    /// Asserts that every field of their summary is in our report.
    fn assert_same_summary(&self) {
        let by_condition = |summary: &Value| {
            let mut conditions = summary["by_condition"].clone();
            // Where no one votes again, the original has no rate or a rate of 0; ours is null.
            for row in conditions.as_object_mut().unwrap().values_mut() {
                let row = row.as_object_mut().unwrap();
                let nobody = row["final_vote_distribution"] == Value::Object(Default::default());
                row.retain(|key, value| {
                    !(value.is_null() || nobody && key == "position_changed_rate")
                });
            }
            conditions
        };
        let (theirs, ours) = (&self.theirs["summary.json"], &self.ended.report.json);
        for key in ["pilot_id", "terminated_early", "termination_reason", "total_participants"] {
            assert_eq!(ours[key], theirs[key], "{key}");
        }
        assert_eq!(by_condition(ours), by_condition(theirs));
    }

    /// Asserts that our output agrees with theirs on each participant.
    fn assert_same_participants(&self, keys: &[&str]) {
        let theirs = self.theirs["participants.json"]["participants"].as_array().unwrap();
        assert_eq!(self.state.participants.len(), theirs.len());
        for their in theirs {
            let id = their["participant_id"].as_str().unwrap();
            let our = serde_json::to_value(&self.state.participants[id]).unwrap();
            for key in keys {
                assert_eq!(our[key], their[key], "{id} {key}");
            }
        }
    }

    /// The members of each cluster, by option.
    fn assert_same_clusters(&self) {
        let ours: BTreeSet<(&str, &[String])> =
            self.state.clusters.iter().map(|c| (c.option.as_str(), &c.member_ids[..])).collect();
        let theirs: Vec<(String, Vec<String>)> = self.theirs["cluster_embeddings.json"]["clusters"]
            .as_array()
            .unwrap()
            .iter()
            .map(|c| {
                let ids = serde_json::from_value(c["member_ids"].clone()).unwrap();
                (c["option"].as_str().unwrap().to_owned(), ids)
            })
            .collect();
        let theirs = theirs.iter().map(|(option, ids)| (option.as_str(), &ids[..])).collect();
        assert_eq!(ours, theirs);
    }

    /// How many questions were asked, by the first part of the call.
    fn asked(&self) -> BTreeMap<String, u32> {
        let mut asked = BTreeMap::new();
        for event in facts(&self.trial.log, self.trial.run) {
            if let Event::RequestSent(sent) = event {
                let phase = sent.call.as_str().split('/').next().unwrap().to_owned();
                *asked.entry(phase).or_default() += 1;
            }
        }
        asked
    }
}

const VOTES: [&str; 7] = [
    "condition",
    "enriched_persona",
    "initial_choice",
    "initial_explanation",
    "final_choice",
    "position_changed",
    "opposition_view",
];
const TALKS: [&str; 4] =
    ["clarification_transcript", "adversarial_transcript", "individual_summary", "status"];

fn counted(pairs: &[(&str, u32)]) -> BTreeMap<String, u32> {
    pairs.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect()
}

/// The document's summary has it; the original's outputs do not.
const SIMPLE_RATE: &str =
    "summary.json by_condition simple_voting position_changed_rate: not in the original";

/// Keys that the first versions of the original did not have.
const LATER_KEYS: [&str; 2] = [
    "cross_pollination_content of 8 participants: not in the original",
    "individual_summary of 8 participants: not in the original",
];

const NUMBERS: &str = "the numbers in the ids of clusters, which may count in another order";

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn a_pilot_with_everything_is_executed_again() {
    let again = again(&pilot("pilot_001"));
    again.assert_same_outputs(167, &["times", NUMBERS, SIMPLE_RATE]);
    again.assert_same_summary();
    again.assert_same_participants(&VOTES);
    again.assert_same_participants(&TALKS);
    again.assert_same_clusters();
    let shown = &again.theirs["participants.json"]["participants"][7]["cross_pollination_content"];
    assert_eq!(again.state.cross_pollination.as_deref(), shown.as_str());
    let opposed = again.state.participants.values().filter(|p| p.opposition_view.is_some());
    assert_eq!(opposed.count(), 2, "the pilot has two ACP participants");
    let expected = [
        ("initial_vote", 8),
        ("clarification", 15),
        ("summary", 4),
        ("embedding", 4),
        ("cluster", 6),
        ("adversarial", 6),
        ("final_vote", 6),
    ];
    assert_eq!(again.asked(), counted(&expected));
    insta::assert_snapshot!("reenact_pilot_001", again.notes.join("\n"));
}

/// Every prompt is ours, rendered and kept: the words of the document's templates around the words
/// of the files.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn every_prompt_of_a_pilot_is_rendered_by_us() {
    let again = again(&pilot("pilot_001"));
    let mut reader = again.trial.log.reader().unwrap();
    let mut chats = 0;
    for stored in events(reader.as_mut(), again.trial.run) {
        let (Some(prompt), Some(call)) = (stored.prompt, stored.call) else { continue };
        let request = reader.request(prompt).unwrap().unwrap();
        if request.api() == Api::Embedding {
            continue;
        }
        chats += 1;
        let said: String = request.messages().into_iter().map(|(_, text)| text).collect();
        let of =
            again.state.participants.values().find(|p| call.as_str().contains(&p.participant_id));
        match of {
            Some(p)
                if !call.as_str().ends_with("moderator")
                    && !call.as_str().starts_with("summary") =>
            {
                let base = format!("You are {}\n", p.enriched_persona.as_deref().unwrap());
                assert!(said.starts_with(&base), "{call}: {said}");
            }
            Some(p) => {
                assert!(said.contains(p.initial_choice.as_deref().unwrap()), "{call}: {said}")
            }
            None => assert!(said.starts_with("You are analyzing a group"), "{call}: {said}"),
        }
    }
    assert_eq!(chats, 42);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn a_pilot_that_ended_early_is_executed_again() {
    let again = again(&pilot("test_small_001"));
    let [content, summary] = LATER_KEYS;
    let nobody = "position_changed_rate of 3 conditions in which nobody voted twice: 0 in the \
                  original, null here";
    // Of 149 values, 16 belong to keys that the original does not have, and 3 are rates of empty
    // groups.
    again.assert_same_outputs(130, &["times", SIMPLE_RATE, content, summary, nobody]);
    again.assert_same_summary();
    again.assert_same_participants(&VOTES);
    assert_eq!(again.asked(), counted(&[("initial_vote", 8)]));
    let explained = again.state.participants.values().filter(|p| p.initial_explanation.is_some());
    assert_eq!(explained.count(), 8);
    insta::assert_snapshot!("reenact_test_small_001", again.notes.join("\n"));
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn a_pilot_of_an_older_version_is_executed_as_far_as_it_was_kept() {
    let again = again(&pilot("test_full_001"));
    let [content, summary] = LATER_KEYS;
    // Of 153 values, 16 belong to keys that the original does not have.
    again.assert_same_outputs(137, &["times", SIMPLE_RATE, content, summary]);
    again.assert_same_summary();
    again.assert_same_participants(&VOTES);
    again.assert_same_participants(&["clarification_transcript", "adversarial_transcript"]);
    assert_eq!(again.asked(), counted(&[("initial_vote", 8), ("clarification", 12)]));
    assert_eq!(again.state.cross_pollination, None, "what was shown then was not kept");
    insta::assert_snapshot!("reenact_test_full_001", again.notes.join("\n"));
}

/// One of our own runs, in which one participant failed and clusters are numbered differently.
#[test]
fn a_failed_participant_fails_again_where_no_answer_was_kept() {
    let again = again(&fixtures("originals/pilot_small"));
    again.assert_same_outputs(
        169,
        &["times", NUMBERS, "the error_message of 1: ours begins with the call", SIMPLE_RATE],
    );
    again.assert_same_summary();
    again.assert_same_participants(&VOTES);
    again.assert_same_participants(&TALKS);
    again.assert_same_clusters();
    let failed = &again.state.participants["p_0004"];
    assert_eq!(
        failed.error_message.as_deref(),
        Some("final_vote/p_0004 sample 0: failed in the original run: rate limit reached")
    );
    insta::assert_snapshot!("reenact_pilot_small", again.notes.join("\n"));
}

/// The comparison with the original's own files: first unchanged, then with changes.
#[test]
fn a_comparison_names_what_differs() {
    let original = fixtures("originals/pilot_small");
    let compared = |from: &str, to: &str| -> OriginalComparison {
        let files = ["summary.json", "participants.json", "cluster_embeddings.json"].map(|name| {
            let text = std::fs::read_to_string(original.join(name)).unwrap();
            OutputFile::text(name, text.replace(from, to))
        });
        let imported = import_original("deliberation", &original).unwrap().unwrap().unwrap();
        (imported.compare)(&files)
    };
    let same = compared("nothing", "nothing");
    assert_eq!(same.differences, Vec::<String>::new());
    // 35 fields of the summary, 15 per participant, 4 vectors, the clusters of 2 options, and 4
    // clusters in those.
    assert_eq!(same.compared, 35 + 8 * 15 + 4 + 2 + 4 * 2);
    let more = compared("\"terminated_early\"", "\"more\": 1, \"terminated_early\"");
    assert_eq!(more.differences, Vec::<String>::new());
    assert_eq!(more.not_compared.last().unwrap(), "summary.json more: not in the original");
    // Options are counted, not assumed: one that only we have is a difference.
    let option = compared("\"More benches\": 2", "\"More benches\": 2, \"More lamps\": 1");
    assert_eq!(
        option.differences,
        ["summary.json by_condition acp final_vote_distribution More lamps: null there, 1 here"]
    );
    let changes = [
        ("\"completed\": 1", "\"completed\": 2"),
        ("\"final_choice\": \"More trees\"", "\"final_choice\": null"),
        ("\"initial_explanation\": null", "\"initial_explanation\": \"Why not\""),
        ("\"They sit on benches, too.\"", "\"No.\""),
        ("0.75", "0.5"),
        ("\"p_0005\"", "\"p_0006\""),
        ("\"participants\"", "\"people\""),
    ];
    let lines = changes.map(|(from, to)| {
        let differences = compared(from, to).differences;
        format!("{from} -> {to}\n  {}", differences.join("\n  "))
    });
    insta::assert_snapshot!(lines.join("\n"));
    // A key that this program does not know is neither imported nor silently skipped.
    let place = tempfile::tempdir().unwrap();
    for file in std::fs::read_dir(&original).unwrap().map(|file| file.unwrap()) {
        let text = std::fs::read_to_string(file.path()).unwrap();
        let text = text.replace("\"initial_explanation\"", "\"mood\": 1, \"initial_explanation\"");
        std::fs::write(place.path().join(file.file_name()), text).unwrap();
    }
    let imported = import_original("deliberation", place.path()).unwrap().unwrap().unwrap();
    let left = (imported.compare)(&[]).not_compared;
    assert_eq!(
        left.last().unwrap(),
        "mood of 8 participants, which this program does not recognise"
    );
    let imported = import_original("deliberation", &original).unwrap().unwrap().unwrap();
    let nothing = (imported.compare)(&[]).differences;
    assert_eq!(nothing[0], "our summary.json: our run does not write it");
}
