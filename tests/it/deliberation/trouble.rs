//! A fifth of each kind of malformed answer, hard failures and 429s: the run completes, every
//! failure is reported with the participant and the call, and no one who failed is counted.

use std::collections::{BTreeMap, BTreeSet};

use retold::content::Content;
use retold::event::Event;
use retold::id::Seq;
use retold::model::simulated::{Misbehaviour, Player};
use retold_deliberation::{Condition, Fact, SimulatedDeliberation};
use serde::Deserialize;
use serde_json::{Value, json};

use super::runs::{every_trouble, model, recorded, small};
use crate::support::block_on;
use crate::support::logs::facts;
use crate::support::trial::Trial;

/// A run with failures, as its log records it.
struct Told {
    events: Vec<Event>,
    report: Value,
}

/// Where there are four kinds, four answers in five are malformed, so more attempts are allowed;
/// otherwise no participant would finish.
const LARGE: [&str; 2] = ["participants_per_condition=150", "max_parse_retries=5"];

fn told() -> Told {
    let experiment = small(&LARGE);
    let trial = Trial::in_memory(model(every_trouble()));
    let ended = recorded(&trial, experiment.as_ref());
    assert_eq!(block_on(trial.replay(experiment.as_ref())), ended.outcome_digest);
    Told { events: facts(&trial.log, trial.run), report: ended.report.json }
}

impl Told {
    /// The experiment's facts, each with its seq in the log.
    fn facts(&self) -> impl Iterator<Item = (Seq, Fact)> {
        (1..).zip(&self.events).filter_map(|(seq, event)| match event {
            Event::Occurred(occurred) => {
                Some((Seq(seq), Fact::deserialize(&occurred.fact).unwrap()))
            }
            _ => None,
        })
    }

    /// Each participant who failed: seq, call, sample, and reason.
    fn failed(&self) -> BTreeMap<String, (Seq, String, u32, String)> {
        let mut failed = BTreeMap::new();
        for (seq, fact) in self.facts() {
            if let Fact::ParticipantFailed { participant_id, call, sample, reason } = fact {
                let twice = failed.insert(participant_id, (seq, call, sample, reason));
                assert!(twice.is_none(), "nobody fails twice");
            }
        }
        failed
    }

    /// Call and sample of each request, by its seq.
    fn requests(&self) -> BTreeMap<Seq, (String, u32)> {
        let sent = (1..).zip(&self.events).filter_map(|(seq, event)| match event {
            Event::RequestSent(sent) => Some((Seq(seq), (sent.call.to_string(), sent.sample))),
            _ => None,
        });
        sent.collect()
    }
}

fn is_about(call: &str, participant: &str) -> bool {
    call.split('/').any(|part| part == participant)
}

#[test]
fn every_failure_is_attributed_to_a_participant_and_the_call() {
    let told = told();
    let (failed, requests) = (told.failed(), told.requests());
    assert!(failed.len() > 300 && failed.len() < 590, "{} of 600 failed", failed.len());
    let mut gave_up: BTreeMap<(String, u32), String> = BTreeMap::new();
    let (mut limited, mut answers) = (0, BTreeMap::new());
    for (seq, event) in (1..).zip(&told.events) {
        match event {
            Event::AttemptFailed(attempt) => {
                limited += u32::from(attempt.details.status == Some(429));
                if attempt.details.gave_up {
                    let address = requests[&attempt.request].clone();
                    gave_up.insert(address, attempt.details.error.clone());
                }
            }
            Event::ResponseReceived(answer) => {
                answers.insert(Seq(seq), requests[&answer.request].clone());
            }
            _ => {}
        }
    }
    assert!(limited > 50, "429s: {limited}");
    let unusable: BTreeSet<(String, u32)> = told
        .events
        .iter()
        .filter_map(|event| match event {
            Event::DecisionMade(made)
                if made.by.method == "failed" || made.by.method == "empty" =>
            {
                answers.get(&made.response).cloned()
            }
            _ => None,
        })
        .collect();
    let (mut by_call, mut by_answers) = (0, 0);
    for (participant, (_, call, sample, reason)) in &failed {
        assert!(is_about(call, participant), "{participant}: {call}");
        let address = (call.clone(), *sample);
        match gave_up.get(&address) {
            Some(error) => {
                assert!(reason.contains(error), "{reason} / {error}");
                by_call += 1;
            }
            None => {
                assert!(reason.starts_with("none of 6 answers could be used; "), "{reason}");
                let asked = (0..6).all(|n| answers.values().any(|a| *a == (call.clone(), n)));
                assert!(asked && *sample == 5, "{call}: asked six times");
                let method = told.events.iter().any(|event| {
                    matches!(event,
                    Event::DecisionMade(made) if answers.get(&made.response) == Some(&address))
                });
                assert!(method, "{call}: its last answer was judged");
                by_answers += 1;
            }
        }
    }
    assert!(by_call > 5 && by_answers > 0, "{by_call} by failed calls, {by_answers} by answers");
    assert!(!unusable.is_empty());
    // And conversely: a call about a participant that was given up has failed that participant.
    for (call, sample) in gave_up.keys().filter(|(call, _)| call.contains("p_")) {
        let owner = call.split('/').find(|part| part.starts_with("p_")).unwrap();
        let (_, told_call, told_sample, _) = &failed[owner];
        assert_eq!((told_call, told_sample), (call, sample));
    }
}

#[test]
fn participants_who_failed_are_not_asked_mentioned_or_counted_again() {
    let told = told();
    let failed = told.failed();
    for (seq, (call, _)) in told.requests() {
        let late = failed.iter().find(|(who, (when, ..))| seq > *when && is_about(&call, who));
        assert_eq!(late, None, "asked after the failure: {call}");
    }
    let (mut conditions, mut before, mut after) =
        (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let gone = |who: &str, seq: Seq| failed.get(who).is_some_and(|(when, ..)| *when < seq);
    let mut shown = 0;
    for (seq, fact) in told.facts() {
        match fact {
            Fact::Enrolled { participant_id, condition, .. } => {
                conditions.insert(participant_id, condition);
            }
            Fact::InitialVoteCast { participant_id, choice } => {
                assert!(!gone(&participant_id, seq));
                before.insert(participant_id, choice);
            }
            Fact::FinalVoteCast { participant_id, choice } => {
                assert!(!gone(&participant_id, seq));
                after.insert(participant_id, choice);
            }
            Fact::ThresholdChecked { votes, .. } => {
                let active = conditions.keys().filter(|who| !gone(who, seq)).count();
                assert_eq!(votes.values().sum::<u32>() as usize, active, "complete ones only");
            }
            Fact::ClusterFormed { member_ids, .. } => {
                let leaked = member_ids.iter().find(|who| gone(who, seq));
                assert_eq!(leaked, None, "grouped after the failure");
                shown += member_ids.len();
            }
            Fact::PersonaEnriched { participant_id, .. }
            | Fact::Clarified { participant_id, .. }
            | Fact::Summarised { participant_id, .. }
            | Fact::SummaryEmbedded { participant_id, .. }
            | Fact::OppositionChosen { participant_id, .. }
            | Fact::SummaryShown { participant_id }
            | Fact::Challenged { participant_id, .. } => {
                assert!(!gone(&participant_id, seq), "{participant_id} at {seq}");
            }
            _ => {}
        }
    }
    assert!(shown > 20, "{shown}");

    // The statistics, counted again from the votes alone.
    for condition in Condition::ALL {
        let row = &told.report["by_condition"][condition.as_str()];
        let all = conditions.iter().filter(|(_, c)| **c == condition).map(|(who, _)| who);
        let (out, complete): (Vec<&String>, Vec<&String>) =
            all.partition(|who| failed.contains_key(*who));
        let distribution = |votes: &BTreeMap<String, String>| {
            let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
            let cast = complete.iter().filter_map(|who| votes.get(*who));
            cast.for_each(|choice| *counts.entry(choice).or_default() += 1);
            json!(counts)
        };
        assert_eq!(row["total"], 150);
        assert_eq!(
            (&row["failed"], &row["completed"]),
            (&json!(out.len()), &json!(complete.len()))
        );
        assert_eq!(row["initial_vote_distribution"], distribution(&before), "{condition:?}");
        if condition == Condition::SimpleVoting {
            assert!(row["final_vote_distribution"].is_null() && row["position_changed"].is_null());
            continue;
        }
        assert_eq!(row["final_vote_distribution"], distribution(&after), "{condition:?}");
        let changed = complete.iter().filter(|who| before[**who] != after[**who]).count();
        assert_eq!(row["position_changed"], json!(changed), "{condition:?}");
        let rate = row["position_changed_rate"].as_f64().unwrap();
        assert!((rate - changed as f64 / complete.len() as f64).abs() < 0.001, "{rate}");
    }
}

#[test]
fn a_fifth_of_the_answers_is_of_each_kind() {
    // No answers are cut off, so that the kind of each can be recognised by its text.
    let experiment = small(&LARGE);
    let trial = Trial::in_memory(model(Misbehaviour { truncated: 0.0, ..every_trouble() }));
    recorded(&trial, experiment.as_ref());
    let told = Told { events: facts(&trial.log, trial.run), report: Value::Null };
    let requests = told.requests();
    let answers: Vec<(&str, &str)> = told
        .events
        .iter()
        .filter_map(|event| match event {
            Event::ResponseReceived(answer) => match &answer.content {
                Content::Text(text) => Some((requests[&answer.request].0.as_str(), &**text)),
                Content::Vector(_) => None,
            },
            _ => None,
        })
        .collect();
    type Of = fn(&str) -> bool;
    let asked: [(Of, &[(&str, Of)]); 4] = [
        (
            |call| call.contains("vote/"),
            &[
                ("refusal", |a| a.starts_with("I'm sorry")),
                ("two_options", |a| a.contains(" or ")),
                ("no_option", |a| a == "None of these."),
                ("empty", str::is_empty),
            ],
        ),
        (
            |call| call.ends_with("/demographics"),
            &[
                ("refusal", |a| a.starts_with("I'm sorry")),
                ("out_of_range", |a| a.contains("81")),
                ("broken_json", |a| a.ends_with("\"sex\":")),
                ("empty", str::is_empty),
            ],
        ),
        (
            |call| call.ends_with("/moderator"),
            &[("late_satisfied", |a| a.ends_with("\n\nSATISFIED")), ("empty", str::is_empty)],
        ),
        (|call| call.ends_with("/description"), &[("empty", str::is_empty)]),
    ];
    let mut seen = BTreeSet::new();
    for (number, (is_asked, kinds)) in asked.into_iter().enumerate() {
        let given: Vec<&str> =
            answers.iter().filter(|(call, _)| is_asked(call)).map(|(_, a)| *a).collect();
        assert!(given.len() > 200, "{} answers to question {number}", given.len());
        for (kind, is) in kinds {
            let share = given.iter().filter(|a| is(a)).count() as f64 / given.len() as f64;
            // Four standard deviations of the smallest group.
            assert!((share - 0.2).abs() < 0.11, "{share:.2} of question {number} are {kind}");
            seen.insert(*kind);
        }
    }
    assert_eq!(seen, SimulatedDeliberation.kinds().iter().copied().collect());
}
