//! Bounds the prompts of questions that are asked at once. All of them are in memory together, so
//! recorded settings of a few bytes must not be able to fill it.

use retold::prompt::Request;
use retold::run::Stop;

/// The largest total size of prompts that are asked at once, in bytes.
const MOST: usize = 96 << 20;

/// The prompts that are asked at once are too long in total.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the prompts that are asked at once have more than {} MB: ask fewer, or use shorter templates",
    MOST >> 20
)]
pub struct PromptTooLong;

/// The questions of a stage, if the total size of their prompts is within the limit.
///
/// # Errors
/// [`Stop::Invalid`] with [`PromptTooLong`], or the first question's error.
pub fn at_once<T>(
    questions: impl Iterator<Item = Result<T, Stop>>,
    request: impl Fn(&T) -> &Request,
) -> Result<Vec<T>, Stop> {
    let mut left = MOST;
    let bounded = questions.map(|question| {
        let question = question?;
        let length = request(&question).canonical().len();
        left = left.checked_sub(length).ok_or_else(|| Stop::invalid("prompt", PromptTooLong))?;
        Ok(question)
    });
    bounded.collect()
}
