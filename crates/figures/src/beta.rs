//! Quantiles of the beta distribution and of Student's t. Both come from the regularized incomplete beta function, by its
//! continued fraction (NIST Digital Library of Mathematical Functions, 8.17.22). The factor before the fraction is a ratio
//! of gamma functions, of which only the errors of Stirling's formula are computed (C. Loader, Fast and accurate
//! computation of binomial probabilities, 2000): for large arguments, gamma functions themselves would lose digits.

/// The most steps to a root: as many as halve an interval down to 1e-30 where the method does not converge faster.
const MOST_STEPS: u32 = 120;

/// The most terms of the continued fraction. It needs about as many as the square root of its larger argument.
const MOST_TERMS: u32 = 100_000;

/// The value that stands for a zero denominator (W. J. Lentz, Applied Optics 15, 1976).
const TINY: f64 = 1e-300;

/// The chance that a draw from a beta distribution is at most `x`.
pub(crate) fn beta_chance(x: f64, a: f64, b: f64) -> f64 {
    match x {
        x if x <= 0.0 => 0.0,
        x if x >= 1.0 => 1.0,
        x if x > (a + 1.0) / (a + b + 2.0) => 1.0 - lower_tail(1.0 - x, b, a),
        x => lower_tail(x, a, b),
    }
}

/// The value that a draw from a beta distribution is below with this chance.
pub(crate) fn beta_quantile(chance: f64, a: f64, b: f64) -> f64 {
    root(|x| beta_chance(x, a, b) - chance)
}

/// The distance in standard errors that Student's t exceeds with a chance of 5 %, in either direction.
pub(crate) fn t_quantile(df: f64) -> f64 {
    let square = beta_quantile(0.95, 0.5, df / 2.0);
    (df * square / (1.0 - square)).sqrt()
}

/// The chance that Student's t is at least this far from 0, in either direction.
pub(crate) fn t_chance(t: f64, df: f64) -> f64 {
    beta_chance(df / (df + t * t), df / 2.0, 0.5)
}

/// The number between 0 and 1 at which a function that grows is 0, by the method of C. J. F. Ridders (IEEE Transactions on
/// Circuits and Systems 26, 1979). Roots below 1e-30 are not told apart.
pub(crate) fn root(of: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high, mut last) = (0.0, 1.0, f64::NAN);
    let (mut below, mut above) = (of(low), of(high));
    for _ in 0..MOST_STEPS {
        let middle = f64::midpoint(low, high);
        let value = of(middle);
        let curve = (value * value - below * above).sqrt();
        let next = middle - (middle - low) * value / curve;
        if !next.is_finite() || high < 1e-30 {
            return middle;
        }
        let precision = 2.0 * f64::EPSILON * next;
        if (next - last).abs() <= precision || high - low <= precision {
            return next;
        }
        last = next;
        for (place, value) in [(middle, value), (next, of(next))] {
            match value {
                value if value < 0.0 && place > low => (low, below) = (place, value),
                value if value >= 0.0 && place < high => (high, above) = (place, value),
                _ => {}
            }
        }
    }
    f64::midpoint(low, high)
}

/// The chance of a value well below the mean, where the fraction converges fast.
fn lower_tail(x: f64, a: f64, b: f64) -> f64 {
    let sum = a + b;
    let power = a * ((b / a).ln_1p() + x.ln()) + b * ((a / b).ln_1p() + (-x).ln_1p());
    let errors = stirling_error(sum) - stirling_error(a) - stirling_error(b);
    let factor = (power + errors).exp() * (a * b / (std::f64::consts::TAU * sum)).sqrt();
    factor / a * fraction(x, a, b)
}

fn fraction(x: f64, a: f64, b: f64) -> f64 {
    let nonzero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let (mut c, mut d) = (1.0, 1.0 / nonzero(1.0 - (a + b) * x / (a + 1.0)));
    let mut value = d;
    for term in 1..MOST_TERMS {
        let m = f64::from(term);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let before = value;
        for step in [even, odd] {
            d = 1.0 / nonzero(1.0 + step * d);
            c = nonzero(1.0 + step / c);
            value *= c * d;
        }
        if (value - before).abs() <= f64::EPSILON * value.abs() {
            break;
        }
    }
    value
}

/// The logarithm of the gamma function minus Stirling's formula for it.
fn stirling_error(z: f64) -> f64 {
    if z < 15.0 {
        return stirling_error(z + 1.0) + (z + 0.5) * (1.0 / z).ln_1p() - 1.0;
    }
    let square = 1.0 / (z * z);
    let series = 1.0 / 1_260.0 - square * (1.0 / 1_680.0 - square / 1_188.0);
    (1.0 / 12.0 - square * (1.0 / 360.0 - square * series)) / z
}

#[cfg(test)]
mod tests {
    use super::*;

    const T_QUANTILES: [(f64, f64); 8] = [
        (1.0, 12.706_204_736_174_7),
        (1.3, 7.500_529_325_562_03),
        (2.5, 3.574_654_842_003_68),
        (4.0, 2.776_445_105_197_79),
        (9.7, 2.237_515_123_700_1),
        (30.0, 2.042_272_456_301_24),
        (199.0, 1.971_956_544_251_75),
        (123_456.0, 1.959_983_200_245_19),
    ];
    const BETA_QUANTILES: [(f64, f64, f64, f64); 8] = [
        (0.025, 1.0, 5.0, 0.005_050_763_379_468_06),
        (0.025, 0.3, 7.2, 4.646_882_039_350_91e-7),
        (0.5, 10.5, 0.5, 0.978_059_833_231_283),
        (0.025, 8.0, 3.0, 0.443_904_537_692_358),
        (0.975, 200.5, 801.25, 0.225_471_352_293_016),
        (0.025, 100_000.0, 300_000.0, 0.248_659_291_108_81),
        (1e-6, 3.0, 40.0, 0.000_445_215_999_861_215),
        (0.9, 0.02, 19.7, 0.000_153_519_746_119_207),
    ];

    /// Values of scipy 1.17: `stats.t.ppf(0.975, df)`.
    #[test]
    fn quantiles_of_t_equal_those_of_scipy() {
        for (df, due) in T_QUANTILES {
            assert!((t_quantile(df) - due).abs() < 1e-9 * due, "{df}: {}", t_quantile(df));
            assert!((t_chance(due, df) - 0.05).abs() < 1e-11, "{df}: {}", t_chance(due, df));
        }
    }

    /// Values of scipy 1.17: `stats.beta.ppf(chance, a, b)`.
    #[test]
    fn quantiles_of_beta_equal_those_of_scipy() {
        for (chance, a, b, due) in BETA_QUANTILES {
            let found = beta_quantile(chance, a, b);
            assert!((found - due).abs() < 1e-9 * due, "{chance} {a} {b}: {found}");
        }
    }
}
