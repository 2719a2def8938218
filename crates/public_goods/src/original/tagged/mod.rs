//! Original games with answers in tags: `config.json` says how the game was played, `raw_responses.csv` what
//! was answered, and our code asks and computes again.
//!
//! - Decisions are read with version 1 of the parsers, as they were then; `check` shows what version 2
//!   changes.
//! - Messages were cut after 200 characters in the earlier runs, as their lengths show.
//! - Some runs asked for the amount in a question of its own (`contribution_iter0`): `raw_response` is
//!   then the reasoning, and `parsed_result` the answer to the second question. Ours asks twice, too.
//! - Some runs had punishment and reward, with one array of units for both; the rules take it so.
//! - Prompts were not recorded. Ours are not theirs: the answers are matched by round, player and stage.
//!
//! Whatever the answers are, every row of `game_log.csv` is computed again from the actions that are
//! logged: public fund, payoff, wallet.

mod compare;
mod recompute;
mod run;

use std::path::Path;

use self::run::TaggedRun;
use crate::NAME;
use crate::prompts::built_in;
use crate::settings::Settings;
use retold::model::{Failure, FailureKind, ModelInfo};
use retold_study::edition::Edition;
use retold_study::original::{Answers, Original, OriginalError, Outputs};

/// Reads a folder of an original run.
///
/// # Errors
/// [`OriginalError`]: a file that is missing, or is not what it should be, with the line.
pub(super) fn read(folder: &Path) -> Result<Original, OriginalError> {
    let run = TaggedRun::read(folder)?;
    let (edition, config) = (Edition::NEWEST, run.config.clone().without_runtime());
    let settings = Settings { edition, config, prompts: built_in() };
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
    Ok(Original::of((NAME, 0), settings, answers, notes, move |ours| run.compare(Outputs(ours))))
}
