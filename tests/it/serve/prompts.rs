//! Prompts on the page of an exchange: long ones are folded, images are images, and nothing in them is active.

use retold::model::Response;
use serde_json::{Value, json};

use super::Served;
use crate::support::cli::Place;
use crate::support::program_run::ProgramRun;

/// A picture of one pixel.
const GIF: &str = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";

/// A log with a program's run of one call with these messages.
fn asked(messages: &Value) -> (Place, Served) {
    let place = Place::new();
    let mut run = ProgramRun::begin();
    let asked = run.asks("look", 0, &[], messages);
    run.answered(asked, Response::text("seen"));
    run.store(&place, 7);
    let served = Served::log(&place, "retold.db");
    (place, served)
}

#[test]
fn images_of_prompts_are_images_and_nothing_else_is_loaded() {
    let svg = "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciPjxzY3JpcHQ+MTwvc2NyaXB0Pjwvc3ZnPg==";
    let (_place, served) = asked(&json!([
        {"role": "system", "content": "You see."},
        {"role": "user", "content": [
            {"type": "text", "text": "What is this?"},
            {"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{GIF}")}},
            {"type": "image_url", "image_url": {"url": svg}},
            {"type": "image_url", "image_url": {"url": "https://example.org/park.png"}},
        ]},
    ]));
    let page = served.json("/run/latest/exchange/2");
    let message = &page["prompt"]["messages"][1];
    assert_eq!(message["text"], "What is this?");
    let images = message["images"].as_array().unwrap();
    let href = images[0]["href"].as_str().unwrap();
    assert_eq!(images[0]["text"], "image/gif, 42 bytes", "what its bytes show, not what is said");
    assert!(images[1]["href"].is_null() && images[2]["href"].is_null(), "{images:?}");
    let said = [&images[1], &images[2]].map(|image| image["text"].as_str().unwrap());
    let other = "This image is not a PNG, JPEG, GIF or WebP file and is not shown.";
    let remote = "This image is on another server and is not loaded: https://example.org/park.png";
    assert_eq!(said, [other, remote]);
    let html = served.html("/run/latest/exchange/2");
    assert_eq!(html.matches("<img ").count(), 1, "{html}");
    let shown = served.ask("HEAD", href, "");
    assert_eq!(shown.status, 200);
    for header in ["content-type: image/gif", "x-content-type-options: nosniff", "img-src 'self';"]
    {
        assert!(shown.head.contains(header), "{}", shown.head);
    }
    for number in ["1", "2", "x"] {
        assert_eq!(served.get(&format!("/run/latest/exchange/2/image/{number}")).status, 404);
    }
}

#[test]
fn a_long_prompt_is_folded_and_its_last_message_is_not() {
    let brief = "A long brief. ".repeat(2_000);
    let mut messages = vec![json!({"role": "system", "content": brief})];
    for n in 0..60 {
        let role = if n % 2 == 0 { "user" } else { "assistant" };
        messages
            .push(json!({"role": role, "content": format!("turn {n}: {}", "words ".repeat(90))}));
    }
    let (_place, served) = asked(&Value::from(messages));
    let page = served.json("/run/latest/exchange/2");
    let shown = page["prompt"]["messages"].as_array().unwrap();
    let folded: Vec<bool> = shown.iter().map(|message| message["folded"].is_string()).collect();
    assert!(folded[0] && !folded[folded.len() - 1], "{folded:?}");
    let open = folded.iter().filter(|folded| !**folded).count();
    assert!((4..12).contains(&open), "as many of the last ones as a screen has room for: {open}");
    let html = served.html("/run/latest/exchange/2");
    assert!(html.contains("<summary>A long brief. A long brief."), "{html}");
}
