//! Checks that the files of an original run are consistent, so that every question has its answer.

use std::collections::{BTreeMap, BTreeSet};

use super::files::{Files, ParticipantEntry};
use crate::conditions::Condition;
use crate::state::{ParticipantStatus, participant_id};
use crate::transcript::{DialogueTurn, Speaker};
use retold_study::original::OriginalError;

const PARTICIPANTS: &str = "participants.json";
const CLUSTERS: &str = "cluster_embeddings.json";
const VECTORS: &str = "individual_embeddings.json";

/// The first inconsistency.
pub(super) fn check(files: &Files) -> Result<(), OriginalError> {
    people(files)?;
    for row in &files.participants {
        whole(files, row)?;
    }
    clusters(files)?;
    vectors(files)
}

/// Checks that there are as many participants in each condition as the config says, with ids in
/// order.
fn people(files: &Files) -> Result<(), OriginalError> {
    let each = files.config.participants_per_condition as usize;
    for condition in Condition::ALL {
        let there = files.participants.iter().filter(|p| p.condition == condition).count();
        if there != each {
            let reason = format!(
                "{there} participants in condition {}, and config.yaml says {each}",
                condition.as_str()
            );
            return Err(files.inconsistent(PARTICIPANTS, reason));
        }
    }
    for (number, row) in (1..).zip(&files.participants) {
        let (id, expected) = (&row.participant_id, participant_id(number));
        if *id != expected {
            let reason = format!("participant {number} is {id:?}, and should be {expected:?}");
            return Err(files.inconsistent(PARTICIPANTS, reason));
        }
    }
    Ok(())
}

/// Checks that a participant has everything that is needed, unless it failed.
fn whole(files: &Files, row: &ParticipantEntry) -> Result<(), OriginalError> {
    let config = &files.config;
    let wrong = |what: String| {
        Err(files.inconsistent(PARTICIPANTS, format!("{} {what}", row.participant_id)))
    };
    let choices = [&row.initial_choice, &row.final_choice, &row.opposition_view];
    for choice in choices.into_iter().flatten() {
        if !config.topic.options.contains(choice) {
            return wrong(format!(
                "names {choice:?}, which is not one of the options in config.yaml"
            ));
        }
    }
    for (which, transcript, most) in [
        (
            "a clarification_transcript",
            &row.clarification_transcript,
            config.max_clarification_exchanges,
        ),
        ("an adversarial_transcript", &row.adversarial_transcript, config.max_socratic_exchanges),
    ] {
        if let Some(what) = transcript.as_deref().and_then(|turns| wrong_turns(turns, most)) {
            return wrong(format!("has {which} that {what}"));
        }
    }
    let (on, clarified) = (!files.ended_early(), row.condition.is_clarified());
    let acp = row.condition == Condition::Acp;
    let needed = [
        ("initial_choice", true, row.initial_choice.is_some()),
        ("clarification_transcript", on && clarified, row.clarification_transcript.is_some()),
        (
            "individual_summary",
            files.has_summaries() && clarified,
            row.individual_summary.is_some(),
        ),
        ("opposition_view", on && acp, row.opposition_view.is_some()),
        ("adversarial_transcript", on && acp, row.adversarial_transcript.is_some()),
        (
            "final_choice",
            on && row.condition != Condition::SimpleVoting,
            row.final_choice.is_some(),
        ),
    ];
    if row.status != ParticipantStatus::Failed {
        for (key, is_needed, is_there) in needed {
            if is_needed && !is_there {
                let condition = row.condition.as_str();
                return wrong(format!("({condition}) did not fail and has no {key}"));
            }
        }
    }
    match (&row.individual_summary, &row.individual_summary_embedding) {
        (Some(_), None) if row.status != ParticipantStatus::Failed => {
            wrong("has an individual_summary but no individual_summary_embedding".to_owned())
        }
        (None, Some(_)) => {
            wrong("has an individual_summary_embedding but no individual_summary".to_owned())
        }
        _ => Ok(()),
    }
}

/// The fault of a dialogue: moderator and participant should alternate, each question should be
/// answered, and there should be no more exchanges than allowed.
fn wrong_turns(turns: &[DialogueTurn], most: u32) -> Option<String> {
    let order = [Speaker::Moderator, Speaker::Participant];
    if let Some(n) = turns.iter().zip(order.iter().cycle()).position(|(t, who)| t.role != *who) {
        return Some(format!("is out of turn at turn {}", n + 1));
    }
    let exchanges = turns.len() / 2;
    if turns.len() % 2 == 1 {
        return Some("ends with a question".to_owned());
    }
    (exchanges > most as usize)
        .then(|| format!("has {exchanges} exchanges, and config.yaml allows {most}"))
}

/// Checks that each summarised participant is in one cluster, of the chosen option.
fn clusters(files: &Files) -> Result<(), OriginalError> {
    let wrong = |what: String| files.inconsistent(CLUSTERS, what);
    let people: BTreeMap<&str, &ParticipantEntry> =
        files.participants.iter().map(|p| (p.participant_id.as_str(), p)).collect();
    let mut seen = BTreeSet::new();
    for cluster in &files.clusters {
        let (id, count) = (&cluster.cluster_id, cluster.member_ids.len());
        if cluster.member_count != count {
            let said = cluster.member_count;
            return Err(wrong(format!("{id:?} says {said} members and names {count}")));
        }
        for member in &cluster.member_ids {
            let Some(row) = people.get(member.as_str()) else {
                return Err(wrong(format!("{id:?} has member {member:?}, who does not take part")));
            };
            if row.initial_choice.as_ref() != Some(&cluster.option) {
                let option = &cluster.option;
                return Err(wrong(format!(
                    "{id:?} is of {option:?}, which its member {member} did not choose"
                )));
            }
            if row.cluster_id.as_ref() != Some(id) {
                let other = row.cluster_id.as_deref().unwrap_or("none");
                return Err(wrong(format!(
                    "{id:?} has member {member}, whose cluster is {other:?} in {PARTICIPANTS}"
                )));
            }
            if !seen.insert(member) {
                return Err(wrong(format!("{member} is in two clusters")));
            }
        }
    }
    match files
        .participants
        .iter()
        .find(|p| p.cluster_id.is_some() && !seen.contains(&p.participant_id))
    {
        Some(row) => Err(wrong(format!(
            "{} is in no cluster, and in {:?} in {PARTICIPANTS}",
            row.participant_id,
            row.cluster_id.as_deref().unwrap_or("")
        ))),
        None => Ok(()),
    }
}

/// Checks that both files have the same vectors, all of the same length.
fn vectors(files: &Files) -> Result<(), OriginalError> {
    let wrong = |what: String| files.inconsistent(VECTORS, what);
    let there: BTreeMap<&str, &[f32]> =
        files.vectors.iter().map(|v| (v.participant_id.as_str(), v.embedding.as_slice())).collect();
    let mut width = None;
    for row in &files.participants {
        let Some(own) = row.individual_summary_embedding.as_deref() else { continue };
        let id = &row.participant_id;
        match there.get(id.as_str()) {
            None => {
                return Err(wrong(format!("has no vector of {id}, and {PARTICIPANTS} has one")));
            }
            Some(other) if *other != own => {
                return Err(wrong(format!("its vector of {id} is not the one in {PARTICIPANTS}")));
            }
            Some(_) => {}
        }
        if *width.get_or_insert(own.len()) != own.len() || own.iter().any(|x| !x.is_finite()) {
            let (n, first) = (own.len(), width.unwrap_or(0));
            return Err(wrong(format!("the vector of {id} has {n} numbers, others have {first}")));
        }
    }
    match files.clusters.iter().find(|c| width.is_some_and(|width| c.embedding.len() != width)) {
        Some(cluster) => Err(files.inconsistent(
            CLUSTERS,
            format!(
                "the vector of {:?} has {} numbers, those of participants have {}",
                cluster.cluster_id,
                cluster.embedding.len(),
                width.unwrap_or(0)
            ),
        )),
        None => Ok(()),
    }
}
