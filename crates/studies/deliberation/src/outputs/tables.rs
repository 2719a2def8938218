//! The same data as tables. Texts are unchanged, including line breaks; missing values are empty
//! cells.

use crate::calls;
use crate::state::{DeliberationState, Participant, ParticipantStatus};
use crate::transcript::Speaker;
use retold_study::table::Table;

/// `participants.csv`: one row per participant.
pub(super) fn participants(state: &DeliberationState) -> Table {
    let columns = [
        "participant_id", "condition", "status", "age", "sex", "education", "income",
        "location_type", "political_leaning", "occupation", "initial_choice", "final_choice",
        "position_changed", "cluster_id", "opposition_view", "individual_summary", "base_persona",
        "enriched_persona", "error_message",
    ];
    let mut table = Table::new("participants", &columns);
    for p in state.participants.values() {
        let who = p.demographics.clone();
        let of = |value: Option<String>| value.unwrap_or_default();
        let (age, [sex, education, income, location_type, political_leaning, occupation]) =
            match who {
                Some(d) => (
                    d.age.to_string(),
                    [
                        d.sex,
                        d.education,
                        d.income,
                        d.location_type,
                        d.political_leaning,
                        of(d.occupation),
                    ],
                ),
                None => Default::default(),
            };
        table.row([
            p.participant_id.clone(),
            p.condition.as_str().to_owned(),
            status(p.status).to_owned(),
            age,
            sex,
            education,
            income,
            location_type,
            political_leaning,
            occupation,
            of(p.initial_choice.clone()),
            of(p.final_choice.clone()),
            of(p.position_changed.map(|changed| changed.to_string())),
            of(p.cluster_id.clone()),
            of(p.opposition_view.clone()),
            of(p.individual_summary.clone()),
            p.base_persona.clone(),
            of(p.enriched_persona.clone()),
            of(p.error_message.clone()),
        ]);
    }
    table
}

/// `turns.csv`: one row per turn of a dialogue, with the call that it answers.
pub(super) fn turns(state: &DeliberationState) -> Table {
    let columns = [
        "participant_id", "condition", "status", "dialogue", "exchange", "role", "content", "call",
    ];
    let mut table = Table::new("turns", &columns);
    for p in state.participants.values() {
        let id = &p.participant_id;
        let dialogues = [
            ("clarification", calls::clarification(id), &p.clarification_transcript),
            ("adversarial", calls::adversarial(id), &p.adversarial_transcript),
        ];
        for (dialogue, call, transcript) in dialogues {
            for (index, turn) in transcript.iter().flatten().enumerate() {
                let exchange = index / 2 + 1;
                table.row([
                    id.clone(),
                    p.condition.as_str().to_owned(),
                    status(p.status).to_owned(),
                    dialogue.to_owned(),
                    exchange.to_string(),
                    role(turn.role).to_owned(),
                    turn.content.clone(),
                    calls::turn(&call, exchange, turn.role),
                ]);
            }
        }
    }
    table
}

/// `votes.csv`: one row per vote, with the call that it answers. Failed participants are marked
/// rather than left out.
pub(super) fn votes(state: &DeliberationState) -> Table {
    let columns = ["participant_id", "condition", "status", "vote", "choice", "call"];
    let mut table = Table::new("votes", &columns);
    for p in state.participants.values() {
        let id = &p.participant_id;
        let votes = [
            ("initial", &p.initial_choice, calls::initial_vote(id)),
            ("final", &p.final_choice, calls::final_vote(id)),
        ];
        for (vote, choice, call) in votes {
            if let Some(choice) = choice {
                table.row(vote_row(p, vote, choice, call));
            }
        }
    }
    table
}

/// `clusters.csv`: one row per cluster. `members` counts those who have not failed; `formed_with`,
/// like `member_count` in the JSON files, counts all whom phase 4 put in it and on whose summaries
/// its description is based.
pub(super) fn clusters(state: &DeliberationState) -> Table {
    let columns = ["cluster_id", "option", "members", "formed_with", "failed_later", "description"];
    let mut table = Table::new("clusters", &columns);
    let has_failed = |id: &&String| {
        state.participants.get(*id).is_some_and(|p| p.status == ParticipantStatus::Failed)
    };
    for cluster in &state.clusters {
        let ids = &cluster.member_ids;
        let failed: Vec<&str> = ids.iter().filter(has_failed).map(String::as_str).collect();
        table.row([
            cluster.cluster_id.clone(),
            cluster.option.clone(),
            (ids.len() - failed.len()).to_string(),
            ids.len().to_string(),
            failed.join(" "),
            cluster.description.clone().unwrap_or_default(),
        ]);
    }
    table
}

fn vote_row(p: &Participant, vote: &str, choice: &str, call: String) -> [String; 6] {
    let owned = str::to_owned;
    let (condition, status) = (owned(p.condition.as_str()), owned(status(p.status)));
    [p.participant_id.clone(), condition, status, owned(vote), owned(choice), call]
}

/// The spelling in the JSON files.
fn status(status: ParticipantStatus) -> &'static str {
    match status {
        ParticipantStatus::Pending => "pending",
        ParticipantStatus::Complete => "complete",
        ParticipantStatus::Failed => "failed",
        ParticipantStatus::Skipped => "skipped",
    }
}

fn role(role: Speaker) -> &'static str {
    match role {
        Speaker::Moderator => "moderator",
        Speaker::Participant => "participant",
    }
}
