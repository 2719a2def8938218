//! Editions of the rules: a parser version keeps the rules that it was locked with.

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
    /// Whether members are kept whatever is missing around them.
    pub(super) fn keeps_members(self) -> bool {
        self == RepairEdition::Second
    }
}
