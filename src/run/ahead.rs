//! Parsing long answers beside everything else.

use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

use super::core::Exchanged;
use super::question::Question;
use crate::parse::{Parsed, Parser};

/// Answers of more bytes than this are parsed on a thread of their own. Shorter ones take at most some
/// milliseconds; a megabyte could keep all other calls, their time limits and Ctrl-C waiting.
const LONG: usize = 64 << 10;

/// Parses an answer that is long. What is parsed here and what is not makes no difference to the decision or
/// to its place among others: parsers are pure, and decisions are logged in the order of the questions.
pub(super) async fn parse_ahead<P: Parser>(
    question: &Question<P>,
    exchanged: &Exchanged,
) -> Option<Parsed<P::Value>> {
    let Ok(answered) = exchanged else { return None };
    if answered.content.text().len() <= LONG || Handle::try_current().is_err() {
        return None;
    }
    let (parser, answered) = (question.parser.clone(), answered.clone());
    // A parser that panics does so again where its panic is expected.
    spawn_blocking(move || parser.parse_whole(answered.whole())).await.ok()
}
