//! The output folder `outputs/{pilot_id}`: the document's files in the shapes of the original
//! outputs, and tables.
//!
//! - `summary.json`: the statistics. Those who failed are counted as `failed` and in `total`, in
//!   nothing else.
//! - `participants.json`: everyone, with transcripts and vectors, including those who failed, by
//!   `status`.
//! - `cluster_embeddings.json`, `individual_embeddings.json`: the vectors of descriptions and
//!   summaries, including those of participants who failed after phase 4.
//! - `checkpoint.json`: how far the run got, and its clusters, with those who failed after phase 4.
//! - `clusters.csv`: the sizes of clusters. Those who failed are in `formed_with` and
//!   `failed_later`, not in `members`.
//! - `participants.csv`, `turns.csv`, `votes.csv`: the same as tables, for those who do not read
//!   JSON, including those who failed, by `status`.
//! - `config.yaml`: the config with all defaults filled in; no keys.
//! - `experiment.log`: phases, progress, the statistics of phase 8 and each failure, a line each.
//!
//! Clusters are kept as phase 4 formed them, as in the document's checkpoint. The descriptions that
//! others read, and the choice of opposing views, depend on all members at that time, so a
//! participant who fails later remains in `member_ids` and `member_count`. That is history rather
//! than statistics; sizes for statistics are in `clusters.csv`. Participants who failed before
//! phase 4 are in no cluster.
//!
//! Everything is folded from the log, so that a log always gives the same bytes: the time
//! at which a file was "generated" is that of the run's last event. Vectors are 32-bit floats; they are printed as the 64-bit numbers with the same value, as in the
//! original.

mod checkpoint;
mod clusters;
mod config;
pub(super) mod diary;
mod participants;
mod tables;
mod vectors;

use serde::Serialize;

use super::experiment::Deliberation;
use super::state::DeliberationState;
use super::summary::summary;
use retold::run::{OutputError, OutputFile, RunRecord};

/// How far the run got.
const CHECKPOINT: &str = "checkpoint.json";

/// Everyone.
const PARTICIPANTS: &str = "participants.json";

/// The files that the document's program writes after each phase, at a time.
fn phase_files(
    pilot_id: &str,
    options: &[String],
    state: &DeliberationState,
    time: &str,
) -> Result<[OutputFile; 2], OutputError> {
    let clusters = clusters::records(state);
    let checkpoint = checkpoint::record(state, options, &clusters, time);
    let participants = participants::records(state);
    let contents = KeyedContents::Participants { participants: &participants };
    Ok([
        OutputFile::json(PARTICIPANTS, &DatedFile { pilot_id, generated_at: time, contents })?,
        OutputFile::json(CHECKPOINT, &checkpoint)?,
    ])
}

impl Deliberation {
    /// All files of the folder.
    pub(super) fn output_files(
        &self,
        state: &DeliberationState,
        record: &mut RunRecord<'_>,
    ) -> Result<Vec<OutputFile>, OutputError> {
        let options = &self.config.topic.options;
        let (pilot_id, generated_at) = (self.config.pilot_id.as_str(), record.last.to_string());
        let clusters = clusters::records(state);
        let dated = |contents| DatedFile { pilot_id, generated_at: &generated_at, contents };
        let reason = state.termination_reason.as_deref();
        let summary = summary(pilot_id, reason, state.participants.values());
        let embeddings = participants::embeddings(state);
        let [participants, checkpoint] = phase_files(pilot_id, options, state, &generated_at)?;
        Ok(vec![
            participants,
            OutputFile::json(
                "cluster_embeddings.json",
                &dated(KeyedContents::Clusters { clusters: &clusters }),
            )?,
            OutputFile::json(
                "individual_embeddings.json",
                &dated(KeyedContents::Embeddings { embeddings: &embeddings }),
            )?,
            OutputFile::json("summary.json", &summary)?,
            checkpoint,
            OutputFile::text("config.yaml", config::yaml(&self.config, record)?),
            OutputFile::text("experiment.log", diary::text(pilot_id, record)?),
            OutputFile::from(tables::participants(state)),
            OutputFile::from(tables::turns(state)),
            OutputFile::from(tables::votes(state)),
            OutputFile::from(tables::clusters(state)),
        ])
    }
}

/// A file that names its pilot and the time it was made.
#[derive(Serialize)]
struct DatedFile<'a> {
    pilot_id: &'a str,
    generated_at: &'a str,
    #[serde(flatten)]
    contents: KeyedContents<'a>,
}

/// Its content, under a key of its own.
#[derive(Serialize)]
#[serde(untagged)]
enum KeyedContents<'a> {
    Participants { participants: &'a [participants::ParticipantRecord<'a>] },
    Clusters { clusters: &'a [clusters::ClusterRecord<'a>] },
    Embeddings { embeddings: &'a [participants::EmbeddingRecord<'a>] },
}
