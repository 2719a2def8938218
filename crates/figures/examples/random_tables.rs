//! Computes what `scripts/figures-check` compares with scipy, statsmodels and krippendorff: reads random tables from stdin,
//! a JSON array, and writes an array of what was found.

use std::error::Error;
use std::io::{stdin, stdout};

use retold_figures::agreement::{Agreement, MeasurementLevel, cohens_kappa, krippendorffs_alpha};
use retold_figures::{
    ClusteredDraws, FigureKind, Interval, clopper_pearson, difference, newcombe, wilson,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// A random table.
#[derive(Deserialize)]
struct RandomTable {
    /// Hits and draws of two groups.
    shares: [[u32; 2]; 2],
    /// The clusters of two groups: the values of each.
    groups: [Vec<Vec<f64>>; 2],
    /// The values of clusters that are in both groups.
    pairs: Vec<[Vec<f64>; 2]>,
    /// The values that judges gave to each unit, without missing ones.
    units: Vec<Vec<f64>>,
    /// The names that two judges gave to each thing.
    judged: Vec<[String; 2]>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let tables: Vec<RandomTable> = serde_json::from_reader(stdin().lock())?;
    let found: Vec<Value> = tables.iter().map(computed).collect();
    Ok(serde_json::to_writer(stdout().lock(), &found)?)
}

fn computed(table: &RandomTable) -> Value {
    let [one, other] = &table.shares;
    let counts = |[hits, draws]: &[u32; 2]| (f64::from(*hits), f64::from(*draws));
    let [first, second] = [0, 1].map(|at| {
        let mut draws = ClusteredDraws::default();
        for (name, values) in table.groups[at].iter().enumerate() {
            values.iter().for_each(|value| draws.add(&format!("{at}/{name}"), *value));
        }
        draws
    });
    let [before, after] = [0, 1].map(|at| {
        let mut draws = ClusteredDraws::default();
        for (name, pair) in table.pairs.iter().enumerate() {
            pair[at].iter().for_each(|value| draws.add(&name.to_string(), *value));
        }
        draws
    });
    let kind = FigureKind::Mean;
    let levels = [MeasurementLevel::Nominal, MeasurementLevel::Ordinal, MeasurementLevel::Interval];
    let alphas = levels.map(|level| krippendorffs_alpha("table", &table.units, level));
    let kappa = cohens_kappa(table.judged.iter().map(|[one, other]| (&**one, &**other)));
    json!({
        "wilson": wilson(counts(one).0, counts(one).1).map(ends),
        "exact": clopper_pearson(one[0], one[1]).map(ends),
        "newcombe": newcombe(counts(one), counts(other)).map(ends),
        "bootstrap": first.interval(kind, "table").map(ends),
        "unpaired": difference(kind, "table", &first, &second, true),
        "paired": difference(kind, "table", &before, &after, true),
        "alphas": alphas.map(|alpha| alpha.map(agreed)),
        "kappa": kappa.map(agreed),
    })
}

fn ends(interval: Interval) -> [f64; 2] {
    [interval.low, interval.high]
}

fn agreed(agreement: Agreement) -> Value {
    json!({"value": agreement.value, "interval": agreement.interval.map(ends)})
}
