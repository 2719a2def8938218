//! The rules by edition: what a parser version was locked with, it keeps.

use super::{Embedded, Repaired, top};

/// Which rules a repair goes by. The free functions of this module go by the newest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Edition {
    /// Members whose opening quote, colon or separating brace is missing may be lost.
    First,
    /// Every member is kept.
    #[default]
    Second,
}

impl Edition {
    /// As [`super::repair`], by this edition's rules.
    #[must_use]
    pub fn repair(self, text: &str) -> Repaired {
        top::repaired(text, self)
    }

    /// As [`super::values`], by this edition's rules.
    #[must_use]
    pub fn values(self, text: &str) -> Vec<Embedded> {
        top::all(text, self)
    }

    /// As [`super::first`], by this edition's rules.
    #[must_use]
    pub fn first(self, text: &str) -> Option<Embedded> {
        top::first_of(text, self)
    }

    /// Whether members are kept whatever is missing around them.
    pub(super) fn keeps_members(self) -> bool {
        self == Edition::Second
    }
}
