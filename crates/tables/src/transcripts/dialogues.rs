//! Which exchanges continue which: a request whose messages begin with those of an earlier one and its answer belongs to
//! the same dialogue.

use std::collections::BTreeMap;

use retold::event::{
    AnswerReused, Event, Labels, RequestSent, ResponseDetails, ResponseReceived, call_lane,
};
use retold::id::{CallPath, RunId, Seq, Time};
use retold::log::{LogError, Reader, RunEvents};
use retold::model::Content;
use retold::model::providers::conversation_of;
use serde_json::Value;

use super::inspect_message::{answer_message, comparison_text};
use crate::messages::halves;

/// A hash of messages that follow each other: enough to tell those of a run apart.
type ChainHash = u128;

/// A dialogue up to an exchange.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dialogue {
    /// When its first question was asked.
    pub(super) began: Time,
    /// How long its answers took, in milliseconds.
    pub(super) latency_ms: u64,
    /// The tokens of its requests and answers, if they were counted.
    pub(super) tokens: Option<u64>,
}

/// The dialogues of a run, by the questions with which they end.
pub(super) struct Dialogues(BTreeMap<Seq, Dialogue>);

/// A question without an answer so far. One that never gets one continues nothing: it may be asked again after a crash.
struct AskedTurn {
    /// The hashes of its messages up to each of them.
    chain: Vec<ChainHash>,
    lane: ChainHash,
    time: Time,
}

/// The dialogues that may go on, by the hash of their messages so far, each with its lane and its last question.
type OpenDialogues = BTreeMap<ChainHash, Vec<(ChainHash, Seq)>>;

impl Dialogues {
    pub(super) fn read(reader: &mut dyn Reader, run: RunId) -> Result<Self, LogError> {
        let mut ends = BTreeMap::new();
        let mut open = OpenDialogues::new();
        let mut asked: BTreeMap<Seq, AskedTurn> = BTreeMap::new();
        let mut events = RunEvents::new(run);
        while let Some(stored) = events.next(reader)? {
            let (seq, time) = (stored.seq, stored.time);
            match stored.event().map_err(LogError::from)? {
                Event::RequestSent(RequestSent { call, prompt, labels, .. }) => {
                    let request = reader.request(prompt)?;
                    let messages = request.and_then(|request| conversation_of(&request));
                    let messages = messages.map(|chat| chat.messages).unwrap_or_default();
                    let (chain, lane) = (chain_hashes(&messages), lane(&labels, &call));
                    asked.insert(seq, AskedTurn { chain, lane, time });
                }
                Event::ResponseReceived(ResponseReceived { request, content, details })
                | Event::AnswerReused(AnswerReused { request, content, details, .. }) => {
                    let Some(turn) = asked.remove(&request) else { continue };
                    let dialogue = turn.resume(&mut open, &mut ends).with(&details);
                    let said = answer_said(&content, &details);
                    let end = hash_after(turn.chain.last().copied().unwrap_or(0), &said);
                    open.entry(end).or_default().push((turn.lane, request));
                    ends.insert(request, dialogue);
                }
                Event::AttemptFailed(failed) if failed.details.gave_up => {
                    let Some(turn) = asked.remove(&failed.request) else { continue };
                    let dialogue = turn.resume(&mut open, &mut ends);
                    ends.insert(failed.request, dialogue);
                }
                _ => {}
            }
        }
        Ok(Dialogues(ends))
    }

    /// The dialogue that ends with a question; `None` if it goes on.
    pub(super) fn by_end(&self, question: Seq) -> Option<Dialogue> {
        self.0.get(&question).copied()
    }
}

impl Dialogue {
    /// With one more answer.
    fn with(self, details: &ResponseDetails) -> Self {
        let counted = [details.prompt_tokens, details.completion_tokens];
        let counted = counted.into_iter().chain([self.tokens]).flatten();
        let tokens =
            counted.fold(None, |sum: Option<u64>, n| Some(sum.unwrap_or(0).saturating_add(n)));
        let latency_ms = self.latency_ms.saturating_add(details.latency_ms);
        Dialogue { latency_ms, tokens, ..self }
    }
}

impl AskedTurn {
    /// The dialogue that it continues, which no longer ends where it did: the longest one, of the same lane if there is one,
    /// and otherwise the latest. A new one if it continues none.
    fn resume(&self, open: &mut OpenDialogues, ends: &mut BTreeMap<Seq, Dialogue>) -> Dialogue {
        let new = Dialogue { began: self.time, latency_ms: 0, tokens: None };
        // The last message is the question.
        for hash in self.chain.iter().rev().skip(1) {
            let Some(candidates) = open.get_mut(hash) else { continue };
            let own = candidates.iter().rposition(|(other, _)| *other == self.lane);
            let Some(at) = own.or(candidates.len().checked_sub(1)) else { continue };
            let (_, seq) = candidates.remove(at);
            if candidates.is_empty() {
                open.remove(hash);
            }
            return ends.remove(&seq).unwrap_or(new);
        }
        new
    }
}

/// The hashes of messages up to each of them.
fn chain_hashes(messages: &[Value]) -> Vec<ChainHash> {
    let link = |chain: &mut ChainHash, message: &Value| {
        *chain = hash_after(*chain, &comparison_text(message));
        Some(*chain)
    };
    messages.iter().scan(0, link).collect()
}

/// What an answer says, as a message.
fn answer_said(content: &Content, details: &ResponseDetails) -> String {
    comparison_text(&answer_message(content, details))
}

/// A message after others.
fn hash_after(chain: ChainHash, said: &str) -> ChainHash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&chain.to_be_bytes());
    hasher.update(said.as_bytes());
    let [beginning, _] = halves(hasher.finalize());
    beginning
}

/// The lane of a call.
fn lane(labels: &Labels, call: &CallPath) -> ChainHash {
    hash_after(0, &call_lane(labels, call))
}
