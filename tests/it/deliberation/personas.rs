//! Base personas.

use std::collections::BTreeSet;

use retold::run::rng_for;
use retold_deliberation::conditions::{Condition, assign};
use retold_deliberation::personas::{
    BUILT_IN, Collection, PersonaError, built_in, is_english, read,
};

use crate::support::data::{folder, rows};

#[test]
fn the_built_in_set_is_large_varied_english_and_always_the_same() {
    let personas = built_in();
    assert!(personas.len() >= 2000 && personas.len() == BUILT_IN);
    assert_eq!(personas.iter().collect::<BTreeSet<_>>().len(), BUILT_IN);
    let foreign: Vec<&String> = personas.iter().filter(|p| !is_english(p)).collect();
    assert!(foreign.is_empty(), "{foreign:?}");
    let words: BTreeSet<&str> = personas.iter().flat_map(|p| p.split(' ')).collect();
    assert!(words.len() > 250, "{} different words", words.len());
    let wrong =
        personas.iter().find(|p| ["A a", "A e", "A i", "A o"].iter().any(|w| p.starts_with(w)));
    assert_eq!(wrong, None);
    insta::assert_snapshot!(personas[..12].join("\n"));
}

#[test]
fn language_detection_distinguishes_english_from_others() {
    for english in [
        "A retired school teacher",
        "a chess fanatic who cannot resist making a chess-related pun",
        "An established Ivorian painter known for their impeccable technique and unique style",
    ] {
        assert!(is_english(english), "{english}");
    }
    for other in [
        "Eine pensionierte Lehrerin, die gern im Garten arbeitet und Krimis liest",
        "Un chef de cuisine passionné qui travaille dans un petit restaurant de quartier",
        "Una enfermera jubilada que cuida de sus nietos y canta en el coro de la iglesia",
        "一位热爱历史的中学老师",
        "Учитель истории, который любит шахматы",
        "",
    ] {
        assert!(!is_english(other), "{other}");
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn real_personas_are_read_and_nearly_all_are_english() {
    let lines: Vec<String> =
        rows("personas", "persona-hub_tool.jsonl.gz").map(|row| row.to_string()).collect();
    assert_eq!(lines.len(), 5000);
    let file = read(&lines.join("\n"));
    let known = file.english.len() + file.other + file.malformed.len();
    assert!(file.malformed.is_empty() && known <= 5000, "the rest are repeated");
    // About 170 really are in Chinese, Russian, Spanish and so on, judged by eye; some of two words
    // ("PHP programmer") are too short for any detection.
    assert!((100..200).contains(&file.other), "{} of {known} are called foreign", file.other);
}

#[test]
fn malformed_lines_are_counted_and_named() {
    let text = "{\"persona\": \"A baker of bread\"}\n{\"persona\": 3}\n\n{\"input persona\": \
                \"The owner of a shop\"}\n{\"persona\": \"A baker of bread\"}\nnot JSON, a plain \
                line about a person\n{\"persona\": \"cut\n\"A person in quotes who is a nurse\"";
    let file = read(text);
    assert_eq!(file.malformed, [2, 6, 7]);
    let quoted = "A person in quotes who is a nurse";
    assert_eq!(file.english, ["A baker of bread", "The owner of a shop", quoted]);
    let plain = read("A plain line about a person\n\nAnother person who bakes bread\n");
    assert_eq!(
        (plain.english.len(), plain.malformed),
        (2, vec![]),
        "what the first line is, all are"
    );
}

#[test]
fn too_few_personas_are_explained() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("few.jsonl");
    std::fs::write(&path, "{\"persona\": \"A baker of bread\"}\n{\"persona\": 1}\n{\"persona\": \"Учитель истории\"}\n").unwrap();
    let error = Collection::file(&path).unwrap().draw(4, 1).unwrap_err().to_string();
    let said = error.replace(&dir.path().display().to_string(), "DIR");
    insta::assert_snapshot!(said, @"DIR/few.jsonl: 4 personas are needed and it has 1 different ones in English (1 in other languages, 1 malformed: line 2)");
    let missing = Collection::file(&dir.path().join("none")).unwrap_err();
    assert!(matches!(missing, PersonaError::Unreadable { .. }));
    assert!(matches!(draw(BUILT_IN + 1, 1), Err(PersonaError::TooFew { .. })));
}

fn draw(n: usize, seed: u64) -> Result<Vec<String>, PersonaError> {
    Collection::built_in().draw(n, seed)
}

#[test]
fn a_seed_draws_the_same_different_people() {
    let (one, again, other) = (draw(40, 1), draw(40, 1), draw(40, 2));
    assert_eq!(one, again);
    assert_ne!(one, other);
    assert_eq!(one.unwrap().into_iter().collect::<BTreeSet<_>>().len(), 40);
}

#[test]
fn conditions_are_of_equal_size_and_in_random_order() {
    let conditions = assign(25, &mut rng_for(5, "conditions"));
    for condition in Condition::ALL {
        assert_eq!(conditions.iter().filter(|c| **c == condition).count(), 25);
    }
    assert_ne!(conditions, assign(25, &mut rng_for(6, "conditions")));
    assert_eq!(conditions, assign(25, &mut rng_for(5, "conditions")));
    // Over many seeds, each of the 4 places is equally likely in every condition (8,000 draws).
    let mut first = [0_u32; 4];
    for seed in 0..8000 {
        let drawn = assign(1, &mut rng_for(seed, "conditions"))[0];
        first[Condition::ALL.iter().position(|c| *c == drawn).unwrap()] += 1;
    }
    assert!(first.iter().all(|n| (1850..2150).contains(n)), "{first:?}");
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn the_enriched_personas_of_the_original_have_demographics_in_range() {
    let path = folder("deliberation").join("personas.json");
    let file: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let personas = file["personas"].as_array().unwrap();
    assert_eq!(personas.len(), 128);
    for persona in personas {
        let object = persona["demographics"].as_object().unwrap();
        retold_deliberation::parse::from_object(object).unwrap();
    }
}
