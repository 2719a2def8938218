//! Permutation tests of the difference between two means: how often would a difference at least as large be found if
//! which cluster belongs to which group meant nothing? Clusters are permuted whole, because their draws are not
//! independent of each other.

use retold::run::{below, rng_for};
use serde::Serialize;

use crate::merged::Sums;
use crate::merged::{merge, set_size};

/// The most assignments that are all tried.
pub const EXACT_ASSIGNMENTS: u64 = 20_000;

/// How many assignments are drawn if there are more.
pub const DRAWN_ASSIGNMENTS: u32 = 9_999;

/// The seed of all tests: the stream of each also depends on its figure's name.
const SEED: u64 = 0;

/// Differences that are closer than this, for their size, are the same: they are sums in another order.
const ROUNDING: f64 = 1e-10;

/// The result of a permutation test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PermutationTest {
    /// The share of assignments of clusters to groups with a difference at least as large, in either direction. Of
    /// drawn assignments, the one that was recorded counts too, so that it is never 0 (B. Phipson, G. K. Smyth,
    /// Statistical Applications in Genetics and Molecular Biology 9, 2010).
    pub p: f64,
    /// How many assignments were tried.
    pub assignments: u64,
    /// Whether these are all there are.
    pub exact: bool,
}

/// Tests the difference between groups of different clusters: every cluster may belong to either group, as long as
/// the groups keep their sizes. `None` if a group has no clusters.
pub(crate) fn between(name: &str, one: &[Sums<2>], other: &[Sums<2>]) -> Option<PermutationTest> {
    if one.is_empty() || other.is_empty() {
        return None;
    }
    // Sets that may be in either group must be of one size.
    let together = set_size(one.len() + other.len());
    let [one, other] = [one, other].map(|clusters| merge(clusters, together));
    let mut all: Vec<Sums<2>> = one.iter().chain(other.iter()).copied().collect();
    let total = total(&all);
    let observed = apart(total, self::total(&one))?;
    let size = one.len();
    if ways(all.len(), size).is_some_and(|ways| ways <= EXACT_ASSIGNMENTS) {
        let mut counts = AssignmentCounts::new(observed);
        each_choice(&all, size, Sums::default(), &mut |chosen| {
            counts.add(apart(total, chosen));
        });
        return Some(counts.exact());
    }
    let mut rng = rng_for(SEED, &format!("permutation/{name}"));
    let mut counts = AssignmentCounts::new(observed);
    for _ in 0..DRAWN_ASSIGNMENTS {
        // The beginning of a shuffle, as far as it is needed.
        for at in 0..size {
            let drawn = at + below(all.len() - at, &mut rng);
            all.swap(at, drawn);
        }
        counts.add(apart(total, self::total(&all[..size])));
    }
    Some(counts.into_test())
}

/// Tests the difference between two groups that have the same clusters: in each cluster, the groups may be exchanged.
/// `None` without clusters.
pub(crate) fn within(name: &str, pairs: &[Sums<4>]) -> Option<PermutationTest> {
    let pairs = merge(pairs, set_size(pairs.len()));
    let difference = |sums: Sums<4>| {
        let [one, n, other, m] = sums;
        (n > 0.0 && m > 0.0).then(|| (other / m - one / n).abs())
    };
    let assigned = |exchanged: &dyn Fn(usize) -> bool| {
        let mut sums = Sums::default();
        for (at, [a, n, b, m]) in pairs.iter().enumerate() {
            let pair = if exchanged(at) { [b, m, a, n] } else { [a, n, b, m] };
            sums.iter_mut().zip(pair).for_each(|(all, more)| *all += more);
        }
        difference(sums)
    };
    let mut counts = AssignmentCounts::new(assigned(&|_| false)?);
    let ways = 1_u64.checked_shl(u32::try_from(pairs.len()).ok()?);
    if let Some(ways) = ways.filter(|ways| *ways <= EXACT_ASSIGNMENTS) {
        (0..ways).for_each(|way| counts.add(assigned(&|at| way >> at & 1 == 1)));
        return Some(counts.exact());
    }
    let mut rng = rng_for(SEED, &format!("permutation/{name}"));
    for _ in 0..DRAWN_ASSIGNMENTS {
        let exchanged: Vec<bool> = pairs.iter().map(|_| below(2, &mut rng) == 1).collect();
        counts.add(assigned(&|at| exchanged[at]));
    }
    Some(counts.into_test())
}

/// How many assignments have a difference as large as the observed one.
struct AssignmentCounts {
    observed: f64,
    as_large: u64,
    tried: u64,
}

impl AssignmentCounts {
    fn new(observed: f64) -> Self {
        AssignmentCounts { observed, as_large: 0, tried: 0 }
    }

    fn add(&mut self, difference: Option<f64>) {
        let least = self.observed - ROUNDING * self.observed.max(1.0);
        self.as_large += u64::from(difference.is_some_and(|difference| difference >= least));
        self.tried += 1;
    }

    fn exact(self) -> PermutationTest {
        let p = self.as_large as f64 / self.tried as f64;
        PermutationTest { p, assignments: self.tried, exact: true }
    }

    fn into_test(self) -> PermutationTest {
        let p = (self.as_large + 1) as f64 / (self.tried + 1) as f64;
        PermutationTest { p, assignments: self.tried, exact: false }
    }
}

fn total(sums: &[Sums<2>]) -> Sums<2> {
    sums.iter().fold(Sums::default(), |[sum, count], [s, n]| [sum + s, count + n])
}

/// How far the means of a group and of all others are apart.
fn apart([sum, count]: Sums<2>, [chosen, n]: Sums<2>) -> Option<f64> {
    let (rest, m) = (sum - chosen, count - n);
    (n > 0.0 && m > 0.0).then(|| (rest / m - chosen / n).abs())
}

/// In how many ways so many can be chosen; `None` if there are very many.
fn ways(all: usize, chosen: usize) -> Option<u64> {
    let chosen = chosen.min(all - chosen) as u64;
    let mut ways = 1_u64;
    for step in 1..=chosen {
        ways = ways.checked_mul(all as u64 - chosen + step)? / step;
    }
    Some(ways)
}

/// Passes on the total of each choice of so many of the sums.
fn each_choice(from: &[Sums<2>], choose: usize, so_far: Sums<2>, each: &mut impl FnMut(Sums<2>)) {
    let Some(([first, n], rest)) = from.split_first() else {
        return each(so_far);
    };
    let [sum, count] = so_far;
    if choose > 0 {
        each_choice(rest, choose - 1, [sum + first, count + n], each);
    }
    if rest.len() >= choose {
        each_choice(rest, choose, so_far, each);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn single(values: &[f64]) -> Vec<Sums<2>> {
        values.iter().map(|value| [*value, 1.0]).collect()
    }

    #[test]
    fn few_clusters_are_assigned_in_all_ways() {
        // R. A. Fisher's lady tasting tea: all four right, of eight cups. 1 of 70 assignments, and its reverse.
        let (milk, tea) = (single(&[1.0; 4]), single(&[0.0; 4]));
        let found = between("tea", &milk, &tea).unwrap();
        assert_eq!((found.assignments, found.exact), (70, true));
        assert!((found.p - 2.0 / 70.0).abs() < 1e-12);
        let pairs: Vec<Sums<4>> = [1.0, 2.0, 3.0].map(|by| [0.0, 1.0, by, 1.0]).into();
        let found = within("pairs", &pairs).unwrap();
        assert_eq!((found.p, found.assignments, found.exact), (0.25, 8, true));
        assert_eq!((between("none", &[], &tea), within("none", &[])), (None, None));
    }

    #[test]
    fn many_clusters_are_assigned_by_chance_and_the_same_each_time() {
        let one: Vec<f64> = (0..40).map(|n| f64::from(n % 7)).collect();
        let other: Vec<f64> = (0..40).map(|n| f64::from(n % 7) + 1.5).collect();
        let found = between("many", &single(&one), &single(&other)).unwrap();
        assert_eq!((found.assignments, found.exact), (u64::from(DRAWN_ASSIGNMENTS), false));
        assert!(found.p < 0.01 && found.p >= 1.0 / f64::from(DRAWN_ASSIGNMENTS + 1), "{found:?}");
        assert_eq!(between("many", &single(&one), &single(&other)), Some(found));
        let same = between("same", &single(&one), &single(&one)).unwrap();
        assert_eq!(same.p, 1.0);
        let pairs: Vec<Sums<4>> =
            (0..40).map(|n| [0.0, 1.0, f64::from(n % 3) - 1.0, 1.0]).collect();
        assert!(within("pairs", &pairs).unwrap().p > 0.5);
    }

    /// Clusters are what is assigned: ten draws of each of two participants are as little evidence as one.
    #[test]
    fn draws_of_one_cluster_stay_together() {
        let found = between("clusters", &[[10.0, 10.0]], &[[0.0, 10.0]]).unwrap();
        assert_eq!((found.p, found.assignments), (1.0, 2));
    }
}
