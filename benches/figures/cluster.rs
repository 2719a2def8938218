//! The best clustering of 300 embeddings with 2 to 6 clusters, compared with scikit-learn's time
//! for the same vectors, if Python and scikit-learn are installed.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rand_chacha::rand_core::Rng;
use retold::run::rng_for;
use retold_stats::{Algorithm, Point, best_clustering};

use crate::{row, timed};

const POINTS: usize = 300;
const WIDTH: usize = 1536;
const PLACES: usize = 4;
const MOST: usize = 6;

/// Reads the vectors and does what the source document's program does.
const PYTHON: &str = r#"
import sys, time
import numpy as np
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.metrics import silhouette_score
points = np.fromfile(sys.argv[1]).reshape(300, 1536)
def best(make):
    begun = time.perf_counter()
    scores = []
    for k in range(2, 7):
        scores.append(silhouette_score(points, make(k).fit_predict(points)))
    return time.perf_counter() - begun, 2 + int(np.argmax(scores))
make = {
    "kmeans": lambda k: KMeans(n_clusters=k, random_state=42, n_init=10),
    "ward": lambda k: AgglomerativeClustering(n_clusters=k),
}[sys.argv[2]]
best(make)
print(*min(best(make) for _ in range(3)))
"#;

pub(crate) fn measure() {
    let points = points();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("points.f64");
    let bytes: Vec<u8> = points.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
    std::fs::write(&file, bytes).unwrap();
    for (algorithm, name) in [(Algorithm::Kmeans, "kmeans"), (Algorithm::Agglomerative, "ward")] {
        let mut ours = Duration::MAX;
        let mut count = 0;
        for _ in 0..3 {
            let (found, took) = timed(|| best_clustering(&points, algorithm, MOST, 42));
            (ours, count) = (ours.min(took), found.count);
        }
        let seconds = ours.as_secs_f64();
        let figure = format!("{name}, 300 embeddings of 1,536 numbers, k 2 to 6 (best: {count})");
        let ours = format!("{:.0} ms", seconds * 1000.0);
        match scikit_learn(&file, name) {
            Ok((theirs, best)) => {
                assert_eq!(best, count, "the same number of clusters");
                let reference = format!("scikit-learn: {:.0} ms", theirs * 1000.0);
                row(&figure, &ours, &reference, theirs / seconds);
            }
            Err(why) => println!("| {figure} | {ours} | {why} | - |"),
        }
    }
}

/// Four groups with noise: numbers between -0.5 and 0.5 around four points.
fn points() -> Vec<Point> {
    let mut rng = rng_for(42, "points");
    let mut number = move || (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64 - 0.5;
    let places: Vec<Point> = (0..PLACES).map(|_| (0..WIDTH).map(|_| number()).collect()).collect();
    let near = |place: &Point, number: &mut dyn FnMut() -> f64| -> Point {
        place.iter().map(|x| x + number()).collect()
    };
    (0..POINTS).map(|i| near(&places[i % PLACES], &mut number)).collect()
}

/// Seconds and the best number of clusters.
fn scikit_learn(file: &Path, algorithm: &str) -> Result<(f64, usize), &'static str> {
    let mut python = Command::new("python3");
    let output = python.args(["-c", PYTHON]).arg(file).arg(algorithm).output();
    let output = output.map_err(|_| "scikit-learn: there is no python3")?;
    let said = String::from_utf8_lossy(&output.stdout);
    let Some((seconds, best)) = said.trim().split_once(' ') else {
        return Err("scikit-learn is not installed");
    };
    Ok((seconds.parse().unwrap(), best.parse().unwrap()))
}
