//! Readers are given what anybody may send. One that stops is a mistake of ours, which must cost neither an answer that was
//! paid for nor the program that waits for it.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// A reader stopped at what it was given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a mistake in retold's reader for {format} ({said}): please report it; what came is kept")]
pub struct ReaderFault {
    /// The API or format whose reader it is.
    pub format: &'static str,
    /// What the reader said.
    pub said: String,
}

/// What a reader makes of something, and nothing else that it may do: the only place that keeps a reader's mistake from what
/// depends on it. Whoever reads what others sent asks through this.
///
/// # Errors
/// [`ReaderFault`].
pub fn try_read<T>(format: &'static str, read: impl FnOnce() -> T) -> Result<T, ReaderFault> {
    // What was being made is dropped.
    catch_unwind(AssertUnwindSafe(read)).map_err(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said =
            said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a word");
        ReaderFault { format, said: said.to_owned() }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_reader_that_stops_is_a_fault_with_its_words() {
        assert_eq!(try_read("http", || 1), Ok(1));
        let fault = try_read("http", || -> Value { panic!("no {}", "object") }).unwrap_err();
        let said = "a mistake in retold's reader for http (no object): please report it; what came is kept";
        assert_eq!(fault.to_string(), said);
        assert_eq!(try_read("http", || -> Value { panic!("no") }).unwrap_err().said, "no");
        assert!(try_read("http", || json!([1]).as_object_mut().unwrap().len()).is_err());
    }
}
