//! The messages of requests, each listed once.
//!
//! The requests of a dialogue repeat all messages before the newest. A message is therefore listed as the end of its
//! conversation: two requests that begin alike share the rows of their beginning. Whoever wants a whole prompt follows
//! `after` from its last message.

use std::collections::BTreeSet;

use retold::id::RunId;
use retold::prompt::Request;
use serde_json::{Map, Value};

use arrow_schema::ArrowError;

use crate::batches::WantedRows;
use crate::column::Cell;
use crate::table::Table;

/// The beginning of a hash, which is enough to tell the messages or contents of a run apart.
type Short = u128;

/// A message as the end of its conversation.
type MessageHash = blake3::Hash;

/// Where a request stands among those before it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Listing {
    /// The number of its messages that earlier requests of the run have as well.
    pub(crate) earlier: usize,
    /// The hashes of the contents of the other messages.
    pub(crate) new: Vec<String>,
    /// Its last message.
    pub(crate) last: Option<String>,
}

/// A message that no earlier request has.
struct NewMessage<'a> {
    hash: MessageHash,
    after: Option<MessageHash>,
    position: usize,
    value: &'a Value,
}

/// The messages and contents that were listed.
#[derive(Default)]
pub(crate) struct Conversations {
    messages: BTreeSet<Short>,
    contents: BTreeSet<Short>,
}

/// The hash of a content: the BLAKE3 of its text, so that anybody can check it.
pub(crate) fn content_hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_string()
}

impl Conversations {
    /// Lists the new messages of a request in the tables that are wanted.
    pub(crate) fn list(
        &mut self,
        run: RunId,
        request: &Request,
        rows: &mut WantedRows,
    ) -> Result<Listing, ArrowError> {
        let mut listing = Listing::default();
        let Some(values) = request.body()["messages"].as_array() else {
            // An embedding has one text.
            if let Some(input) = request.body()["input"].as_str() {
                listing.new.push(self.content(run, input, rows)?);
            }
            return Ok(listing);
        };
        let mut after: Option<MessageHash> = None;
        for (position, value) in values.iter().enumerate() {
            let hash = message_hash(after, request.message_text(position).unwrap_or_default());
            if self.messages.insert(short(hash)) {
                let new = NewMessage { hash, after, position, value };
                listing.new.push(self.message(run, &new, rows)?);
            } else {
                listing.earlier += 1;
            }
            after = Some(hash);
        }
        listing.last = after.map(name);
        Ok(listing)
    }

    /// Lists a message, and returns the hash of its content.
    fn message(
        &mut self,
        run: RunId,
        new: &NewMessage<'_>,
        rows: &mut WantedRows,
    ) -> Result<String, ArrowError> {
        let empty = Map::new();
        let fields = new.value.as_object().unwrap_or(&empty);
        let rest =
            || fields.iter().filter(|(name, _)| !["role", "content"].contains(&name.as_str()));
        // The APIs that have no `content` have parts of their own names.
        let (said, rest) = match fields.get("content").filter(|content| !content.is_null()) {
            Some(content) => (text_of(content), rest().map(clone_pair).collect::<Map<_, _>>()),
            None => (Value::Object(rest().map(clone_pair).collect()).to_string(), Map::new()),
        };
        let content = self.content(run, &said, rows)?;
        let cells = [
            run.to_string().into(),
            name(new.hash).into(),
            new.after.map_or(Cell::Missing, |after| name(after).into()),
            Cell::count(new.position as u64),
            Cell::maybe(fields.get("role").and_then(Value::as_str)),
            (&*content).into(),
            if rest.is_empty() { Cell::Missing } else { Value::Object(rest).to_string().into() },
        ];
        rows.add(Table::Messages, &cells)?;
        Ok(content)
    }

    /// Lists a content, and returns its hash.
    pub(crate) fn content(
        &mut self,
        run: RunId,
        text: &str,
        rows: &mut WantedRows,
    ) -> Result<String, ArrowError> {
        let hash = blake3::hash(text.as_bytes());
        let content = hash.to_string();
        if rows.any(&[Table::Contents]) && self.contents.insert(short(hash)) {
            rows.add(Table::Contents, &[run.to_string().into(), (&*content).into(), text.into()])?;
        }
        Ok(content)
    }
}

fn clone_pair((name, value): (&String, &Value)) -> (String, Value) {
    (name.clone(), value.clone())
}

/// A text as it is, and anything else as JSON.
fn text_of(content: &Value) -> String {
    content.as_str().map_or_else(|| content.to_string(), str::to_owned)
}

/// A message after another: BLAKE3 of the other's hash and of its own canonical JSON.
fn message_hash(after: Option<MessageHash>, text: &str) -> MessageHash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(after.as_ref().map_or(&[], |after| after.as_bytes().as_slice()));
    hasher.update(text.as_bytes());
    hasher.finalize()
}

fn short(hash: blake3::Hash) -> Short {
    let [beginning, _] = halves(hash);
    beginning
}

/// A message's name in its column: half of its hash.
fn name(hash: MessageHash) -> String {
    let [beginning, _] = halves(hash);
    format!("{beginning:032x}")
}

/// Both halves of a hash as numbers.
pub(crate) fn halves(hash: blake3::Hash) -> [u128; 2] {
    let bytes = hash.as_bytes();
    let half = |at: usize| {
        bytes[at..at + 16].iter().fold(0, |number: u128, byte| number << 8 | u128::from(*byte))
    };
    [half(0), half(16)]
}
