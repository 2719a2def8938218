//! The phases of a run: the marks after which it can stop.

use crate::error::ExperimentError;

/// Why a run cannot stop where somebody wants.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PhaseError {
    /// The study has none.
    #[error("a run of {experiment} has no phases: it can be interrupted and resumed anywhere")]
    NoPhases {
        /// The experiment.
        experiment: String,
    },
    /// It has others.
    #[error("{what} has no phase {phase:?}; its phases are {known}", what = if *shard { "a shard of this study" } else { "this study" })]
    Unknown {
        /// The name.
        phase: String,
        /// The names there are.
        known: String,
        /// Whether a shard is to stop there, which may have fewer phases than the study.
        shard: bool,
    },
    /// There is no such experiment.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
}

/// The names of phases in a sentence; of many, only the first and the last.
pub(crate) fn named(phases: &[String]) -> String {
    match phases {
        [first, .., last] if phases.len() > 12 => format!("{first} to {last}"),
        _ => phases.join(", "),
    }
}

/// The phases of a run that has equal steps, such as rounds: `round_1` to `round_5`.
pub fn steps(step: &str, count: u32) -> Vec<String> {
    (1..=count).map(|n| format!("{step}_{n}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_phases_are_named_by_the_first_and_the_last() {
        assert_eq!(named(&steps("round", 3)), "round_1, round_2, round_3");
        assert_eq!(named(&steps("round", 100)), "round_1 to round_100");
    }
}
