//! How many values groups have, without the values.

use super::*;

fn voted(votes: &[(&str, Option<&str>)]) -> Written {
    let mut run = Written::of("program", 1);
    for (at, (condition, vote)) in votes.iter().enumerate() {
        let labels = [("condition", *condition)];
        run.decision(&format!("vote/{at}"), &labels, "vote", json!(vote));
    }
    run
}

#[test]
fn counts_say_nothing_about_the_values() {
    let votes = [("control", Some("yes")), ("control", Some("no")), ("treated", None)];
    let figures =
        ["share of vote = yes by condition", "share of vote by condition", "share of vote = yes"];
    let found = tables(vec![voted(&votes)], &figures).unwrap();
    let counts: Vec<Option<String>> = found.iter().map(FigureTable::counts_so_far).collect();
    let by_condition = "by condition: control n 2; treated n 0, 1 missing";
    assert_eq!(counts[0].as_deref(), Some(by_condition));
    assert_eq!(counts[1].as_deref(), Some(by_condition), "each value has the same");
    assert_eq!(counts[2].as_deref(), Some("n 2, 1 missing"));
}

#[test]
fn a_line_has_the_first_groups() {
    let names: Vec<String> = (1..=11).map(|number| format!("c{number}")).collect();
    let votes: Vec<(&str, Option<&str>)> =
        names.iter().map(|name| (&**name, Some("yes"))).collect();
    let found = tables(vec![voted(&votes)], &["share of vote = yes by condition"]).unwrap();
    let counts = found[0].counts_so_far().unwrap();
    assert!(counts.starts_with("by condition: c1 n 1; c2 n 1; "), "{counts}");
    assert!(counts.ends_with("c8 n 1; 3 more"), "{counts}");
}
