//! How the values of groups are spread, and from which value to which participants changed.

use super::*;

/// Ratings of two groups on a scale, and votes before and after.
fn ratings() -> Written {
    let mut run = Written::program();
    for (group, ratings) in [("a", [1, 2, 2, 3, 3, 3]), ("b", [3, 4, 4, 5, 5, 5])] {
        for (n, rating) in ratings.into_iter().enumerate() {
            let person = format!("{group}{n}");
            let labels = [("group", group), ("participant", person.as_str())];
            run.decision(&format!("rate/{person}"), &labels, "rating", json!(rating));
            for (phase, vote) in [("before", rating % 2 == 0), ("after", rating > 2)] {
                let vote = if vote { "yes" } else { "no" };
                let labels = [labels[0], labels[1], ("phase", phase)];
                run.decision(&format!("{phase}/{person}"), &labels, "vote", json!(vote));
            }
        }
    }
    run
}

#[test]
fn the_numbers_behind_a_mean_are_counted_by_group() {
    let table = tables(vec![ratings()], &["mean of rating by group"]).unwrap().remove(0);
    let found = table.distribution().unwrap();
    let counts = |row: &crate::DistributionRow| {
        row.bars.iter().map(|bar| (bar.name.clone(), bar.count)).collect::<Vec<_>>()
    };
    let named = |counts: [u64; 5]| {
        ["1", "2", "3", "4", "5"].map(str::to_owned).into_iter().zip(counts).collect::<Vec<_>>()
    };
    assert_eq!(counts(&found.rows[0]), named([1, 2, 3, 0, 0]));
    assert_eq!(counts(&found.rows[1]), named([0, 0, 1, 2, 3]));
    assert_eq!(found.rows[0].text, "median 2, half of them from 2 to 3");
    let tables = table.count_tables();
    assert_eq!(tables[0].headings, ["value", "1", "2", "3", "4", "5", "spread"]);
    assert_eq!(tables[0].rows[1][..6], ["b", "0", "0", "1", "2", "3"]);
    insta::assert_snapshot!(table.picture().unwrap().lines().join("\n"));
}

#[test]
fn changes_are_counted_from_the_first_value_to_the_last() {
    let figure = "changed(before.vote, after.vote) by group";
    let table = tables(vec![ratings()], &[figure]).unwrap().remove(0);
    let counts = |group: usize| {
        let changes = table.groups[group].changes.iter();
        changes.map(|it| format!("{} {} {}", it.first, it.last, it.count)).collect::<Vec<_>>()
    };
    assert_eq!(counts(0), ["no no 1", "no yes 3", "yes no 2"]);
    assert_eq!(counts(1), ["no yes 4", "yes yes 2"]);
    let tables = table.count_tables();
    assert_eq!(tables[0].title, "a: from the first value to the last");
    assert_eq!(tables[0].rows, [["no", "1", "3"], ["yes", "2", "0"]]);
}

#[test]
fn rounds_are_lines() {
    let mut run = Written::program();
    for (game, round) in (0..24).map(|n| (n / 4, n % 4 + 8)) {
        let (round, game) = (round.to_string(), game.to_string());
        let kind = if game.as_str() < "3" { "low" } else { "high" };
        let labels = [("kind", kind), ("round", round.as_str()), ("game", game.as_str())];
        run.decision(&format!("{game}/{round}"), &labels, "coins", json!(round.len()));
    }
    let table = tables(vec![run], &["mean of coins by kind, round"]).unwrap().remove(0);
    let lines = table.lines().unwrap();
    assert_eq!((lines.label.as_str(), &lines.rounds[..]), ("round", &[8.0, 9.0, 10.0, 11.0][..]));
    let names: Vec<&str> = lines.lines.iter().map(|line| line.name.as_str()).collect();
    assert_eq!(names, ["high", "low"]);
    let values: Vec<f64> = lines.lines[0].points.iter().filter_map(|(_, row)| row.value).collect();
    assert_eq!(values, [1.0, 1.0, 2.0, 2.0]);
    // Two rounds are two dots, and names are no rounds.
    let two = tables(vec![ratings()], &["mean of rating by group"]).unwrap().remove(0);
    assert_eq!(two.lines(), None);
}
