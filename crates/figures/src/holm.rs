//! Holm's correction for several tests (S. Holm, Scandinavian Journal of Statistics 6, 1979).

/// The adjusted p of each: how often chance alone makes any of so many tests say so much.
pub(crate) fn holm(raw: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..raw.len()).collect();
    order.sort_by(|one, other| raw[*one].total_cmp(&raw[*other]));
    let (mut adjusted, mut least) = (vec![0.0; raw.len()], 0.0_f64);
    for (before, at) in order.into_iter().enumerate() {
        least = least.max(raw[at] * (raw.len() - before) as f64).min(1.0);
        adjusted[at] = least;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R's `p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")`.
    #[test]
    fn adjusted_values_are_those_of_r() {
        let found = holm(&[0.01, 0.04, 0.03, 0.005]);
        let due = [0.03, 0.06, 0.06, 0.02];
        assert!(found.iter().zip(due).all(|(found, due)| (found - due).abs() < 1e-12), "{found:?}");
        assert_eq!((holm(&[]), holm(&[0.6, 0.7])), (vec![], vec![1.0, 1.0]));
    }
}
