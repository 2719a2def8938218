//! Computes what `scripts/figures-check` compares with scipy, statsmodels and krippendorff: reads random tables from stdin,
//! a JSON array, and writes an array of what was found.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{stdin, stdout};

use retold_figures::agreement::{Agreement, MeasurementLevel, cohens_kappa, krippendorffs_alpha};
use retold_figures::{ClusteredDraws, FigureKind, Interval, clopper_pearson, difference};
use serde::Deserialize;
use serde_json::{Value, json};

/// A random table.
#[derive(Deserialize)]
struct RandomTable {
    /// Hits and draws.
    share: [u32; 2],
    /// Two groups of clusters by name: the values of each. Clusters of the same name are in both.
    groups: [BTreeMap<String, Vec<f64>>; 2],
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
    let draws = |at: usize, value: fn(f64) -> f64| {
        let mut draws = ClusteredDraws::default();
        for (name, values) in &table.groups[at] {
            values.iter().for_each(|it| draws.add(name, value(*it)));
        }
        draws
    };
    let [numbers, hits] = [|value| value, |value| f64::from(u8::from(value > 6.0))]
        .map(|value: fn(f64) -> f64| [draws(0, value), draws(1, value)]);
    let levels = [MeasurementLevel::Nominal, MeasurementLevel::Ordinal, MeasurementLevel::Interval];
    let alphas = levels.map(|level| krippendorffs_alpha(&table.units, level));
    let kappa = cohens_kappa(table.judged.iter().map(|[one, other]| (&**one, &**other)));
    json!({
        "exact": clopper_pearson(f64::from(table.share[0]), f64::from(table.share[1])).map(ends),
        "mean": numbers[0].interval(FigureKind::Mean).map(ends),
        "means": difference(FigureKind::Mean, &numbers[0], &numbers[1], true),
        "share": hits[0].interval(FigureKind::Share).map(ends),
        "shares": difference(FigureKind::Share, &hits[0], &hits[1], true),
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
