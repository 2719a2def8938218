//! The stated rules, one by one, on our own answers.

use crate::support::parsers as registry;
use retold::parse::{ParsedAnswer, ParserSpec};
use serde_json::{Value, json};

fn parse(name: &'static str, version: u32, params: Value, text: &str) -> ParsedAnswer<Value> {
    let spec = ParserSpec { name: name.into(), params, version };
    registry::parser(&spec).unwrap().parse_any(text).0
}

/// Value and method of a contribution out of 20 coins.
fn coins(version: u32, text: &str) -> (i64, &'static str) {
    let parsed = parse("contribution", version, Value::Null, text);
    (parsed.value.as_i64().unwrap(), parsed.method)
}

/// Units and method for three targets.
fn units(version: u32, text: &str) -> (Value, &'static str) {
    let parsed = parse("redistribution", version, json!({ "targets": 3 }), text);
    (parsed.value, parsed.method)
}

fn said(version: u32, text: &str) -> (String, &'static str) {
    let parsed = parse("chat", version, Value::Null, text);
    (parsed.value.as_str().unwrap().to_owned(), parsed.method)
}

#[test]
fn contribution_2_takes_one_number_from_the_tag() {
    assert_eq!(coins(2, "<CONTRIBUTE>15</CONTRIBUTE>"), (15, "contribute_tag"));
    assert_eq!(coins(2, "<contribute> **15 coins** </contribute>"), (15, "contribute_tag"));
    assert_eq!(coins(2, "&lt;CONTRIBUTE&gt;15&lt;/CONTRIBUTE&gt;"), (15, "contribute_tag"));
    assert_eq!(coins(2, "```xml\n<CONTRIBUTE>\n15\n</CONTRIBUTE>\n```"), (15, "contribute_tag"));
    assert_eq!(coins(2, "<CONTRIBUTE>-4</CONTRIBUTE>"), (0, "contribute_tag"));
    assert_eq!(coins(2, "<CONTRIBUTE>400</CONTRIBUTE>"), (20, "contribute_tag"));
    assert_eq!(coins(2, "<CONTRIBUTE>7.9</CONTRIBUTE>"), (7, "contribute_tag"));
    assert_eq!(coins(2, "<CONTRIBUTE>10 or 15</CONTRIBUTE> 3"), (10, "first_number_in_tag"));
}

#[test]
fn contribution_2_reads_separators_between_thousands() {
    let parsed = |text: &str, endowment: u32| {
        let parsed = parse("contribution", 2, json!({"endowment": endowment}), text);
        (parsed.value.as_i64().unwrap(), parsed.method, parsed.warnings)
    };
    for (written, read, coins) in [
        ("1,000", "1,000", 1000),
        ("12,000 coins", "12,000", 12_000),
        ("1,234,567.0", "1,234,567", 1_234_567),
        ("1'000", "1'000", 1000),
        ("1\u{202f}000", "1\u{202f}000", 1000),
    ] {
        let text = format!("<CONTRIBUTE>{written}</CONTRIBUTE>");
        let (value, method, warnings) = parsed(&text, 2_000_000);
        assert_eq!((value, method), (coins, "contribute_tag"), "{written}");
        assert_eq!(warnings, [format!("{read} was read with separators between its thousands")]);
    }
    // The range is checked afterwards.
    let expected = [
        "1,000 was read with separators between its thousands",
        "1000 is not from 0 to 20: clamped",
    ];
    let (value, _, warnings) = parsed("<CONTRIBUTE>1,000</CONTRIBUTE>", 20);
    assert_eq!((value, warnings), (20, expected.map(str::to_owned).to_vec()));
    // Two numbers, or something ambiguous.
    for written in ["1, 000", "1,00", "10,15", "1,000,5", "0,500", "1 000", "1000,000"] {
        let (_, _, warnings) = parsed(&format!("<CONTRIBUTE>{written}</CONTRIBUTE>"), 2_000);
        assert!(warnings.iter().all(|warning| !warning.contains("separators")), "{written}");
    }
    assert_eq!(parsed("I contribute 1,000, and no more.", 2_000).0, 1000);
    assert_eq!(coins(1, "<CONTRIBUTE>1,000</CONTRIBUTE>"), (1, "first_number"));
}

#[test]
fn contribution_2_never_takes_a_number_from_the_reasoning() {
    assert_eq!(coins(2, "<REASONING>With 4 players I give 7"), (10, "default"));
    assert_eq!(coins(2, "<REASONING>4 players</REASONING>\n<CONTRIBUTE>"), (10, "default"));
    assert_eq!(coins(2, "<REASONING>4 players\n<CONTRIBUTE>6"), (6, "unclosed_contribute_tag"));
    let inside = "<REASONING>So <CONTRIBUTE>6</CONTRIBUTE></REASONING>";
    assert_eq!(coins(2, inside), (6, "contribute_tag_in_reasoning"));
    assert_eq!(coins(1, "<REASONING>With 4 players I give 7"), (4, "first_number"));
}

#[test]
fn of_several_tags_the_last_of_the_turn_counts() {
    let corrected = "<CONTRIBUTE>5</CONTRIBUTE> No, rather <CONTRIBUTE>8</CONTRIBUTE>";
    assert_eq!(coins(2, corrected), (8, "contribute_tag"));
    assert_eq!(coins(1, corrected), (5, "contribute_tag"));
    let invented = "<REASONING>a</REASONING><CONTRIBUTE>5</CONTRIBUTE>\n\
                    <REASONING>Round 2</REASONING><CONTRIBUTE>0</CONTRIBUTE>";
    assert_eq!(coins(2, invented), (5, "contribute_tag"));
    let tagged = "<CONTRIBUTE>5</CONTRIBUTE></ROUND>\n<ROUND i=\"2\"><CONTRIBUTE>0</CONTRIBUTE>";
    assert_eq!(coins(2, tagged), (5, "contribute_tag"));
}

#[test]
fn contribution_2_reads_answers_without_tags() {
    assert_eq!(coins(2, "12"), (12, "whole_text_integer"));
    assert_eq!(coins(2, "<REASONING>3 of us</REASONING>\n**12**"), (12, "whole_text_integer"));
    assert_eq!(coins(2, "Contribution: 12 of my 20 coins"), (12, "stated_amount"));
    assert_eq!(coins(2, "I put in 12 coins."), (12, "stated_amount"));
    assert_eq!(coins(2, "Of 20 coins I keep 8."), (20, "first_number"));
    assert_eq!(coins(2, ""), (10, "default"));
}

#[test]
fn all_or_nothing_takes_the_nearer_amount() {
    let params = json!({ "endowment": 20, "contribution_type": "all_or_nothing" });
    for (stated, counted) in [(0, 0), (9, 0), (10, 20), (11, 20), (20, 20)] {
        let text = format!("<CONTRIBUTE>{stated}</CONTRIBUTE>");
        let parsed = parse("contribution", 2, params.clone(), &text);
        assert_eq!(parsed.value, counted);
        assert_eq!(parsed.warnings.is_empty(), stated == counted, "{:?}", parsed.warnings);
    }
}

#[test]
fn redistribution_2_rejects_what_it_cannot_assign() {
    assert_eq!(units(2, "<REDISTRIBUTE>[2, 0, 1]</REDISTRIBUTE>").0, json!([2, 0, 1]));
    assert_eq!(units(2, "<REDISTRIBUTE>2, 0, 1</REDISTRIBUTE>").0, json!([2, 0, 1]));
    assert_eq!(units(2, "<REDISTRIBUTE>[2, -1, 1,]</REDISTRIBUTE>").0, json!([2, 0, 1]));
    let none = json!([0, 0, 0]);
    let wrong = [
        ("<REDISTRIBUTE>[2, 0]</REDISTRIBUTE>", "wrong_length"),
        ("<REDISTRIBUTE>[2, 0, 1, 4]</REDISTRIBUTE>", "wrong_length"),
        ("<REDISTRIBUTE>[2, 0, 1, 4", "wrong_length"),
        ("<REDISTRIBUTE>DOG: 2, CAT: 1</REDISTRIBUTE>", "unreadable_tag"),
        ("I punish player 1 with 2 units and player 2 with 1 unit", "default"),
        ("<REASONING>[2, 0, 1] perhaps", "default"),
    ];
    for (text, method) in wrong {
        assert_eq!(units(2, text), (none.clone(), method), "{text}");
    }
    assert_eq!(units(2, "<REDISTRIBUTE>[2, 1"), (json!([2, 1, 0]), "unclosed_redistribute_tag"));
    assert_eq!(units(2, "[2, 0, 1]"), (json!([2, 0, 1]), "whole_text_array"));
    assert_eq!(units(2, "So: [2, 0, 1]."), (json!([2, 0, 1]), "array_in_text"));
}

#[test]
fn redistribution_2_says_which_element_is_not_a_number() {
    for (list, reason) in [
        (
            "[0, \"2\", null]",
            "element 3 of the list is null, which is not a number of units: rejected",
        ),
        (
            "[0, \"two\", 1]",
            "element 2 of the list is \"two\", which is not a number of units: rejected",
        ),
        (
            "[[1, 2], 3, 4]",
            "element 1 of the list is [1,2], which is not a number of units: rejected",
        ),
        ("no one", "the redistribute tag holds no list: rejected"),
    ] {
        let text = format!("<REDISTRIBUTE>{list}</REDISTRIBUTE>");
        let parsed = parse("redistribution", 2, json!({"targets": 3}), &text);
        assert_eq!((parsed.method, parsed.warnings), ("unreadable_tag", vec![reason.to_owned()]));
        assert_eq!(parsed.value, json!([0, 0, 0]));
    }
}

#[test]
fn chat_2_never_sends_the_reasoning() {
    let cut = "<REASONING>They are naive.</REASONING>\n<MESSAGE>\nLet us all give 20!";
    assert_eq!(said(2, cut), ("Let us all give 20!".to_owned(), "unclosed_message_tag"));
    assert!(said(1, cut).0.contains("naive"));
    assert_eq!(said(2, "<REASONING>They are naive."), (String::new(), "no_message"));
    assert_eq!(said(2, "<MESSAGE>Nothing.</MESSAGE>"), (String::new(), "silent"));
    assert_eq!(said(2, "I say: \"Hello\""), ("Hello".to_owned(), "whole_text"));
    let two = "<MESSAGE>\"Yes\" and \"no\"</MESSAGE>";
    assert_eq!(said(2, two), ("\"Yes\" and \"no\"".to_owned(), "message_tag"));
}

#[test]
fn what_is_thought_aloud_is_reasoning() {
    for (text, message, method) in [
        ("<think>I will say hi</think>\nHello all", "Hello all", "whole_text"),
        ("<think>I will say hi</think>", "", "no_message"),
        ("<think>I will say hi", "", "no_message"),
        ("I will say hi\n</think>\nHello all", "Hello all", "whole_text"),
        ("<think>a <MESSAGE>x</MESSAGE></think><MESSAGE>Hi</MESSAGE>", "Hi", "message_tag"),
        ("<think>a</think><REASONING>b", "", "no_message"),
    ] {
        assert_eq!(said(2, text), (message.to_owned(), method), "{text}");
    }
    for (text, number, method) in [
        ("<think>5?</think> 15", 15, "whole_text_integer"),
        ("<think>5, contribute 5</think>", 10, "default"),
        ("<think>5?</think><CONTRIBUTE>7</CONTRIBUTE>", 7, "contribute_tag"),
        ("<think><CONTRIBUTE>5</CONTRIBUTE></think> So.", 5, "contribute_tag_in_reasoning"),
        ("<think><CONTRIBUTE>5</CONTRIBUTE></think>", 5, "contribute_tag_in_reasoning"),
    ] {
        assert_eq!(coins(2, text), (number, method), "{text}");
    }
    let text = "<think>[1,2,3]</think>\n[0,0,1]";
    assert_eq!(units(2, text), (json!([0, 0, 1]), "whole_text_array"));
    let text = "<think>why</think><CONTRIBUTE>7</CONTRIBUTE>";
    let found = parse("contribution", 2, json!({}), text);
    assert_eq!(found.reasoning.as_deref(), Some("why"));
    let text = "<think>why</think><REASONING>so</REASONING><CONTRIBUTE>7</CONTRIBUTE>";
    assert_eq!(parse("contribution", 2, json!({}), text).reasoning.as_deref(), Some("so"));
}

#[test]
fn version_1_counts_as_python_does() {
    assert_eq!(coins(1, "\u{1c}1_5\u{1f}"), (15, "whole_text_integer"));
    assert_eq!(coins(1, "+7"), (7, "whole_text_integer"));
    assert_eq!(coins(1, "<contrıbute>٣</CONTRİBUTE>"), (3, "contribute_tag"));
    assert_eq!(coins(1, "agent_7 gives x12 or 3"), (3, "first_number"));
    assert_eq!(units(1, "<REDISTRIBUTE>[true, \"2\", 1.9]</REDISTRIBUTE>").0, json!([1, 2, 1]));
    assert_eq!(units(1, "<REDISTRIBUTE>[null]</REDISTRIBUTE>").1, "default");
    assert_eq!(units(1, "[-2]"), (json!([0, 0, 0]), "whole_text_array"));
    assert_eq!(said(1, "\""), (String::new(), "whole_text"));
    assert_eq!(said(1, "<MESSAGE></MESSAGE>").1, "whole_text");
    assert_eq!(said(1, "<MESSAGE></MESSAGE>a</MESSAGE>").0, "</MESSAGE>a");
}

#[test]
fn json_answers_of_local_models() {
    let fenced =
        "```json\n{\"reasoning\": \"wait\", \"contribution\": 30}\n```\n{\"contribution\": 1}";
    let parsed = parse("contribution_json", 1, Value::Null, fenced);
    assert_eq!((parsed.value, parsed.method), (json!(20), "first_json_object"));
    let cut = "{\"reasoning\": \"wait\", \"contribution\": 5";
    let parsed = parse("contribution_json", 1, Value::Null, cut);
    assert_eq!((parsed.value, parsed.method), (json!(5), "repaired_json_object"));
    let parsed = parse("actions_json", 1, Value::Null, "{'actions': {'DOG': '2', 'CAT': -1}}");
    assert_eq!((parsed.value, parsed.method), (json!({ "DOG": 2 }), "repaired_json_object"));
}
