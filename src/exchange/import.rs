//! Taking a recording into a log.

use super::error::ImportError;
use super::recording::Recording;
use crate::id::Seq;
use crate::log::{Append, Backend, Head};

/// What an import did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Imported {
    /// How many events were added; 0 if the log had them all.
    pub added: u64,
    /// How many it had already.
    pub known: u64,
}

/// Adds a recording to a log: all of it, or what the log lacks of it, or nothing.
///
/// # Errors
/// [`ImportError::OtherHistory`] if the log has another run under the same id.
pub fn import_recording(
    backend: &dyn Backend,
    recording: &Recording,
) -> Result<Imported, ImportError> {
    let Recording { run, events, hashes } = recording;
    let _lease = backend.lease(*run)?;
    let mut reader = backend.reader()?;
    let (mut known, mut head) = (0, Head::START);
    loop {
        let ours = reader.events(*run, Seq(known as u64), 1024)?;
        let Some(last) = ours.last() else { break };
        for (event, hash) in ours.iter().zip(&hashes[known.min(hashes.len())..]) {
            if event.hash != *hash {
                let (run, seq, ours) = (*run, event.seq, event.hash);
                return Err(ImportError::OtherHistory { run, seq, ours });
            }
        }
        known = usize::try_from(last.seq.0).unwrap_or(usize::MAX);
        head = Head { seq: last.seq, hash: last.hash };
    }
    let added = events.get(known..).unwrap_or_default();
    if !added.is_empty() {
        let append = Append::new(*run, head, added.to_vec());
        backend.committer()?.commit(&[append])?;
    }
    let known = known.min(events.len()) as u64;
    Ok(Imported { added: added.len() as u64, known })
}
