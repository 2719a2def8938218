//! A log with a program's run in it: streams, errors, bytes, calls with names. It must stay readable,
//! sound and replayable.

use retold::event::Event;

use super::upstream::{Failing, server};
use super::{record, replay};
use crate::format::is_regenerated;
use crate::support::cases::fixtures;
use crate::support::cli::Place;
use crate::support::logs::{assert_sound, events, open};

const FILE: &str = "program.db";

/// What the program was. It asks with curl alone, so it stays what it is.
const PROGRAM: &str = "
ask() { curl -sS --max-time 20 -w ' %{http_code}\\n' \"$@\" | cat -v; }
chat() { ask \"$OPENAI_BASE_URL/chat/completions\" -H 'content-type: application/json' \"$@\"; }
json='{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}'
chat -d \"$json\"
chat -d \"$json\" -H 'x-retold-call: greeting/1'
chat -d \"$json\"
chat -d \"$json\"
chat -d '{\"model\":\"m\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}'
chat -d '{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"tool\"}],\"tools\":[{\"type\":\"function\"}]}'
ask \"$OPENAI_BASE_URL/models?limit=5\"
";

#[test]
fn regenerate() {
    if !is_regenerated() {
        return;
    }
    let place = Place::new();
    let upstream = server(Failing { one_in: 3 });
    let said = record(&place, "--name frozen", &upstream.base_url(), &["sh", "-c", PROGRAM]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    place.ok(&format!("copy --to {FILE}"));
    std::fs::copy(place.path(FILE), fixtures("logs").join(FILE)).unwrap();
}

#[test]
fn a_recorded_program_s_run_is_sound_and_replays() {
    let place = Place::new();
    std::fs::copy(fixtures("logs").join(FILE), place.path("retold.db")).unwrap();
    assert_sound(&open(&place.path("retold.db")));
    let replayed = replay(&place, "frozen", &["sh", "-c", PROGRAM]);
    assert_eq!(replayed.code, 0, "{}", replayed.err);
    insta::assert_snapshot!(replayed.out);
}

#[test]
fn it_has_what_the_format_has_for_programs() {
    let place = Place::new();
    std::fs::copy(fixtures("logs").join(FILE), place.path("retold.db")).unwrap();
    let log = open(&place.path("retold.db"));
    let mut reader = log.reader().unwrap();
    let run = reader.runs().unwrap()[0].run;
    let all: Vec<Event> =
        events(reader.as_mut(), run).iter().map(|stored| stored.event().unwrap()).collect();
    let answers = all.iter().filter_map(|event| match event {
        Event::ResponseReceived(received) => received.details.extra.get("http"),
        _ => None,
    });
    let answers: Vec<_> = answers.collect();
    assert!(answers.iter().any(|http| http["chunks"].is_array()));
    assert!(answers.iter().any(|http| http["base64"].is_string()));
    let failed = all.iter().filter_map(|event| match event {
        Event::AttemptFailed(failed) => failed.details.http.as_ref(),
        _ => None,
    });
    let statuses: Vec<_> = failed.map(|http| http["status"].as_u64().unwrap()).collect();
    assert_eq!(statuses, [500, 429]);
    let named = all.iter().any(
        |event| matches!(event, Event::RequestSent(sent) if sent.call.as_str() == "greeting/1"),
    );
    assert!(named);
}
