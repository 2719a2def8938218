//! An original run, executed again: `config.json` says how the game was played, `raw_responses.csv` what
//! was answered, and our code asks and computes anew.
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

mod again;
mod answers;
mod compare;
mod original;

use std::path::Path;
use std::sync::Arc;

use self::answers::Original;
use self::original::Run;
use super::NAME;
use super::prompts::built_in;
use super::settings::Settings;
use retold_study::edition::Edition;
use retold_study::reenact::{ReenactError, Reenactment, runtime};
use retold_study::study::Study;

/// Reads a folder of an original run.
///
/// # Errors
/// [`ReenactError`]: a file that is missing, or is not what it should be, with the line.
pub fn reenact(folder: &Path) -> Result<Reenactment, ReenactError> {
    let run = Run::read(folder)?;
    let prompts = built_in();
    let (edition, config) = (Edition::NEWEST, run.config.clone().without_runtime());
    let settings = Settings { edition, config, prompts };
    let study = Study::new(NAME, 0, settings, runtime());
    let notes = run.notes();
    let model = Arc::new(Original::of(&run));
    Ok(Reenactment { study, model, notes, compare: Box::new(move |files| run.compare(files)) })
}
