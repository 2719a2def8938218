//! Texts that many rows share, each once.

use std::collections::BTreeMap;

/// No text.
pub(crate) const NONE: u32 = u32::MAX;

/// Texts that many rows share, each once.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    all: Vec<String>,
    numbers: BTreeMap<String, u32>,
}

impl Texts {
    /// The number of a text, which is added if it is new.
    pub(crate) fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = u32::try_from(self.all.len()).unwrap_or(NONE);
        self.all.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }

    /// The number of a text that is already there.
    pub(crate) fn find(&self, text: &str) -> Option<u32> {
        self.numbers.get(text).copied()
    }

    pub(crate) fn text(&self, number: u32) -> Option<&str> {
        self.all.get(usize::try_from(number).ok()?).map(String::as_str)
    }
}
