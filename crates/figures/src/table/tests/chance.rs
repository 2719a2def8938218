//! What is said of chance: intervals, differences, pairs and clusters.

use retold::event::{Because, Event, Labels, RequestSent};
use retold::id::CallPath;
use retold::prompt::Request;

use super::*;
use crate::{GroupPairing, IntervalMethod};

#[test]
fn a_share_by_condition_has_intervals_a_difference_and_a_test() {
    let found = tables(vec![votes(5, [4, 1])], &["share of vote = yes by condition"]).unwrap();
    let groups = &found[0].groups;
    assert_eq!((groups[0].value, groups[1].value), (Some(0.8), Some(0.2)));
    assert_eq!(groups[0].interval.unwrap().method, IntervalMethod::ClopperPearson);
    let difference = &found[0].differences[0].found;
    assert_eq!(difference.pairing, GroupPairing::Unpaired);
    // Fisher's exact test, which asks the same of two shares, has 0.206.
    let test = difference.test.unwrap();
    assert!((0.1..0.25).contains(&test.p) && test.tests == 1, "{test:?}");
    insta::assert_snapshot!(shown(&found));
}

#[test]
fn participants_of_both_conditions_are_paired() {
    let mut run = Written::program();
    for n in 0..5 {
        let participant = n.to_string();
        for (condition, coins) in [("a", n), ("b", n + 2 + n % 2)] {
            let labels = [("condition", condition), ("participant", participant.as_str())];
            let call = format!("give/{n}/{condition}");
            run.decision(&call, &labels, "contribution", json!(coins));
        }
    }
    let found = tables(vec![run], &["mean of contribution by condition"]).unwrap();
    let difference = &found[0].differences[0].found;
    assert_eq!((difference.pairing, difference.clusters_in_both), (GroupPairing::Paired, 5));
    // scipy.stats.ttest_rel of the two.
    assert!((difference.test.unwrap().p - 0.000_608_184_944_463).abs() < 1e-9, "{difference:?}");
    insta::assert_snapshot!(shown(&found));
}

/// Players of a game react to each other; but a label that is compared is no cluster.
#[test]
fn values_of_one_game_are_one_cluster_unless_games_are_compared() {
    let mut run = Written::program();
    for n in 0..8 {
        let (player, game) = (n.to_string(), (n / 2).to_string());
        let labels = [("player", player.as_str()), ("game", game.as_str())];
        run.decision(&format!("give/{n}"), &labels, "coins", json!(n));
    }
    let of = ["mean of coins", "mean of coins by game"];
    let found = tables(vec![run], &of).unwrap();
    let by = |label: &str| ClusteringUsed::By(label.to_owned());
    assert_eq!([&found[0].clusters, &found[1].clusters], [&by("game"), &by("player")]);
    assert_eq!(found[0].groups[0].clusters, 4);
}

/// A game of many answers counts more than one of few, or the same: the figure says which.
#[test]
fn a_mean_of_games_is_not_the_mean_of_their_answers() {
    let mut run = Written::program();
    for (game, answers) in [(0, 8), (1, 2), (2, 2), (3, 2), (4, 2)] {
        for n in 0..answers {
            let name = game.to_string();
            run.decision(&format!("give/{game}/{n}"), &[("game", &name)], "coins", json!(game));
        }
    }
    let of = ["mean of coins", "mean of coins per cluster", "share of coins = 0 per cluster"];
    let found = tables(vec![run], &of).unwrap();
    let values: Vec<_> = found.iter().map(|table| table.groups[0].value).collect();
    assert_eq!(values, [Some(1.25), Some(2.0), Some(0.2)]);
    assert!(found[0].notes()[0].starts_with("per answer: every value counts the same; "));
    assert!(found[1].notes()[0].starts_with("per game: every game counts the same; "));
    let interval = found[2].groups[0].interval.unwrap();
    assert_eq!((interval.method, interval.low), (IntervalMethod::Cr2, 0.0));
    let mut run = Written::program();
    run.decision("give", &[], "coins", json!(1));
    let error = tables(vec![run], &["mean of coins per cluster"]).unwrap_err();
    insta::assert_snapshot!(error, @r#"figure "mean of coins per cluster": nothing says which values are one cluster; add `clustered by LABEL`: no call has any"#);
}

/// Labels of other calls say nothing about these.
#[test]
fn values_that_lack_a_label_are_not_clustered_by_it() {
    let mut run = votes(4, [3, 1]);
    run.decision("give/1", &[("game", "1")], "coins", json!(3));
    run.decision("mood/1", &[], "mood", json!("good"));
    let of = ["share of vote = yes", "mean of coins", "share of mood = good"];
    let found = tables(vec![run], &of).unwrap();
    let by = |label: &str| ClusteringUsed::By(label.to_owned());
    let used: Vec<_> = found.iter().map(|found| found.clusters.clone()).collect();
    assert_eq!(used, [by("participant"), by("game"), ClusteringUsed::Unknown]);
}

#[test]
fn a_change_is_between_two_values_of_one_participant() {
    let mut run = Written::program();
    for (n, after) in ["yes", "no", "no"].into_iter().enumerate() {
        let participant = n.to_string();
        for (phase, vote) in [("before", "yes"), ("after", after)] {
            let labels = [("phase", phase), ("participant", participant.as_str())];
            run.decision(&format!("{phase}/{n}"), &labels, "vote", json!(vote));
        }
    }
    let labels = [("phase", "before"), ("participant", "9")];
    run.decision("before/9", &labels, "vote", json!("yes"));
    let found = tables(vec![run], &["changed(before.vote, after.vote)"]).unwrap();
    let all = &found[0].groups[0];
    assert_eq!((all.draws, all.missing, all.value), (3, 1, Some(2.0 / 3.0)));
}

#[test]
fn runs_are_paired_by_participants_if_nobody_is_drawn_anew() {
    let figure = ["share of vote = yes by condition"];
    let found = tables(vec![votes(3, [3, 0]), votes(3, [2, 2])], &figure).unwrap();
    insta::assert_snapshot!(shown(&found));
    let study = |seed| {
        let mut run = Written::of("study", seed);
        for n in 0..3 {
            let participant = n.to_string();
            let call = format!("vote/{n}");
            run.decision(&call, &[("participant", participant.as_str())], "vote", json!(n > 0));
        }
        run
    };
    let pairing = |seeds: [u64; 2]| {
        let found = tables(seeds.map(study).into(), &["share of vote = true"]).unwrap();
        found[0].differences[0].found.pairing
    };
    assert_eq!(pairing([1, 1]), GroupPairing::Paired);
    assert_eq!(pairing([1, 2]), GroupPairing::Unpaired);
}

#[test]
fn without_a_word_on_independence_nothing_is_said_of_chance() {
    let run = || {
        let mut run = Written::program();
        for n in 0..5 {
            run.decision(&format!("q/{n}"), &[("condition", "a")], "sum", json!(n));
            run.decision(&format!("r/{n}"), &[("condition", "b")], "sum", json!(n + 1));
        }
        run
    };
    let figures = [
        "mean of sum by condition",
        "mean of sum by condition independent",
        "mean of sum by model",
    ];
    let found = tables(vec![run()], &figures).unwrap();
    insta::assert_snapshot!(shown(&found));
}

/// Participants of the same name are others where everybody was drawn anew.
#[test]
fn runs_with_other_seeds_are_unpaired_and_it_is_said_why() {
    let drawn = |seed: u64| {
        let mut run = Written::of("poll", seed);
        for n in 0..6 {
            let participant = format!("p{n}");
            let vote = if n < 2 * seed { "yes" } else { "no" };
            let labels = [("participant", participant.as_str())];
            run.decision(&format!("vote/{n}"), &labels, "vote", json!(vote));
        }
        run
    };
    let figures = ["share of vote = yes"];
    let found = shown(&tables(vec![drawn(1), drawn(2)], &figures).unwrap());
    assert!(found.contains(", unpaired; p = "), "{found}");
    assert!(
        found.contains("the runs are of different experiments or have different seeds"),
        "{found}"
    );
    let same = shown(&tables(vec![drawn(1), drawn(1)], &figures).unwrap());
    assert!(same.contains("paired over 6 participants in both"), "{same}");
    assert!(!same.contains("different seeds"), "{same}");
}

/// Participants are not independent of each other if one is told what another has said.
#[test]
fn participants_who_hear_each_other_are_no_clusters() {
    let mut run = Written::of("talk", 1);
    let mut last = None;
    for n in 0..4 {
        let labels = Labels::from([("participant".to_owned(), format!("p{n}"))]);
        let request = Request::from_body(json!({"model": "m-1", "messages": []})).unwrap();
        let (call, prompt) = (CallPath::new(format!("say/{n}")).unwrap(), request.hash());
        let sent = RequestSent { call, sample: 0, prompt, because: Because::new(last), labels };
        let asked = run.add(&Event::RequestSent(sent), Some(request));
        last = Some(run.answered(asked));
        run.decided(Seq(asked.0 + 1), "vote", "reported", json!(if n < 2 { "yes" } else { "no" }));
    }
    let found = tables(vec![run], &["share of vote = yes"]).unwrap().remove(0);
    assert_eq!(found.clusters, ClusteringUsed::Unknown);
    assert_eq!((found.groups[0].value, found.groups[0].interval), (Some(0.5), None));
}
