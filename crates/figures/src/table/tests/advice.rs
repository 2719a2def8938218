//! What is suggested, what is refused, and what is said beside a figure.

use retold::event::{AnswerReused, Event, ResponseDetails};

use super::*;

#[test]
fn figures_that_are_not_suggested_for_want_of_room_are_counted() {
    let mut run = Written::program();
    for name in 0..14 {
        run.decision("a", &[], &format!("coins{name}"), json!(1));
    }
    let log = Log::in_memory();
    log.backend().committer().unwrap().commit(&[Append::new(RUNS[0], Head::START, run.0)]).unwrap();
    let mut reader = log.reader().unwrap();
    let mut runs = [figure_run(reader.as_mut(), RUNS[0], Vec::new())];
    let suggested = leading_tables(&mut runs, &Parsers::default()).unwrap();
    assert_eq!((suggested.tables.len(), suggested.left_out), (12, 2));
}

#[test]
fn figures_are_suggested_from_what_there_is() {
    let mut run = votes(2, [1, 0]);
    run.decision("give/1", &[("condition", "acp")], "coins", json!(3));
    run.decision("say/1", &[("condition", "acp")], "text", json!("x".repeat(100)));
    let figures = tables(vec![run], &[]).unwrap();
    let figures: Vec<&str> = figures.iter().map(|table| table.figure.as_str()).collect();
    assert_eq!(figures, ["mean of coins", "share of vote = yes by condition"]);
}

#[test]
fn what_is_not_there_is_named_with_what_there_is() {
    let wrong = [
        "share of votes = yes",
        "share of vote = yes by conditions",
        "mean of vote clustered by game",
        "mean of \"a\u{1b}[31m\"",
    ];
    let mut errors: Vec<String> = wrong
        .iter()
        .map(|figure| tables(vec![votes(1, [1, 0])], &[figure]).unwrap_err().to_string())
        .collect();
    let mut run = Written::program();
    run.decision("q/1", &[], "vote", json!("yes"));
    errors.push(tables(vec![run], &["changed(vote, vote)"]).unwrap_err().to_string());
    errors.push(tables(vec![Written::program()], &["mean of sum"]).unwrap_err().to_string());
    insta::assert_snapshot!(errors.join("\n"));
}

/// Runs of which it is known what can be said: all null, all a last resort, and one answer for all.
#[test]
fn nothing_is_said_that_is_not_so() {
    let labels = |n: usize| format!("p{n}");
    let mut null = Written::program();
    let mut fallback = Written::program();
    for n in 0..3 {
        let participant = labels(n);
        let labels = [("participant", participant.as_str())];
        null.decision(&format!("vote/{n}"), &labels, "vote", json!(null));
        let asked = fallback.asked(&format!("vote/{n}"), 0, &labels);
        let answer = fallback.answered(asked);
        fallback.decided(answer, "vote", "default", json!("yes"));
    }
    let mut shared = Written::program();
    let participant = labels(0);
    let first = shared.asked("vote/0", 0, &[("participant", participant.as_str())]);
    let mut answer = shared.answered(first);
    shared.decided(answer, "vote", "reported", json!("yes"));
    let from_seq = answer;
    for n in 1..3 {
        let participant = labels(n);
        let labels = [("participant", participant.as_str())];
        let request = shared.asked(&format!("vote/{n}"), 0, &labels);
        let (content, from_run, unreadable) = ("text".into(), RUNS[0], None);
        let details = ResponseDetails::default();
        let reused = AnswerReused { request, content, from_run, from_seq, unreadable, details };
        answer = shared.add(&Event::AnswerReused(reused), None);
        shared.decided(answer, "vote", "reported", json!("yes"));
    }
    let shown = [null, fallback, shared]
        .map(|run| shown(&tables(vec![run], &["share of vote = yes"]).unwrap()));
    insta::assert_snapshot!(shown.join("\n"));
}

/// A misspelt value is not taken for one that nobody chose, nor a text for a missing number.
#[test]
fn a_value_that_nothing_has_is_said_and_so_are_texts_in_a_mean() {
    let said = |figure: &str| {
        let found = tables(vec![votes(10, [8, 3])], &[figure]).unwrap().remove(0);
        found.finding.map(|finding| finding.to_string())
    };
    insta::assert_snapshot!(said("share of vote = Yes").unwrap(), @r#"no value is "Yes": the values are "no", "yes""#);
    insta::assert_snapshot!(said("share of vote != Yes").unwrap(), @r#"no value is "Yes": the values are "no", "yes""#);
    let not_numbers = r#"20 values are not numbers, such as "yes", and count as missing: means, < and > need numbers; `share of NAME = VALUE` counts texts"#;
    assert_eq!(said("mean of vote").unwrap(), not_numbers);
    assert_eq!(said("share of vote >= 0.5").unwrap(), not_numbers);
    for fine in ["share of vote = yes", "share of vote != yes", "share of vote"] {
        assert_eq!(said(fine), None, "{fine}");
    }
}

#[test]
fn the_share_of_each_of_many_values_is_refused_and_names_some() {
    let mut run = Written::program();
    for n in 0..60 {
        run.decision(&format!("q/{n}"), &[], "text", json!(format!("answer {n}")));
    }
    let error = tables(vec![run], &["share of text"]).unwrap_err().to_string();
    insta::assert_snapshot!(error, @r#"figure "share of text": it has more than 50 different values, such as "answer 0", "answer 1", "answer 10", "answer 11", "answer 12": name the one whose share you want, as in `share of NAME = VALUE`"#);
}

#[test]
fn a_figure_with_too_many_groups_is_refused() {
    let mut run = Written::program();
    for n in 0..1_001 {
        let participant = n.to_string();
        run.decision(&format!("q/{n}"), &[("who", participant.as_str())], "sum", json!(n));
    }
    let error = tables(vec![run], &["mean of sum by who"]).unwrap_err();
    insta::assert_snapshot!(error, @r#"figure "mean of sum by who": it has more than 1000 groups: name labels with fewer values after `by`"#);
}
