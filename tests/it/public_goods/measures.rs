//! What is counted in a reasoning.

use proptest::prelude::*;
use retold_public_goods::measures::{HEDGES, Measures, measure, stated_contribution};

#[test]
fn words_sentences_hedges_and_names_are_counted() {
    let text = "DOG might free-ride. DOG's 0.5 share is fair, I guess! CAT and the cat?\nLet's see";
    let measures = measure(text, &["DOG", "CAT", "FOX"]);
    let expected = Measures { words: 18, sentences: 4, hedges: 2, mentions: 3, others_named: 2 };
    assert_eq!(measures, expected);
    assert!((measures.hedging() - 100.0 * 2.0 / 18.0).abs() < 1e-12);
    assert_eq!(measure("", &["DOG"]), Measures::default());
    assert_eq!(measure("", &[]).hedging(), 0.0);
    let mut sorted = HEDGES.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted, HEDGES, "sorted, each once");
}

#[test]
fn an_announced_contribution_is_found_and_nothing_else() {
    for (text, coins) in [
        ("I will contribute 15 coins.", Some(15)),
        ("I'll contribute a total of 7.", Some(7)),
        ("So I decide to withdraw 5 coins from the fund.", Some(15)),
        ("I will withdraw everything.", Some(0)),
        ("My decision is to contribute nothing.", Some(0)),
        ("I will contribute 5. No: I will contribute 10!", Some(10)),
        ("I move all of it.", Some(20)),
        ("If I contribute 20, the others may not.", None),
        ("I expect others to contribute 20.", None),
        ("Everyone should contribute 20.", None),
        ("I will not contribute 20.", None),
        ("I don't contribute 20.", None),
        ("I will contribute a fair amount, say 10.", None),
        ("I will contribute 30 coins.", None),
        ("Contributing 20 is risky.", None),
        ("", None),
    ] {
        assert_eq!(stated_contribution(text, 20), coins, "{text}");
    }
}

proptest! {
    #[test]
    fn counting_is_total_and_within_bounds(text in "\\PC{0,400}|[a-zA-Z0-9 .,'I’\n]{0,400}", all in 1..100i64) {
        let measures = measure(&text, &["DOG", "CAT"]);
        prop_assert!(measures.hedges + measures.mentions <= measures.words);
        prop_assert!(measures.others_named <= 2.min(measures.mentions));
        prop_assert!(measures.sentences <= measures.words.max(1));
        prop_assert!(stated_contribution(&text, all).is_none_or(|coins| (0..=all).contains(&coins)));
    }
}
