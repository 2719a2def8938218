use serde_json::json;

use super::*;
use crate::decided::tests::{RUN, Written};

fn score(line: u64, answer: AnswerName, choice: u32) -> Score {
    let (method, reasoning, warnings) = (None, None, Vec::new());
    let call = None;
    Score { line, answer, call, choice, value: json!("yes"), method, reasoning, warnings }
}

fn by_call(call: &str) -> AnswerName {
    AnswerName::Call(CallPath::new(call).unwrap(), 0)
}

/// What is wrong with the decisions about a run in which `vote/p1` was asked two things.
fn wrong(scores: Vec<Score>) -> Option<String> {
    let mut run = Written::new();
    for call in ["vote/p1", "vote/p1", "vote/p2"] {
        let asked = run.asked(call, "a");
        run.answered(asked);
    }
    let log = run.log();
    let mut all = Scores::default();
    let added = scores.into_iter().try_for_each(|score| all.add(score));
    let mut reader = log.reader().unwrap();
    added.and_then(|()| all.compare(reader.as_mut(), RUN, "vote")).err().map(|e| e.to_string())
}

#[test]
fn each_decision_is_about_one_answer_and_each_answer_has_one() {
    let (third, seventh) = (AnswerName::Seq(Seq(3)), AnswerName::Seq(Seq(7)));
    assert_eq!(wrong(vec![score(1, third.clone(), 0), score(2, by_call("vote/p2"), 0)]), None);
    for (scores, due) in [
        (
            vec![score(4, by_call("vote/p1"), 0)],
            "line 4: vote/p1#0 names two answers, seq 3 and seq 5: give the seq of the answer instead, as `answer_seq`",
        ),
        (
            vec![score(1, third.clone(), 0), score(2, third, 0)],
            "line 2: line 1 has a value for the answer seq 3 already",
        ),
        (
            vec![score(2, seventh, 0), score(1, by_call("vote/p2"), 0)],
            "line 2: line 1 has a value for the answer vote/p2#0 already",
        ),
        (
            vec![score(9, by_call("vote/p2"), 1)],
            "line 9: run 0101010101010101 has no answer vote/p2#0 with a choice 1",
        ),
        (
            vec![Score {
                call: Some((CallPath::new("vote/p1").unwrap(), 0)),
                ..score(5, AnswerName::Seq(Seq(7)), 0)
            }],
            "line 5: the answer at seq 7 is vote/p2#0, not vote/p1#0",
        ),
        (
            vec![score(9, AnswerName::Seq(Seq(2)), 0)],
            "line 9: run 0101010101010101 has no answer seq 2",
        ),
    ] {
        assert_eq!(wrong(scores).as_deref(), Some(due));
    }
}
