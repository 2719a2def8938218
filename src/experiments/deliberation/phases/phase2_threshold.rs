//! Phase 2: is there enough disagreement to go on?

use crate::experiments::deliberation::experiment::Deliberation;
use crate::experiments::deliberation::facts::Fact;
use crate::experiments::deliberation::state::Votes;
use crate::experiments::deliberation::summary::votes;
use crate::run::{Run, Stop};

impl Deliberation {
    /// Counts the votes of those who have not failed, and records whether the experiment ends here.
    pub(in super::super) fn check_threshold(&self, run: &mut Run<Self>) -> Result<(), Stop> {
        let votes = votes(run.state().active().filter_map(|p| p.initial_choice.as_deref()));
        let (least, threshold) =
            (self.config.min_responses_for_threshold, self.config.disagreement_threshold);
        let termination_reason = agreement(&votes, least, threshold);
        run.record(Fact::ThresholdChecked { votes, termination_reason }, &[])?;
        run.record(Fact::PhaseCompleted { phase: 2 }, &[])
    }
}

/// Why the experiment ends, if an option has at least `threshold` of at least `least` votes.
fn agreement(votes: &Votes, least: u32, threshold: f64) -> Option<String> {
    let total: u32 = votes.values().sum();
    if total == 0 || total < least {
        return None;
    }
    let share = |n: u32| f64::from(n) / f64::from(total);
    let (option, _) = votes.iter().find(|(_, n)| share(**n) >= threshold)?;
    // The words of the original program, which its outputs hold.
    Some(format!("Option '{option}' exceeded {:.0}% threshold", threshold * 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn votes(counts: &[u32]) -> Votes {
        counts.iter().enumerate().map(|(i, n)| (format!("o{i}"), *n)).collect()
    }

    #[test]
    fn the_threshold_counts_from_the_minimum_on_and_includes_its_own_value() {
        assert_eq!(agreement(&votes(&[45, 4]), 50, 0.9), None, "49 votes are not enough");
        assert!(agreement(&votes(&[45, 5]), 50, 0.9).is_some(), "exactly 90 % of exactly 50");
        assert_eq!(agreement(&votes(&[44, 6]), 50, 0.9), None);
        assert_eq!(agreement(&votes(&[]), 0, 0.1), None, "nobody agrees with nobody");
        let reason = agreement(&votes(&[0, 1]), 0, 0.5);
        assert_eq!(reason.as_deref(), Some("Option 'o1' exceeded 50% threshold"));
    }
}
