//! Questions that are asked at once are in memory at once: recorded settings of a few bytes must not fill it.

use retold::prompt::Request;
use retold::run::Stop;

/// The most bytes of prompts that are asked at once.
const MOST: usize = 96 << 20;

/// The questions of a stage, as long as their prompts are in bounds.
pub fn at_once<T>(
    questions: impl Iterator<Item = Result<T, Stop>>,
    request: impl Fn(&T) -> &Request,
) -> Result<Vec<T>, Stop> {
    let mut left = MOST;
    let bounded = questions.map(|question| {
        let question = question?;
        let length = request(&question).canonical().len();
        left = left.checked_sub(length).ok_or_else(|| Stop::Invalid {
            what: "prompt",
            reason: format!(
                "the prompts that are asked at once have more than {} MB: ask fewer, or use shorter templates",
                MOST >> 20
            ),
        })?;
        Ok(question)
    });
    bounded.collect()
}
