//! The sentences about independence in `audit`, in a report and on the page.

use std::fmt::Write;

use super::{Clusters, Independence, Sizes};
use crate::counted::count_of;
use crate::escaping::printable;

/// How many kinds of decision are said, and how much of their names.
const SHOWN: usize = 30;
const NAME_SHOWN: usize = 60;

impl Independence {
    /// A sentence for each kind of call and name of a decision.
    pub fn sentences(&self) -> Vec<String> {
        if self.kinds.is_empty() {
            return vec!["The run has no decisions.".to_owned()];
        }
        let kinds = self.kinds.iter().take(SHOWN).map(|((kind, decides), sizes)| {
            let (kind, decides) = (printable(kind, NAME_SHOWN), printable(decides, NAME_SHOWN));
            format!("{decides} of {kind}: {}", sizes.says())
        });
        let mut said: Vec<String> = kinds.collect();
        if self.kinds.len() > SHOWN {
            let more = count_of((self.kinds.len() - SHOWN) as u64, "more kind");
            said.push(format!("Not listed here: {more}."));
        }
        said
    }
}

impl Sizes {
    fn says(&self) -> String {
        let Sizes { decisions, draws, draws_without_value, answers, answers_not_shared, clusters } =
            self;
        // Writing to a string cannot fail, here and below.
        let mut said = count_of(*decisions, "decision");
        if draws < decisions {
            let (again, were) =
                (decisions - draws, if *draws == 1 { "is a draw" } else { "are draws" });
            let (are, their) =
                if again == 1 { ("is", "its call was") } else { ("are", "their calls were") };
            let _ = write!(
                said,
                ", of which {draws} {were} and {again} {are} not, because {their} asked or decided about again"
            );
        }
        if *draws_without_value > 0 {
            let has = if *draws_without_value == 1 { "has" } else { "have" };
            let _ = write!(
                said,
                "; {draws_without_value} of {} {has} no value (null, or the parser's last resort)",
                count_of(*draws, "draw")
            );
        }
        let _ =
            write!(said, "; {answers_not_shared} of {} not shared; ", count_of(*answers, "answer"));
        match clusters {
            Some(Clusters { of, count, effective }) => {
                let over = count_of(*count, &printable(of, NAME_SHOWN));
                let joined = if answers_not_shared < answers {
                    "; those that share an answer count as one"
                } else {
                    ""
                };
                let of = printable(of, NAME_SHOWN);
                let _ = write!(
                    said,
                    "effective sample size {effective:.1} over {over} (draws of one {of} count as alike{joined})"
                );
            }
            None if draws == draws_without_value => {
                said.push_str("no effective sample size, because no draw has a value");
            }
            None => said.push_str(
                "no effective sample size, because neither a label nor the study says which draws are independent",
            ),
        }
        said.push('.');
        said
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(
        [decisions, draws, draws_without_value]: [u64; 3],
        [answers, answers_not_shared]: [u64; 2],
        clusters: Option<(u64, f64)>,
    ) -> String {
        let clusters = clusters.map(|(count, effective)| {
            let of = "pair".to_owned();
            Clusters { of, count, effective }
        });
        Sizes { decisions, draws, draws_without_value, answers, answers_not_shared, clusters }
            .says()
    }

    #[test]
    fn each_number_is_said_as_what_it_is() {
        insta::assert_snapshot!([
            said([1, 1, 0], [1, 1], None),
            said([2, 1, 0], [2, 2], Some((1, 1.0))),
            said([20, 10, 0], [20, 20], Some((2, 2.0))),
            said([12, 12, 0], [3, 0], Some((12, 2.88))),
            said([12, 12, 12], [11, 10], None),
            said([12, 12, 1], [11, 10], None),
        ].join("\n"), @r"
        1 decision; 1 of 1 answer not shared; no effective sample size, because neither a label nor the study says which draws are independent.
        2 decisions, of which 1 is a draw and 1 is not, because its call was asked or decided about again; 2 of 2 answers not shared; effective sample size 1.0 over 1 pair (draws of one pair count as alike).
        20 decisions, of which 10 are draws and 10 are not, because their calls were asked or decided about again; 20 of 20 answers not shared; effective sample size 2.0 over 2 pairs (draws of one pair count as alike).
        12 decisions; 0 of 3 answers not shared; effective sample size 2.9 over 12 pairs (draws of one pair count as alike; those that share an answer count as one).
        12 decisions; 12 of 12 draws have no value (null, or the parser's last resort); 10 of 11 answers not shared; no effective sample size, because no draw has a value.
        12 decisions; 1 of 12 draws has no value (null, or the parser's last resort); 10 of 11 answers not shared; no effective sample size, because neither a label nor the study says which draws are independent.
        ");
    }
}
