//! Rows of a study's own tables, baselines, and runs in pairs.

use super::*;
use crate::GroupPairing;

/// A row of a player's turn.
fn turn(condition: &str, game: u32, coins: u32) -> FigureRow {
    let fields = [("condition", condition.into()), ("game", game.into()), ("coins", coins.into())];
    FigureRow::new("turn", fields)
}

/// A name is what the study makes of it, and not what an answer said.
#[test]
fn a_study_s_rows_are_counted_and_not_the_decisions_of_the_same_name() {
    let mut run = Written::of("games", 1);
    run.decision("give/1", &[("condition", "control")], "coins", json!(100));
    let rows = vec![turn("control", 1, 2), turn("control", 2, 4).times(3)];
    let figures = ["mean of coins by condition", "share of coins = 4", "mean of coins independent"];
    let found = tables_with(vec![run], vec![rows], &figures).unwrap();
    let of = |at: usize| &found[at].groups[0];
    assert_eq!((of(0).value, of(0).draws, of(0).clusters), (Some(3.5), 4, 2));
    assert_eq!(of(1).value, Some(0.75));
    assert_eq!(of(2).clusters, 4, "each of the draws that a row stands for");
}

/// The rows of games have a condition and a game, in which all are clustered.
#[test]
fn the_baseline_is_chosen_and_not_the_first_by_name() {
    let conditions = ["acp", "beta", "control", "delta", "epsilon"];
    let rows: Vec<FigureRow> = conditions
        .iter()
        .zip(0..)
        .flat_map(|(condition, more)| {
            (0..6).map(move |game| turn(condition, game, game % 3 + more))
        })
        .collect();
    let figures = [
        "mean of coins by condition against control",
        "mean of coins by condition",
        "mean of coins by condition against contrl",
    ];
    let run = Written::of("games", 1);
    let found = tables_with(vec![run], vec![rows], &figures).unwrap();
    let names = |table: &FigureTable| {
        let lines = table.differences.iter().map(|compared| table.difference(compared));
        lines.map(|line| line.split(':').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let with_control =
        ["acp minus control", "beta minus control", "delta minus control", "epsilon minus control"];
    assert_eq!(names(&found[0]), with_control);
    let acp = &found[0].differences[0].found;
    assert_eq!(
        (acp.difference, acp.pairing, acp.clusters_in_both),
        (Some(-2.0), GroupPairing::Paired, 6)
    );
    assert_eq!([&found[1], &found[2]].map(|table| table.differences.len()), [0, 0]);
    insta::assert_snapshot!(found[1].notes()[0], @r#"the groups of condition are too many to compare each with each other: add "against VALUE" after condition"#);
    insta::assert_snapshot!(found[2].notes()[0], @r#"no group is compared with "contrl", because none has this value: there are acp, beta, control, delta, epsilon"#);
}

/// A treatment and its own control have a setting in common, by which they are a pair.
#[test]
fn runs_are_compared_by_a_setting_in_pairs_that_another_names() {
    let (mut runs, mut rows) = (Vec::new(), Vec::new());
    for (pair, punishment, coins) in [(1, false, 2), (1, true, 5), (2, false, 8), (2, true, 10)] {
        let config = json!({"punishment": punishment, "pair": pair});
        runs.push(Written::with_settings("games", pair, json!({"experiment": {"config": config}})));
        rows.push(vec![turn("any", 1, coins), turn("any", 2, coins + 1)]);
    }
    let figure = "mean of coins by setting.punishment against false clustered by setting.pair";
    let found = tables_with(runs, rows, &[figure]).unwrap().remove(0);
    assert_eq!(found.labels, ["setting.punishment"], "runs are no groups of their own");
    assert_eq!(
        found.groups.iter().map(|of| (of.draws, of.clusters)).collect::<Vec<_>>(),
        [(4, 2), (4, 2)]
    );
    let compared = &found.differences[0].found;
    assert_eq!((compared.difference, compared.clusters_in_both), (Some(2.5), 2));
}

#[test]
fn a_run_can_be_the_cluster_and_an_unknown_setting_is_named() {
    let runs = || vec![Written::of("games", 1), Written::of("games", 2)];
    let rows = || vec![vec![turn("any", 1, 2)], vec![turn("any", 1, 4), turn("any", 2, 6)]];
    let found = tables_with(runs(), rows(), &["mean of coins clustered by run"]).unwrap().remove(0);
    assert_eq!(found.groups.iter().map(|of| of.clusters).collect::<Vec<_>>(), [1, 1]);
    let wrong = tables_with(runs(), rows(), &["mean of coins by setting.pair"]).unwrap_err();
    insta::assert_snapshot!(wrong, @r#"figure "mean of coins by setting.pair": no run has the setting "pair": `retold diff RUN RUN` lists those in which two runs differ"#);
}

/// What a study has no rows of yet is left out, and a headline is the same figure that people can name.
#[test]
fn runs_lead_with_the_headline_of_their_study() {
    let log = Log::in_memory();
    let run = Written::of("games", 1).0;
    log.backend().committer().unwrap().commit(&[Append::new(RUNS[0], Head::START, run)]).unwrap();
    let mut reader = log.reader().unwrap();
    let rows = (0..6).map(|game| turn("control", game, game)).collect();
    let mut run = figure_run(reader.as_mut(), RUNS[0], rows);
    run.study.headline = &["share of told = true", "mean of coins"];
    let (mut runs, parsers) = ([run], Parsers::default());
    let leading = leading_tables(&mut runs, &parsers).unwrap();
    let named = figure_tables(&mut runs, &["mean of coins".parse().unwrap()], &parsers).unwrap();
    assert_eq!((leading.tables.len(), &leading.tables), (1, &named));
    assert!(named[0].groups[0].interval.is_some(), "{named:?}");
}

/// A row can be false throughout, and then nothing looks wrong.
#[test]
fn what_is_never_true_is_no_misspelt_value() {
    let rows =
        (0..5).map(|game| FigureRow::new("game", [("game", game.into()), ("told", false.into())]));
    let found = |figure: &str| {
        let found =
            tables_with(vec![Written::of("games", 1)], vec![rows.clone().collect()], &[figure]);
        found.unwrap().remove(0)
    };
    assert_eq!(
        (found("share of told = true").finding, found("share of told = true").groups[0].value),
        (None, Some(0.0))
    );
    assert!(found("share of told = yes").finding.is_some());
}
