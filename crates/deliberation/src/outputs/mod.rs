//! The output folder `outputs/{pilot_id}`: the document's files in the shapes of the original outputs,
//! and tables.
//!
//! | file | what | who of those who failed |
//! |---|---|---|
//! | `summary.json` | the statistics | counted as `failed` and in `total`, in nothing else |
//! | `participants.json` | everyone, with transcripts and vectors | all, by `status` |
//! | `cluster_embeddings.json`, `individual_embeddings.json` | the vectors of descriptions and summaries | those who failed after phase 4 |
//! | `checkpoint.json` | how far the run got, and its clusters | in clusters, those who failed after phase 4 |
//! | `clusters.csv` | the sizes of clusters | in `formed_with` and `failed_later`, not in `members` |
//! | `participants.csv`, `turns.csv`, `votes.csv` | the same as tables, for those who do not read JSON | all, by `status` |
//! | `config.yaml` | the config with all defaults filled in; no keys | |
//! | `experiment.log` | phases, progress, the statistics of phase 8, a line each | each failure |
//!
//! Clusters are what phase 4 formed, as the document's checkpoint keeps them: what others read of a
//! cluster and how they were opposed to it rests on all who were in it then, so one who fails later
//! stays in its `member_ids` and `member_count`. That is history and no statistic; sizes for statistics
//! are in `clusters.csv`. Nobody who failed before phase 4 formed them is in any cluster.
//!
//! All of it is folded from the log, so that one log always gives the same bytes: vectors are the
//! recorded answers, and a file was "generated" when the last event of the run happened. Vectors are
//! 32-bit floats; they are printed as the 64-bit numbers of the same value, as the original does.

mod checkpoint;
mod clusters;
mod config;
pub(super) mod diary;
mod participants;
mod tables;
mod vectors;

use serde::Serialize;

use self::vectors::Vectors;
use super::experiment::Deliberation;
use super::state::Deliberated;
use super::summary::summary;
use retold::run::{OutputError, OutputFile, RunRecord};

impl Deliberation {
    /// All files of the folder.
    pub(super) fn output_files(
        &self,
        state: &Deliberated,
        record: &mut RunRecord<'_>,
    ) -> Result<Vec<OutputFile>, OutputError> {
        let options = &self.config.topic.options;
        let vectors = Vectors::read(state, options, record)?;
        let (pilot_id, generated_at) = (self.config.pilot_id.as_str(), record.last.to_string());
        let clusters = clusters::records(state, &vectors);
        let dated = |contents| Dated { pilot_id, generated_at: &generated_at, contents };
        let reason = state.termination_reason.as_deref();
        let summary = summary(pilot_id, reason, state.participants.values());
        let checkpoint = checkpoint::record(state, options, &clusters, &generated_at);
        let participants = participants::records(state, &vectors);
        let embeddings = participants::embeddings(state, &vectors);
        Ok(vec![
            OutputFile::json(
                "participants.json",
                &dated(Contents::Participants { participants: &participants }),
            )?,
            OutputFile::json(
                "cluster_embeddings.json",
                &dated(Contents::Clusters { clusters: &clusters }),
            )?,
            OutputFile::json(
                "individual_embeddings.json",
                &dated(Contents::Embeddings { embeddings: &embeddings }),
            )?,
            OutputFile::json("summary.json", &summary)?,
            OutputFile::json("checkpoint.json", &checkpoint)?,
            OutputFile::text("config.yaml", config::yaml(&self.config, record)?),
            OutputFile::text("experiment.log", diary::text(pilot_id, record)?),
            OutputFile::from(tables::participants(state)),
            OutputFile::from(tables::turns(state)),
            OutputFile::from(tables::votes(state)),
            OutputFile::from(tables::clusters(state)),
        ])
    }
}

/// A file that says which pilot it is of, and when it was made.
#[derive(Serialize)]
struct Dated<'a> {
    pilot_id: &'a str,
    generated_at: &'a str,
    #[serde(flatten)]
    contents: Contents<'a>,
}

/// What is in it, under a key of its own.
#[derive(Serialize)]
#[serde(untagged)]
enum Contents<'a> {
    Participants { participants: &'a [participants::ParticipantRecord<'a>] },
    Clusters { clusters: &'a [clusters::ClusterRecord<'a>] },
    Embeddings { embeddings: &'a [participants::Embedding<'a>] },
}
