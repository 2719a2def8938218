//! Editions of the rules: a parser version keeps the rules that it was locked with.

/// The rules that a repair follows. The free functions of this module use the newest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RepairEdition {
    /// Members whose opening quote, colon or separating brace is missing may be lost.
    First,
    /// Every member is kept.
    Second,
    /// A value that is missing is null; before, it was an empty text. A comma between digits
    /// is part of a number (`{"n": 1,000}`). `Infinity` and `1e400` are noted as odd numbers rather than
    /// as texts without quotes.
    #[default]
    Third,
}

impl RepairEdition {
    /// True if members are kept although something is missing around them.
    pub(super) fn keeps_members(self) -> bool {
        self != RepairEdition::First
    }

    /// Whether a value that is missing is null.
    pub(super) fn has_nulls(self) -> bool {
        self == RepairEdition::Third
    }

    /// Whether digits with commas between them are read as one text.
    pub(super) fn joins_digits(self) -> bool {
        self == RepairEdition::Third
    }

    /// Whether a number that JSON cannot represent is noted as one.
    pub(super) fn knows_infinity(self) -> bool {
        self == RepairEdition::Third
    }
}
