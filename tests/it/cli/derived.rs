//! `audit RUN p_0001/opposing`: decisions that no model made, with what else was possible.

use serde_json::Value;

use crate::support::cli::Place;

const SMALL: &str = concat!(
    env!("RETOLD_ROOT"),
    "/config/deliberation_small.yaml --quiet --no-outputs --new --set participants_per_condition=6"
);

fn names(place: &Place) -> Vec<String> {
    let (listed, code) = place.json("audit latest --list");
    assert_eq!(code, 0);
    let names = listed["derived"].as_array().unwrap().iter();
    names.map(|name| name.as_str().unwrap().to_owned()).collect()
}

/// What was possible, the chosen first.
fn values(audit: &Value) -> Vec<f64> {
    let possibilities = audit["possibilities"].as_array().unwrap().iter();
    possibilities.map(|it| it["value"].as_f64().unwrap()).collect()
}

#[test]
fn every_derived_decision_is_computed_again_from_what_is_recorded() {
    for (method, measure) in [
        ("cluster_embedding", "cosine distance"),
        ("embedding", "cosine distance"),
        ("highest_voted", "number of votes"),
    ] {
        let place = Place::new();
        place.ok(&format!("run {SMALL} --set opposition_method={method}"));
        place.ok("export latest out --as outputs");
        let file: Value = serde_json::from_str(&place.read("out/participants.json")).unwrap();
        let participants = file["participants"].as_array().unwrap();
        let names = names(&place);
        let count = |kind: &str| names.iter().filter(|name| name.ends_with(kind)).count();
        assert!(count("/opposing") >= 4 && count("/cluster") >= 8, "{names:?}");
        for name in &names {
            let (audit, code) = place.json(&format!("audit latest {name}"));
            assert_eq!((code, &audit["computed_again"]), (0, &"same".into()), "{name}: {audit}");
            let (id, kind) = name.split_once('/').unwrap();
            let who = participants.iter().find(|who| who["participant_id"] == id).unwrap();
            let values = values(&audit);
            if kind == "cluster" {
                assert_eq!(audit["value"], who["cluster_id"], "{name}");
                assert!(values.is_sorted(), "the nearest first: {audit}");
                continue;
            }
            assert_eq!(audit["value"], who["opposition_view"], "{name}");
            assert_eq!(audit["measure"], measure);
            assert!(values.iter().rev().is_sorted(), "the greatest first: {audit}");
            assert_eq!(audit["possibilities"][0]["option"], audit["value"], "{name}");
            let own = &audit["own_choice"];
            let others = audit["possibilities"].as_array().unwrap();
            assert!(others.iter().all(|it| it["option"] != *own), "{audit}");
        }
        let text = place.ok(&format!("audit latest {}", names.last().unwrap()));
        assert!(text.contains("computed again: the same\n"), "{text}");
    }
}

/// A proof is about one answer, and a derived decision rests on several.
#[test]
fn a_derived_decision_has_no_proof_and_says_what_has_one() {
    let place = Place::new();
    place.ok(&format!("run {SMALL}"));
    let name = names(&place).pop().unwrap();
    let run = place.json("log").0["runs"][0]["run"].as_str().unwrap()[..8].to_owned();
    let said = place.run(&format!("audit latest {name} --proof proof.json"));
    assert_eq!((said.code, place.path("proof.json").exists()), (2, false), "{}", said.err);
    let why = format!(
        "{name} is a derived decision: the experiment computed it from several answers, and a proof is about one answer"
    );
    let what = format!("`retold audit {run} {name}` shows what it was computed from");
    assert!(said.err.contains(&why) && said.err.contains(&what), "{}", said.err);
    place.ok(&format!("audit {run} {name}"));
}

/// A judge's decision has an answer, which is what is audited.
#[test]
fn a_judge_is_named() {
    let place = Place::new();
    place.ok(&format!("run {SMALL} --set opposition_method=llm_judge"));
    let name = names(&place).into_iter().find(|name| name.ends_with("/opposing")).unwrap();
    let said = place.ok(&format!("audit latest {name}"));
    let call = format!("opposition/{}", name.strip_suffix("/opposing").unwrap());
    assert!(said.contains(&format!("a model judged: audit {call}\n")), "{said}");
    place.ok(&format!("audit latest {call}"));
}

#[test]
fn other_runs_have_none() {
    let place = Place::with_run();
    assert!(names(&place).is_empty());
    let said = place.run("audit latest p_0001/opposing");
    assert_eq!(said.code, 2);
    assert!(said.err.contains("has no decision p_0001/opposing"), "{}", said.err);
}

/// Who asks for one that a run does not have finds out which it has.
#[test]
fn a_decision_that_was_not_derived_leads_to_the_list() {
    let place = Place::new();
    place.ok(&format!("run {SMALL}"));
    let run = place.json("log").0["runs"][0]["run"].as_str().unwrap().to_owned();
    let said = place.run("audit latest p_9999/opposing");
    assert_eq!(said.code, 2, "{}{}", said.out, said.err);
    let hint = format!(
        "`retold audit {} --list` lists the decisions that the experiment derived",
        &run[..8]
    );
    assert!(said.err.contains(&hint), "{}", said.err);
    // Where there are none, they are not mentioned.
    place.ok("run small.yaml --quiet --no-outputs");
    let said = place.run("audit latest solve/77");
    assert!(said.code == 2 && !said.err.contains("--list"), "{}", said.err);
}
