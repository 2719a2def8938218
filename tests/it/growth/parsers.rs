//! Every version of every parser.

use std::path::Path;

use retold::parse::{ParserSpec, json_repair};
use retold_study::parser_file::ParserFile;

use crate::fuzz_targets::{PARSERS, params};

pub(crate) type Parse = Box<dyn Fn(&str)>;

/// The places and shapes of parser files.
const STRATEGIES: [&str; 11] = [
    "{number: {}, pick: last}",
    "{last_line: true, one_of: [agree, strongly agree, b c]}",
    "{one_of: [a, 'a:', b c], pick: last}",
    "{after: think, json: name, number: {}}",
    "{outside: [think, '```'], tag: answer, pick: last}",
    "{json: a, pick: last}",
    "{one_of: [A, I, not a, \u{662f}], case: any}",
    "{regex: '(\\d)\\w?', scale: {from: 1, to: 5}}",
    "{choices: [a, b c, '#1']}",
    "{ranking: [a, A, '1'], case: exact}",
    "{points: [a, b c, '#1']}",
];

/// Every version of every parser, the repair of JSON, and strategies of parser files, by name.
pub(crate) fn parsers() -> Vec<(String, Parse)> {
    let mut all: Vec<(String, Parse)> = Vec::new();
    for (name, version) in PARSERS.all() {
        let spec = ParserSpec { name: name.into(), params: params(name), version };
        let parser = PARSERS.parser(&spec).unwrap();
        all.push((spec.to_string(), Box::new(move |text| drop(parser.parse_any(text)))));
    }
    for strategy in STRATEGIES {
        let text = format!("parsers: [{{name: p, strategies: [{strategy}]}}]");
        let file = ParserFile::new(Path::new("parsers.yaml"), &text).unwrap();
        let parse = move |text: &str| drop(file.get("p").unwrap().parse_any(text));
        all.push((format!("parser file, {strategy}"), Box::new(parse)));
    }
    all.push(("json_repair".to_owned(), Box::new(|text| drop(json_repair::repair(text)))));
    all
}
