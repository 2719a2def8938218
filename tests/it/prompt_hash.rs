//! What changes a prompt hash, and what does not.

use proptest::prelude::*;
use retold::prompt::{
    ChatRequest, EmbeddingRequest, Message, Request, RequestError, Role, TRANSPORT, canonical,
    first_difference,
};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

fn chat() -> ChatRequest {
    ChatRequest {
        model: "m".into(),
        messages: vec![Message::new(Role::System, "s"), Message::new(Role::User, "u")],
        temperature: Some(1.0),
        top_p: Some(0.9),
        max_tokens: Some(100),
        stop: vec!["END".into()],
        seed: Some(7),
        tools: vec![json!({"type": "function", "function": {"name": "f"}})],
        response_format: Some(json!({"type": "json_object"})),
        extra: Map::from_iter([("logit_bias".to_owned(), json!({"1": 2}))]),
    }
}

fn embedding() -> EmbeddingRequest {
    EmbeddingRequest { model: "m".into(), input: "t".into(), dimensions: Some(3) }
}

/// Every field in turn, both changed and left out, each with its name.
macro_rules! field_tests {
    ($base:ident, $($name:ident: $change:expr;)*) => {$(
        #[test]
        fn $name() {
            let base = $base();
            let mut changed = base.clone();
            ($change)(&mut changed);
            assert_ne!(base, changed, "the test changes nothing");
            let (base, changed) = (base.into_request().unwrap(), changed.into_request().unwrap());
            assert_ne!(base.hash(), changed.hash());
            assert!(first_difference(&base, &changed).is_some());
        }
    )*};
}

mod chat_field {
    use super::*;

    field_tests! { chat,
        model: |r: &mut ChatRequest| r.model = "n".into();
        messages_less: |r: &mut ChatRequest| drop(r.messages.pop());
        messages_order: |r: &mut ChatRequest| r.messages.reverse();
        temperature: |r: &mut ChatRequest| r.temperature = Some(0.0);
        temperature_none: |r: &mut ChatRequest| r.temperature = None;
        top_p: |r: &mut ChatRequest| r.top_p = Some(0.8);
        top_p_none: |r: &mut ChatRequest| r.top_p = None;
        max_tokens: |r: &mut ChatRequest| r.max_tokens = Some(101);
        max_tokens_none: |r: &mut ChatRequest| r.max_tokens = None;
        stop: |r: &mut ChatRequest| r.stop = vec!["STOP".into()];
        stop_more: |r: &mut ChatRequest| r.stop.push("STOP".into());
        stop_none: |r: &mut ChatRequest| r.stop.clear();
        seed: |r: &mut ChatRequest| r.seed = Some(8);
        seed_none: |r: &mut ChatRequest| r.seed = None;
        tools: |r: &mut ChatRequest| r.tools[0]["function"]["name"] = "g".into();
        tools_none: |r: &mut ChatRequest| r.tools.clear();
        response_format: |r: &mut ChatRequest| r.response_format = Some(json!({"type": "text"}));
        response_format_none: |r: &mut ChatRequest| r.response_format = None;
        extra: |r: &mut ChatRequest| r.extra["logit_bias"]["1"] = 3.into();
        extra_more: |r: &mut ChatRequest| drop(r.extra.insert("user".into(), "x".into()));
        extra_none: |r: &mut ChatRequest| r.extra.clear();
    }
}

mod message_field {
    use super::*;

    field_tests! { chat,
        role: |r: &mut ChatRequest| r.messages[1].role = Role::Assistant;
        text: |r: &mut ChatRequest| r.messages[1].parts[0].push(' ');
        text_empty: |r: &mut ChatRequest| r.messages[1].parts[0].clear();
        one_part_more: |r: &mut ChatRequest| r.messages[1].parts.push(String::new());
        no_parts: |r: &mut ChatRequest| r.messages[1].parts.clear();
        parts_cut_elsewhere: |r: &mut ChatRequest| {
            r.messages[0].parts = vec!["".into(), "s".into()];
        };
        text_moved_between_messages: |r: &mut ChatRequest| {
            r.messages[0].parts = vec!["su".into()];
            r.messages[1].parts = vec!["".into()];
        };
    }
}

mod embedding_field {
    use super::*;

    field_tests! { embedding,
        model: |r: &mut EmbeddingRequest| r.model = "n".into();
        input: |r: &mut EmbeddingRequest| r.input.push(' ');
        dimensions: |r: &mut EmbeddingRequest| r.dimensions = Some(4);
        dimensions_none: |r: &mut EmbeddingRequest| r.dimensions = None;
    }
}

fn parse(text: &str) -> Request {
    Request::from_body(serde_json::from_str(text).unwrap()).unwrap()
}

#[test]
fn the_spelling_of_a_number_does_not_count() {
    let with = |number: &str| parse(&format!(r#"{{"messages":[],"temperature":{number}}}"#));
    for (one, others) in [
        ("1", &["1.0", "1e0", "10E-1", "0.1e1", "1.000"][..]),
        ("0", &["0.0", "-0", "-0.0", "0e7"]),
        ("0.1", &["1e-1", "0.10", "0.1000000000000000055"]),
        ("9007199254740992", &["9007199254740992.0", "9.007199254740992e15"]),
    ] {
        for other in others {
            assert_eq!(with(one).hash(), with(other).hash(), "{one} {other}");
        }
    }
}

#[test]
fn the_order_of_keys_does_not_count() {
    let one = parse(r#"{"model":"m","messages":[{"role":"user","content":"x"}],"seed":1}"#);
    let two = parse(r#"{"seed":1,"messages":[{"content":"x","role":"user"}],"model":"m"}"#);
    assert_eq!(one.hash(), two.hash());
    assert_eq!(one.canonical(), two.canonical());
}

#[test]
fn transport_fields_do_not_count() {
    let plain = json!({"model": "m", "messages": [], "n": 1});
    let hash = Request::from_body(plain.clone()).unwrap().hash();
    for (field, _) in TRANSPORT.fields {
        let mut body = plain.clone();
        body[*field] = json!({"anything": [1, "x"]});
        assert_eq!(Request::from_body(body).unwrap().hash(), hash, "{field}");
        let mut nested = plain.clone();
        nested["tools"] = json!([{(*field): true}]);
        assert_ne!(Request::from_body(nested).unwrap().hash(), hash, "{field} within a tool");
    }
}

#[test]
fn a_chat_and_an_embedding_never_share_a_hash() {
    let chat = Request::from_body(json!({"messages": "x"})).unwrap();
    let embedding = Request::from_body(json!({"input": "x"})).unwrap();
    assert_ne!(chat.hash(), embedding.hash());
}

#[test]
fn what_has_no_exact_canonical_form_is_refused() {
    let refused = |text: &str| {
        Request::from_body(serde_json::from_str(text).unwrap()).unwrap_err().to_string()
    };
    let deep = format!(r#"{{"messages":{}{}}}"#, "[".repeat(100), "]".repeat(100));
    let not_finite = ChatRequest { temperature: Some(f64::NAN), ..chat() };
    let too_hot = ChatRequest { top_p: Some(f64::INFINITY), ..chat() };
    let large_seed = ChatRequest { seed: Some(u64::MAX), ..chat() };
    let all = [
        refused(r#"{"messages":[],"seed":9007199254740993}"#),
        refused(r#"{"messages":[],"seed":-9007199254740993}"#),
        refused(r#"{"messages":[],"seed":18446744073709551617}"#),
        refused(r#"{"messages":[],"seed":100000000000000000}"#),
        refused(r#"{"messages":[],"seed":1e17}"#),
        refused(r#"{"messages":[{"a/b":{"~":[9007199254740993]}}]}"#),
        refused(&deep),
        refused("[]"),
        refused("{}"),
        refused(r#"{"messages":[],"input":""}"#),
        refused(r#"{"messages":[],"n":2}"#),
        not_finite.into_request().unwrap_err().to_string(),
        too_hot.into_request().unwrap_err().to_string(),
        large_seed.into_request().unwrap_err().to_string(),
    ];
    insta::assert_snapshot!(all.join("\n"));
}

/// The deepest request that is accepted can be read back.
#[test]
fn the_deepest_request_is_read_back() {
    let deep = format!(r#"{{"messages":{}{}}}"#, "[".repeat(99), "]".repeat(99));
    let request = parse(&deep);
    assert_eq!(Request::from_canonical(request.canonical()).unwrap(), request);
}

#[test]
fn only_what_we_wrote_is_read_back() {
    let text = chat().into_request().unwrap().canonical().to_owned();
    let refused = |text: String| match Request::from_canonical(&text) {
        Err(RequestError::NotCanonical(_)) => {}
        other => panic!("{text}: {other:?}"),
    };
    refused(format!(" {text}"));
    let later = Request::from_canonical(&text.replace("\"v\":1", "\"v\":2"));
    assert!(matches!(later, Err(RequestError::UnknownVersion { found: 2, known: 1 })), "{later:?}");
    refused(text.replace("\"v\":1", "\"v\":1,\"w\":1"));
    refused(text.replace(":7", ":7.0"));
    refused(text[1..].to_owned());
}

/// These are recorded: another field to be left out is another list, with a version of its own.
#[test]
fn golden_hashes() {
    let chat = chat().into_request().unwrap();
    let embedding = embedding().into_request().unwrap();
    insta::assert_snapshot!(format!(
        "{}\n{}\n{}\n{}",
        chat.hash(),
        chat.canonical(),
        embedding.hash(),
        embedding.canonical()
    ));
}

/// Any JSON a request may hold.
fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-(1i64 << 53)..=1 << 53).prop_map(Value::from),
        (-1e15..1e15f64).prop_map(Value::from),
        (-1.0..1.0f64).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[a-c]{0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-c]{0,2}|\\PC{0,3}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn body() -> impl Strategy<Value = Value> {
    prop::collection::btree_map("[a-e]|stop|seed|tools", json_value(), 0..4).prop_flat_map(|map| {
        json_value().prop_map(move |messages| {
            let mut body: Map<String, Value> = map.clone().into_iter().collect();
            body.insert("messages".into(), messages);
            Value::Object(body)
        })
    })
}

/// Equality of JSON with numbers as doubles: written independently of canonical JSON, as its
/// oracle.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

/// Changes one leaf of a value, or adds one.
fn mutate(value: &mut Value, path: &mut impl Iterator<Item = usize>) {
    let step = path.next().unwrap_or(0);
    match value {
        Value::Array(items) if !items.is_empty() => {
            let i = step % items.len();
            mutate(&mut items[i], path);
        }
        Value::Object(map) if !map.is_empty() => {
            let i = step % map.len();
            mutate(map.values_mut().nth(i).unwrap(), path);
        }
        Value::Array(items) => items.push(Value::Null),
        Value::Object(map) => drop(map.insert("new".into(), Value::Null)),
        Value::Null => *value = json!(false),
        Value::Bool(b) => *b = !*b,
        Value::Number(n) => *value = json!(n.as_f64().unwrap() / 2.0 + 1.0 / 3.0),
        Value::String(text) => text.push('\u{0}'),
    }
}

/// An object that is written in the order of its fields.
#[derive(Debug)]
struct InOrder(Vec<(String, i32)>);

impl Serialize for InOrder {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

proptest! {
    #[test]
    fn two_bodies_share_a_hash_exactly_when_they_are_the_same(a in body(), b in body()) {
        let (x, y) = (Request::from_body(a.clone()).unwrap(), Request::from_body(b.clone()).unwrap());
        prop_assert_eq!(x.hash() == y.hash(), same(x.body(), y.body()));
        prop_assert_eq!(first_difference(&x, &y).is_none(), same(x.body(), y.body()));
    }

    #[test]
    fn any_change_changes_the_hash(a in body(), path in prop::collection::vec(0usize..8, 8)) {
        let mut b = a.clone();
        mutate(&mut b, &mut path.into_iter());
        prop_assume!(!same(&a, &b));
        let (x, y) = (Request::from_body(a).unwrap(), Request::from_body(b).unwrap());
        prop_assert_ne!(x.hash(), y.hash());
    }

    #[test]
    fn a_request_is_read_back_and_reads_the_same_in_any_layout(a in body()) {
        let request = Request::from_body(a.clone()).unwrap();
        let again = Request::from_canonical(request.canonical()).unwrap();
        prop_assert_eq!(&again, &request);
        let pretty = serde_json::to_string_pretty(&a).unwrap();
        prop_assert_eq!(parse(&pretty).hash(), request.hash());
    }

    // The library defines what is canonical; input that is already sorted is written without it.
    #[test]
    fn every_way_of_writing_is_the_librarys(value in json_value(), number in any::<f64>(), integer in any::<i64>()) {
        let theirs = |value: &Value| serde_json_canonicalizer::to_string(value).unwrap();
        prop_assert_eq!(canonical(&value).unwrap(), theirs(&value));
        let value = json!({"z": value, "a": number, "b": [integer, number]});
        prop_assert_eq!(canonical(&value).unwrap(), theirs(&value));
    }

    #[test]
    fn a_request_is_written_as_the_library_writes_it(
        value in json_value(),
        number in -(1i64 << 53)..1 << 53,
        fraction in -1e15..1e15,
        text in "[\u{0}-\u{20}\"\\\\a-z\u{7f}é\u{10000}]{0,80}",
    ) {
        prop_assume!(text != "input" && text != "n");
        let said = format!("{text}{}", "a longer text, without anything to escape".repeat(number as usize % 4));
        let body = json!({"messages": value, "a": number, "b": [fraction, said], text: {"y": {}, "z": []}});
        let request = Request::from_body(body).unwrap();
        let whole = json!({"v": 1, "body": request.body(), "api": "chat"});
        prop_assert_eq!(request.canonical(), serde_json_canonicalizer::to_string(&whole).unwrap());
    }

    #[test]
    fn unsorted_fields_are_sorted(
        fields in prop::collection::vec(("[a-c]{0,2}|\\PC{0,2}|[\u{fff0}\u{10000}\"]", any::<i32>()), 0..5),
    ) {
        let mut unsorted = String::from("{");
        for (i, (key, value)) in fields.iter().enumerate() {
            let comma = if i > 0 { "," } else { "" };
            unsorted += &format!("{comma}{}:{value}", serde_json::to_string(key).unwrap());
        }
        unsorted.push('}');
        // Serialises in the order of the text, including repeated keys.
        let sorted: Map<String, Value> = fields.iter().map(|(k, v)| (k.clone(), json!(v))).collect();
        prop_assume!(sorted.len() == fields.len());
        let as_written = InOrder(fields);
        prop_assert_eq!(serde_json::to_string(&as_written).unwrap(), unsorted);
        let theirs = serde_json_canonicalizer::to_string(&sorted).unwrap();
        prop_assert_eq!(canonical(&as_written).unwrap(), theirs);
    }
}
