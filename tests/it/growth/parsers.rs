//! Every version of every parser.

use retold::parse::{ParserSpec, json_repair};

use crate::fuzz_targets::{PARSERS, params};

pub(crate) type Parse = Box<dyn Fn(&str)>;

/// Every version of every parser, and the repair of JSON, by name.
pub(crate) fn parsers() -> Vec<(String, Parse)> {
    let mut all: Vec<(String, Parse)> = Vec::new();
    for (name, version) in PARSERS.all() {
        let spec = ParserSpec { name: name.into(), params: params(name), version };
        let parser = PARSERS.parser(&spec).unwrap();
        all.push((spec.to_string(), Box::new(move |text| drop(parser.parse_any(text)))));
    }
    let first = json_repair::RepairEdition::First;
    all.push(("json_repair, first edition".to_owned(), Box::new(move |t| drop(first.repair(t)))));
    all.push(("json_repair".to_owned(), Box::new(|text| drop(json_repair::repair(text)))));
    all
}
