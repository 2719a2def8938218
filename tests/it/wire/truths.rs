//! What is said of a program's run is what retold knows of it.

use serde_json::{Value, json};

use super::record_with;
use crate::support::cli::Place;
use crate::support::server::{Reply, Server};

/// Six prompts, each asked twice, by three parts of a program at once. Each part reports what it heard.
const PARALLEL: &str = r#"
import json, os, threading, urllib.error, urllib.request
def post(url, body, call=None):
    headers = {'content-type': 'application/json', **({'x-retold-call': call} if call else {})}
    for attempt in range(9):
        try:
            request = urllib.request.Request(url, json.dumps(body).encode(), headers)
            with urllib.request.urlopen(request) as answer:
                return answer.headers.get('x-retold-response'), json.load(answer)
        except urllib.error.HTTPError as error:
            error.read()
def part(n):
    for turn in range(4):
        body = {'model': 'm', 'messages': [{'role': 'user', 'content': f'part {n}, turn {turn // 2}'}]}
        url = os.environ['OPENAI_BASE_URL'] + '/chat/completions'
        name, answer = post(url, body, f'part/{n}' if n else None)
        said = answer['choices'][0]['message']['content']
        ours = os.environ['RETOLD_URL'] + '/_retold/'
        post(ours + 'decisions', {'name': 'vote', 'value': said, 'response': name})
        post(ours + 'facts', {'name': 'heard', 'value': said, 'lane': f'part {n}', 'response': name})
order = [int(n) for n in os.environ['ORDER'].split(',')]
if os.environ['AT_ONCE'] == 'yes':
    threads = [threading.Thread(target=part, args=[n]) for n in order]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
else:
    [part(n) for n in order]
"#;

/// The page of a report.
fn page(place: &Place, run: &str) -> String {
    place.ok(&format!("report {run} -o page.html --force"));
    place.read("page.html")
}

/// A server whose answers say what they are told to, with the n-th of each prompt of its own; it refuses one in so many
/// requests.
fn server(said: &'static str, one_in: usize) -> Server {
    let (mut asked, mut requests) = (std::collections::BTreeMap::new(), 0);
    Server::handler(move |received| {
        requests += 1;
        if one_in > 0 && requests % one_in == 0 {
            return Reply::error(500, "overloaded", "again, please");
        }
        let prompt = received.json()["messages"][0]["content"].to_string();
        let times = asked.entry(prompt.clone()).or_insert(0);
        *times += 1;
        Reply::chat(&format!("{said} {times} to {prompt}"))
    })
}

/// Records the program; returns the outcome digest of its run.
fn digest(place: &Place, upstream: &Server, order: &str, at_once: &str) -> String {
    let set = [("ORDER", order), ("AT_ONCE", at_once)];
    let program = ["python3", "-c", PARALLEL];
    let said = record_with(place, "", &upstream.base_url(), &program, &set);
    assert_eq!(said.code, 0, "{}", said.err);
    place.ok("verify");
    let (shown, _) = place.json("show latest");
    assert_eq!(shown["decisions"], 12, "{shown}");
    shown["outcome_digest"].as_str().unwrap().to_owned()
}

#[test]
fn the_outcome_digest_of_a_program_covers_its_answers_and_not_its_schedule() {
    let place = Place::new();
    let one = digest(&place, &server("yes", 0), "0,1,2", "no");
    let orders = [("2,0,1", "no", 0), ("0,1,2", "yes", 0), ("1,2,0", "yes", 5)];
    for (order, at_once, one_in) in orders {
        let again = digest(&place, &server("yes", one_in), order, at_once);
        assert_eq!(again, one, "{order}, {at_once}, {one_in}");
    }
    assert_ne!(digest(&place, &server("no", 0), "0,1,2", "no"), one);
    let (log, _) = place.json("log");
    let runs: Vec<&str> =
        log["runs"].as_array().unwrap().iter().map(|run| run["run"].as_str().unwrap()).collect();
    let said = |other: usize| place.run(&format!("diff {} {}", runs[0], runs[other])).out;
    assert!(said(1).contains("outcome digests: the same"), "{}", said(1));
    assert!(said(4).contains("outcome digests: different"), "{}", said(4));
    // A copy of the run elsewhere is the same run.
    place.ok(&format!("export {} run.jsonl", runs[0]));
    let copy = Place::new();
    copy.write("run.jsonl", place.read("run.jsonl").as_bytes());
    copy.ok("import run.jsonl");
    copy.ok("verify");
    assert_eq!(copy.json("show latest").0["outcome_digest"], one);
}

/// Neither decisions nor facts: earlier, all of them had one digest.
#[test]
fn runs_that_only_ask_have_the_digest_of_what_was_answered() {
    let place = Place::new();
    let ask = "curl -sS $OPENAI_BASE_URL/chat/completions -H 'content-type: application/json' \
               -d '{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}'";
    let mut digests = Vec::new();
    for said in ["yes", "no", "yes"] {
        let upstream = server(said, 0);
        let recorded = record_with(&place, "", &upstream.base_url(), &["sh", "-c", ask], &[]);
        assert_eq!(recorded.code, 0, "{}", recorded.err);
        digests.push(place.json("show latest").0["outcome_digest"].clone());
    }
    assert_eq!(digests[0], digests[2]);
    assert_ne!(digests[0], digests[1]);
    // A fork shares the answers, so it has their digest.
    let upstream = server("never", 0);
    let mut fork = super::retold(&place, "fork latest", &["sh", "-c", ask]);
    fork.env("OPENAI_BASE_URL", upstream.base_url()).env("OPENAI_API_KEY", super::KEY);
    let forked = crate::support::cli::Said::ended(&mut fork);
    assert_eq!(forked.code, 0, "{}", forked.err);
    assert_eq!(place.json("show latest").0["outcome_digest"], digests[2]);
    // Nothing was asked, so there is nothing that a digest could cover.
    for _ in 0..2 {
        let said = record_with(&place, "", &upstream.base_url(), &["true"], &[]);
        assert_eq!(said.code, 0, "{}", said.err);
    }
    assert_eq!(place.json("show latest").0["outcome_digest"], json!(null));
    assert!(place.ok("show latest").contains("outcome digest none: it would cover nothing"));
    let (log, _) = place.json("log");
    let runs = log["runs"].as_array().unwrap();
    let run = |at: usize| runs[at]["run"].as_str().unwrap();
    let said = place.run(&format!("diff {} {}", run(4), run(5))).out;
    assert!(said.contains("outcome digests: none, because they would cover nothing"), "{said}");
    // The next page says the same.
    let page = crate::serve::Served::log(&place, "retold.db").json(&format!(
        "/compare?a={}&b={}",
        run(4),
        run(5)
    ));
    assert_eq!(page["same_outcome"], json!(null), "{page}");
}

/// What was asked and answered, with tool calls in place of a text.
#[test]
fn answers_without_a_text_differ_if_their_tool_calls_do() {
    let place = Place::new();
    let ask = "curl -sS $OPENAI_BASE_URL/chat/completions -H 'content-type: application/json' \
               -d '{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}'";
    for name in ["up", "down"] {
        let upstream = Server::handler(move |_| {
            let call = json!({"id": "c", "type": "function", "function": {"name": name, "arguments": "{}"}});
            let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
            let reply = json!({"id": "x", "object": "chat.completion", "created": 1, "model": "m",
                "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]});
            Reply::new(200, reply.to_string())
        });
        let said = record_with(&place, "", &upstream.base_url(), &["sh", "-c", ask], &[]);
        assert_eq!(said.code, 0, "{}", said.err);
    }
    let (log, _) = place.json("log");
    let run = |at: usize| log["runs"][at]["run"].as_str().unwrap().to_owned();
    let (diff, code) = place.json(&format!("diff {} {}", run(0), run(1)));
    assert_eq!((code, &diff["calls"]["same_answer"]), (1, &json!(0)), "{diff}");
}

#[test]
fn a_report_does_not_say_that_reported_decisions_were_found_in_an_answer() {
    let (place, upstream) = (Place::new(), server("yes", 0));
    let ask = "
for n in 1 2 3; do
  curl -sS $OPENAI_BASE_URL/chat/completions -H \"x-retold-call: q/$n\" -H 'content-type: application/json' \
    -d '{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"'$n'\"}]}' >/dev/null
  value=null; [ $n = 2 ] && value=7
  curl -sS $RETOLD_URL/_retold/decisions -d '{\"name\":\"vote\",\"value\":'$value',\"response\":\"q/'$n'\"}' >/dev/null
done";
    let said = record_with(&place, "", &upstream.base_url(), &["sh", "-c", ask], &[]);
    assert_eq!(said.code, 0, "{}", said.err);
    let page = page(&place, "latest");
    assert!(!page.contains("were found in the answer"), "{page}");
    assert!(page.contains("for 3 it is not known whether something was found"), "{page}");
    assert!(page.contains("2 have the value null"), "{page}");
    let stats = place.ok("stats latest");
    assert!(stats.contains("3 decisions, 2 null"), "{stats}");
    // Whether one of its calls depends on another is not known.
    let said = place.ok("audit latest --independence");
    assert!(said.contains("no effective sample size"), "{said}");
}

/// Decisions about answers that had none are in a run of their own, which is named with their number.
#[test]
fn accepted_decisions_are_counted_where_they_are() {
    let (place, upstream) = (Place::new(), server("Answer: 7", 0));
    let ask = "for n in 1 2 3; do curl -sS $OPENAI_BASE_URL/chat/completions -H \"x-retold-call: q/$n\" \
        -d '{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"'$n'\"}]}'; done";
    let said = record_with(&place, "--name asked", &upstream.base_url(), &["sh", "-c", ask], &[]);
    assert_eq!(said.code, 0, "{}", said.err);
    place.ok("check asked --parser free_text@1 --accept");
    let (log, _) = place.json("log");
    let accepted =
        log["runs"].as_array().unwrap().last().unwrap()["run"].as_str().unwrap().to_owned();
    for said in [place.ok("show asked"), page(&place, "asked")] {
        assert!(
            said.contains("0 decisions of its own") || said.contains("no decisions of its own"),
            "{said}"
        );
        let named = format!("in run {accepted}: 3 decisions, none in place of a recorded one");
        assert!(said.contains(&named), "{said}");
    }
    let stats = place.ok("stats asked");
    assert!(stats.contains(&format!("accepted about these answers, in run {accepted}")), "{stats}");
}

/// A reply of an API that retold does not read.
#[test]
fn tokens_that_were_not_read_are_not_called_uncounted() {
    let place = Place::new();
    let upstream = Server::handler(|_| Reply::new(200, r#"{"usage":{"tokens_in":3},"said":"hm"}"#));
    let ask = "curl -sS $OPENAI_BASE_URL/some/other -d '{\"model\":\"m\",\"prompt\":\"hello\"}'";
    let said = record_with(&place, "", &upstream.base_url(), &["sh", "-c", ask], &[]);
    assert_eq!(said.code, 0, "{}", said.err);
    let stats = place.ok("stats latest");
    assert!(stats.contains("no counts were read in the answers"), "{stats}");
    assert!(!stats.contains("by the server"), "{stats}");
}

/// A program of the user's decides under a name that it is given, in the place of the reported decision with that name: for
/// figures, tables, the audit and `show` alike, also where decisions are accepted about accepted ones.
#[test]
fn a_program_decides_in_the_place_of_what_was_reported_under_its_name() {
    let (place, upstream) = (Place::new(), server("yes", 0));
    let ask = "
for n in 1 2 3; do
  curl -sS $OPENAI_BASE_URL/chat/completions -H \"x-retold-call: q/$n\" -H 'content-type: application/json' \
    -d '{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"'$n'\"}]}' >/dev/null
  for what in vote mood; do
    curl -sS $RETOLD_URL/_retold/decisions -d '{\"name\":\"'$what'\",\"value\":\"no\",\"response\":\"q/'$n'\"}' >/dev/null
  done
done";
    let said = record_with(&place, "--name asked", &upstream.base_url(), &["sh", "-c", ask], &[]);
    assert_eq!(said.code, 0, "{}", said.err);
    place.write(
        "first.py",
        "import json, sys\nfor line in sys.stdin: print(json.dumps({'value': 'yes'}))\n",
    );
    place.write(
        "later.py",
        "import json, sys\nfor line in sys.stdin: print(json.dumps({'value': 'maybe'}))\n",
    );
    let accept = |run: &str, program: &str| {
        let command = format!("python3 {program}");
        let check =
            ["check", run, "--parser-cmd", &command, "--name", "vote", "--accept", "--json"];
        let said = place.with_path(&check);
        let checked: Value = serde_json::from_str(&said.out).unwrap();
        checked["accepted"].as_str().unwrap().to_owned()
    };
    let share = |value: &str| {
        let figure = format!("share of vote = {value} independent");
        let said = place.args(&["stats", "asked", "--figure", &figure, "--json"]);
        let said: Value = serde_json::from_str(&said.out).unwrap();
        said["figures"][0]["groups"][0]["value"].clone()
    };
    assert_eq!(share("no"), 1.0);
    let first = accept("asked", "first.py");
    assert_eq!(share("yes"), 1.0);
    let second = accept(&first, "later.py");
    assert_eq!(share("maybe"), 1.0);
    let decided = |run: &str, recorded: &str| {
        let table = place.ok(&format!("table {run} --table decisions --as jsonl{recorded}"));
        let rows = table.lines().map(|row| serde_json::from_str::<Value>(row).unwrap());
        let rows = rows.filter(|row| row["call"] == "q/1");
        rows.map(|row| (row["name"].clone(), row["in_force"].clone())).collect::<Vec<_>>()
    };
    let row = |name: &str, in_force: bool| (json!(name), json!(in_force));
    let recorded = |run: &str| decided(run, " --recorded");
    assert_eq!(recorded("asked"), [row("vote", false), row("mood", true)]);
    assert_eq!(recorded(&first), [row("vote", false)]);
    assert_eq!(recorded(&second), [row("vote", true)]);
    assert_eq!(decided("asked", ""), [row("mood", true), row("vote", true)]);
    for accepted in [&first, &second] {
        assert_eq!(decided(accepted, ""), [row("vote", true)]);
    }
    let (log, _) = place.json("log asked --kind DecisionMade");
    for event in log["events"].as_array().unwrap().iter().take(2) {
        let (audit, _) = place.json(&format!("audit asked {}", event["seq"]));
        let in_force = audit["in_force"].as_array().unwrap().iter();
        let in_force: Vec<_> = in_force.map(|it| (&it["name"], &it["value"], &it["run"])).collect();
        let own = (&json!("mood"), &json!("no"), &log["run"]);
        let accepted = (&json!("vote"), &json!("maybe"), &json!(second));
        assert_eq!(in_force, [own, accepted], "{audit}");
    }
    let said = place.ok(&format!("show {second}"));
    let named =
        format!("accepted decisions about the answers of run {}", log["run"].as_str().unwrap());
    let replaced = "3 decisions, 3 with another value; they replace the ones recorded there";
    assert!(said.contains(&named) && said.contains(replaced), "{said}");
}
