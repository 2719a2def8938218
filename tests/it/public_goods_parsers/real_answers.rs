//! Real answers, and the original project's own expectations. Needs `../shared/data`.

use std::collections::BTreeMap;

use crate::support::parsers as registry;
use retold::parse::{AnyParser, ParsedAnswer, Parser, ParserSpec};
use retold_public_goods::parse::{
    ChatParams, ContributionFraming, ContributionParams, ContributionType, RedistributionParams,
    actions_parser, chat_parser, contribution_of, contribution_parser, json_contribution_parser,
    redistribution_parser,
};
use serde_json::{Value, json};

use crate::support::csv;
use crate::support::data::{folder, rows, subfolders};

/// One real answer, and what is known about it.
struct Answer {
    kind: &'static str,
    text: String,
    row: Value,
}

impl Answer {
    fn spec(&self, version: u32) -> ParserSpec {
        let params = match self.kind {
            "contribution" => json!({
                "endowment": self.row["endowment"],
                "contribution_type": self.row["contribution_type"],
            }),
            "redistribution" => json!({ "targets": self.row["num_targets"] }),
            _ => Value::Null,
        };
        ParserSpec { name: self.kind.into(), params, version }
    }

    fn parse(&self, version: u32) -> ParsedAnswer<Value> {
        registry::parser(&self.spec(version)).unwrap().parse_any(&self.text).0
    }

    fn reference(&self) -> &Value {
        &self.row[format!("reference_parse_{}", self.kind)]
    }

    fn is_cut(&self) -> bool {
        self.row["target_tag_closed"] == false
    }
}

fn answers() -> Vec<Answer> {
    let mut files: BTreeMap<String, Vec<BTreeMap<String, String>>> = BTreeMap::new();
    let answers = rows("public_goods", "expected_document_rule.jsonl").map(|row| {
        let file = row["file"].as_str().unwrap().to_owned();
        let table = files
            .entry(file.clone())
            .or_insert_with(|| csv::rows(&folder("public_goods").join(file)));
        let at = usize::try_from(row["row"].as_u64().unwrap()).unwrap();
        let record = &table[at];
        assert_eq!(record["agent_id"], row["agent_id"].as_str().unwrap(), "{row}");
        let prompt = row["prompt_type"].as_str().unwrap();
        let kinds = ["contribution", "redistribution", "chat"];
        let kind = kinds.into_iter().find(|kind| prompt.starts_with(kind)).unwrap();
        Answer { kind, text: record["raw_response"].clone(), row }
    });
    answers.collect()
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn version_1_is_the_documents_rule_on_all_984_public_goods_answers() {
    let answers = answers();
    assert_eq!(answers.len(), 984);
    let mut methods: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for answer in &answers {
        let parsed = answer.parse(1);
        assert_eq!(&parsed.value, answer.reference(), "{}", answer.row);
        *methods.entry((answer.kind, parsed.method)).or_default() += 1;
    }
    let expected = BTreeMap::from([
        (("chat", "message_tag"), 217),
        (("chat", "whole_text"), 3),
        (("contribution", "contribute_tag"), 483),
        (("contribution", "first_number"), 1),
        (("redistribution", "all_numbers"), 9),
        (("redistribution", "redistribute_tag"), 271),
    ]);
    assert_eq!(methods, expected);
}

/// The game's own step after the parser: the allowed amount, and what stays in the pot. The earlier
/// of the two collections logs 44 of its withdrawals as contributions, not converted.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn the_logged_public_goods_contributions_follow_from_the_parsed_ones() {
    let (mut count, mut unturned) = (0, 0);
    for answer in answers().iter().filter(|answer| answer.kind == "contribution") {
        let row = &answer.row;
        let endowment = row["endowment"].as_i64().unwrap();
        let rule: ContributionType =
            serde_json::from_value(row["contribution_type"].clone()).unwrap();
        let framing: ContributionFraming = serde_json::from_value(row["framing"].clone()).unwrap();
        let amount = rule.nearest_allowed(answer.parse(1).value.as_i64().unwrap(), endowment);
        assert_eq!(amount, row["reference_validated"], "{row}");
        if contribution_of(amount, framing, endowment) != row["logged_parsed_result"] {
            assert!(row["file"].as_str().unwrap().starts_with("experiments/"), "{row}");
            assert_eq!(
                (framing, &json!(amount)),
                (ContributionFraming::OptOut, &row["logged_parsed_result"])
            );
            unturned += 1;
        }
        count += 1;
    }
    assert_eq!((count, unturned), (484, 44));
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn version_1_meets_the_29_public_goods_expectations() {
    let mut count = 0;
    for row in rows("public_goods", "unit_vectors.jsonl") {
        let text = row["input"].as_str().unwrap();
        let params = match row["kind"].as_str().unwrap() {
            "contribution" => json!({ "endowment": row["arg"] }),
            "redistribution" => json!({ "targets": row["arg"] }),
            _ => Value::Null,
        };
        let name = row["kind"].as_str().unwrap().to_owned().into();
        let parser = registry::parser(&ParserSpec { name, params, version: 1 }).unwrap();
        assert_eq!(parser.parse_any(text).0.value, row["reference_result"], "{row}");
        count += 1;
    }
    assert_eq!(count, 29);
}

/// Every decision of the real runs that version 2 changes, by class:
///
/// - `default` instead of `first_number` (1): the answer was cut off right after the opening tag,
///   and version 1 took the number of players in the reasoning for coins. Nothing was decided.
/// - `unclosed_redistribute_tag` instead of `all_numbers` (5): the array was cut off. Version 1
///   punished with the amounts and player numbers of the reasoning; version 2 keeps the units that
///   were written.
/// - `unreadable_tag` instead of `all_numbers` (1): the array was cut off before its first number,
///   so no player gets any units, rather than those of the reasoning.
/// - `default` instead of `all_numbers` (3): the answer was cut off inside the reasoning. Version 1
///   again took the numbers in it for units; nothing was decided.
/// - `unclosed_message_tag` instead of `whole_text` (3): only the closing tag is missing, the
///   message is complete. Version 1 sent the reasoning to the other players with it.
/// - `silent` instead of `message_tag` (1): the prompt offers `nothing` to stay silent; version 1
///   says that word to the others, and their program turned it into silence after the parser.
///
/// Where the value stays the same, the method does too.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn version_2_changes_14_public_goods_decisions() {
    let mut changes: BTreeMap<(&str, &str, &str), usize> = BTreeMap::new();
    for answer in answers() {
        let (first, second) = (answer.parse(1), answer.parse(2));
        if first.value == second.value && first.method == second.method {
            continue;
        }
        let is_silence = answer.row["logged_relation"] == "nothing_to_empty";
        assert!(answer.is_cut() || is_silence, "{}: {first:?} {second:?}", answer.row);
        assert_eq!(second.warnings.is_empty(), is_silence);
        *changes.entry((answer.kind, first.method, second.method)).or_default() += 1;
    }
    let expected = BTreeMap::from([
        (("chat", "message_tag", "silent"), 1),
        (("chat", "whole_text", "unclosed_message_tag"), 3),
        (("contribution", "first_number", "default"), 1),
        (("redistribution", "all_numbers", "default"), 3),
        (("redistribution", "all_numbers", "unclosed_redistribute_tag"), 5),
        (("redistribution", "all_numbers", "unreadable_tag"), 1),
    ]);
    assert_eq!(changes, expected);
}

/// How many values agree with the document's rule, by kind and by whether the answer was cut off before
/// its closing tag: all answers, then those of versions 1 and 2. Where the tag is open, the document's value is often a number of the reasoning.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn public_goods_agreement_with_the_document_by_class() {
    let mut agreement: BTreeMap<(&str, bool), [usize; 3]> = BTreeMap::new();
    for answer in answers().iter().filter(|answer| answer.kind != "chat") {
        let counts = agreement.entry((answer.kind, answer.is_cut())).or_default();
        counts[0] += 1;
        for (count, version) in counts[1..].iter_mut().zip([1, 2]) {
            *count += usize::from(&answer.parse(version).value == answer.reference());
        }
    }
    let expected = BTreeMap::from([
        (("contribution", false), [483, 483, 483]),
        (("contribution", true), [1, 1, 0]),
        (("redistribution", false), [271, 271, 271]),
        (("redistribution", true), [9, 9, 0]),
    ]);
    assert_eq!(agreement, expected);
}

/// Version 2 meets the original project's expectations, except one: the document takes the numbers of
/// players for units.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn version_2_meets_all_public_goods_expectations_but_one() {
    let mut unmet = Vec::new();
    for row in rows("public_goods", "unit_vectors.jsonl") {
        let kind = row["kind"].as_str().unwrap().to_owned();
        let params = match kind.as_str() {
            "contribution" => json!({ "endowment": row["arg"] }),
            "redistribution" => json!({ "targets": row["arg"] }),
            _ => continue,
        };
        let spec = ParserSpec { name: kind.into(), params, version: 2 };
        let text = row["input"].as_str().unwrap();
        let parsed = registry::parser(&spec).unwrap().parse_any(text).0;
        if parsed.value != row["reference_result"] {
            unmet.push(text.to_owned());
        }
    }
    assert!(matches!(&unmet[..], [text] if text.contains("player 1 with")), "{unmet:?}");
}

/// Every answer has its reasoning, which is never part of a message.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn version_2_keeps_the_public_goods_reasoning_apart() {
    for answer in answers() {
        let parsed = answer.parse(2);
        let reasoning = parsed.reasoning.expect("every real answer has a reasoning");
        assert!(answer.text.contains(&reasoning) && reasoning.len() > 20, "{}", answer.row);
        let is_apart = parsed.value.as_str().is_none_or(|said| !said.contains("REASONING"));
        assert!(is_apart, "{}", parsed.value);
    }
}

/// Local models: the first JSON object contains the value that their program logged, however many
/// rounds the model invents after it.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn local_models_answers_yield_the_logged_public_goods_values() {
    let (mut contributions, mut actions, mut folders) = (0, 0, 0);
    for folder in subfolders("public_goods/local_model", "config.json") {
        let config = std::fs::read(folder.join("config.json")).unwrap();
        let settings: Value = serde_json::from_slice(&config).unwrap();
        let settings = &settings["environment"];
        let logged: BTreeMap<(String, String), BTreeMap<String, String>> =
            csv::rows(&folder.join("participant_sim.csv"))
                .into_iter()
                .map(|row| ((row["playerAvatar"].clone(), row["roundIndex"].clone()), row))
                .collect();
        let parser = json_contribution_parser(ContributionParams {
            endowment: settings["CONFIG_endowment"].as_u64().unwrap().try_into().unwrap(),
            contribution_type: if settings["CONFIG_allOrNothing"] == true {
                ContributionType::AllOrNothing
            } else {
                ContributionType::Variable
            },
        })
        .unwrap();
        let units = actions_parser().unwrap();
        let relative = folder.strip_prefix(self::folder("public_goods")).unwrap().to_str().unwrap();
        for row in rows("public_goods", &format!("{relative}/participant_debug.jsonl.gz")) {
            let key = (row["agent"].as_str().unwrap().to_owned(), row["round"].to_string());
            let logged = &logged[&key];
            let text = row["raw_output_full"].as_str().unwrap();
            if row["phase"] == "contrib" {
                let parsed = parser.parse(text);
                assert_eq!(parsed.method, "first_json_object", "{text}");
                assert_eq!(
                    parsed.value.unwrap().to_string(),
                    logged["data.contribution"],
                    "{text}"
                );
                assert_eq!(parsed.reasoning.unwrap(), logged["data.contribution_reasoning"]);
                contributions += 1;
            } else {
                let parsed = units.parse(text);
                assert_eq!(parsed.method, "first_json_object", "{text}");
                let punished: Value = serde_json::from_str(&logged["data.punished"]).unwrap();
                assert_eq!(json!(parsed.value), punished, "{text}");
                assert_eq!(parsed.reasoning.unwrap(), logged["data.actions_reasoning"]);
                actions += 1;
            }
        }
        folders += 1;
    }
    assert_eq!((folders, contributions, actions), (FOLDERS, 579, 306));
}

const FOLDERS: usize = 16;

#[test]
fn typed_public_goods_parsers_name_themselves() {
    let spec = |parser: &dyn AnyParser| parser.spec().to_string();
    let contribution = contribution_parser(2, ContributionParams::default()).unwrap();
    let chat = chat_parser(1, ChatParams::default()).unwrap();
    let units = redistribution_parser(
        2,
        RedistributionParams { targets: 3, ..RedistributionParams::default() },
    )
    .unwrap();
    assert_eq!(spec(&contribution), "contribution@2");
    assert_eq!(spec(&chat), "chat@1");
    assert_eq!(spec(&units), "redistribution@2");
}
