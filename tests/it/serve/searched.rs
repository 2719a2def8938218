//! Searching prompts and answers, on the page and in the terminal.

use std::collections::BTreeSet;

use rusqlite::Connection;
use serde_json::Value;

use super::{Feeding, Served, recorded, run_of};
use crate::support::cli::{Place, assert_said};
use crate::support::tamper::without_triggers;

fn seqs(rows: &Value) -> BTreeSet<u64> {
    rows.as_array().unwrap().iter().map(|row| row["seq"].as_u64().unwrap()).collect()
}

/// What the page finds, over all its pages.
fn on_the_page(served: &Served, run: &str, query: &str) -> BTreeSet<u64> {
    let (mut found, mut next) = (BTreeSet::new(), Some(format!("?{query}")));
    while let Some(query) = next {
        let page = served.json(&format!("/run/{run}{query}"));
        found.extend(seqs(&page["rows"]));
        next = page["next"].as_str().map(str::to_owned);
    }
    found
}

/// The words of a text.
fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

#[test]
fn what_is_found_is_what_has_the_words() {
    let place = recorded();
    let served = Served::log(&place, "all.db");
    let run = run_of(&served, "deliberation");
    let (said, _) = place.json(&format!("--log all.db log {run} --most 100000"));
    let answers: Vec<(u64, BTreeSet<String>)> = said["events"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["kind"] == "ResponseReceived")
        .filter_map(|event| {
            Some((event["seq"].as_u64().unwrap(), words(event["content"].as_str()?)))
        })
        .collect();
    let mut all: Vec<String> = answers.iter().flat_map(|(_, words)| words.clone()).collect();
    all.sort();
    all.dedup();
    assert!(all.len() > 100, "{all:?}");
    let mut hits = 0;
    // ASCII alone: what counts as a letter elsewhere is the index's business.
    for word in all.iter().filter(|word| word.is_ascii()).step_by(17) {
        let expected: BTreeSet<u64> =
            answers.iter().filter(|(_, words)| words.contains(word)).map(|(seq, _)| *seq).collect();
        let found = on_the_page(&served, &run, &format!("q={word}&kind=ResponseReceived"));
        assert_eq!(found, expected, "{word}");
        let args =
            format!("--log all.db log {run} --search {word} --kind ResponseReceived --most 9999");
        assert_eq!(seqs(&place.json(&args).0["events"]), expected, "{word}");
        hits += expected.len();
    }
    assert!(hits > 20, "{hits}");
    // A prompt is found by what no earlier one has.
    let found = on_the_page(&served, &run, "q=%22Participatory+budgeting%22");
    let asked = on_the_page(&served, &run, "q=funds&kind=RequestSent");
    assert!(found.len() <= asked.len() && !asked.is_empty(), "{found:?} {asked:?}");
    // The excerpt shows the word.
    let page = served.json(&format!("/run/{run}?q=funds&kind=RequestSent"));
    assert!(page["rows"][0]["text"].as_str().unwrap().to_lowercase().contains("funds"), "{page}");
}

#[test]
fn an_index_continues_where_it_stopped() {
    let place = Place::new();
    let mut feeding = Feeding::new("society_small.jsonl", &place.path("retold.db"));
    feeding.feed(90);
    let served = Served::log(&place, "retold.db");
    let found = |word: &str| on_the_page(&served, "latest", &format!("q={word}"));
    let before = found("agent");
    assert!(!before.is_empty());
    feeding.finish();
    let after = found("agent");
    assert!(after.len() > before.len() && after.is_superset(&before), "{before:?} {after:?}");
    // Another process that begins anew finds the same.
    std::fs::rename(place.path("retold.db-search"), place.path("aside")).unwrap();
    let (said, _) = place.json("log latest --search agent --most 9999");
    assert_eq!(seqs(&said["events"]), after);
    assert!(place.path("retold.db-search").is_file());
}

#[test]
fn a_file_that_is_not_an_index_is_left_alone() {
    let place = Place::with_run();
    let index = place.path("retold.db-search");
    let expected = seqs(&place.json("log latest --search numbers --most 999").0["events"]);
    assert!(!expected.is_empty());
    let cached = place.path(".cache/retold");
    assert!(!cached.exists());
    // Another program's database.
    std::fs::remove_file(&index).unwrap();
    Connection::open(&index)
        .unwrap()
        .execute_batch("CREATE TABLE runs (x); PRAGMA user_version = 7")
        .unwrap();
    let before = std::fs::read(&index).unwrap();
    assert_eq!(seqs(&place.json("log latest --search numbers --most 999").0["events"]), expected);
    assert_eq!(std::fs::read(&index).unwrap(), before);
    assert!(cached.is_dir(), "the index is in the cache");
    // A link to a file that is not ours to write.
    std::fs::remove_file(&index).unwrap();
    place.write("mine.txt", "mine");
    std::os::unix::fs::symlink(place.path("mine.txt"), &index).unwrap();
    assert_eq!(seqs(&place.json("log latest --search numbers --most 999").0["events"]), expected);
    assert_eq!(place.read("mine.txt"), "mine");
}

#[test]
fn a_search_without_a_word_is_refused() {
    let place = Place::with_run();
    let mut said =
        place.shown("log latest --search ***", &place.args(&["log", "latest", "--search", "***"]));
    said += &place.shown("log --search a", &place.run("log --search a"));
    said += &place.shown("log latest --search nowhere", &place.run("log latest --search nowhere"));
    assert_said!("serve_search", said);
    let served = Served::log(&place, "retold.db");
    assert_eq!(served.get("/run/latest?q=***").status, 400);
}

/// The text of a prompt is lost. What comes before its first question is found.
#[test]
fn what_comes_before_damage_is_found() {
    let place = recorded();
    let served = Served::log(&place, "all.db");
    let run = run_of(&served, "society");
    let all = on_the_page(&served, &run, "q=the");
    drop(served);
    let db = Connection::open(place.path("all.db")).unwrap();
    let change = format!(
        "UPDATE requests SET skeleton = '[]' WHERE id = (SELECT request FROM events
            WHERE id >> 32 = (SELECT no FROM run_ids WHERE lower(hex(id)) = '{run}')
              AND id & 4294967295 > 40 AND request IS NOT NULL ORDER BY id LIMIT 1)"
    );
    without_triggers(&db, |db| db.execute_batch(&change)).unwrap();
    drop(db);
    // What was indexed before would be found.
    std::fs::remove_file(place.path("all.db-search")).unwrap();
    let (found, _) = place.json(&format!("--log all.db verify {run}"));
    let first = found["problems"][0]["seq"].as_u64().unwrap();
    let due: BTreeSet<u64> = all.iter().copied().filter(|seq| *seq < first).collect();
    assert!(!due.is_empty(), "{found}");
    let command = format!("--log all.db log {run} --search the --most 9999");
    let said = place.run(&command);
    assert!(said.code < 2, "{}{}", said.out, said.err);
    let seq = |line: &str| line.split_whitespace().next()?.parse::<u64>().ok();
    let listed: BTreeSet<u64> = said.out.lines().filter_map(seq).collect();
    assert!(listed.is_superset(&due) && listed.is_subset(&all), "{listed:?}, not {due:?}");
    let served = Served::log(&place, "all.db");
    let page = served.get(&format!("/run/{run}?q=the"));
    assert!(page.status < 500, "{}: {}", page.status, page.body);
}
