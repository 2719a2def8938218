//! Which values a group has, and which it lacks.

use proptest::prelude::*;
use retold::event::{Event, FactOccurred};

use super::*;

#[test]
fn what_is_missing_and_what_is_a_last_resort_is_counted_beside() {
    let mut run = votes(3, [3, 0]);
    let labels = [("condition", "acp"), ("participant", "acp-9")];
    run.failed("vote/acp-9", &labels);
    run.decision("vote/acp-8", &labels, "vote", json!(null));
    let asked = run.asked("vote/acp-7", 0, &labels);
    let answer = run.answered(asked);
    run.decided(answer, "vote", "default", json!("no"));
    // The same call again after a crash is one question, and a call of another kind is no vote.
    run.asked("vote/acp-6", 0, &labels);
    run.asked("vote/acp-6", 0, &labels);
    run.failed("chat/acp-6", &labels);
    run.decision("talk/acp-6", &labels, "mood", json!("calm"));
    let found = tables(vec![run], &["share of vote = yes by condition"]).unwrap();
    let acp = &found[0].groups[0];
    assert_eq!((acp.draws, acp.missing, acp.fallback, acp.value), (3, 3, 1, Some(1.0)));
}

#[test]
fn a_study_that_asked_again_has_one_value() {
    let mut run = Written::of("deliberation", 1);
    for (call, values) in [("a/1", [json!(null), json!(4)]), ("a/2", [json!(null), json!(null)])] {
        for (sample, value) in (0..).zip(values) {
            let asked = run.asked(call, sample, &[("participant", call)]);
            let answer = run.answered(asked);
            run.decided(answer, "sum", "reported", value);
        }
    }
    // Samples that were asked for together are as many draws.
    let labels = [("participant", "b")];
    let asked = [0, 1].map(|sample| run.asked("b/1", sample, &labels));
    for (asked, value) in asked.into_iter().zip([json!(null), json!(6)]) {
        let answer = run.answered(asked);
        run.decided(answer, "sum", "reported", value);
    }
    let found = tables(vec![run], &["mean of sum"]).unwrap();
    let all = &found[0].groups[0];
    assert_eq!((all.draws, all.missing, all.value), (2, 2, Some(5.0)));
}

/// Calls of another kind may fail without a vote being missing.
#[test]
fn a_failed_call_of_another_kind_takes_no_vote_away() {
    let mut run = Written::program();
    for (n, after) in ["yes", "no"].into_iter().enumerate() {
        let participant = n.to_string();
        let labels = |phase| [("phase", phase), ("participant", participant.as_str())];
        run.decision(&format!("before/vote/{n}"), &labels("before"), "vote", json!("yes"));
        run.failed(&format!("before/reason/{n}"), &labels("before"));
        run.decision(&format!("after/vote/{n}"), &labels("after"), "vote", json!(after));
    }
    run.decision("mood/0", &[("participant", "0")], "mood", json!("good"));
    let of = ["changed(before.vote, after.vote)", "share of vote = yes by phase"];
    let found = tables(vec![run], &of).unwrap();
    let changed = &found[0].groups[0];
    assert_eq!((changed.draws, changed.missing, changed.value), (2, 0, Some(0.5)));
    assert!(found[1].groups.iter().all(|group| group.missing == 0), "{:?}", found[1]);
}

#[test]
fn facts_have_figures_too() {
    let mut run = Written::program();
    for (round, value) in [(1, 3), (1, 5), (2, 7)] {
        run.fact(json!({"name": "score", "value": value, "round": round}));
        run.fact(json!({"name": "noise", "value": "loud"}));
    }
    run.fact(json!({"name": "score", "value": null, "round": 2}));
    let found = tables(vec![run], &["mean of score by round independent"]).unwrap();
    let counts = found[0].groups.iter().map(|of| (of.group[0].to_string(), of.value, of.missing));
    let expected = [("1".to_owned(), Some(4.0), 0), ("2".to_owned(), Some(7.0), 1)];
    assert_eq!(counts.collect::<Vec<_>>(), expected);
}

#[test]
fn fields_of_a_facts_value_are_fields() {
    let mut run = Written::program();
    for (round, sum) in [(1, 3), (2, 7)] {
        run.fact(json!({"name": "score", "value": {"sum": sum, "round": round}}));
    }
    let found = tables(vec![run], &["mean of score.sum by round independent"]).unwrap();
    let values: Vec<_> = found[0].groups.iter().map(|group| group.value).collect();
    assert_eq!(values, [Some(3.0), Some(7.0)]);
}

#[test]
fn a_label_that_is_empty_or_reads_none_is_not_a_missing_one() {
    let mut run = Written::program();
    run.decision("a", &[("side", "")], "coins", json!(1));
    run.decision("b", &[("side", "(none)")], "coins", json!(2));
    run.decision("c", &[], "coins", json!(3));
    let found = tables(vec![run], &["mean of coins by side"]).unwrap().remove(0);
    let cells: Vec<String> = found.groups.iter().map(|group| group.group[0].to_string()).collect();
    assert_eq!(cells, ["\"\"", "\"(none)\"", "(none)"]);
    assert_eq!(json!(found)["groups"][2]["group"], json!([null]));
}

#[test]
fn groups_are_in_the_order_of_people_and_runs_in_the_order_in_which_they_are_named() {
    let numbered = |days: &[u32]| {
        let mut run = Written::program();
        for day in days {
            let label = day.to_string();
            run.decision(&format!("day{day}"), &[("day", &label)], "coins", json!(day));
        }
        run
    };
    let runs = vec![numbered(&[1, 2, 10]), numbered(&[2])];
    let found = tables(runs, &["mean of coins by day"]).unwrap().remove(0);
    let groups: Vec<String> =
        found.groups.iter().map(|of| found.cells(of)[..2].join(" ")).collect();
    assert_eq!(groups, ["1 01", "2 01", "2 02", "10 01"]);
}

#[test]
fn numbers_that_cannot_be_summed_up_are_missing() {
    let mut run = Written::program();
    run.decision("a", &[], "coins", json!(1.7e308));
    run.decision("b", &[], "coins", json!(1.7e308));
    run.decision("c", &[], "coins", json!(2));
    let found = tables(vec![run], &["mean of coins independent"]).unwrap().remove(0);
    assert_eq!((found.groups[0].value, found.groups[0].missing), (Some(2.0), 2));
}

/// The share of each value is that of the figure that names it.
#[test]
fn a_figure_without_a_value_has_the_share_of_each() {
    let mut run = votes(10, [8, 3]);
    let labels = [("condition", "ctl"), ("participant", "ctl-11")];
    run.decision("vote/ctl-11", &labels, "vote", json!("perhaps"));
    run.failed("vote/ctl-12", &[("condition", "ctl"), ("participant", "ctl-12")]);
    let figures =
        ["share of vote by condition", "share of vote = yes by condition", "share of vote"];
    let found = tables(vec![run], &figures).unwrap();
    insta::assert_snapshot!(shown(&found[..1]));
    for (group, same) in found[0].groups[4..].iter().zip(&found[1].groups) {
        assert_eq!(
            (group.draws, group.missing, group.value),
            (same.draws, same.missing, same.value)
        );
        assert_eq!((group.clusters, group.interval), (same.clusters, same.interval));
    }
    // The shares of one group add up to one, and are not compared with each other.
    assert_eq!(found[2].groups.iter().filter_map(|group| group.value).sum::<f64>(), 1.0);
    assert!(found[2].differences.is_empty());
}

/// A study that asks again has one value for both answers, and one that draws several samples has one for each: the facts tell.
#[test]
fn samples_on_which_facts_rest_are_values_of_their_own() {
    let counted = |cited: &[usize]| {
        let mut run = Written::of("puzzles", 1);
        let mut answers = Vec::new();
        for (sample, value) in (0..).zip([json!(null), json!("x")]) {
            let asked = run.asked("solve", sample, &[]);
            answers.push(run.answered(asked));
            run.decided(answers[answers.len() - 1], "solution", "reported", value);
        }
        let causes = cited.iter().map(|at| answers[*at]).collect();
        let fact = json!({"fact": "solved"});
        run.add(&Event::Occurred(FactOccurred { causes, fact }), None);
        let found = tables(vec![run], &["share of solution = x"]).unwrap().remove(0);
        (found.groups[0].draws, found.groups[0].missing)
    };
    assert_eq!(counted(&[1]), (1, 0), "asked again");
    assert_eq!(counted(&[0, 1]), (1, 1), "two samples");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The groups of a figure have together what the figure without groups has.
    #[test]
    fn groups_add_up_to_the_whole(
        values in prop::collection::vec((0_u8..3, prop::option::of(0_i64..9)), 0..20),
    ) {
        let mut run = Written::program();
        run.decision("q/x", &[("condition", "0")], "sum", json!(5));
        for (n, (condition, value)) in values.iter().enumerate() {
            let (call, condition) = (format!("q/{n}"), condition.to_string());
            run.decision(&call, &[("condition", &condition)], "sum", json!(value));
        }
        let figures = ["mean of sum independent", "mean of sum by condition independent"];
        let found = tables(vec![run], &figures).unwrap();
        let all = &found[0].groups[0];
        let groups = &found[1].groups;
        prop_assert_eq!(all.draws, groups.iter().map(|group| group.draws).sum::<u64>());
        prop_assert_eq!(all.missing, groups.iter().map(|group| group.missing).sum::<u64>());
        prop_assert_eq!(all.draws + all.missing, values.len() as u64 + 1);
        let sum: f64 =
            groups.iter().filter_map(|group| Some(group.value? * group.draws as f64)).sum();
        prop_assert!((all.value.unwrap() * all.draws as f64 - sum).abs() < 1e-9);
    }
}

/// An option that a list lacks has no rank, and one without points has 0; what is not a ballot is missing.
#[test]
fn figures_of_ballots_are_those_of_their_options() {
    let mut run = Written::program();
    let ballots = [
        (json!(["a", "b"]), json!({"a": 4, "b": 6})),
        (json!(["b", "a"]), json!({"b": 10})),
        (json!(["a"]), json!(null)),
    ];
    for (n, (order, given)) in ballots.into_iter().enumerate() {
        let voter = n.to_string();
        let labels = [("participant", voter.as_str())];
        run.decision(&format!("order/{n}"), &labels, "order", order);
        run.decision(&format!("given/{n}"), &labels, "given", given);
    }
    let figures = [
        "mean rank of order",
        "mean rank of b in order",
        "mean points of given",
        "share of order",
        "share of order contains b",
        "share of given contains a",
    ];
    let found = tables(vec![run], &figures).unwrap();
    let groups = found.iter().map(|table| {
        let group = |it: &FigureGroup| (it.draws, it.missing, it.value.unwrap());
        table.groups.iter().map(group).collect::<Vec<_>>()
    });
    let thirds = |n: f64| n / 3.0;
    let due = [
        vec![(3, 0, thirds(4.0)), (2, 1, 1.5)],
        vec![(2, 1, 1.5)],
        vec![(2, 1, 2.0), (2, 1, 8.0)],
        vec![(3, 0, 1.0), (3, 0, thirds(2.0))],
        vec![(3, 0, thirds(2.0))],
        vec![(2, 1, 0.5)],
    ];
    assert_eq!(groups.collect::<Vec<_>>(), due);
}
