//! Cassettes of retold: exchanges as text, which are replayed, reviewed and edited.

use super::cassettes::recorded_elsewhere;
use crate::support::cli::Place;
use crate::support::server::{Reply, Server};
use crate::wire::{record, replay};

const ASK: &str = "
ask() { curl -sS --max-time 20 -w '\\n%{http_code}\\n' $OPENAI_BASE_URL/chat/completions \"$@\"; }
ask -H 'x-retold-call: vote' -H 'x-retold-labels: {\"participant\": \"p7\"}' -d '{\"model\":\"m\",\"messages\":[
  {\"role\":\"system\",\"content\":\"Be short.\\nBe kind.\\n\"},{\"role\":\"user\",\"content\":\"yes or no?\"}]}'
for n in 1 2; do ask -d '{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"a number: 1e5\"}]}'; done
ask -d '{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"trouble\"}]}'
curl -sS --max-time 20 $OPENAI_BASE_URL/models";

fn upstream() -> Server {
    let mut count = 0;
    Server::handler(move |received| {
        count += 1;
        let text = String::from_utf8_lossy(&received.body).into_owned();
        match () {
            () if received.method == "GET" => Reply::new(200, "no JSON: \u{1}\nbut text\n"),
            () if text.contains("trouble") => Reply::error(400, "trouble", "no such thing"),
            () => Reply::chat(&format!("answer {count}\n\nin \u{e4} few \"lines\"")),
        }
        .header("x-request-id", &format!("req-{count}"))
    })
}

fn recorded(place: &Place) -> String {
    let server = upstream();
    let said = record(place, "", &server.base_url(), &["sh", "-c", ASK]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    said.out
}

#[test]
fn a_run_becomes_text_and_is_replayed_from_it() {
    let place = Place::new();
    let printed = recorded(&place);
    let said = place.ok("export latest study.yaml --as cassette");
    assert!(said.starts_with("5 exchanges written to "), "{said}");
    let cassette = place.read("study.yaml");
    insta::assert_snapshot!(cassette);
    let replayed = replay(&place, "study.yaml", &["sh", "-c", ASK]);
    assert_eq!((replayed.code, replayed.out), (0, printed), "{}", replayed.err);
    // As a run of a log, and out of it again.
    place.ok("import study.yaml");
    place.ok("verify");
    assert!(place.ok("log latest").contains("participant: p7"));
    place.ok("export latest again.yaml --as cassette");
    assert_eq!(place.read("again.yaml"), cassette);
    // Another run of the same program: other ids and times, and the same bytes.
    recorded(&place);
    place.ok("export latest twice.yaml --as cassette");
    assert_eq!(place.read("twice.yaml"), cassette);
}

/// The labels of calls are in a field of their own, which vcrpy passes over.
#[test]
fn labels_leave_in_cassettes_of_vcrpy_and_come_back() {
    let place = Place::new();
    recorded(&place);
    let run = place.json("log").0["runs"][0]["run"].as_str().unwrap().to_owned();
    let labelled = |run: &str| {
        let table = place.ok(&format!("table {run} --as jsonl"));
        let rows = table.lines().map(|row| serde_json::from_str::<serde_json::Value>(row).unwrap());
        let of = |row: serde_json::Value| {
            ["participant", "answer", "last_message"].map(|name| row[name].clone())
        };
        rows.map(of).collect::<Vec<_>>()
    };
    assert!(labelled(&run).iter().any(|row| row[0] == "p7"));
    for name in ["vcr.yaml", "vcr.json"] {
        place.ok(&format!("export {run} {name} --as vcrpy"));
        assert!(place.read(name).contains("_retold"), "{}", place.read(name));
        let said = place.ok(&format!("import {name}"));
        assert!(!said.contains("_retold"), "{said}");
        assert_eq!(labelled("latest"), labelled(&run), "{name}");
    }
    let said = place.ok(&format!("export {run} tuning.jsonl --as fine-tuning"));
    assert!(said.contains("the labels of a call, which `--as exchanges` keeps"), "{said}");
}

#[test]
fn an_edited_request_is_named_and_an_edited_answer_is_played() {
    let place = Place::new();
    recorded(&place);
    place.ok("export latest study.yaml --as cassette");
    let cassette = place.read("study.yaml");
    place.write("study.yaml", cassette.replace("yes or no?", "yes or maybe?"));
    let said = replay(&place, "study.yaml", &["sh", "-c", ASK]);
    assert_eq!(said.code, 2, "{}", said.err);
    let line = 1 + cassette.lines().position(|line| line.contains("call: vote")).unwrap();
    let due =
        format!("study.yaml, exchanges.4 (line {line}): the request was edited: its hash is ");
    assert!(said.err.contains(&due), "{due}: {}", said.err);
    place.write("study.yaml", cassette.replace("answer 1", "another answer"));
    let said = replay(&place, "study.yaml", &["sh", "-c", ASK]);
    assert!(said.code == 0 && said.out.contains("another answer"), "{}{}", said.out, said.err);
}

const LONG: &str = "You are a mayor who answers in one sentence.";

/// Two requests with one long prompt, and streams with an id in each line.
fn of_one_prompt(number: u32, place: &Place) -> String {
    let stream = |text: &str| {
        let chunk = format!(
            "{{\"id\":\"chatcmpl-{number}\",\"object\":\"chat.completion.chunk\",\"created\":{number},\"model\":\"m\",\
             \"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}},\"finish_reason\":null}}]}}"
        );
        Reply::new(200, format!("data: {chunk}\n\ndata: [DONE]\n\n"))
            .header("content-type", "text/event-stream")
    };
    let server = Server::script([stream("yes"), stream("no")]);
    let ask = |words: &str| {
        format!(
            "curl -sS --max-time 20 $OPENAI_BASE_URL/chat/completions -d '{{\"model\":\"m\",\"stream\":true,\"messages\":[\
             {{\"role\":\"system\",\"content\":\"{LONG}\"}},{{\"role\":\"user\",\"content\":\"{words}\"}}]}}';"
        )
    };
    let both = ask("A library?") + &ask("A pool?");
    let said = record(place, "", &server.base_url(), &["sh", "-c", &both]);
    assert_eq!(said.code, 0, "{}", said.err);
    place.ok(&format!("export latest {number}.yaml --as cassette"));
    both
}

#[test]
fn another_recording_differs_in_one_line_of_each_exchange_and_a_shared_prompt_stands_once() {
    let place = Place::new();
    let ask = of_one_prompt(1, &place);
    of_one_prompt(2, &place);
    let (one, two) = (place.read("1.yaml"), place.read("2.yaml"));
    let differing: Vec<_> = one.lines().zip(two.lines()).filter(|(one, two)| one != two).collect();
    assert!(
        differing.len() == 2 && differing[0].0.starts_with("  varying: {hash: "),
        "{differing:#?}"
    );
    assert_eq!(one.matches(LONG).count(), 1, "{one}");
    let replayed = replay(&place, "1.yaml", &["sh", "-c", &ask]);
    assert!(
        replayed.out.contains("chatcmpl-1") && replayed.code == 0,
        "{}{}",
        replayed.out,
        replayed.err
    );
    // Edited by hand: a value that varies, words of an answer, and the prompt of both requests.
    for (from, to, code, due) in [
        ("id: chatcmpl-1", "id: mine", 0, "\"id\":\"mine\""),
        ("content\":\"yes", "content\":\"maybe", 0, "\"content\":\"maybe\""),
        ("a mayor", "a judge", 2, "the request was edited: its hash is "),
        ("system-1: ", "system-2: ", 2, "\"{{system-1}}\" stands for a value, and neither"),
    ] {
        assert!(one.contains(from), "{from}: {one}");
        place.write("edited.yaml", one.replace(from, to));
        let said = replay(&place, "edited.yaml", &["sh", "-c", &ask]);
        let shown = format!("{}{}", said.out, said.err);
        assert!(said.code == code && shown.contains(due), "{from}: {shown}");
    }
}

#[test]
fn what_is_no_cassette_is_refused_with_its_place() {
    let place = Place::new();
    recorded(&place);
    place.ok("export latest study.yaml --as cassette");
    let cassette = place.read("study.yaml");
    for (from, to, due) in [
        ("cassette 2", "cassette 1", "another release wrote it"),
        ("varying: {", "vary: {", "it has no \"varying\""),
        ("{hash: ", "{sum: ", "it has no \"hash\""),
        (" id: chatcmpl-1", " ident: chatcmpl-1", "\"{{id}}\" stands for a value, and neither"),
        ("status: 400", "status: 4000", "\"4000\" is not an HTTP status"),
        ("layout: compact", "layout: wide", "\"wide\" is not a layout of JSON"),
        ("  answers:", "  answer:", "it has no \"answers\""),
        ("upstream: openai", "upstream: [openai]", "\"upstream\" is a list, and not a text"),
        ("exchanges:\n", "exchanges:\n\t", "not YAML that can be read"),
    ] {
        assert!(cassette.contains(from), "{from}");
        place.write("wrong.yaml", cassette.replacen(from, to, 1));
        let said = place.run("import wrong.yaml");
        assert!(said.code == 2 && said.err.contains(due), "{from}: {}", said.err);
    }
}

#[test]
fn a_redacted_run_is_not_written() {
    let place = Place::new();
    let server = upstream();
    record(&place, "--redact Ada", &server.base_url(), &["sh", "-c", ASK]);
    let said = place.run("export latest study.yaml --as cassette");
    assert!(said.code == 2 && said.err.contains("cannot hold the key"), "{}", said.err);
    assert!(!place.path("study.yaml").exists());
}

#[test]
fn rules_are_kept_with_what_they_concern() {
    let place = Place::new();
    let server = upstream();
    let ask = |time: &str| {
        format!(
            "curl -sS --max-time 20 $OPENAI_BASE_URL/chat/completions \
             -d '{{\"model\":\"m\",\"user\":\"{time}\",\"messages\":[{{\"role\":\"user\",\"content\":\"at {time}\"}}]}}'"
        )
    };
    let rules = r"--ignore user --replace \d\d:\d\d=TIME";
    let said = record(&place, rules, &server.base_url(), &["sh", "-c", &ask("12:30")]);
    assert_eq!(said.code, 0, "{}", said.err);
    place.ok("export latest study.yaml --as cassette");
    let replayed = replay(&place, "study.yaml", &["sh", "-c", &ask("23:59")]);
    assert_eq!((replayed.code, replayed.out), (0, said.out), "{}", replayed.err);
}

/// Whatever other tools recorded: what is written is read again, and written again as it was.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data (cassettes)")]
fn every_cassette_of_another_tool_becomes_one() {
    let mut written = 0;
    for file in recorded_elsewhere() {
        let place = Place::new();
        if place.args(&["import", file.to_str().unwrap()]).code != 0 {
            continue;
        }
        let export = |name: &str| place.run(&format!("export latest {name} --as cassette"));
        let first = export("first.yaml");
        if first.code != 0 {
            assert!(
                first.err.contains("no exchange that a cassette can hold"),
                "{}: {}",
                file.display(),
                first.err
            );
            continue;
        }
        let said = place.run("import first.yaml");
        assert_eq!(said.code, 0, "{}: {}", file.display(), said.err);
        assert_eq!(export("second.yaml").code, 0);
        assert_eq!(place.read("first.yaml"), place.read("second.yaml"), "{}", file.display());
        written += 1;
    }
    assert!(written > 150, "{written}");
}
