//! Values against the right ones.

use super::*;

/// Two models, three items with their right values, and so many samples of each call.
fn answers(of: &[(&str, &str, &str, &[&str])]) -> Written {
    let mut run = Written::program();
    for (model, item, gold, values) in of {
        let call = format!("{model}/{item}");
        let labels = [("who", *model), ("item", *item), ("gold", *gold)];
        let asked = (0..values.len())
            .map(|sample| run.asked(&call, u32::try_from(sample).unwrap(), &labels));
        let asked: Vec<Seq> = asked.collect();
        for (asked, value) in asked.into_iter().zip(*values) {
            let answer = run.answered(asked);
            let value = if value.is_empty() { json!(null) } else { json!(value) };
            run.decided(answer, "answer", "reported", value);
        }
    }
    run
}

fn values(run: Written, figure: &str) -> Vec<(Option<f64>, u64, u64)> {
    let found = tables(vec![run], &[figure]).unwrap();
    found[0].groups.iter().map(|of| (of.value, of.draws, of.missing)).collect()
}

#[test]
fn accuracy_is_the_share_that_is_right_and_a_call_without_gold_is_missing() {
    let run = || {
        let mut run = answers(&[
            ("a", "1", "Paris", &["Paris", "paris"]),
            ("a", "2", "[\"NYC\", \"New York\"]", &["New York", ""]),
            ("b", "1", "Paris", &["Lima", "PARIS"]),
        ]);
        run.decision("b/9", &[("who", "b"), ("item", "9")], "answer", json!("x"));
        run
    };
    // Of a: Paris and New York of three values, and one null; of b: none of two, and one without a right value.
    let exact = values(run(), "accuracy of answer against gold by who");
    assert_eq!(exact, [(Some(2.0 / 3.0), 3, 1), (Some(0.0), 2, 1)]);
    let any_case = values(run(), "accuracy of answer against gold ignoring case by who");
    assert_eq!(any_case, [(Some(1.0), 3, 1), (Some(0.5), 2, 1)]);
    let error = tables(vec![run()], &["accuracy of answer against golden"]).unwrap_err();
    let said = "figure \"accuracy of answer against golden\": no call has the label \"golden\"";
    assert!(error.to_string().starts_with(said), "{error}");
}

#[test]
fn samples_of_a_call_are_one_draw_of_pass_at_k_and_of_the_majority() {
    let run = || {
        answers(&[
            ("a", "1", "7", &["7", "7", "8", "9", "10"]),
            ("a", "2", "5", &["1", "2", "2", "3", "4"]),
            ("a", "3", "6", &["6", "5"]),
        ])
    };
    // Of item 1, 2 of 5 are right: 1 - 3/10; of item 2 none; of item 3, both are drawn.
    let pass = values(run(), "pass@2 of answer against gold");
    let (found, draws, missing) = pass[0];
    assert!((found.unwrap() - (0.7 + 0.0 + 1.0) / 3.0).abs() < 1e-12, "{found:?}");
    assert_eq!((draws, missing), (3, 0));
    // A call with fewer samples is missing.
    let (found, draws, missing) = values(run(), "pass@5 of answer against gold")[0];
    assert_eq!((found, draws, missing), (Some(0.5), 2, 1));
    // 7 is the commonest, 2 is wrong, and of 6 and 5 one is right.
    let majority = values(run(), "majority of answer against gold");
    assert_eq!(majority, [(Some(0.5), 3, 0)]);
}
