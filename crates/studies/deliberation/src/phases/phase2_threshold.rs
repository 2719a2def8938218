//! Phase 2: is there enough disagreement to continue?

use crate::experiment::Deliberation;
use crate::facts::Fact;
use crate::summary::votes;
use crate::transcript::Votes;
use retold::run::{Run, Stop};

impl Deliberation {
    /// Counts the votes of those who have not failed, and records whether the experiment ends here.
    pub(in super::super) fn check_threshold(&self, run: &mut Run<Self>) -> Result<(), Stop> {
        let votes = votes(run.state().active().filter_map(|p| p.initial_choice.as_deref()));
        let (least, threshold) =
            (self.config.min_responses_for_threshold, self.config.disagreement_threshold);
        let options = &self.config.topic.options;
        let termination_reason = agreement(&votes, options, least, threshold);
        run.record(Fact::ThresholdChecked { votes, termination_reason }, &[])?;
        run.record(Fact::PhaseCompleted { phase: 2 }, &[])
    }
}

/// Why the experiment ends, if an option has at least `threshold` of at least `least` votes. The
/// document asks for any such option. If there are several, which is possible with a threshold of a
/// half or less, the one with the most votes is named; in a tie, the first in the config's order.
fn agreement(votes: &Votes, options: &[String], least: u32, threshold: f64) -> Option<String> {
    let total: u32 = votes.values().sum();
    if total == 0 || total < least {
        return None;
    }
    let share = |n: u32| f64::from(n) / f64::from(total);
    let count = |option: &String| votes.get(option).copied().unwrap_or(0);
    // The last of several maxima wins, so the order is reversed.
    let option = options.iter().rev().max_by_key(|option| count(option))?;
    if share(count(option)) < threshold {
        return None;
    }
    // The original program's words, which are in its outputs.
    Some(format!("Option '{option}' exceeded {:.0}% threshold", threshold * 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Options that are not in alphabetical order, with some votes each.
    fn agreed(counts: &[u32], least: u32, threshold: f64) -> Option<String> {
        let options: Vec<String> = ["c", "b", "a"].iter().map(ToString::to_string).collect();
        let votes = options.iter().cloned().zip(counts.iter().copied()).filter(|(_, n)| *n > 0);
        agreement(&votes.collect(), &options, least, threshold)
    }

    #[test]
    fn the_threshold_counts_from_the_minimum_on_and_includes_its_own_value() {
        assert_eq!(agreed(&[45, 4], 50, 0.9), None, "49 votes are not enough");
        assert!(agreed(&[45, 5], 50, 0.9).is_some(), "exactly 90 % of exactly 50");
        assert_eq!(agreed(&[44, 6], 50, 0.9), None);
        assert_eq!(agreed(&[], 0, 0.1), None, "nobody agrees with nobody");
        let reason = agreed(&[0, 1], 0, 0.5);
        assert_eq!(reason.as_deref(), Some("Option 'b' exceeded 50% threshold"));
    }

    #[test]
    fn of_several_over_the_threshold_the_leader_is_named() {
        let named = |counts: &[u32]| agreed(counts, 0, 0.3);
        let over = |option: &str| Some(format!("Option '{option}' exceeded 30% threshold"));
        assert_eq!(named(&[3, 4, 3]), over("b"));
        assert_eq!(named(&[3, 3, 4]), over("a"));
        assert_eq!(named(&[5, 5, 0]), over("c"), "of equals the first option");
        assert_eq!(named(&[2, 4, 4]), over("b"), "and not by the alphabet");
    }
}
