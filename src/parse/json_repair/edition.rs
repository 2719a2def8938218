//! Editions of the rules: a parser version keeps the rules that it was locked with.

use super::{Embedded, Repaired, top};

/// The rules that a repair follows. The free functions of this module use the newest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RepairEdition {
    /// Members whose opening quote, colon or separating brace is missing may be lost.
    First,
    /// Every member is kept.
    #[default]
    Second,
}

impl RepairEdition {
    /// Like [`super::repair`], with the rules of this edition.
    #[must_use]
    pub fn repair(self, text: &str) -> Repaired {
        top::repaired(text, self)
    }

    /// Like [`super::values`], with the rules of this edition.
    #[must_use]
    pub fn values(self, text: &str) -> Vec<Embedded> {
        top::all(text, self)
    }

    /// Like [`super::first`], with the rules of this edition.
    #[must_use]
    pub fn first(self, text: &str) -> Option<Embedded> {
        top::first_of(text, self)
    }

    /// Whether members are kept whatever is missing around them.
    pub(super) fn keeps_members(self) -> bool {
        self == RepairEdition::Second
    }
}
