use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::framing::{Framing, data, events};

fn redaction(patterns: &[&str]) -> Redaction {
    let patterns: Vec<_> = patterns.iter().map(|it| (*it).to_owned()).collect();
    Redaction::new(&patterns, &key()).unwrap()
}

fn key() -> RedactionKey {
    RedactionKey::new([7; 32])
}

/// What stands for a value.
fn by(value: &str) -> String {
    key().placeholder(value.as_bytes())
}

#[test]
fn what_matches_is_taken_out_of_texts() {
    let redaction = redaction(&["Ada Lovelace", r"[a-z.]+@[a-z.]+", "[a-z]{6,}ed"]);
    let (ada, mail) = (by("Ada Lovelace"), by("ada@example.com"));
    assert_eq!(redaction.text("Ada Lovelace, ada@example.com"), format!("{ada}, {mail}"));
    assert_eq!(redaction.text(&format!("said {ada} before")), format!("said {ada} before"));
    assert_eq!(redaction.text("nothing"), "nothing");
    let mut value = json!({"to": ["ada@example.com", 7], "ada@example.com": "x"});
    assert!(redaction.value(&mut value));
    assert_eq!(value, json!({"to": [mail, 7], mail.clone(): "x"}));
    let (text, any) = redaction.whole(b"{\"name\": \"Ada\\u0020Lovelace\"}", false);
    assert_eq!((&*text, any), (format!("{{\"name\":\"{ada}\"}}").as_bytes(), true));
    let (bytes, any) = redaction.whole(b"\xff Ada Lovelace", false);
    assert_eq!((&*bytes, any), (&[b"\xff ", ada.as_bytes()].concat()[..], true));
    let escaped = redaction.redact_parts("a=1&to=ada%40example.com&b", '&');
    assert_eq!(escaped, format!("a=1&to={mail}&b"));
}

#[test]
fn fields_stay_apart_whatever_their_names_become() {
    let redaction = redaction(&["[A-Z][a-z]+", "Jos\u{e9}"]);
    let mut votes = json!({"Ada": 1, "Bob": 2, "c": 3});
    assert!(redaction.value(&mut votes));
    assert_eq!(votes, json!({by("Ada"): 1, by("Bob"): 2, "c": 3}));
    // Two writings of one name, and one that was taken out before.
    let mut votes = json!({"Jos\u{e9}": 1, "Jose\u{301}": 2, by("Jos\u{e9}"): 3});
    redaction.value(&mut votes);
    let values: Vec<_> = votes.as_object().unwrap().values().map(Value::to_string).collect();
    assert_eq!(values.len(), 3, "{votes}");
    assert_eq!(votes[by("Jos\u{e9}")], 3, "{votes}");
}

#[test]
fn a_name_is_found_however_it_is_written() {
    let redaction = redaction(&["Jos\u{e9} Zq"]);
    let due = by("Jos\u{e9} Zq");
    for written in [
        "Jos\u{e9} Zq",
        "Jose\u{301} Zq",
        r"Jos\u00e9 Zq",
        r"Jos\\u00e9 Zq",
        r"Jose\u0301\u0020Zq",
        "Jos%C3%A9%20Zq",
        "Jos%C3%A9+Zq",
        "Jos%25C3%25A9 Zq",
        "Jos&eacute;&nbsp;Zq",
        "Jos&#233; Zq",
        "Jos&#xE9; Zq",
        r"Jos\xe9 Zq",
    ] {
        assert_eq!(redaction.text(&format!("a {written}.")), format!("a {due}."), "{written}");
    }
    let text = "I am Jos\u{e9} Zq.";
    let redacted = format!("I am {due}.");
    for encoding in [data_encoding::BASE64, data_encoding::BASE64URL_NOPAD, data_encoding::HEXLOWER]
    {
        let (written, by) =
            (encoding.encode(text.as_bytes()), encoding.encode(redacted.as_bytes()));
        assert_eq!(redaction.text(&format!("data:x,{written} ")), format!("data:x,{by} "));
    }
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
    assert_eq!(*redaction.whole(&utf16(text), false).0, utf16(&redacted));
    assert_eq!(*redaction.whole(b"Jos\xe9 Zq!", false).0, *format!("{due}!").as_bytes());
    // Text that looks like something else stays as it is.
    let other = r"100 % of C:\new \u00 a+b &c; redacted-aaaaaaaaaaaaa 0123456789abcdef";
    assert_eq!(redaction.text(other), other);
}

/// However the digits are announced.
#[test]
fn a_name_in_hexadecimal_digits_is_found_behind_their_sign() {
    let redaction = redaction(&["Ada Lovelace"]);
    let digits = data_encoding::HEXLOWER.encode(b"I am Ada Lovelace.");
    let due = data_encoding::HEXLOWER.encode(format!("I am {}.", by("Ada Lovelace")).as_bytes());
    for sign in ["0x", "0X", "=0x", "x'"] {
        assert_eq!(redaction.text(&format!("{sign}{digits} ")), format!("{sign}{due} "), "{sign}");
    }
}

/// A text may begin in the event that opens its block.
#[test]
fn a_name_that_begins_where_a_block_is_opened_is_taken_out() {
    let redaction = redaction(&["Ada Lovelace"]);
    let of = |kind: &str, field: &str, value: Value| json!({"type": kind, "index": 0, "output_index": 0, "content_index": 0, field: value});
    for events in [
        vec![
            of(
                "content_block_start",
                "content_block",
                json!({"type": "text", "text": "I, Ada Lo"}),
            ),
            of("content_block_delta", "delta", json!({"type": "text_delta", "text": "velace"})),
        ],
        vec![
            of(
                "content_block_start",
                "content_block",
                json!({"type": "thinking", "thinking": "Ada "}),
            ),
            of(
                "content_block_delta",
                "delta",
                json!({"type": "thinking_delta", "thinking": "Love"}),
            ),
            of(
                "content_block_delta",
                "delta",
                json!({"type": "thinking_delta", "thinking": "lace"}),
            ),
        ],
        vec![
            of(
                "response.content_part.added",
                "part",
                json!({"type": "output_text", "text": "Ada Lo"}),
            ),
            of("response.output_text.delta", "delta", json!("velace")),
        ],
        vec![
            json!({"type": "response.output_item.added", "output_index": 1, "item": {"type": "function_call", "arguments": "{\"a\":\"Ada Lo"}}),
            json!({"type": "response.function_call_arguments.delta", "output_index": 1, "delta": "velace\"}"}),
        ],
    ] {
        let (stored, _, any) = redaction.answer(Framing::Events, sse(&events), false, Vec::new());
        let stored = String::from_utf8(stored).unwrap();
        assert!(
            any && !stored.contains("velace") && stored.contains(&by("Ada Lovelace")),
            "{stored}"
        );
    }
    // What is said at the end is another text.
    let events = [
        of("response.output_text.delta", "delta", json!("Ada")),
        of(
            "response.content_part.done",
            "part",
            json!({"type": "output_text", "text": " Lovelace"}),
        ),
    ];
    let (_, _, any) = redaction.answer(Framing::Events, sse(&events), false, Vec::new());
    assert!(!any);
}

#[test]
fn the_pieces_of_a_name_are_found_in_lists_and_among_tokens() {
    let redaction = redaction(&["Zqada Xlovelace"]);
    let token = |text: &str| {
        json!({"token": text, "bytes": text.as_bytes(),
        "top_logprobs": [{"token": "no"}, {"token": text.trim()}]})
    };
    let mut value = json!({"logprobs": {"content": [token("Zqada"), token(" Xlovelace"), token("!")]},
        "messages": [{"role": "user", "content": [{"type": "text", "text": "I, Zqada "}, {"type": "text", "text": "Xlovelace"}]}]});
    assert!(redaction.value(&mut value));
    let shown = value.to_string();
    for left in ["Zqada", "Xlovelace", "90,113,97"] {
        assert!(!shown.contains(left), "{left}: {shown}");
    }
    assert_eq!(value["messages"][0]["content"][0]["text"], format!("I, {}", by("Zqada Xlovelace")));
    assert_eq!(value["logprobs"]["content"][2], token("!"));
    let list = json!([{"text": "Zqada Xlo"}, {"text": "velace"}]).to_string();
    let (stored, _, any) = redaction.answer(Framing::Whole, list.into_bytes(), false, Vec::new());
    assert!(any && !String::from_utf8(stored).unwrap().contains("velace"));
}

#[test]
fn the_beginning_of_a_name_is_not_kept_where_an_answer_was_broken_off() {
    let redaction = redaction(&["Zqada Xlovelace"]);
    let event = |text: &str| format!("data: {}\n\n", json!({"delta": {"content": text}}));
    let body = event("I am Zqada ") + &event("Xlo") + "data: {\"delta\": {\"content\": \"velac";
    let (stored, _, any) = redaction.answer(Framing::Events, body.into_bytes(), true, Vec::new());
    let due = event(&format!("I am {}", by("Zqada Xlo"))) + &event("");
    assert_eq!((String::from_utf8(stored).unwrap(), any), (due, true));
    let body = br#"{"content": "I am Zqa"#.to_vec();
    let (stored, ..) = redaction.answer(Framing::Whole, body, true, Vec::new());
    assert!(!String::from_utf8(stored).unwrap().contains("Zqa"));
}

#[test]
fn a_pattern_that_matches_nothing_is_refused() {
    let of = |pattern: &str| Redaction::new(&[pattern.to_owned()], &key()).unwrap_err().to_string();
    assert!(of("x*").contains("also matches the empty text"));
    assert!(of("(").contains("not a regular expression"));
}

fn sse(events: &[Value]) -> Vec<u8> {
    events
        .iter()
        .map(|event| format!("event: e\ndata: {event}\n\n"))
        .collect::<String>()
        .into_bytes()
}

#[test]
fn a_name_that_is_cut_by_a_stream_is_taken_out() {
    let delta = |index: u64, text: &str| json!({"id": "c", "choices": [{"index": index, "delta": {"content": text}}]});
    // Two answers at once, each with its own text.
    let body = sse(&[
        delta(0, "I am Ada Lo"),
        delta(1, "Ada Love"),
        delta(0, "ve"),
        delta(0, "lace!"),
        delta(1, "ly"),
    ]);
    let redaction = redaction(&["Ada Lovelace"]);
    let (stored, _, any) = redaction.answer(Framing::Events, body, false, Vec::new());
    assert!(any);
    let due = sse(&[
        delta(0, &format!("I am {}", by("Ada Lovelace"))),
        delta(1, "Ada Love"),
        delta(0, ""),
        delta(0, "!"),
        delta(1, "ly"),
    ]);
    assert_eq!(String::from_utf8(stored.clone()).unwrap(), String::from_utf8(due).unwrap());
    let (again, _, any) = redaction.answer(Framing::Events, stored.clone(), false, Vec::new());
    assert_eq!((again, any), (stored, false));
}

proptest! {
    /// However a name is cut: it is gone, everything else is there, and so are the chunks.
    #[test]
    fn cuts_hide_nothing(cuts in prop::collection::vec(1usize..9, 1..20), ends in prop::collection::vec(1usize..40, 0..30)) {
        let text = "Dear Ada Lovelace, call Ada Lovelace; J\u{f6}rg: 0171 555 0199.";
        let letters: Vec<char> = text.chars().collect();
        let mut pieces = Vec::new();
        let mut at = 0;
        for cut in cuts.iter().cycle() {
            if at >= letters.len() { break; }
            let end = (at + cut).min(letters.len());
            pieces.push(json!({"choices": [{"index": 0, "delta": {"content": letters[at..end].iter().collect::<String>()}}]}));
            at = end;
        }
        let body = sse(&pieces);
        let mut chunks: Chunks = Vec::new();
        let mut left = body.len();
        for end in ends {
            let length = end.min(left);
            if length > 0 { chunks.push((length, chunks.len() as u64)); }
            left -= length;
        }
        if left > 0 { chunks.push((left, 99)); }
        let (stored, moved, any) = redaction(&["Ada Lovelace", "[0-9 ]{10,}"]).answer(Framing::Events, body, false, chunks.clone());
        prop_assert!(any);
        prop_assert_eq!(moved.iter().map(|(length, _)| length).sum::<usize>(), stored.len());
        prop_assert_eq!(moved.len(), chunks.len());
        let said: String = events(Framing::Events, &stored).iter().map(|event| {
            let event: Value = serde_json::from_str(&data(Framing::Events, event)).unwrap();
            event["choices"][0]["delta"]["content"].as_str().unwrap().to_owned()
        }).collect();
        let (ada, number) = (by("Ada Lovelace"), by(" 0171 555 0199"));
        prop_assert_eq!(said, format!("Dear {ada}, call {ada}; J\u{f6}rg:{number}."));
    }
}
