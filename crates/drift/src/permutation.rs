//! Exact permutation within prompts, where each has one old answer and some new ones.
//!
//! If nothing changed, the old answer of a prompt is any of its answers, all equally likely (Fisher 1935; Good, Permutation,
//! Parametric and Bootstrap Tests of Hypotheses, 3rd edition, 2005). How many of the old answers have a value is then a sum of
//! independent draws, one for each prompt, with the share of the prompt's answers that have it.

/// The distribution of a sum of independent draws of 0 or 1 with these probabilities: how likely each sum is, from 0 on.
fn sum_distribution(probabilities: &[f64]) -> Vec<f64> {
    let mut sums = vec![1.0];
    for p in probabilities {
        sums.push(0.0);
        let mut below = 0.0;
        for sum in &mut sums {
            let here = *sum;
            *sum = here * (1.0 - p) + below * p;
            below = here;
        }
    }
    sums
}

/// How likely it is at most, if nothing changed, that so many of the old answers have a value, or a number as far from what is
/// expected on either side: twice the smaller tail. `shares` are those of the value among all answers of each prompt, the old one
/// included.
pub(crate) fn two_sided(shares: &[f64], old_with_it: usize) -> f64 {
    let sums = sum_distribution(shares);
    let (below, above) = (sums.iter().take(old_with_it + 1), sums.iter().skip(old_with_it));
    let smaller = below.sum::<f64>().min(above.sum::<f64>());
    (2.0 * smaller).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_of_fair_draws_is_binomial() {
        let sums = sum_distribution(&[0.5; 4]);
        assert_eq!(sums, [1.0 / 16.0, 4.0 / 16.0, 6.0 / 16.0, 4.0 / 16.0, 1.0 / 16.0]);
        assert_eq!(sum_distribution(&[]), [1.0]);
        assert_eq!(sum_distribution(&[1.0, 0.0]), [0.0, 1.0, 0.0]);
    }

    #[test]
    fn a_tail_is_doubled() {
        assert_eq!(two_sided(&[0.5; 4], 4), 2.0 / 16.0);
        assert_eq!(two_sided(&[0.5; 4], 0), 2.0 / 16.0);
        assert_eq!(two_sided(&[0.5; 4], 2), 1.0);
        // Where all answers are alike, nothing can be found.
        assert_eq!(two_sided(&[1.0; 40], 40), 1.0);
    }
}
