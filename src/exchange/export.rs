//! Writes recordings.

use std::collections::BTreeSet;

use data_encoding::BASE64;
use serde_json::json;

use crate::content::Content;
use crate::event::StoredEvent;
use crate::event::chain::{ChainLink, Head, hash_after};
use crate::id::{ContentHash, PromptHash, RunId, Seq};
use crate::log::ledger::{Ledger, LedgerEntry};
use crate::log::lists::{Base, Lists};
use crate::log::{EventFault, FORMAT, LedgerFault, LogError, Reader, externalise_from};
use crate::prompt::CanonicalError;

/// Events per read.
const BATCH: usize = 1024;

/// Writes a run line by line with `line`. Returns the number of events.
///
/// # Errors
/// [`LogError`] if the log cannot be read, and any error of `line`. [`LogError::Corrupt`] at an
/// event that does not follow from the preceding one: such a recording could not be imported.
pub fn export_recording<E: From<LogError>>(
    reader: &mut dyn Reader,
    run: RunId,
    line: &mut dyn FnMut(&str) -> Result<(), E>,
) -> Result<u64, E> {
    whole(reader, run)?;
    // A run that is being written continues meanwhile; later events are left out.
    let head = reader.runs()?.into_iter().find(|r| r.run == run).map_or(Head::START, |r| r.head);
    let end = head.seq;
    let header = json!({"events": end, "format": FORMAT, "head": head.hash, "recording": "retold",
        "run": run});
    line(&header.to_string())?;
    let mut given = WrittenContents::default();
    let mut after = Head::START;
    loop {
        let mut events = reader.events(run, after.seq, BATCH)?;
        events.retain(|e| e.seq <= end);
        if events.is_empty() {
            return Ok(after.seq.0);
        }
        for event in &events {
            let mut text = ChainLink::of_stored(event).canonical();
            after = follows(event, after, &text)?;
            given.needed_by(reader, event, line)?;
            // The canonical event, with its hash as an additional last field.
            text.truncate(text.len() - 1);
            line(&format!("{text},\"hash\":\"{}\"}}", event.hash))?;
        }
    }
}

/// The head of the chain after this event.
pub(super) fn follows(event: &StoredEvent, after: Head, canonical: &str) -> Result<Head, LogError> {
    let seq = after.seq.next();
    if event.seq != seq || hash_after(after.hash, canonical) != event.hash {
        let fault = EventFault::gap(seq, event.seq).unwrap_or(EventFault::Hash);
        return Err(LogError::corrupt(event.run, seq, fault));
    }
    Ok(Head { seq, hash: event.hash })
}

/// Refuses a run that has lost events, as far as the log itself shows it: the remaining events may
/// be a valid chain.
pub(super) fn whole(reader: &mut dyn Reader, run: RunId) -> Result<(), LogError> {
    // If it cannot be read, this error says why.
    reader.events(run, Seq(0), 1)?;
    let head = reader.runs()?.into_iter().find(|r| r.run == run).map(|r| r.head);
    let ledger = match Ledger::read(reader) {
        // It shows nothing then. What is left of the run can be saved nevertheless.
        Err(LogError::Damaged { .. }) => None,
        read => Some(read?),
    };
    let known = ledger.as_ref().and_then(|ledger| ledger.last_of(run));
    let (Some(held), Some(known)) = (head, known) else {
        return match (head, known) {
            (Some(Head { seq: Seq(0), .. }), None) => {
                Err(LogError::corrupt(run, Seq(1), EventFault::NoEvents))
            }
            _ => Ok(()),
        };
    };
    if held.seq >= known.head.seq {
        return Ok(());
    }
    let LedgerEntry { number, ref change, head, .. } = *known;
    let fault = LedgerFault::Shorter { number, change: change.clone(), head };
    Err(LogError::corrupt(run, held.seq.next(), fault))
}

/// The contents and requests that have been written.
#[derive(Default)]
struct WrittenContents {
    contents: BTreeSet<ContentHash>,
    requests: BTreeSet<PromptHash>,
    lists: Lists<PromptHash>,
}

/// An error of the log or of the writing, while a request is being split up.
struct PassedError<E>(E);

impl<E: From<LogError>> From<CanonicalError> for PassedError<E> {
    fn from(error: CanonicalError) -> Self {
        PassedError(LogError::failed("the request", error).into())
    }
}

impl WrittenContents {
    /// Writes the contents and the request of an event, unless they have been written already.
    fn needed_by<E: From<LogError>>(
        &mut self,
        reader: &mut dyn Reader,
        event: &StoredEvent,
        line: &mut dyn FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        if let Some(content) = &event.content {
            self.content(content, line)?;
        }
        let Some(prompt) = event.prompt.filter(|p| !self.requests.contains(p)) else {
            return Ok(());
        };
        let Some(request) = reader.request(prompt)? else {
            let fault = EventFault::NoRequest { prompt };
            return Err(LogError::corrupt(event.run, event.seq, fault).into());
        };
        // What a log shares depends on its history, but two recordings of one run must be the same
        // bytes.
        let beginnings = self.lists.beginnings(&request);
        let (base, cost) = self.lists.find(&beginnings).unzip();
        let left_out = base.map_or(0, |base| base.messages);
        let skeleton = externalise_from(&request, left_out, &mut |text| {
            let content = Content::from(text);
            Ok::<_, PassedError<E>>(self.content(&content, line).map_err(PassedError)?.to_string())
        });
        let skeleton = skeleton.map_err(|PassedError(e)| e)?;
        line(&match base {
            None => format!("{{\"prompt\":\"{prompt}\",\"request\":{skeleton}}}"),
            Some(Base { of, messages }) => format!(
                "{{\"base\":\"{of}\",\"prompt\":\"{prompt}\",\"request\":{skeleton},\"shared\":{messages}}}"
            ),
        })?;
        self.requests.insert(prompt);
        self.lists.add_new(&request, &beginnings, prompt, base, cost.unwrap_or_default());
        Ok(())
    }

    fn content<E>(
        &mut self,
        content: &Content,
        line: &mut dyn FnMut(&str) -> Result<(), E>,
    ) -> Result<ContentHash, E> {
        let hash = content.hash();
        if self.contents.insert(hash) {
            line(&match content {
                Content::Text(text) => json!({"content": hash, "text": &**text}).to_string(),
                Content::Vector(_) => {
                    json!({"content": hash, "vector": BASE64.encode(&content.bytes())}).to_string()
                }
            })?;
        }
        Ok(hash)
    }
}
