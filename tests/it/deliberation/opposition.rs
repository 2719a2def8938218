//! The five methods, computed by hand.

use std::collections::BTreeSet;

use retold::run::rng_for;
use retold_deliberation::opposition::{
    METHODS, OpposingView, Position, ReasonGroup, Scene, highest_voted, method, sample,
};

fn position(id: &str, choice: &str, embedding: &[f64]) -> Position {
    let embedding = (!embedding.is_empty()).then(|| embedding.to_vec());
    let summary = Some(format!("{id} says why"));
    Position { participant_id: id.to_owned(), choice: choice.to_owned(), summary, embedding }
}

/// Four voters: two for A, one each for B and C; D has none.
fn scene() -> Scene {
    let group = |option: &str, embedding: &[f64], members| ReasonGroup {
        option: option.to_owned(),
        embedding: embedding.to_vec(),
        members,
    };
    Scene {
        options: ["A", "B", "C", "D"].map(str::to_owned).to_vec(),
        positions: vec![
            position("p_0001", "A", &[1.0, 0.0]),
            position("p_0002", "A", &[-1.0, 0.0]),
            position("p_0003", "B", &[0.0, 1.0]),
            position("p_0004", "C", &[0.6, 0.8]),
        ],
        // The mean of B's groups, weighted by members, is (-0.5, 0.5); unweighted it would be (0,
        // 0).
        groups: vec![
            group("A", &[-9.0, 0.0], 2),
            group("B", &[-1.0, 1.0], 3),
            group("B", &[1.0, -1.0], 1),
            group("C", &[0.0, 1.0], 1),
        ],
        mapping: [("A", "D"), ("B", "C"), ("C", "C")]
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
            .into(),
    }
}

fn chosen(name: &str, who: usize, scene: &Scene) -> Option<OpposingView> {
    method(name).unwrap().choose(&scene.positions[who], scene)
}

fn option(name: &str) -> Option<OpposingView> {
    Some(OpposingView::Option(name.to_owned()))
}

#[test]
fn there_are_five_methods_with_names_of_their_own() {
    let mut names: Vec<&str> = METHODS.iter().map(|m| m.name()).collect();
    names.sort_unstable();
    let document = ["cluster_embedding", "embedding", "highest_voted", "llm_judge", "predefined"];
    assert_eq!(names, document);
    assert!(method("astrology").is_none());
}

#[test]
fn highest_voted_is_the_most_popular_other_option() {
    let scene = scene();
    assert_eq!(chosen("highest_voted", 2, &scene), option("A"));
    assert_eq!(chosen("highest_voted", 0, &scene), option("B"), "B and C tie: the first in order");
    let alone = Scene { positions: vec![position("p_0001", "A", &[])], ..scene };
    assert_eq!(chosen("highest_voted", 0, &alone), option("B"), "nobody else voted at all");
    let only = Scene { options: vec!["A".to_owned()], ..alone };
    assert_eq!(highest_voted(&only.positions[0], &only), None);
}

#[test]
fn embedding_picks_the_farthest_participant_with_another_choice() {
    let scene = scene();
    // p_0002 is opposite to p_0001 but chose the same. Of the others, B is at 1.0 and C at 0.4.
    assert_eq!(chosen("embedding", 0, &scene), option("B"));
    // From (-1, 0): B at 1.0, C at 1.6.
    assert_eq!(chosen("embedding", 1, &scene), option("C"));
    // From (0, 1): both A at 1.0, C at 0.2.
    assert_eq!(chosen("embedding", 2, &scene), option("A"));
    let without = Scene { positions: vec![position("p_0001", "A", &[])], ..scene };
    assert_eq!(chosen("embedding", 0, &without), None);
}

#[test]
fn cluster_embedding_weighs_groups_by_their_members() {
    let scene = scene();
    // From (1, 0): B's mean is at 1 + 0.7071, C at 1.0; A is the participant's own choice.
    assert_eq!(chosen("cluster_embedding", 0, &scene), option("B"));
    // From (-1, 0): B at 0.2929, C at 1.0.
    assert_eq!(chosen("cluster_embedding", 1, &scene), option("C"));
    // From (0, 1): A at 1.0, C at 0.0. D has no groups and so no position.
    assert_eq!(chosen("cluster_embedding", 2, &scene), option("A"));
    let nothing = Scene { groups: Vec::new(), ..scene };
    assert_eq!(chosen("cluster_embedding", 0, &nothing), None);
}

#[test]
fn predefined_looks_it_up_and_never_opposes_a_choice_to_itself() {
    let scene = scene();
    assert_eq!(chosen("predefined", 0, &scene), option("D"));
    assert_eq!(chosen("predefined", 2, &scene), option("C"));
    assert_eq!(chosen("predefined", 3, &scene), None);
}

#[test]
fn llm_judge_is_shown_the_reasons_of_ten_others_drawn_by_lot() {
    let mut scene = scene();
    let shown = |scene: &Scene| match chosen("llm_judge", 0, scene) {
        Some(OpposingView::Ask(positions)) => {
            let pair = |p: Position| (p.choice, p.summary.unwrap());
            positions.into_iter().map(pair).collect::<Vec<_>>()
        }
        other => panic!("{other:?}"),
    };
    let pairs = [("B", "p_0003 says why"), ("C", "p_0004 says why")];
    assert_eq!(shown(&scene), pairs.map(|(a, b)| (a.to_owned(), b.to_owned())));
    scene.positions[3].summary = None;
    assert_eq!(shown(&scene).len(), 1, "without a reason there is nothing to show");
    scene.positions.extend((5..30).map(|n| position(&format!("p_{n:04}"), "B", &[])));
    let all: Vec<Position> = match chosen("llm_judge", 0, &scene) {
        Some(OpposingView::Ask(positions)) => positions,
        other => panic!("{other:?}"),
    };
    let ids = |lots: Option<u64>| -> Vec<String> {
        let lots = lots.map(|seed| rng_for(seed, "opposition/p_0001"));
        sample(all.clone(), lots).into_iter().map(|p| p.participant_id).collect()
    };
    let first: Vec<String> = all[..10].iter().map(|p| p.participant_id.clone()).collect();
    assert_eq!(ids(None), first, "as the original's program has it");
    assert_eq!(ids(Some(1)), ids(Some(1)));
    let drawn: BTreeSet<String> = (0..20).flat_map(|seed| ids(Some(seed))).collect();
    assert_eq!((ids(Some(1)).len(), drawn.len()), (10, all.len()), "anybody may be among them");
    scene.positions.truncate(2);
    assert_eq!(chosen("llm_judge", 0, &scene), None, "nobody disagrees");
}
