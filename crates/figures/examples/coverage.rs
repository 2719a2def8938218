//! Simulates runs whose truth is known, and prints how often intervals have it, and how wide they are: a line of CSV for each
//! case. `scripts/coverage` makes the tables of docs/coverage.md from it.

use std::error::Error;
use std::io::{Write, stdout};

use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::Rng;
use retold::run::rng_for;
use retold_figures::{ClusteredDraws, FigureKind, Interval, difference};

/// How draws are distributed.
#[derive(Debug, Clone, Copy)]
enum Population {
    /// Numbers with mean 0 and variance 1.
    Normal,
    /// The powers of e by such numbers: a few are large.
    Lognormal,
    /// Hits with this share.
    Share(f64),
}

/// How the clusters of two groups correspond.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Design {
    /// There is one group.
    One,
    /// The groups have different clusters.
    Unpaired,
    /// The second group has five times as many clusters.
    Unbalanced,
    /// The groups have the same clusters.
    Paired,
}

/// A case to simulate.
#[derive(Debug, Clone, Copy)]
struct Case {
    population: Population,
    design: Design,
    clusters: usize,
    /// Whether clusters are of one size, 10, or of sizes from 1 to 28.
    is_equal: bool,
    /// The correlation of two draws of a cluster; of single draws, `None`.
    correlation: Option<f64>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let runs: u32 = std::env::args().nth(1).map_or(Ok(2_000), |runs| runs.parse())?;
    let mut out = stdout().lock();
    writeln!(out, "values,design,clusters,sizes,icc,covered,width,without,rejected")?;
    for case in cases() {
        writeln!(out, "{}", simulate(case, runs))?;
    }
    Ok(())
}

fn cases() -> Vec<Case> {
    let mut populations = vec![Population::Normal, Population::Lognormal];
    populations.extend([0.02, 0.1, 0.3, 0.5].map(Population::Share));
    let mut cases = Vec::new();
    for population in populations {
        for design in [Design::One, Design::Unpaired, Design::Unbalanced, Design::Paired] {
            let most = if design == Design::One { 5 } else { 4 };
            for clusters in [5, 10, 20, 50, 100].into_iter().take(most) {
                let mut add = |is_equal, correlation| {
                    cases.push(Case { population, design, clusters, is_equal, correlation });
                };
                add(true, None);
                for correlation in [0.0, 0.2, 0.5] {
                    add(true, Some(correlation));
                    add(false, Some(correlation));
                }
            }
        }
    }
    cases
}

/// A number from 0 to 1.
fn uniform(rng: &mut ChaCha12Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// A normal number, by the method of Box and Muller.
fn normal(rng: &mut ChaCha12Rng) -> f64 {
    let (one, other) = (1.0 - uniform(rng), uniform(rng));
    (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * other).cos()
}

impl Case {
    fn truth(self) -> f64 {
        match (self.design, self.population) {
            (Design::One, Population::Lognormal) => 0.5_f64.exp(),
            (Design::One, Population::Share(share)) => share,
            _ => 0.0,
        }
    }

    fn kind(self) -> FigureKind {
        match self.population {
            Population::Share(_) => FigureKind::Share,
            Population::Normal | Population::Lognormal => FigureKind::Mean,
        }
    }

    fn size(self, cluster: usize) -> usize {
        match (self.correlation, self.is_equal) {
            (None, _) => 1,
            (_, true) => 10,
            (_, false) => [1, 2, 4, 15, 28][cluster % 5],
        }
    }

    /// What the draws of a cluster have in common.
    fn common(self, rng: &mut ChaCha12Rng) -> f64 {
        match self.population {
            Population::Share(share) => f64::from(u8::from(uniform(rng) < share)),
            Population::Normal | Population::Lognormal => normal(rng),
        }
    }

    /// A draw of a cluster.
    fn draw(self, common: f64, rng: &mut ChaCha12Rng) -> f64 {
        let correlation = self.correlation.unwrap_or(0.0);
        let mixed = |rng: &mut ChaCha12Rng| {
            common * correlation.sqrt() + normal(rng) * (1.0 - correlation).sqrt()
        };
        match self.population {
            Population::Normal => mixed(rng),
            Population::Lognormal => mixed(rng).exp(),
            // Two draws have the common value with the chance of the correlation, and are then the same.
            Population::Share(_) if uniform(rng) < correlation.sqrt() => common,
            Population::Share(_) => self.common(rng),
        }
    }

    /// The groups of a run.
    fn groups(self, rng: &mut ChaCha12Rng) -> [ClusteredDraws; 2] {
        let mut groups = [ClusteredDraws::default(), ClusteredDraws::default()];
        let most =
            if self.design == Design::Unbalanced { 5 * self.clusters } else { self.clusters };
        for cluster in 0..most {
            let mut common = self.common(rng);
            for (at, group) in groups.iter_mut().enumerate() {
                if at == 1 && self.design == Design::One || at == 0 && cluster >= self.clusters {
                    continue;
                }
                let name = match self.design {
                    Design::Paired => cluster.to_string(),
                    _ => {
                        common = self.common(rng);
                        format!("{at}/{cluster}")
                    }
                };
                (0..self.size(cluster)).for_each(|_| group.add(&name, self.draw(common, rng)));
            }
        }
        groups
    }
}

fn simulate(case: Case, runs: u32) -> String {
    let mut rng = rng_for(1, &format!("{case:?}"));
    let (mut covered, mut width, mut without, mut rejected) = (0, 0.0, 0, 0);
    for _ in 0..runs {
        let [one, other] = case.groups(&mut rng);
        let interval = match case.design {
            Design::One => one.interval(case.kind()),
            _ => {
                let found = difference(case.kind(), &one, &other, true);
                rejected += u32::from(found.test.is_some_and(|test| test.p < 0.05));
                found.interval
            }
        };
        match interval {
            None => without += 1,
            Some(Interval { low, high, .. }) => {
                width += high - low;
                covered += u32::from(low <= case.truth() && case.truth() <= high);
            }
        }
    }
    let with = f64::from(runs - without);
    let per_cent = |count: u32, of: f64| 100.0 * f64::from(count) / of;
    let Case { population, design, clusters, is_equal, correlation } = case;
    format!(
        "{population:?},{design:?},{clusters},{},{},{:.1},{:.3},{:.1},{:.1}",
        if correlation.is_none() {
            "single"
        } else if is_equal {
            "equal"
        } else {
            "unequal"
        },
        correlation.map_or_else(String::new, |icc| icc.to_string()),
        per_cent(covered, with),
        width / with,
        per_cent(without, f64::from(runs)),
        per_cent(rejected, f64::from(runs)),
    )
}
