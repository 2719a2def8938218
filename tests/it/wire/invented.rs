//! Requests that differ from the recorded ones in what clients invent, and rules that are added to a run later.

use super::upstream::{Failing, server};
use super::{record_with, replay_with, with};
use crate::support::cli::Place;

/// Asks with a tool call under an id of its own, in the words of an API; RANDOM_ID is another one each time.
fn with_ids(place: &Place, api: &str) {
    let id = |name: &str| format!("$RANDOM_ID-{name}");
    let (path, body) = match api {
        "chat" => (
            "chat/completions",
            serde_json::json!({"model": "m", "prompt_cache_key": id("cache"), "messages": [
                {"role": "user", "content": "weather?"},
                {"role": "assistant", "tool_calls": [
                    {"id": id("a"), "type": "function", "function": {"name": "f", "arguments": "{}"}},
                    {"id": id("b"), "type": "function", "function": {"name": "g", "arguments": "{}"}}]},
                {"role": "tool", "tool_call_id": id("a"), "content": "sun"},
                {"role": "tool", "tool_call_id": id("b"), "content": "rain"}]}),
        ),
        "responses" => (
            "responses",
            serde_json::json!({"model": "m", "input": [{"role": "user", "content": "weather?"},
                {"type": "function_call", "id": id("i"), "call_id": id("a"), "name": "f", "arguments": "{}"},
                {"type": "function_call_output", "call_id": id("a"), "output": "sun"}]}),
        ),
        // As Codex asks.
        "codex" => (
            "responses",
            serde_json::json!({"model": "m", "prompt_cache_key": id("session"), "input": [{"role": "user", "content": "weather?"}],
                "client_metadata": {"session_id": id("session"), "thread_id": id("session"), "turn_id": id("turn"),
                    "x-codex-installation-id": id("installation"), "x-codex-window-id": id("window"),
                    "x-codex-turn-metadata": id("metadata")}}),
        ),
        "gemini" => (
            "models/m:generateContent",
            serde_json::json!({"contents": [{"role": "user", "parts": [{"text": "weather?"}]},
                {"role": "model", "parts": [{"functionCall": {"id": id("a"), "name": "f", "args": {}}}]},
                {"role": "user", "parts": [{"functionResponse": {"id": id("a"), "name": "f", "response": {}}}]}]}),
        ),
        "anthropic" => (
            "v1/messages",
            serde_json::json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "weather?"},
                {"role": "assistant", "content": [{"type": "tool_use", "id": id("a"), "name": "f", "input": {}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id("a"), "content": "sun"}]}]}),
        ),
        other => unreachable!("{other}"),
    };
    let body = body.to_string().replace('"', "\\\"");
    let ask = format!(
        "(curl -sS --max-time 20 -d \"{body}\" $OPENAI_BASE_URL/{path}; curl -sS --max-time 20 -d \"{}\" $OPENAI_BASE_URL/{path}) | base64",
        body.replace("weather?", "wind?")
    );
    let program = ["sh", "-c", &ask];
    let upstream = server(Failing { one_in: 0 });
    let recorded = record_with(place, "", &upstream.base_url(), &program, &[("RANDOM_ID", "x1")]);
    assert_eq!(recorded.code, 0, "{}", recorded.err);
    assert_eq!(upstream.received().len(), 2);
    let again = replay_with(place, "latest", &program, &[("RANDOM_ID", "y2")]);
    assert_eq!((again.code, &again.out), (0, &recorded.out), "{api}: {}", again.err);
    assert!(!again.err.contains("never asked"), "{}", again.err);
    // A fork asks nothing, either, and its own replay needs the ids of neither.
    let url = upstream.base_url();
    let forked = with(place, "fork latest", &url, &program, &[("RANDOM_ID", "z3")]);
    assert_eq!((forked.code, upstream.received().len()), (0, 2), "{api}: {}", forked.err);
    let again = replay_with(place, "latest", &program, &[("RANDOM_ID", "w4")]);
    assert_eq!((again.code, &again.out), (0, &recorded.out), "{api}: {}", again.err);
}

#[test]
fn ids_of_tool_calls_may_be_others_in_a_replay() {
    for api in ["chat", "responses", "codex", "gemini", "anthropic"] {
        with_ids(&Place::new(), api);
    }
}

/// What counts is which ids are equal.
#[test]
fn results_of_tools_that_are_swapped_are_another_request() {
    let place = Place::new();
    let ask = "curl -sS --max-time 20 $OPENAI_BASE_URL/chat/completions -d \"{\\\"model\\\":\\\"m\\\",\\\"messages\\\":[\
        {\\\"role\\\":\\\"assistant\\\",\\\"tool_calls\\\":[{\\\"id\\\":\\\"$A\\\"},{\\\"id\\\":\\\"$B\\\"}]},\
        {\\\"role\\\":\\\"tool\\\",\\\"tool_call_id\\\":\\\"$C\\\",\\\"content\\\":\\\"sun\\\"}]}\"";
    let program = ["sh", "-c", ask];
    let upstream = server(Failing { one_in: 0 });
    let ids = |c: &'static str| [("A", "a1"), ("B", "b1"), ("C", c)];
    assert_eq!(record_with(&place, "", &upstream.base_url(), &program, &ids("a1")).code, 0);
    let swapped = replay_with(&place, "latest", &program, &ids("b1"));
    assert_eq!(swapped.code, 1);
    let said = "first difference at messages.1.tool_call_id\n  recorded  id 1\n  asked now id 2";
    assert!(swapped.err.contains(said), "{}", swapped.err);
}

/// The same request again is asked once more, under whatever ids.
#[test]
fn equal_requests_stay_independent_samples() {
    let place = Place::new();
    let ask = "for id in $IDS; do curl -sS --max-time 20 $OPENAI_BASE_URL/chat/completions -d \"{\\\"model\\\":\\\"m\\\",\\\"messages\\\":[\
        {\\\"role\\\":\\\"tool\\\",\\\"tool_call_id\\\":\\\"$id\\\",\\\"content\\\":\\\"sun\\\"}]}\"; echo; done";
    let program = ["sh", "-c", ask];
    let upstream = server(Failing { one_in: 0 });
    let recorded = record_with(&place, "", &upstream.base_url(), &program, &[("IDS", "a b a")]);
    let again = replay_with(&place, "latest", &program, &[("IDS", "x y z")]);
    assert_eq!((again.code, &again.out), (0, &recorded.out), "{}", again.err);
    let more = replay_with(&place, "latest", &program, &[("IDS", "x y z x")]);
    assert_eq!(more.code, 1);
    assert!(more.err.contains("is recorded 3 times, and was asked once more"), "{}", more.err);
}

const VOLATILE: &str = "for n in $NUMBERS; do curl -sS --max-time 20 $OPENAI_BASE_URL/chat/completions -d \"$(printf \
    '{\"model\":\"m\",\"trace\":{\"id\":\"%s\"},\"messages\":[{\"role\":\"user\",\"content\":\"It is %s. Say %s.\"}]}' \
    $TRACE $NOW $n)\"; echo; done";

#[test]
fn a_paid_recording_can_always_be_replayed() {
    let place = Place::new();
    let program = ["sh", "-c", VOLATILE];
    let at = |trace: &'static str, now: &'static str, numbers: &'static str| {
        [("TRACE", trace), ("NOW", now), ("NUMBERS", numbers)]
    };
    let upstream = server(Failing { one_in: 0 });
    let url = upstream.base_url();
    let one = at("6f2f7a0e-1c1b-4c53-9d43-0a0a6d2f1c3e", "11:30", "1 2");
    let recorded = record_with(&place, "", &url, &program, &one);
    assert_eq!(recorded.code, 0, "{}", recorded.err);
    let other = at("0b7d8a51-7a0e-4f1c-8d1e-3e2f1c0a9b8c", "23:59", "1 2");
    let missed = replay_with(&place, "latest", &program, &other);
    assert_eq!(missed.code, 1);
    let options = missed.err.lines().find(|line| line.contains("--ignore")).unwrap().trim();
    assert_eq!(
        options,
        r"--ignore trace.id --replace '\d{1,2}:\d\d(:\d\d([.,]\d+)?)?( ?[AaPp][Mm])?=TIME'"
    );
    let rules = r"--ignore trace.id --replace \d\d:\d\d=TIME";
    let again = replay_with(&place, &format!("latest {rules}"), &program, &other);
    assert_eq!((again.code, &again.out), (0, &recorded.out), "{}", again.err);
    // A prompt that has changed besides is a miss.
    let changed = at("0b7d8a51-7a0e-4f1c-8d1e-3e2f1c0a9b8c", "23:59", "1 3");
    let missed = replay_with(&place, &format!("latest {rules}"), &program, &changed);
    assert_eq!(missed.code, 1);
    assert!(missed.err.contains("asked now It is TIME. Say 3."), "{}", missed.err);

    // A fork has the rules of its parent and its own, and so has its replay.
    let three = at("0b7d8a51-7a0e-4f1c-8d1e-3e2f1c0a9b8c", "23:59", "1 2 3");
    let forked = with(&place, &format!("fork latest {rules}"), &url, &program, &three);
    assert_eq!((forked.code, upstream.received().len()), (0, 3), "{}", forked.err);
    let later = at("0d0d8a51-7a0e-4f1c-8d1e-3e2f1c0a9b8c", "08:15", "1 2 3");
    let again = replay_with(&place, "latest", &program, &later);
    assert_eq!((again.code, &again.out), (0, &forked.out), "{}", again.err);
}

#[test]
fn rules_that_are_added_when_a_run_goes_on_are_its_own_from_then_on() {
    let place = Place::new();
    let script = format!("{VOLATILE}; exit $CODE");
    let program = ["sh", "-c", &script];
    let at = |now: &'static str, numbers: &'static str, code: &'static str| {
        [("TRACE", "t"), ("NOW", now), ("NUMBERS", numbers), ("CODE", code)]
    };
    let upstream = server(Failing { one_in: 0 });
    let url = upstream.base_url();
    let cut_off = record_with(&place, "", &url, &program, &at("11:30", "1 2", "3"));
    assert_eq!(cut_off.code, 3, "{}", cut_off.err);
    let resumed = with(
        &place,
        r"record --resume latest --replace \d\d:\d\d=TIME",
        &url,
        &program,
        &at("12:45", "1 2 3", "0"),
    );
    assert_eq!((resumed.code, upstream.received().len()), (0, 3), "{}", resumed.err);
    let again = replay_with(&place, "latest", &program, &at("23:59", "1 2 3", "0"));
    assert_eq!((again.code, &again.out), (0, &resumed.out), "{}", again.err);
    // A cassette of the run has them, too.
    assert!(place.ok("export latest --as cassette").contains("TIME"));
}

/// As the API names them, in both directions.
#[test]
fn fields_have_the_names_of_their_api() {
    for (path, body, field, other) in [
        (
            "models/m:generateContent",
            r#"{"contents":[{"parts":[{"text":"VALUE"}]}]}"#,
            "contents.0.parts.0.text",
            "contents.*.parts.*.text",
        ),
        ("responses", r#"{"model":"m","input":"VALUE"}"#, "input", "input"),
        (
            "responses",
            r#"{"model":"m","input":[{"role":"user","content":"VALUE"}]}"#,
            "input.0.content",
            "input.*.content",
        ),
        ("api/generate", r#"{"model":"m","prompt":"VALUE"}"#, "prompt", "prompt"),
        ("own/api", r#"{"seed":"VALUE","q":1}"#, "seed", "seed"),
    ] {
        let place = Place::new();
        let body = body.replace('"', "\\\"").replace("VALUE", "$VALUE");
        let ask =
            format!("curl -sS --max-time 20 -d \"{body}\" $OPENAI_BASE_URL/{path} >/dev/null");
        let program = ["sh", "-c", &ask];
        let upstream = server(Failing { one_in: 0 });
        let url = upstream.base_url();
        assert_eq!(record_with(&place, "", &url, &program, &[("VALUE", "one")]).code, 0);
        let missed = replay_with(&place, "latest", &program, &[("VALUE", "two")]);
        assert_eq!(missed.code, 1);
        let said = format!("first difference at {field}\n");
        assert!(missed.err.contains(&said), "{}", missed.err);
        let args = format!("latest --ignore {other}");
        let again = replay_with(&place, &args, &program, &[("VALUE", "two")]);
        assert_eq!(again.code, 0, "{field}: {}", again.err);
    }
}
