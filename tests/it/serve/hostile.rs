//! Texts of models and files are shown, and do nothing.

use serde_json::{Value, json};

use super::{Served, runs};
use crate::support::cli::Place;

/// HTML, scripts, an end of a script, ANSI escapes, bidi overrides, NUL, template marks.
const HOSTILE: &str = "</pre></script><script>alert(1)</script><img src=x onerror=alert(2)>'\"><u>\
    \u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}txet\u{2066}\u{0}\u{feff}{{ 7 * 7 }}{% raw %}&lt;javascript:alert(3)";

/// Whether anything of it is more than text.
fn assert_inert(html: &str, page: &str) {
    for alive in ["<script>alert", "<img src=x", "onerror=alert(2)>", "\"><u>", ">49<"] {
        assert!(!html.contains(alive), "{page} has {alive}");
    }
    for c in ['\u{1b}', '\u{7}', '\u{202e}', '\u{2066}', '\0', '\u{feff}'] {
        assert!(!html.contains(c), "{page} has {c:?}");
    }
}

#[test]
fn hostile_text_is_inert_on_every_page() {
    let place = Place::new();
    let call = "a/<script>alert(1)</script>\u{202e}";
    let line = json!({
        "call": call,
        "request": {
            "model": HOSTILE,
            "messages": [
                {"role": HOSTILE, "content": HOSTILE},
                {"role": "assistant", "content": null, "tool_calls": [{"id": HOSTILE, "type": "function",
                    "function": {"name": HOSTILE, "arguments": HOSTILE}}]},
            ],
            "tools": [{"type": "function", "function": {"name": HOSTILE, "description": HOSTILE}}],
            HOSTILE: HOSTILE,
        },
        "response": {
            "content": HOSTILE, "refusal": HOSTILE, "reasoning_content": HOSTILE, "model": HOSTILE,
            "finish_reason": HOSTILE,
            "tool_calls": [{"id": HOSTILE, "type": "function", "function": {"name": HOSTILE, "arguments": "{}"}}],
        },
    });
    let failed = json!({
        "call": "b/1",
        "request": {"model": "m", "messages": [{"role": "user", "content": HOSTILE}]},
        "error": {"failure": "server", "status": 500, "message": HOSTILE},
    });
    place.write("hostile.jsonl", format!("{line}\n{failed}\n"));
    place.ok("import hostile.jsonl");
    let served = Served::log(&place, "retold.db");
    let run = &runs(&served)[0];
    let part = "%3Cscript%3Ealert(1)%3C%2Fscript%3E%E2%80%AE";
    let mut pages = vec![
        "/".to_owned(),
        format!("/run/{run}"),
        format!("/run/{run}?by=call"),
        format!("/run/{run}/participant/{part}"),
        format!("/run/{run}/check"),
        format!("/run/{run}?model={part}&call={part}&method={part}"),
        format!("/run/{part}"),
        format!("/{part}"),
        format!("/compare?a={run}&b={run}&difference=same"),
        format!("/run/{run}?after={part}"),
        format!("/run/{run}?by={part}"),
    ];
    let events = served.json(&format!("/run/{run}"));
    for row in events["rows"].as_array().unwrap() {
        let seq = &row["seq"];
        pages.push(format!("/run/{run}/event/{seq}"));
        pages.push(row["href"].as_str().unwrap().split('#').next().unwrap().to_owned());
        pages.push(format!("/run/{run}/chain/{seq}"));
    }
    let mut overrides = 0;
    for page in &pages {
        assert_inert(&served.get(page).body, page);
        // As JSON as well, which may be shown in a terminal: the same text, written as escapes.
        let body = served.ask("GET", page, "Accept: application/json\r\n").body;
        for c in ['\u{1b}', '\u{7}', '\u{202e}', '\u{2066}', '\0', '\u{feff}'] {
            assert!(!body.contains(c), "{page} has {c:?} as JSON");
        }
        let json: Value = serde_json::from_str(&body).unwrap();
        overrides += usize::from(json.to_string().contains('\u{202e}') && body.contains("\\u202e"));
    }
    assert!(overrides > 0, "the text is in none of them");
    // The text itself is there, to be read.
    let exchange = format!("/run/{run}/exchange/2");
    let html = served.html(&exchange);
    assert!(html.contains("&lt;script&gt;alert(1)&lt;"), "{html}");
    assert!(
        html.contains("\\u{202e}txet") && html.contains("\\u{1b}[2J") && html.contains("\\u{0}")
    );
    // The whole of it is a file, never a page.
    let file = served.get(&format!("{exchange}/answer"));
    assert_eq!(file.body, HOSTILE);
    assert!(file.head.contains("content-type: text/plain; charset=utf-8"), "{}", file.head);
    assert!(
        file.head.contains("content-disposition: attachment; filename=\"answer-"),
        "{}",
        file.head
    );
    let prompt: Value =
        serde_json::from_str(&served.get(&format!("{exchange}/prompt")).body).unwrap();
    assert_eq!(prompt["body"]["messages"][0]["content"], HOSTILE);
}

#[test]
fn a_long_answer_is_cut_and_its_whole_is_a_file() {
    let place = Place::new();
    let long = "ä<".repeat(5 << 20);
    let line = json!({"call": "long/1", "request": {"model": "m", "messages": [{"role": "user", "content": "?"}]},
        "response": {"content": long}});
    place.write("long.jsonl", format!("{line}\n"));
    place.ok("import long.jsonl");
    let served = Served::log(&place, "retold.db");
    for page in [
        "/run/latest",
        "/run/latest/exchange/2",
        "/run/latest/event/3",
        "/run/latest/participant/1",
        "/run/latest/chain/2",
    ] {
        let html = served.html(page);
        assert!(html.len() < 700_000, "{page} has {} bytes", html.len());
    }
    let page = served.json("/run/latest/exchange/2");
    let shown: usize = page["answer"]["pieces"]
        .as_array()
        .unwrap()
        .iter()
        .map(|piece| piece["text"].as_str().unwrap().len())
        .sum();
    let cut = page["answer"]["cut"].as_u64().unwrap();
    assert_eq!(
        (shown as u64 + cut, &page["answer"]["bytes"]),
        (long.len() as u64, &long.len().into())
    );
    assert!(cut > 15 << 20 >> 1, "{cut}");
    assert_eq!(served.get(page["answer"]["whole"].as_str().unwrap()).body, long);
}
