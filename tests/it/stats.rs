//! Clustering compared with scikit-learn's results (`fixtures/stats/datasets.json`, made by
//! `make.py` there), and cases computed by hand.

use std::collections::BTreeMap;

use retold_stats::{
    Algorithm, Clustering, Point, best_clustering, cosine_distance, in_order_of_appearance, kmeans,
    point, silhouette, squared_distance, ward, weighted_mean,
};
use serde::Deserialize;

use crate::support::cases::fixtures;

#[derive(Deserialize)]
struct Fixture {
    datasets: Vec<Dataset>,
}

#[derive(Deserialize)]
struct Dataset {
    points: Vec<Point>,
    by_k: Vec<OfK>,
    best_k: BTreeMap<String, usize>,
}

#[derive(Deserialize)]
struct OfK {
    k: usize,
    kmeans: Vec<usize>,
    kmeans_inertia: f64,
    kmeans_silhouette: f64,
    kmeans_unambiguous: bool,
    ward: Vec<usize>,
    ward_silhouette: f64,
    ward_unambiguous: bool,
}

fn datasets() -> Vec<Dataset> {
    let text = std::fs::read_to_string(fixtures("stats/datasets.json")).unwrap();
    let fixture: Fixture = serde_json::from_str(&text).unwrap();
    assert_eq!(fixture.datasets.len(), 20);
    fixture.datasets
}

/// The adjusted Rand index by its definition (Hubert and Arabie 1985): pairs that are together in
/// both.
fn adjusted_rand_index(a: &[usize], b: &[usize]) -> f64 {
    let pairs = |n: usize| (n * n.saturating_sub(1) / 2) as f64;
    let (mut both, mut rows, mut columns) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for (x, y) in a.iter().zip(b) {
        *both.entry((x, y)).or_insert(0) += 1;
        *rows.entry(x).or_insert(0) += 1;
        *columns.entry(y).or_insert(0) += 1;
    }
    let together: f64 = both.values().map(|n| pairs(*n)).sum();
    let (in_a, in_b): (f64, f64) =
        (rows.values().map(|n| pairs(*n)).sum(), columns.values().map(|n| pairs(*n)).sum());
    let expected = in_a * in_b / pairs(a.len());
    let most = (in_a + in_b) / 2.0;
    if most == expected { 1.0 } else { (together - expected) / (most - expected) }
}

fn inertia(points: &[Point], labels: &[usize]) -> f64 {
    let mean = |l: usize| {
        let members = points.iter().zip(labels).filter(move |(_, label)| **label == l);
        weighted_mean(members.map(|(p, _)| (p.as_slice(), 1.0))).unwrap()
    };
    points.iter().zip(labels).map(|(p, l)| squared_distance(p, &mean(*l))).sum()
}

#[test]
fn the_silhouette_is_scikit_learns() {
    for (number, dataset) in datasets().iter().enumerate() {
        for of_k in &dataset.by_k {
            let scores =
                [(&of_k.kmeans, of_k.kmeans_silhouette), (&of_k.ward, of_k.ward_silhouette)];
            for (labels, theirs) in scores {
                let ours = silhouette(&dataset.points, labels).unwrap();
                assert!((ours - theirs).abs() < 1e-6, "dataset {number}: {ours} for {theirs}");
            }
        }
    }
}

#[test]
fn kmeans_finds_scikit_learns_clusters_or_better_ones() {
    let (mut same, mut unambiguous, mut better) = (0, 0, 0);
    for (number, dataset) in datasets().iter().enumerate() {
        for of_k in &dataset.by_k {
            let ours = kmeans(&dataset.points, of_k.k, 7).unwrap();
            let (cost, theirs) = (inertia(&dataset.points, &ours), of_k.kmeans_inertia);
            // Where scikit-learn does not always find its best result, ours may be slightly worse.
            let slack = if of_k.kmeans_unambiguous { 1e-9 } else { 0.05 };
            assert!(
                cost <= theirs * (1.0 + slack),
                "dataset {number} k {}: {cost} > {theirs}",
                of_k.k
            );
            let index = adjusted_rand_index(&ours, &of_k.kmeans);
            better += usize::from(cost < theirs * (1.0 - 1e-9));
            same += usize::from(index == 1.0);
            if of_k.kmeans_unambiguous {
                unambiguous += 1;
                assert_eq!(index, 1.0, "dataset {number} k {}", of_k.k);
            }
        }
    }
    // How often the comparison was meaningful. The rest are optima that scikit-learn itself does
    // not always find; in some of them ours is better.
    assert!(unambiguous >= 50 && same >= 85, "{same} the same, {unambiguous} unambiguous");
    assert!(same + better >= 95, "{same} the same, {better} better");
}

#[test]
fn ward_merges_as_scikit_learn_does() {
    for (number, dataset) in datasets().iter().enumerate() {
        for of_k in &dataset.by_k {
            assert!(of_k.ward_unambiguous, "dataset {number}: no tie among the merges");
            let ours = ward(&dataset.points, of_k.k).unwrap();
            assert_eq!(
                adjusted_rand_index(&ours, &of_k.ward),
                1.0,
                "dataset {number} k {}",
                of_k.k
            );
        }
    }
}

#[test]
fn the_best_number_of_clusters_is_scikit_learns() {
    for (number, dataset) in datasets().iter().enumerate() {
        for (algorithm, name) in [(Algorithm::Kmeans, "kmeans"), (Algorithm::Agglomerative, "ward")]
        {
            let best = best_clustering(&dataset.points, algorithm, 6, 7);
            assert_eq!(best.count, dataset.best_k[name], "dataset {number} by {name}");
        }
    }
}

#[test]
fn the_adjusted_rand_index_is_right() {
    assert_eq!(adjusted_rand_index(&[0, 0, 1, 1], &[1, 1, 0, 0]), 1.0);
    // scikit-learn's documentation: 0.57...
    let index = adjusted_rand_index(&[0, 0, 1, 2], &[0, 0, 1, 1]);
    assert!((index - 4.0 / 7.0).abs() < 1e-12, "{index}");
}

/// Points on a line at 0, 1 and 10: a and b by hand.
#[test]
fn a_silhouette_by_hand() {
    let points: Vec<Point> = vec![vec![0.0], vec![1.0], vec![10.0]];
    let by_hand = ((10.0 - 1.0) / 10.0 + (9.0 - 1.0) / 9.0 + 0.0) / 3.0;
    assert!((silhouette(&points, &[0, 0, 1]).unwrap() - by_hand).abs() < 1e-12);
    assert_eq!(silhouette(&points, &[0, 0, 0]), None, "a single cluster has no score");
    assert_eq!(silhouette(&points, &[0, 1, 2]), None, "clusters of one point each have no score");
    let same: Vec<Point> = vec![vec![3.0]; 4];
    assert_eq!(silhouette(&same, &[0, 0, 1, 1]), Some(0.0), "zero distances count as 0");
}

#[test]
fn clusters_by_hand() {
    let points: Vec<Point> = [0.0, 10.0, 1.0, 11.0, 30.0].iter().map(|x| vec![*x]).collect();
    assert_eq!(ward(&points, 3), Some(vec![0, 1, 0, 1, 2]));
    assert_eq!(kmeans(&points, 3, 1), Some(vec![0, 1, 0, 1, 2]));
    // Merging 2 with 2 at distance 10 costs 100, merging 1 with 2 at distance 19.5 costs 253.
    assert_eq!(ward(&points, 2), Some(vec![0, 0, 0, 0, 1]));
    assert_eq!(kmeans(&points, 2, 1), Some(vec![0, 0, 0, 0, 1]));
    assert_eq!(ward(&points, 5), Some(vec![0, 1, 2, 3, 4]));
    assert_eq!(kmeans(&points, 6, 1), None, "more clusters than points");
    assert_eq!(ward(&points, 0), None);
    assert_eq!(kmeans(&[vec![f64::NAN], vec![0.0]], 2, 1), None);
    assert_eq!(ward(&[vec![f64::INFINITY], vec![0.0]], 2), None);
}

#[test]
fn few_and_identical_points() {
    for algorithm in [Algorithm::Kmeans, Algorithm::Agglomerative] {
        let best = |points: &[Point], most| best_clustering(points, algorithm, most, 1);
        let plain =
            |labels: &[usize], count| Clustering { labels: labels.to_vec(), count, score: None };
        let (a, b) = (vec![0.0, 1.0], vec![1.0, 0.0]);
        assert_eq!(best(&[], 6), plain(&[], 0));
        assert_eq!(best(std::slice::from_ref(&a), 6), plain(&[0], 1));
        assert_eq!(best(&[a.clone(), b.clone()], 6), plain(&[0, 1], 2));
        assert_eq!(best(&[a.clone(), b.clone()], 1), plain(&[0, 0], 1), "one cluster at most");
        assert_eq!(best(&[a.clone(), a.clone()], 6), plain(&[0, 0], 1));
        assert_eq!(best(&vec![a.clone(); 9], 6), plain(&[0; 9], 1));
        // Two positions, whatever k: any further clusters would be empty.
        let places = [a.clone(), a.clone(), b.clone(), b.clone(), a.clone()];
        let two = best(&places, 6);
        assert_eq!((two.labels.as_slice(), two.count), ([0, 0, 1, 1, 0].as_slice(), 2));
        assert!((two.score.unwrap() - 1.0).abs() < 1e-12);
    }
}

#[test]
fn kmeans_depends_on_its_seed_alone() {
    let dataset = &datasets()[3];
    let once = kmeans(&dataset.points, 6, 99);
    assert!((0..5).all(|_| kmeans(&dataset.points, 6, 99) == once));
}

#[test]
fn distances_and_means_by_hand() {
    assert_eq!(cosine_distance(&[1.0, 0.0], &[0.0, 2.0]), Some(1.0));
    assert_eq!(cosine_distance(&[1.0, 0.0], &[-3.0, 0.0]), Some(2.0));
    assert_eq!(cosine_distance(&[0.0, 0.0], &[1.0, 0.0]), None, "a zero vector has no direction");
    let (a, b) = (vec![1.0, 0.0], vec![0.0, 1.0]);
    let mean = weighted_mean([(a.as_slice(), 3.0), (b.as_slice(), 1.0)]);
    assert_eq!(mean, Some(vec![0.75, 0.25]));
    assert_eq!(weighted_mean([(a.as_slice(), 0.0)]), None);
    assert_eq!(weighted_mean([]), None);
    assert_eq!(point(&[0.1]), vec![f64::from(0.1_f32)], "the same bits");
    assert_eq!(in_order_of_appearance(&[7, 3, 7, 0]), vec![0, 1, 0, 2]);
}
