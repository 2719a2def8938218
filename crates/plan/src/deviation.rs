//! Ways in which a run is not as planned.

use std::fmt;

use serde::Serialize;

/// One way in which a run, or a figure of it, is not as planned.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Deviation {
    /// What differs.
    pub kind: DeviationKind,
    /// How, in words.
    pub how: String,
}

/// What differs from a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviationKind {
    /// What was asked.
    Prompt,
    /// Who answered.
    Model,
    /// How many were asked.
    Size,
    /// Another setting of the study.
    Setting,
    /// What decided about the answers.
    Parser,
    /// Who judged the answers.
    Judge,
    /// Values that were taken away.
    Exclusion,
    /// The run did not come to its end.
    StoppedEarly,
    /// Somebody knew of results while it was being recorded.
    LookedBeforeEnd,
    /// The plan itself is not the one that was named.
    Plan,
}

impl DeviationKind {
    fn as_str(self) -> &'static str {
        match self {
            DeviationKind::Prompt => "another prompt",
            DeviationKind::Model => "another model",
            DeviationKind::Size => "another n",
            DeviationKind::Setting => "another setting",
            DeviationKind::Parser => "another parser",
            DeviationKind::Judge => "another judge",
            DeviationKind::Exclusion => "an exclusion",
            DeviationKind::StoppedEarly => "stopped early",
            DeviationKind::LookedBeforeEnd => "looked at before the end",
            DeviationKind::Plan => "another plan",
        }
    }
}

impl Deviation {
    pub(crate) fn new(kind: DeviationKind, how: impl Into<String>) -> Self {
        Deviation { kind, how: how.into() }
    }
}

impl fmt::Display for Deviation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.as_str(), self.how)
    }
}
