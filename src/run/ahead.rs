//! Parses long answers on another thread.

use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

use super::core::Exchanged;
use super::question::Question;
use crate::parse::{ParsedAnswer, Parser};

/// Answers longer than this, in bytes, are parsed on a thread of their own. Shorter ones take a few
/// milliseconds at most; a megabyte could hold up all other calls, their time limits and Ctrl-C.
const LONG: usize = 64 << 10;

/// Parses an answer if it is long. Whether an answer is parsed here affects neither the decision
/// nor its place among others: parsers are pure, and decisions are logged in the order of the
/// questions.
pub(super) async fn parse_ahead<P: Parser>(
    question: &Question<P>,
    exchanged: &Exchanged,
) -> Option<ParsedAnswer<P::Value>> {
    let Ok(answered) = exchanged else { return None };
    if answered.content.text().len() <= LONG || Handle::try_current().is_err() {
        return None;
    }
    let (parser, answered) = (question.parser.clone(), answered.clone());
    // A parser that panics will panic again where that is handled.
    spawn_blocking(move || parser.parse_whole(answered.whole())).await.ok()
}
