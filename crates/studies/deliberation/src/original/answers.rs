//! The answers of an original run, by call path.

use std::collections::BTreeMap;

use super::files::{Files, ParticipantEntry};
use crate::grouping::{USUAL_SEED, group};
use crate::state::ParticipantStatus;
use crate::transcript::{DialogueTurn, Speaker};
use retold::content::Content;
use retold::model::{Failure, FailureKind};
use retold_stats::{Point, point};
use retold_study::original::{Answers, OriginalError};

/// Assigns every answer in the files to the call that asks for it. Also returns the calls that
/// ended a dialogue: their answers were not kept, but can only have been the closing word.
pub(super) fn answers(files: &Files) -> Result<(Answers, Vec<String>), OriginalError> {
    let mut found = OriginalAnswers::default();
    files.participants.iter().for_each(|row| found.add(files, row));
    found.add_clusters(files)?;
    let OriginalAnswers { by_call, closing, failed } = found;
    let mut answers = Answers::new(files.source(), by_call);
    let unknown = answers.unanswered;
    answers.unanswered =
        Box::new(move |ask| match ask.call.as_str().split('/').find_map(|part| failed.get(part)) {
            Some(message) => Failure::new(FailureKind::Rejected, message.clone()),
            None => unknown(ask),
        });
    Ok((answers, closing))
}

/// The answers found in the files.
#[derive(Default)]
struct OriginalAnswers {
    by_call: BTreeMap<String, Content>,
    closing: Vec<String>,
    /// Participants who failed, and why: the failure is at the first call without an answer.
    failed: BTreeMap<String, String>,
}

impl OriginalAnswers {
    fn add(&mut self, files: &Files, row: &ParticipantEntry) {
        let (id, config) = (&row.participant_id, &files.config);
        if row.status == ParticipantStatus::Failed {
            self.failed.insert(id.clone(), row.failure());
        }
        self.put(format!("initial_vote/{id}"), row.initial_choice.as_deref());
        let clarification = format!("clarification/{id}");
        let most = config.max_clarification_exchanges;
        self.add_dialogue(&clarification, row.clarification_transcript.as_deref(), most);
        if !files.has_summaries() {
            return;
        }
        self.put(format!("summary/{id}"), row.individual_summary.as_deref());
        if let Some(vector) = &row.individual_summary_embedding {
            let vector = Content::Vector(vector.as_slice().into());
            self.by_call.insert(format!("embedding/{id}"), vector);
        }
        let adversarial = format!("adversarial/{id}");
        let most = config.max_socratic_exchanges;
        self.add_dialogue(&adversarial, row.adversarial_transcript.as_deref(), most);
        self.put(format!("opposition/{id}"), row.opposition_view.as_deref());
        self.put(format!("final_vote/{id}"), row.final_choice.as_deref());
    }

    fn put(&mut self, call: String, text: Option<&str>) {
        if let Some(text) = text {
            self.by_call.insert(call, text.into());
        }
    }

    fn add_dialogue(&mut self, call: &str, turns: Option<&[DialogueTurn]>, most: u32) {
        let Some(turns) = turns else { return };
        for (exchange, pair) in (1..).zip(turns.chunks(2)) {
            for turn in pair {
                let who = match turn.role {
                    Speaker::Moderator => "moderator",
                    Speaker::Participant => "participant",
                };
                self.put(format!("{call}/{exchange}/{who}"), Some(&turn.content));
            }
        }
        let held = turns.len() / 2;
        if held < most as usize {
            let call = format!("{call}/{}/moderator", held + 1);
            self.put(call.clone(), Some("SATISFIED"));
            self.closing.push(call);
        }
    }

    /// Clusters are numbered as our experiment will number them, by their members.
    fn add_clusters(&mut self, files: &Files) -> Result<(), OriginalError> {
        for (number, option) in files.config.topic.options.iter().enumerate() {
            let voters =
                files.participants.iter().filter(|p| p.initial_choice.as_ref() == Some(option));
            let members: Vec<(String, Point)> = voters
                .filter(|p| p.status != ParticipantStatus::Failed || p.cluster_id.is_some())
                .filter_map(|p| {
                    let vector = p.individual_summary_embedding.as_deref()?;
                    Some((p.participant_id.clone(), point(vector)))
                })
                .collect();
            for formed in group(number, option, &members, &files.config, USUAL_SEED) {
                let theirs = files.clusters.iter().find(|cluster| {
                    let mut ids: Vec<&String> = cluster.member_ids.iter().collect();
                    ids.sort();
                    ids.into_iter().eq(&formed.member_ids)
                });
                let Some(theirs) = theirs else {
                    let ids = formed.member_ids.join(", ");
                    let reason = format!(
                        "has no cluster of {ids}, which their vectors make one of {option:?}"
                    );
                    return Err(files.inconsistent("cluster_embeddings.json", reason));
                };
                let call = &formed.call;
                self.put(format!("{call}/description"), Some(&theirs.description));
                let vector = Content::Vector(theirs.embedding.as_slice().into());
                self.by_call.insert(format!("{call}/embedding"), vector);
            }
        }
        Ok(())
    }
}
