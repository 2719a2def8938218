//! What follows from the labels that a program gives its calls.

use serde_json::json;

use super::record_with;
use crate::serve::{Served, cell};
use crate::support::cli::Place;
use crate::support::server::{Reply, Server};

/// Four people in two pairs; the calls have names that say nothing.
const ASK: &str = r#"
for n in 1 2 3 4; do
  pair=$((n % 2))
  curl -sS $OPENAI_BASE_URL/chat/completions -H "x-retold-call: ask/$n/x" \
    -H 'content-type: application/json' \
    -H "x-retold-labels: {\"participant\":\"p$n\",\"pair\":\"$pair\",\"condition\":\"plain\"}" \
    -d '{"model":"m","messages":[{"role":"user","content":"'$n'"}]}' >/dev/null
  curl -sS $RETOLD_URL/_retold/decisions -d '{"name":"vote","value":"yes","response":"ask/'$n'/x"}' >/dev/null
done"#;

fn server() -> Server {
    Server::handler(|_| Reply::chat("yes"))
}

/// The page, the list and the sizes of a program's run follow from its labels.
#[test]
fn a_program_s_labels_are_groups_filters_and_clusters() {
    let (place, upstream) = (Place::new(), server());
    let said = record_with(&place, "", &upstream.base_url(), &["sh", "-c", ASK], &[]);
    assert_eq!(said.code, 0, "{}", said.err);
    let served = Served::log(&place, "retold.db");
    let page = &served.json("/run/latest?by=participant")["table"];
    assert_eq!((&page["by"], &page["all"]), (&json!("participant"), &json!(4)), "{page}");
    let story = served.json(page["rows"][2]["href"].as_str().unwrap());
    assert_eq!(story["steps"][0]["call"], "ask/3/x", "{story}");
    let pairs = &served.json("/run/latest?by=pair")["table"];
    assert_eq!((&pairs["all"], cell(pairs, 0, "calls")), (&json!(2), "2"));
    let (listed, _) = place.json("log latest --label pair=1 --label participant=p3");
    let kinds: Vec<_> = listed["events"].as_array().unwrap().iter().map(|e| &e["kind"]).collect();
    assert_eq!(kinds, ["RequestSent", "ResponseReceived", "DecisionMade"]);
    let (found, _) = place.json("audit latest --independence");
    let kind = &found["kinds"][0];
    assert_eq!(kind["clusters"], json!({"of": "pair", "count": 2}), "{kind}");
    assert_eq!((&kind["draws"], &kind["effective_sample_size"]), (&json!(4), &json!(2.0)));
}

/// Without labels, nothing is made of the names of calls.
#[test]
fn calls_without_labels_are_calls() {
    let (place, upstream) = (Place::new(), server());
    let ask = ASK.lines().filter(|line| !line.contains("x-retold-labels")).collect::<Vec<_>>();
    let ask = ask.join("\n");
    let said = record_with(&place, "", &upstream.base_url(), &["sh", "-c", &ask], &[]);
    assert_eq!(said.code, 0, "{}", said.err);
    let served = Served::log(&place, "retold.db");
    let page = &served.json("/run/latest")["table"];
    assert!(page["by"].is_null(), "{page}");
    let names: Vec<_> = (0..4).map(|row| page["rows"][row]["cells"][0]["text"].clone()).collect();
    assert_eq!(names, ["ask/1/x#0", "ask/2/x#0", "ask/3/x#0", "ask/4/x#0"]);
    for path in ["", "/participant/ask/1/x", "/exchange/2"] {
        let html = served.html(&format!("/run/latest{path}")).replace("/participant", "");
        let html = html.replace("participant=p7", "").replace("data-page=\"participant", "");
        assert!(!html.to_lowercase().contains("participant"), "{path}: {html}");
    }
    let said = place.ok("audit latest --independence");
    assert!(said.contains("no effective sample size, because neither a label nor"), "{said}");
}

/// A report of any number of kinds of call has thirty at most, and says how many it has summed up.
#[test]
fn a_report_has_at_most_thirty_groups() {
    let place = Place::new();
    let name = |n: u32| -> String {
        [n / 26, n % 26].map(|n| char::from_u32(97 + n).unwrap()).iter().collect()
    };
    let line = |n: u32| {
        json!({"call": format!("ask/{}", name(n)), "sample": 0,
            "request": {"model": "m", "messages": [{"role": "user", "content": format!("{n}?")}]},
            "response": {"content": "yes"}})
    };
    let lines: Vec<String> = (0..120).map(|n| line(n).to_string()).collect();
    place.write("all.jsonl", lines.join("\n"));
    place.ok("import all.jsonl");
    place.ok("report latest -o report.html");
    let page = place.read("report.html");
    assert!(page.contains("(91 others)"), "{page}");
    assert_eq!(page.matches("<td>ask/").count(), 29);
    // The rest is summed up: nothing is lost.
    assert!(page.contains("<td>(91 others)</td><td class=n>91</td>"), "{page}");
    let (stats, _) = place.json("stats latest");
    assert_eq!(stats["kinds"].as_object().unwrap().len(), 120, "all are in the numbers");
}
