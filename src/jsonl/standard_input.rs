//! Standard input, whose first bytes can be looked at before it is read.

use std::io::{self, Cursor, Read};
use std::sync::{Mutex, PoisonError};

/// The bytes that were looked at and not read yet.
static LOOKED_AT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// The first bytes, which the next reader gets as well. Fewer at the end, or if it cannot be read, which the reader finds out.
pub(super) fn look(bytes: u64) -> Vec<u8> {
    let mut looked_at = LOOKED_AT.lock().unwrap_or_else(PoisonError::into_inner);
    let missing = bytes.saturating_sub(looked_at.len() as u64);
    let _ = io::stdin().take(missing).read_to_end(&mut looked_at);
    looked_at.clone()
}

/// Standard input from its beginning on.
pub(super) fn standard_input() -> impl Read + Send + 'static {
    let looked_at = std::mem::take(&mut *LOOKED_AT.lock().unwrap_or_else(PoisonError::into_inner));
    Cursor::new(looked_at).chain(io::stdin())
}
