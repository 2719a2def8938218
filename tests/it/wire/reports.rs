//! Facts and decisions that programs report with plain HTTP.

use serde_json::{Value, json};

use super::upstream::{Failing, server};
use super::{program, record, record_with, replay_with, with};
use crate::support::cli::Place;
use crate::support::server::{Reply, Server};

/// A server whose answers differ from question to question, and not from repeat to repeat.
fn upstream() -> Server {
    server(Failing { one_in: 0 })
}

#[test]
fn a_program_reports_what_it_made_of_its_answers() {
    let (place, upstream) = (Place::new(), upstream());
    let script = program("reports.py");
    let study = ["python3", script.to_str().unwrap()];
    let recorded = record(&place, "", &upstream.base_url(), &study);
    drop(upstream);
    assert_eq!(recorded.code, 0, "{}", recorded.err);
    assert!(recorded.err.contains("12 answers and 24 reported outcomes"), "{}", recorded.err);
    // The views, the chain, the proof.
    let shown = place.ok("show latest player/2/1");
    assert!(shown.contains("length") && shown.contains("only a length"), "{shown}");
    let audited = place.ok("audit latest player/2/1");
    assert!(audited.contains("player 2, turn 1"), "{audited}");
    let (run, _) = place.json("show latest");
    assert_eq!((&run["decisions"], &run["exchanges"]), (&12.into(), &12.into()), "{run}");
    place.ok("verify");
    let db = rusqlite::Connection::open(place.path("retold.db")).unwrap();
    let sql = "SELECT count(*), count(DISTINCT call), min(method) FROM decisions";
    assert_eq!(crate::support::rows::rows(&db, sql), [["12", "12", "len"]]);
    // Another schedule, and the same outcomes in each lane.
    let replayed = replay_with(&place, "latest", &study, &[("PARALLEL", "2"), ("REVERSED", "yes")]);
    assert_eq!(replayed.code, 0, "{}", replayed.err);
    assert!(replayed.err.contains("24 reported outcomes are as recorded"), "{}", replayed.err);
}

#[test]
fn a_replay_reports_the_first_difference() {
    let (place, upstream) = (Place::new(), upstream());
    let script = program("reports.py");
    let study = ["python3", script.to_str().unwrap()];
    let recorded = record(&place, "", &upstream.base_url(), &study);
    drop(upstream);
    assert_eq!(recorded.code, 0, "{}", recorded.err);
    let changed = replay_with(&place, "latest", &study, &[("CHANGED", "1")]);
    assert_eq!(changed.code, 1, "{}", changed.err);
    for part in ["differs from the record", "player/1/0", "comes out differently", "409"] {
        assert!(changed.err.contains(part), "{part}: {}", changed.err);
    }
    let more = replay_with(&place, "latest", &study, &[("ONE_MORE", "yes")]);
    assert_eq!(more.code, 1, "{}", more.err);
    assert!(more.err.contains("one more decision or fact than was recorded"), "{}", more.err);
    // All is asked for, and nothing is reported.
    let silent = "import os; os.environ['RETOLD_URL'] = 'http://127.0.0.1:9'";
    let ask = "import urllib.request, json, os
for player in range(4):
    for turn in range(3):
        body = {'model': 'm', 'messages': [{'role': 'user', 'content': f'player {player}, turn {turn}'}]}
        request = urllib.request.Request(os.environ['OPENAI_BASE_URL'] + '/chat/completions',
            json.dumps(body).encode(), {'x-retold-call': f'player/{player}/{turn}'})
        urllib.request.urlopen(request).read()";
    let nothing =
        replay_with(&place, "latest", &["python3", "-c", &format!("{silent}\n{ask}")], &[]);
    assert_eq!(nothing.code, 1, "{}", nothing.err);
    assert!(
        nothing.err.contains("was recorded, and the run has ended before it"),
        "{}",
        nothing.err
    );
}

/// Those that differ, and those that were recorded and are not made again.
#[test]
fn differing_and_missing_reports_are_counted_apart() {
    let (place, upstream) = (Place::new(), upstream());
    let report = "
for lane in $LANES; do
  for n in 1 2; do
    curl -sS --max-time 20 $RETOLD_URL/_retold/facts \
      -d '{\"name\":\"f\",\"value\":'$VALUE',\"lane\":\"'$lane'\"}' >/dev/null
  done
done";
    let program = ["sh", "-c", report];
    let set = |lanes, value| [("LANES", lanes), ("VALUE", value)];
    let recorded = record_with(&place, "", &upstream.base_url(), &program, &set("a b c d e", "1"));
    assert_eq!(recorded.code, 0, "{}", recorded.err);
    drop(upstream);
    for (lanes, value, differences, due) in [
        ("a b c", "2", 7, "\n(2 more reports differ and 4 recorded reports were not made again)\n"),
        ("a b c d e", "2", 5, "\n(4 more reports differ)\n"),
        ("a b c d", "1", 2, "\n(1 more recorded report was not made again)\n"),
        ("", "1", 10, "\n(9 more recorded reports were not made again)\n"),
    ] {
        let replayed = replay_with(&place, "latest", &program, &set(lanes, value));
        assert_eq!(replayed.code, 1, "{lanes}: {}", replayed.err);
        assert!(replayed.err.contains(due), "{lanes}: {}", replayed.err);
        let replayed = replay_with(&place, "latest --json", &program, &set(lanes, value));
        let object = replayed.err.lines().last().unwrap();
        let object: serde_json::Value = serde_json::from_str(object).unwrap();
        assert_eq!(object["differences"], differences, "{lanes}: {object}");
    }
}

/// What a file cannot hold of a program's run is listed, and a call that only failed is an exchange.
#[test]
fn files_without_reports_and_failures_say_so() {
    let place = Place::new();
    let mut statuses = [429, 200, 404].into_iter();
    let upstream = Server::handler(move |_| match statuses.next().unwrap() {
        200 => Reply::chat("yes"),
        status => Reply::error(status, "trouble", "no such thing"),
    });
    let report = "
send() { curl -sS --max-time 20 \"$@\" >/dev/null; }
ask() { send $OPENAI_BASE_URL/chat/completions -H \"x-retold-call: q/$1\" \
    -d '{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"'$1'\"}]}'; }
ask 1; ask 1; ask 2
send $RETOLD_URL/_retold/decisions -d '{\"name\":\"choice\",\"value\":1,\"response\":\"q/1\"}'
for n in 1 2; do send $RETOLD_URL/_retold/facts -d '{\"name\":\"done\",\"value\":'$n'}'; done";
    let recorded = record(&place, "", &upstream.base_url(), &["sh", "-c", report]);
    assert_eq!(recorded.code, 0, "{}", recorded.err);
    for (format, name) in
        [("vcrpy", "out.yaml"), ("exchanges", "out.jsonl"), ("fine-tuning", "tuning.jsonl")]
    {
        let said = place.ok(&format!("export latest {name} --as {format}"));
        for due in ["not represented:\n", "\n  1 decision\n", "\n  2 facts\n"] {
            assert!(said.contains(due), "{format}: {said}");
        }
        if format == "exchanges" {
            assert!(said.starts_with("2 exchanges written to "), "{said}");
            assert!(said.contains("\n  1 failed attempt\n"), "{said}");
        }
    }
    let lines = place.read("out.jsonl");
    let lines: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["call"], &lines[1]["call"]), (&"q/1".into(), &"q/2".into()));
    assert_eq!(lines[0]["response"]["content"], "yes");
    let error = &lines[1]["error"];
    assert_eq!((&error["failure"], &error["status"]), (&"rejected".into(), &404.into()), "{error}");
    place.ok("import out.jsonl");
    place.ok("verify");
}

#[test]
fn one_answer_may_have_several_decisions() {
    let (place, upstream) = (Place::new(), upstream());
    let report = "
ask() { curl -sS --max-time 20 \"$@\" >/dev/null; }
for n in 1 2; do
  ask $OPENAI_BASE_URL/chat/completions -H \"x-retold-call: q/$n\" \
    -d '{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"question '$n'\"}]}'
  for name in choice tone; do
    ask $RETOLD_URL/_retold/decisions \
      -d '{\"name\":\"'$name'\",\"value\":\"'$name' '$n'\",\"response\":\"q/'$n'\"}'
  done
done";
    let recorded = record(&place, "", &upstream.base_url(), &["sh", "-c", report]);
    assert_eq!(recorded.code, 0, "{}", recorded.err);
    let log = place.ok("log latest");
    assert!(log.contains("choice = \"choice 1\" by reported"), "{log}");
    assert!(log.contains("tone = \"tone 1\" by reported"), "{log}");
    // The last one, unless another is named.
    let (last, _) = place.json("audit latest q/1");
    assert_eq!(last["decision"]["value"], "tone 1");
    assert_eq!(last["other_decisions"][0]["value"], "choice 1");
    let (first, _) = place.json(&format!("audit latest {}", last["other_decisions"][0]["seq"]));
    assert_eq!(first["decision"]["value"], "choice 1");
    assert_eq!(first["other_decisions"][0]["seq"], last["decision"]["seq"]);
    let said = place.ok("audit latest q/1");
    assert!(said.contains("other decisions on the same answer"), "{said}");
    assert!(said.contains("choice  \"choice 1\""), "{said}");
    // A choice and a tone are not two draws of one variable.
    let (independence, _) = place.json("audit latest --independence");
    assert_eq!(independence["shared"], serde_json::json!([]));
    let kinds = independence["kinds"].as_array().unwrap();
    let decides: Vec<_> = kinds.iter().map(|kind| kind["decides"].as_str().unwrap()).collect();
    assert_eq!(decides, ["choice", "tone"]);
    // A program does not say what its prompts were made from.
    assert!(kinds.iter().all(|kind| kind["effective_sample_size"].is_null()), "{kinds:?}");
}

/// Two choices, streamed and not; the second is a call of a tool.
fn with_choices(streamed: bool) -> Reply {
    let said = json!({"role": "assistant", "content": "I say\nyes"});
    let call = json!({"index": 0, "id": "c", "type": "function", "function": {"name": "vote", "arguments": "{\"v\":\"no\"}"}});
    let called = json!({"role": "assistant", "content": null, "tool_calls": [call]});
    let name = if streamed { "delta" } else { "message" };
    let choice = |index: u64, message: &Value| json!({"index": index, name: message, "finish_reason": "stop"});
    let reply = |choices: Value| json!({"id": "c", "model": "m", "choices": choices});
    match streamed {
        false => Reply::new(200, reply(json!([choice(0, &said), choice(1, &called)])).to_string())
            .header("content-type", "application/json"),
        true => {
            let events = [(1, &called), (0, &said)]
                .map(|(at, message)| format!("data: {}\n\n", reply(json!([choice(at, message)]))));
            Reply::new(200, format!("{}data: [DONE]\n\n", events.concat()))
                .header("content-type", "text/event-stream")
        }
    }
}

#[test]
fn a_decision_names_its_choice_and_each_is_checked() {
    let place = Place::new();
    let upstream = Server::handler(|received| with_choices(received.json()["stream"] == true));
    let report = "
ask() { curl -sS --max-time 20 \"$@\" >/dev/null; }
for call in q/stream q; do
  [ $call = q ] && stream=false || stream=true
  ask $OPENAI_BASE_URL/chat/completions -H \"x-retold-call: q\" \
    -d '{\"model\":\"m\",\"n\":2,\"stream\":'$stream',\"messages\":[{\"role\":\"user\",\"content\":\"Vote.\"}]}'
  ask $RETOLD_URL/_retold/decisions -d '{\"name\":\"vote\",\"value\":\"no\",\"choice\":'$CHOICE',\"response\":\"'$call'\"}'
  ask $RETOLD_URL/_retold/decisions -d '{\"name\":\"tone\",\"value\":\"calm\",\"response\":\"'$call'\"}'
done";
    let program = ["sh", "-c", report];
    let recorded = record_with(&place, "", &upstream.base_url(), &program, &[("CHOICE", "1")]);
    drop(upstream);
    assert_eq!(recorded.code, 0, "{}", recorded.err);
    let tone = place.ok("audit latest q/stream");
    assert!(
        tone.contains("  choice   not said by the program: the answer has 2 choices\n"),
        "{tone}"
    );
    assert!(tone.contains("vote  choice 1  \"no\""), "{tone}");
    let strategies = "parsers:\n  - name: votes\n    strategies:\n      - {tool: vote, json: v}\n      - {last_line: true}\n    default: none\n";
    place.write("votes.yaml", strategies);
    let (all, code) = place.json("check latest --parsers votes.yaml --choice all");
    assert_eq!(code, 1, "{all}");
    let flips: Vec<Value> = all["flipped"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| json!([it["call"], it["choice"], it["to"]["value"]]))
        .collect();
    // The first decision that says nothing of a choice is compared with the first.
    assert_eq!(json!(flips), json!([["q/stream", 0, "yes"], ["q", 0, "yes"]]));
    let (second, _) = place.json("check latest --parsers votes.yaml --choice 1");
    assert_eq!((&second["decisions"], &second["flips"]), (&2.into(), &0.into()), "{second}");
    // A replay compares the choice, too.
    let same = replay_with(&place, "latest", &program, &[("CHOICE", "1")]);
    assert_eq!(same.code, 0, "{}", same.err);
    assert_eq!(replay_with(&place, "latest", &program, &[("CHOICE", "0")]).code, 1);
}

#[test]
fn a_run_that_is_continued_compares_first_and_records_then() {
    let (place, upstream) = (Place::new(), upstream());
    let report = "
ask() { curl -sS --max-time 20 \"$@\"; }
for n in $(seq 1 $COUNT); do
  ask $OPENAI_BASE_URL/chat/completions -H \"x-retold-call: q/$n\" \
    -d '{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"question '$n'\"}]}' >/dev/null
  ask -w ' %{http_code}\\n' $RETOLD_URL/_retold/decisions \
    -d '{\"name\":\"choice\",\"value\":'$n$CHANGED',\"response\":\"q/'$n'\"}'
  ask -w ' %{http_code}\\n' $RETOLD_URL/_retold/facts -d '{\"name\":\"done\",\"value\":'$n'}'
done
exit $EXIT";
    let program = ["sh", "-c", report];
    let url = upstream.base_url();
    let set = |count: &'static str, changed: &'static str, exit: &'static str| {
        [("COUNT", count), ("CHANGED", changed), ("EXIT", exit)]
    };
    let cut_off = record_with(&place, "", &url, &program, &set("2", "", "3"));
    assert_eq!(cut_off.code, 3, "{}{}", cut_off.out, cut_off.err);
    let other = with(&place, "record --resume latest", &url, &program, &set("3", "0", "0"));
    assert_eq!(other.code, 1, "{}{}", other.out, other.err);
    assert!(other.err.contains("so the run is not finished"), "{}", other.err);
    // What differed was not recorded, and what came after the record is.
    let resumed = with(&place, "record --resume latest", &url, &program, &set("4", "", "0"));
    assert_eq!(resumed.code, 1, "{}{}", resumed.out, resumed.err);
    let facts = place.ok("log latest");
    assert!(facts.contains("30"), "the first resume recorded its third decision: {facts}");
    place.ok("verify");
    let forked = with(&place, "fork latest", &url, &program, &set("4", "0", "0"));
    assert_eq!(forked.code, 0, "a fork reports its own: {}{}", forked.out, forked.err);
    drop(upstream);
    let replayed = replay_with(&place, "latest", &program, &set("4", "0", "0"));
    assert_eq!(replayed.code, 0, "{}{}", replayed.out, replayed.err);
}

#[test]
fn a_report_that_cannot_be_understood_is_explained() {
    let (place, upstream) = (Place::new(), upstream());
    let report = "
send() { curl -sS --max-time 20 -w ' %{http_code}\\n' \"$@\"; }
ask() { send $OPENAI_BASE_URL/chat/completions -o /dev/null \
    -d '{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}'; }
facts() { send $RETOLD_URL/_retold/facts -d \"$@\"; }
ask
facts '{\"name\": \"a\", \"value\":\\n 1,}'
facts '{\"name\": \"a\", \"valeu\": 1}'
facts '{\"name\": \"\", \"value\": 1}'
facts '{\"name\": \"a\", \"value\": 9007199254740993}'
facts '{\"name\": \"a\", \"value\": 1, \"response\": \"chatcmpl-none\"}'
facts '{\"name\": \"a\", \"value\": 1, \"response\": \"0123456789abcdef/2\"}'
send $RETOLD_URL/_retold/decisions -d '{\"name\": \"a\", \"value\": 1}'
send $RETOLD_URL/_retold/facts
send $RETOLD_URL/_retold/opinions -d '{}'
head -c 1100000 /dev/zero | send $RETOLD_URL/_retold/facts --data-binary @-
facts '{\"name\": \"a\", \"value\": 1}'";
    let said = record(&place, "", &upstream.base_url(), &["sh", "-c", report]);
    let replies =
        said.out.replace(&place.json("log").0["runs"][0]["run"].as_str().unwrap()[..16], "RUN");
    insta::assert_snapshot!(replies);
    place.ok("verify");
    assert!(said.err.contains("1 answer and 1 reported outcome"), "{}", said.err);
}

#[test]
fn the_program_s_own_decisions_are_compared_with_a_parser_s() {
    let (place, upstream) = (Place::new(), upstream());
    let script = program("reports.py");
    let recorded = record(&place, "", &upstream.base_url(), &["python3", script.to_str().unwrap()]);
    assert_eq!(recorded.code, 0, "{}", recorded.err);
    let nobody = place.run("check latest");
    assert_eq!(nobody.code, 2);
    assert!(nobody.err.contains("were made by the program itself"), "{}", nobody.err);
    let compared = place.run("check latest --parser free_text");
    assert!(compared.out.contains("from program@1 to"), "{}{}", compared.out, compared.err);
}
