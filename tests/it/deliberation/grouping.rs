//! The clusters of an option's voters, computed by hand.

use std::path::Path;

use retold_deliberation::{Config, USUAL_SEED, group};
use retold_stats::Point;

fn config(algorithm: &str, most: u32) -> Config {
    let text = format!(
        "pilot_id: p\ntopic: {{description: d, options: [A, B]}}\nparticipants_per_condition: 1\n\
         clustering_algorithm: {algorithm}\nmax_clusters_per_option: {most}\n"
    );
    retold_study::config::load(Path::new("config.yaml"), &text).unwrap()
}

/// The ids of the clusters and of their members.
fn grouped(algorithm: &str, most: u32, points: &[&[f64]]) -> Vec<(String, Vec<String>)> {
    let members: Vec<(String, Point)> =
        (1..).zip(points).map(|(n, point)| (format!("p_{n:04}"), point.to_vec())).collect();
    let formed = group(1, "B", &members, &config(algorithm, most), USUAL_SEED);
    assert!(formed.iter().all(|cluster| cluster.option == "B"));
    formed.into_iter().map(|cluster| (cluster.cluster_id, cluster.member_ids)).collect()
}

fn expected(clusters: &[(&str, &[&str])]) -> Vec<(String, Vec<String>)> {
    let owned = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
    clusters.iter().map(|(id, members)| ((*id).to_owned(), owned(members))).collect()
}

#[test]
fn clusters_are_named_by_option_and_number_in_the_order_of_their_first_members() {
    for algorithm in ["kmeans", "agglomerative"] {
        let of = |most, points: &[&[f64]]| grouped(algorithm, most, points);
        assert_eq!(of(6, &[]), expected(&[]), "nobody");
        assert_eq!(of(6, &[&[1.0, 0.0]]), expected(&[("B_cluster_0", &["p_0001"])]));
        let (a, b): (&[f64], &[f64]) = (&[1.0, 0.0], &[0.0, 1.0]);
        let two = [("B_cluster_0", &["p_0001"][..]), ("B_cluster_1", &["p_0002"])];
        assert_eq!(of(6, &[a, b]), expected(&two), "two who differ");
        assert_eq!(
            of(6, &[a, a]),
            expected(&[("B_cluster_0", &["p_0001", "p_0002"])]),
            "two alike"
        );
        assert_eq!(of(1, &[a, b]), expected(&[("B_cluster_0", &["p_0001", "p_0002"])]));
        // Two groups of two and three points: 1 apart within a group, 99 between the groups.
        let heaps: [&[f64]; 5] = [&[100.0], &[0.0], &[101.0], &[1.0], &[99.0]];
        let two = [
            ("B_cluster_0", &["p_0001", "p_0003", "p_0005"][..]),
            ("B_cluster_1", &["p_0002", "p_0004"]),
        ];
        assert_eq!(of(6, &heaps), expected(&two), "{algorithm}");
        let alike: [&[f64]; 4] = [&[2.0]; 4];
        let all = ["p_0001", "p_0002", "p_0003", "p_0004"];
        assert_eq!(of(6, &alike), expected(&[("B_cluster_0", &all)]), "all alike");
    }
}

#[test]
fn the_seed_says_where_k_means_begins() {
    // Points on a ring have no natural clusters.
    let members: Vec<(String, Point)> = (0..24)
        .map(|n| {
            let angle = f64::from(n) * std::f64::consts::TAU / 24.0;
            (format!("p_{n:04}"), vec![angle.cos(), angle.sin()])
        })
        .collect();
    let of = |algorithm: &str, seed: u64| group(0, "B", &members, &config(algorithm, 5), seed);
    assert_eq!(of("kmeans", 3), of("kmeans", 3));
    let ways = |algorithm: &str| {
        let ways = (0..8).map(|seed| of(algorithm, seed).into_iter().map(|c| c.member_ids));
        ways.map(Iterator::collect::<Vec<_>>).collect::<std::collections::BTreeSet<_>>().len()
    };
    assert!(ways("kmeans") > 1);
    assert_eq!(ways("agglomerative"), 1, "which draws nothing");
}
