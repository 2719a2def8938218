//! A log of studies with everything that the format has for them: forks that name their parent,
//! endpoints, whole answers with tool calls and refusals, what prompts were made from, and digests of
//! states and outputs. It must stay readable, replayable and sound.

use retold::event::Event;
use serde_json::json;

use super::whole::replies;
use crate::format::is_regenerated;
use crate::support::cases::fixtures;
use crate::support::cli::Place;
use crate::support::logs::{assert_sound, events, open};
use crate::support::rows::rows;
use crate::support::server::{Reply, Server};

const FILE: &str = "studies.db";

#[test]
fn regenerate() {
    if !is_regenerated() {
        return;
    }
    let place = Place::new();
    let server = Server::script(replies().iter().map(|body| Reply::new(200, body.to_string())));
    let url = server.base_url();
    place.ok(&format!("run small.yaml --quiet --base-url {url} --endpoint gpt-4={url}"));
    place.ok("export latest answers.jsonl --as exchanges");
    place.ok("fork latest --quiet --at solve/1#2 --answers answers.jsonl");
    let game = concat!(env!("RETOLD_ROOT"), "/config/adventure.yaml");
    place.ok(&format!("run {game} --quiet --set games=1 --set turns=3 --set player=first"));
    place.ok("verify");
    place.ok(&format!("copy --to {FILE}"));
    std::fs::copy(place.path(FILE), fixtures("logs").join(FILE)).unwrap();
}

/// A copy of the file, since reading creates files next to it.
fn frozen() -> Place {
    let place = Place::new();
    std::fs::copy(fixtures("logs").join(FILE), place.path("retold.db")).unwrap();
    place
}

#[test]
fn a_log_with_all_that_the_format_has_is_sound_and_replays() {
    let place = frozen();
    let log = open(&place.path("retold.db"));
    assert_sound(&log);
    let runs = log.reader().unwrap().runs().unwrap();
    let mut seen = String::new();
    for head in &runs {
        let (replayed, code) = place.json(&format!("replay {}", head.run));
        assert_eq!((code, &replayed["identical"]), (0, &true.into()), "{replayed}");
        let (shown, _) = place.json(&format!("show {}", head.run));
        let counts =
            ["blank_answers", "cut_off_answers", "unreadable_answers"].map(|key| &shown[key]);
        seen.push_str(&format!(
            "{} {} events, outcome {}, state {}, lacking {}\n",
            shown["experiment"].as_str().unwrap(),
            head.head.seq,
            shown["outcome_digest"].as_str().unwrap(),
            replayed["state"],
            json!(counts),
        ));
    }
    insta::assert_snapshot!(seen);
}

#[test]
fn a_frozen_log_has_what_the_format_has_gained() {
    let place = frozen();
    let log = open(&place.path("retold.db"));
    let mut reader = log.reader().unwrap();
    let runs = reader.runs().unwrap();
    let [game, fork, adventure] = [0, 1, 2].map(|n| events(reader.as_mut(), runs[n].run));
    let all = |stored: &[retold::event::StoredEvent]| -> Vec<Event> {
        stored.iter().map(|stored| stored.event().unwrap()).collect()
    };
    let (game, fork, adventure) = (all(&game), all(&fork), all(&adventure));
    let Event::RunStarted(started) = &game[0] else { panic!("{:?}", game[0]) };
    assert!(started.settings["runtime"]["model"]["endpoints"]["gpt-4"]["base_url"].is_string());
    let Event::RunStarted(started) = &fork[0] else { panic!("{:?}", fork[0]) };
    assert_eq!(started.forked_from.map(|parent| parent.run), Some(runs[0].run));
    let reused = fork.iter().filter_map(|event| match event {
        Event::AnswerReused(reused) => Some(&reused.details),
        _ => None,
    });
    assert_eq!(reused.filter(|details| details.id.as_deref() == Some("chatcmpl-7")).count(), 5);
    let declared = adventure.iter().filter(
        |event| matches!(event, Event::RequestSent(sent) if sent.because != Default::default()),
    );
    assert!(declared.count() > 2);
    for run in [&game, &fork, &adventure] {
        let Some(Event::RunFinished(finished)) = run.last() else { panic!("{:?}", run.last()) };
        assert!(finished.state.is_some() && finished.outputs.is_some());
    }
    // The view shows it as well.
    let db = rusqlite::Connection::open(place.path("retold.db")).unwrap();
    let sql = "SELECT call, sample, finish_reason, json_extract(tool_calls, '$[0].id'), json_extract(extra, '$.refusal'), cached_tokens,
        reasoning_tokens, cost, json_extract(extra, '$.completion.provider') FROM exchanges
        WHERE run = (SELECT run FROM runs WHERE experiment = 'game24' ORDER BY started LIMIT 1) ORDER BY seq LIMIT 2";
    let shown = rows(&db, sql);
    let tool = ["solve/0", "0", "tool_calls", "call_1", "NULL", "20", "8", "0.00042", "P"];
    let refusal =
        ["solve/0", "1", "stop", "NULL", "I cannot help with that.", "20", "8", "0.00042", "P"];
    assert_eq!(shown, [tool, refusal]);
}
