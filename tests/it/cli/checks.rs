//! `check` on experiments with several parsers.

use crate::support::cli::{Place, assert_said};

const CONFIG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/config");

#[test]
fn what_the_recorded_parsers_decided_is_no_flip() {
    let place = Place::new();
    let rates = "--set model.rates.malformed=0.2 --set seed=3";
    place.ok(&format!("run {CONFIG}/society_small.yaml {rates} -q"));
    let (checked, code) = place.json("check latest");
    assert!(checked["decisions"].as_u64().unwrap() > 20, "{checked}");
    assert_eq!((code, &checked["flips"]), (0, &0.into()), "1 and 1.0 are the same amount");
}

#[test]
fn a_parser_is_compared_with_its_own_decisions() {
    let place = Place::new();
    place.ok(&format!("run {CONFIG}/public_goods_small.yaml --no-outputs -q"));
    let (all, _) = place.json("check latest");
    let mut decisions = 0;
    for (parser, recorded) in
        [("contribution", 2), ("chat", 2), ("redistribution", 2), ("vector", 1)]
    {
        let (checked, _) = place.json(&format!("check latest --parser {parser}@1"));
        assert_eq!(checked["parser_to"], format!("{parser}@1"));
        assert_eq!(checked["parser_from"], format!("{parser}@{recorded}"));
        decisions += checked["decisions"].as_u64().unwrap();
    }
    assert_eq!(all["decisions"], decisions, "each decision belongs to one parser");
    let said = place.run("check latest --parser game24@1");
    assert_eq!(said.code, 2);
    assert_said!("checks_of_another_parser", said.err);
}
