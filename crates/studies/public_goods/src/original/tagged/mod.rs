//! Original games with answers in tags: `config.json` describes the game, `raw_responses.csv` has
//! the answers, and our code asks and computes again.
//!
//! - Decisions are parsed with version 1 of the parsers, as they were originally; `check` shows
//!   what version 2 changes.
//! - Messages were cut after 200 characters in the earlier runs, as their lengths show.
//! - Some runs asked for the amount in a separate question (`contribution_iter0`): `raw_response`
//!   is then the reasoning, and `parsed_result` the answer to the second question. Our experiment
//!   also asks twice.
//! - Some runs had both punishment and reward, with one array of units for the two; the rules apply
//!   it to both.
//! - Prompts were not recorded. Ours differ from theirs: the answers are matched by round, player
//!   and stage.
//!
//! Independently of the answers, every row of `game_log.csv` is computed again from the logged
//! actions: public fund, payoff, wallet.

mod compare;
mod recompute;
mod run;

use std::path::Path;

use self::run::TaggedRun;
use crate::NAME;
use crate::prompts::built_in;
use crate::settings::Settings;
use retold::model::{Failure, FailureKind, ModelInfo};
use retold_study::original::{Answers, Original, OriginalError, Outputs};

/// Reads a folder of an original run.
///
/// # Errors
/// [`OriginalError`] for a missing or invalid file, with the line.
pub(super) fn read(folder: &Path) -> Result<Original, OriginalError> {
    let run = TaggedRun::read(folder)?;
    let config = run.config.clone().without_runtime();
    let settings = Settings { config, prompts: built_in(), shard: None };
    let source = Some(run.config.experiment_id.clone());
    let answers = Answers {
        info: ModelInfo { kind: "original".to_owned(), source, simulated: run.simulated },
        by_call: run
            .answers
            .iter()
            .map(|(call, text)| (call.clone(), text.as_str().into()))
            .collect(),
        // A player without an answer left the game.
        unanswered: Box::new(|_| {
            Failure::new(FailureKind::Rejected, "the original run has no answer to this")
        }),
    };
    let notes = run.notes();
    Ok(Original::new(NAME, 0, settings, answers, notes, move |ours| run.compare(Outputs(ours))))
}
