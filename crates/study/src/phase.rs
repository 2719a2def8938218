//! The phases of a run: the marks after which it can stop.

use crate::error::ExperimentError;
use crate::settings::ExperimentSettings;
use crate::shard::Shard;
use crate::studies::Studies;

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

impl Studies {
    /// The phase after which a run stops if somebody wants it to stop after `phase`; `None` if it ends there by itself.
    ///
    /// # Errors
    /// [`PhaseError`] with the names there are.
    pub fn until(
        &self,
        experiment: &str,
        settings: &ExperimentSettings,
        phase: &str,
    ) -> Result<Option<String>, PhaseError> {
        let phases = self.get(experiment)?.phases(settings);
        if phases.is_empty() {
            return Err(PhaseError::NoPhases { experiment: experiment.to_owned() });
        }
        let shard = settings.shard().is_some();
        if !phases.iter().any(|known| known == phase) {
            return Err(PhaseError::Unknown {
                phase: phase.to_owned(),
                known: phase_names(&phases),
                shard,
            });
        }
        let end = self.shards_end(experiment, settings).filter(|_| shard);
        Ok(Some(phase.to_owned()).filter(|_| end.as_deref() != Some(phase)))
    }

    /// The phase with which the shards of a study are finished, if the study itself goes on; `None` if they have all of its
    /// phases.
    pub fn shards_end(&self, experiment: &str, settings: &ExperimentSettings) -> Option<String> {
        let study = self.find(experiment)?;
        let phases = |shard| Some(study.phases(&settings.with_shard(shard).ok()?));
        let whole = phases(None)?;
        // All shards have the same phases.
        let last = phases(Shard::new(1, 1).ok())?.pop()?;
        Some(last).filter(|last| whole.last() != Some(last))
    }
}

/// The names of phases in a sentence; of many, only the first and the last.
pub(crate) fn phase_names(phases: &[String]) -> String {
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
        assert_eq!(phase_names(&steps("round", 3)), "round_1, round_2, round_3");
        assert_eq!(phase_names(&steps("round", 100)), "round_1 to round_100");
    }
}
