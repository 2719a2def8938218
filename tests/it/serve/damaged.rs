//! Logs that are not as they were written are shown, read-only, with the first event that cannot be
//! trusted.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rusqlite::Connection;
use serde_json::Value;

use super::{Feeding, Served, recording};
use crate::support::cli::Place;
use crate::support::tamper::without_triggers;
use crate::support::waiting::soon;

/// Every file of a folder, byte for byte. The index of a WAL that is shared by the processes that
/// have it open is left out.
pub(crate) fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let files = entries.filter(|entry| entry.path().is_file());
    files
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .filter(|(name, _)| !name.ends_with("-shm"))
        .collect()
}

/// A log with one run, all of it in one file.
fn with_log() -> Place {
    let place = Place::new();
    place.ok(&format!("import {}", recording("deliberation_small.jsonl.zst")));
    place
}

/// How every banner begins.
const DAMAGED: &str = "DAMAGED: from event ";

/// The dangers that a page warns of, and the event from which on.
pub(super) fn dangers(page: &Value) -> Vec<(String, Option<u64>)> {
    let notices = page["notices"].as_array().unwrap().iter();
    let dangers = notices.filter(|notice| notice["level"] == "danger");
    dangers.map(|n| (n["text"].as_str().unwrap().to_owned(), n["from"].as_u64())).collect()
}

/// What a run's page warns of once everything was checked in the background.
fn warned(served: &Served, path: &str) -> Vec<(String, Option<u64>)> {
    soon(&format!("a warning on {path}"), || {
        let found = dangers(&served.json(path));
        (!found.is_empty()).then_some(found)
    })
}

#[test]
fn a_changed_answer_is_shown_with_a_warning_from_there_on() {
    let place = with_log();
    let db = Connection::open(place.path("retold.db")).unwrap();
    // The latency of an answer in the middle.
    let changed: i64 = db
        .query_row(
            "SELECT id & 4294967295 FROM events WHERE (id & 4294967295) > 200 AND sample IS NULL
            AND content IS NOT NULL LIMIT 1",
            [],
            |r| r.get(0),
        )
        .unwrap();
    let change = "UPDATE events SET time = time + 1 WHERE (id & 4294967295) = ?1";
    assert_eq!(without_triggers(&db, |db| db.execute(change, [changed])), Ok(1));
    drop(db);
    let before = files(place.root());
    let changed = changed as u64;
    // The terminal says so, too.
    for command in ["show latest".to_owned(), format!("show latest {changed}")] {
        let said = place.run(&command);
        assert_eq!(said.code, 1, "{}{}", said.out, said.err);
        assert!(said.out.contains(&format!("from event {changed} on")), "{}", said.out);
    }
    let (json, code) = place.json("show latest");
    assert_eq!((code, &json["damaged"]["from"]), (1, &changed.into()), "{json}");
    assert_eq!(json["events"], changed - 1);
    let served = Served::log(&place, "retold.db");
    for page in ["", "?by=call", "/state", "/exchange/60", "?failed=1"] {
        let warned = warned(&served, &format!("/run/latest{page}"));
        assert_eq!(warned[0].1, Some(changed), "{page}: {warned:?}");
        assert!(warned[0].0.contains(&format!("From event {changed} on")), "{warned:?}");
    }
    let html = served.html("/run/latest");
    assert!(html.contains("role=\"alert\""), "{html}");
    // Rows end before it.
    let rows = served.json(&format!("/run/latest?after={}", changed - 3));
    assert_eq!(rows["rows"].as_array().unwrap().len(), 2, "{rows}");
    // The table ends before it, and is not given as a file, which has no banner.
    let table = served.json("/run/latest?by=call&skip=0")["table"].clone();
    let seqs = table["rows"].as_array().unwrap().iter().map(|row| row["seq"].as_u64().unwrap());
    assert!(seqs.max().unwrap() < changed, "{table}");
    let file = served.get("/run/latest/table.csv");
    let said = format!("from event {changed} on, the run cannot be trusted");
    assert!(file.status == 404 && file.body.contains(&said), "{}", file.body);
    drop(served);
    assert_eq!(files(place.root()), before, "the folder was changed");
}

#[test]
fn a_log_that_was_cut_off_is_shown_as_far_as_it_goes() {
    let place = with_log();
    let whole = fs::read(place.path("retold.db")).unwrap();
    let mut shown = 0;
    for tenth in 4..10 {
        let name = format!("cut{tenth}.db");
        place.write(&name, &whole[..whole.len() * tenth / 10]);
        let said = place.run(&format!("--log {name} show latest"));
        let before = files(place.root());
        let served = Served::log(&place, &name);
        let page = served.json("/");
        let note = page["notices"][0]["text"].as_str().unwrap();
        assert!(note.contains("was cut off"), "{note}");
        drop(served.html("/"));
        if page["runs"].as_array().unwrap().is_empty() {
            continue;
        }
        let warned = warned(&served, "/run/latest");
        let from = warned.iter().filter_map(|(_, from)| *from).min().unwrap();
        let rows = served.json("/run/latest")["rows"].as_array().unwrap().len();
        shown += rows;
        assert_eq!(said.code, 1, "{}", said.err);
        assert!(said.out.contains(&format!("from event {from} on")), "{}", said.out);
        assert!(rows == 0 || from > 1, "{warned:?}");
        drop(served);
        assert_eq!(files(place.root()), before, "the folder was changed");
    }
    assert!(shown > 0, "nothing was left in any of them");
}

/// The last page of a log has the ends of its tables, which is where SQLite looks first.
#[test]
fn a_log_without_its_last_pages_has_all_runs_as_far_as_they_go() {
    let place = Place::new();
    for study in ["game24_small.jsonl", "society_small.jsonl", "adventure_small.jsonl"] {
        place.ok(&format!("import {}", recording(study)));
    }
    place.ok(concat!(
        "run ",
        env!("RETOLD_ROOT"),
        "/config/deliberation_small.yaml --no-outputs --quiet"
    ));
    let whole = fs::read(place.path("retold.db")).unwrap();
    // The beginnings of the runs are on the first pages, and the list of runs needs no more.
    for pages in (6..whole.len() / 16_384).step_by(2) {
        let name = format!("first{pages}.db");
        place.write(&name, &whole[..pages * 16_384]);
        let (list, code) = place.json(&format!("--log {name} log"));
        assert_eq!((code, list["runs"].as_array().map(Vec::len)), (1, Some(4)), "{name}: {list}");
        fs::remove_file(place.path(&name)).unwrap();
    }
    for pages in [1, 2, 5] {
        let name = format!("without{pages}.db");
        place.write(&name, &whole[..whole.len() - pages * 16_384]);
        let before = files(place.root());
        let served = Served::log(&place, &name);
        let page = served.json("/");
        assert_eq!(page["runs"].as_array().unwrap().len(), 4, "{page}");
        let from = warned(&served, "/run/latest").iter().filter_map(|(_, from)| *from).min();
        let from = from.expect("an event from which on the run cannot be trusted");
        drop(served);
        let (list, code) = place.json(&format!("--log {name} log"));
        assert_eq!((code, list["runs"].as_array().unwrap().len()), (1, 4), "{list}");
        let (shown, code) = place.json(&format!("--log {name} show latest"));
        assert_eq!((code, shown["damaged"]["from"].as_u64()), (1, Some(from)), "{shown}");
        let verified = place.run(&format!("--log {name} verify"));
        assert_eq!(verified.code, 1, "{}", verified.err);
        let (has, of) = (whole.len() - pages * 16_384, whole.len());
        let said = format!("the file was cut off: it has {has} of {of} bytes");
        assert!(verified.out.contains(&said), "{}", verified.out);
        assert_eq!(files(place.root()), before, "the folder was changed");
    }
}

#[test]
fn a_log_of_a_killed_process_is_shown_without_touching_its_wal() {
    let place = Place::new();
    let mut feeding = Feeding::new("society_small.jsonl", &place.path("alive.db"));
    feeding.feed(50);
    // As it is on disk at this moment, without the index of the WAL.
    for suffix in ["", "-wal", "-mark"] {
        fs::copy(place.path(&format!("alive.db{suffix}")), place.path(&format!("left.db{suffix}")))
            .unwrap();
    }
    let wal = fs::read(place.path("left.db-wal")).unwrap();
    assert!(!wal.is_empty());
    let before = files(place.root());
    let served = Served::log(&place, "left.db");
    let page = served.json("/run/latest");
    assert_eq!(page["run"]["events"], 50, "{page}");
    assert!(dangers(&page).is_empty(), "{page}");
    drop(served);
    assert_eq!(files(place.root()), before, "the folder was changed");
}

#[test]
fn a_damaged_wal_is_said_and_left_alone() {
    let place = Place::new();
    let mut feeding = Feeding::new("society_small.jsonl", &place.path("alive.db"));
    for _ in 0..20 {
        feeding.feed(5);
    }
    for suffix in ["", "-wal", "-mark"] {
        fs::copy(place.path(&format!("alive.db{suffix}")), place.path(&format!("left.db{suffix}")))
            .unwrap();
    }
    let mut wal = fs::read(place.path("left.db-wal")).unwrap();
    let middle = wal.len() / 2;
    wal[middle] ^= 1;
    fs::write(place.path("left.db-wal"), wal).unwrap();
    let before = files(place.root());
    let served = Served::log(&place, "left.db");
    let page = served.json("/");
    assert!(dangers(&page).iter().any(|(text, _)| text.contains("the WAL is damaged")), "{page}");
    let run = served.json("/run/latest");
    let from = dangers(&run).iter().find_map(|(_, from)| *from);
    assert!(from.is_some_and(|from| from > 1 && from <= 100), "{run}");
    drop(served);
    assert_eq!(files(place.root()), before, "the folder was changed");
}

#[test]
fn reading_a_sound_log_changes_nothing_beside_it() {
    let place = with_log();
    let before = files(place.root());
    let served = Served::log(&place, "retold.db");
    for page in ["", "/state", "/check", "?by=call", "/chain/60", "?failed=1"] {
        drop(served.html(&format!("/run/latest{page}")));
    }
    drop(served);
    assert_eq!(files(place.root()), before);
}

/// What reads a run: it must not change anything, however the log is damaged.
const READING: [&str; 14] = [
    "verify",
    "verify head",
    "check latest",
    "export latest",
    "plan small.yaml --against latest",
    "log",
    "log latest",
    "log latest --kind DecisionMade",
    "show latest",
    "show latest 3",
    "show latest --at 5",
    "stats latest",
    "audit latest 4",
    "report latest -o OUT",
];

/// Runs all commands that read a log; each leaves the folder as it was, byte for byte, says what is wrong with
/// an exit code, if anything is, and says the same if the log is named by a link. Returns what they say, by
/// command.
fn read_by_all(place: &Place, log: &str) -> BTreeMap<&'static str, (i32, String)> {
    let elsewhere = tempfile::tempdir().unwrap();
    let links = tempfile::tempdir().unwrap();
    let link = links.path().join(log);
    std::os::unix::fs::symlink(place.path(log), &link).unwrap();
    let link = link.to_str().unwrap();
    let before = files(place.root());
    let mut all = BTreeMap::new();
    for command in READING {
        let page = elsewhere.path().join("page.html");
        let args = command.replace("OUT", page.to_str().unwrap());
        let run = |log: &str| {
            let said = place.run(&format!("--log {log} {args}"));
            assert!((0..=3).contains(&said.code), "{log}: {args}: {}{}", said.out, said.err);
            let after = files(place.root());
            let names = || (before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>());
            assert!(before == after, "{log}: {args} changed the folder: {:?}", names());
            (said.code, said.out + &said.err, fs::read(&page).ok())
        };
        let (code, text, written) = run(log);
        let _ = fs::remove_file(&page);
        let (by_link, text_by_link, written_by_link) = run(link);
        let _ = fs::remove_file(&page);
        assert_eq!((code, &text), (by_link, &text_by_link.replace(link, log)), "{link}: {args}");
        assert!(written == written_by_link, "{link}: {args}");
        all.insert(command, (code, text));
    }
    assert_eq!(
        fs::read_dir(links.path()).unwrap().count(),
        1,
        "{log}: something is beside the link"
    );
    all
}

/// The event from which on the page warns.
fn page_warns_from(place: &Place, log: &str) -> Option<u64> {
    let before = files(place.root());
    let served = Served::log(place, log);
    if served.json("/")["runs"].as_array().unwrap().is_empty() {
        return None;
    }
    let from = warned(&served, "/run/latest").iter().filter_map(|(_, from)| *from).min();
    drop(served);
    assert!(files(place.root()) == before, "the page changed the folder");
    from
}

#[test]
fn a_tampered_log_is_read_by_every_command_with_a_banner_and_left_as_it_is() {
    let place = with_log();
    fs::rename(place.path("retold.db"), place.path("sound.db")).unwrap();
    let _ = fs::remove_file(place.path("retold.db-mark"));
    let middle = "(id & 4294967295) = 301";
    for (n, change) in [
        format!("UPDATE events SET time = time + 1 WHERE {middle}"),
        format!("DELETE FROM events WHERE {middle}"),
        format!("UPDATE events SET hash = zeroblob(32) WHERE {middle}"),
        "UPDATE contents SET body = 'another answer' WHERE id = (SELECT content FROM events
            WHERE (id & 4294967295) > 150 AND content IS NOT NULL AND cause IS NOT NULL LIMIT 1)"
            .to_owned(),
    ]
    .iter()
    .enumerate()
    {
        let name = format!("tampered{n}.db");
        fs::copy(place.path("sound.db"), place.path(&name)).unwrap();
        let db = Connection::open(place.path(&name)).unwrap();
        without_triggers(&db, |db| db.execute_batch(change)).unwrap();
        db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE; PRAGMA journal_mode = WAL").unwrap();
        drop(db);
        for suffix in ["-wal", "-shm"] {
            let _ = fs::remove_file(place.path(&format!("{name}{suffix}")));
        }
        let said = read_by_all(&place, &name);
        let from = page_warns_from(&place, &name).unwrap();
        let banner = format!("DAMAGED: from event {from} on, this run cannot be trusted");
        for command in ["show latest", "log latest", "stats latest"] {
            let (code, text) = &said[command];
            assert_eq!(
                (*code, text.matches(&banner).count()),
                (1, 1),
                "{change}: from {from}: {command}: {text}"
            );
        }
        // What can be read is shown.
        assert!(said["log latest"].1.contains("run started"), "{}", said["log latest"].1);
        assert!(said["show latest 3"].1.contains("seq: 3\n"), "{}", said["show latest 3"].1);
        for command in ["audit latest 4", "report latest -o OUT"] {
            assert!(said[command].0 <= 1, "{command}: {:?}", said[command]);
        }
        // A look-up does not meet it.
        let (json, code) = place.json(&format!("--log {name} show latest 3"));
        assert_eq!((code, &json["seq"]), (0, &3.into()), "{json}");
        let (json, code) = place.json(&format!("--log {name} stats latest"));
        let error = json["error"]["message"].as_str().unwrap_or_default();
        assert!(code == 1 && error.contains(&format!("damaged at seq {from}: ")), "{json}");
    }
}

#[test]
fn a_log_that_lost_pages_is_read_by_every_command_and_left_as_it_is() {
    let place = with_log();
    let whole = fs::read(place.path("retold.db")).unwrap();
    let pages = whole.len() / 16_384;
    let mut shown = 0;
    for page in (1..pages).step_by(3) {
        let name = format!("cut{page}.db");
        place.write(&name, &whole[..page * 16_384]);
        let said = read_by_all(&place, &name);
        let (code, text) = &said["show latest"];
        if !said["log"].1.starts_with(|first: char| first.is_ascii_digit()) {
            // Not even the list of runs is left.
            assert!(*code > 0 && text.contains("error: "), "{name}: {text}");
            continue;
        }
        match page_warns_from(&place, &name) {
            Some(from) => {
                let banner = format!("DAMAGED: from event {from} on, this run cannot be trusted");
                for command in ["show latest", "log latest", "stats latest"] {
                    let (code, text) = &said[command];
                    // A prompt of an earlier event may be missing, which the numbers need. If no
                    // event is left, there is nothing for a banner to stand above.
                    let banner = if *command == *"stats latest" { DAMAGED } else { &*banner };
                    let banners = text.matches(banner).count();
                    assert!(*code == 1 && (banners == 1 || from == 1), "{name}: {command}: {text}");
                }
                shown += 1;
            }
            None => assert!(*code > 0 && text.contains("error: "), "{name}: {text}"),
        }
        assert!(text.contains("was cut off") || *code > 0, "{name}: {text}");
        fs::remove_file(place.path(&name)).unwrap();
    }
    assert!(shown > 0, "none of {pages}");
}

/// Checks that a backup and a page are of the same run, whether the log is named by its path or by a link.
fn backed_up_by_a_link(place: &Place, log: &str) {
    let elsewhere = tempfile::tempdir().unwrap();
    let at = |name: &str| elsewhere.path().join(name).to_str().unwrap().to_owned();
    std::os::unix::fs::symlink(place.path(log), at("link")).unwrap();
    let before = files(place.root());
    let (one, other) = (at("one.db"), at("other.db"));
    let said = [(log, &one), (at("link").as_str(), &other)]
        .map(|(log, backup)| place.run(&format!("--log {log} copy --to {backup}")).code);
    assert_eq!(said[0], said[1], "{log}");
    let runs = |log: &str| {
        let list = place.json(&format!("--log {log} log")).0["runs"].clone();
        list.as_array().unwrap().iter().map(|run| run["run"].clone()).collect::<Vec<Value>>()
    };
    assert_eq!(runs(&one), runs(&other), "{log}");
    let pages =
        [log, &at("link")].map(|log| Served::log(place, log).json("/run/latest")["run"].clone());
    assert_eq!(pages[0], pages[1], "{log}");
    assert!(before == files(place.root()), "{log}: the folder was changed");
}

#[test]
fn a_half_written_log_is_read_by_every_command_and_left_as_it_is() {
    let place = Place::new();
    let mut feeding = Feeding::new("society_small.jsonl", &place.path("alive.db"));
    for _ in 0..20 {
        feeding.feed(5);
    }
    let read = |suffix: &str| fs::read(place.path(&format!("alive.db{suffix}"))).unwrap();
    let (file, wal, mark, shm) = (read(""), read("-wal"), read("-mark"), read("-shm"));
    drop(feeding);
    for suffix in ["", "-wal", "-mark", "-shm"] {
        let _ = fs::remove_file(place.path(&format!("alive.db{suffix}")));
    }
    let mut flipped = wal.clone();
    flipped[wal.len() / 2] ^= 1;
    for (what, wal, has_index, is_whole) in [
        ("killed", wal.clone(), false, true),
        ("killed-with-index", wal.clone(), true, true),
        ("half-a-wal", wal[..wal.len() / 2].to_vec(), false, false),
        ("flipped", flipped, false, false),
    ] {
        let log = format!("{what}.db");
        place.write(&log, &file);
        place.write(&format!("{log}-wal"), &wal);
        place.write(&format!("{log}-mark"), &mark);
        if has_index {
            place.write(&format!("{log}-shm"), &shm);
        }
        let said = read_by_all(&place, &log);
        backed_up_by_a_link(&place, &log);
        for command in ["show latest", "log latest", "stats latest"] {
            let (code, text) = &said[command];
            if is_whole {
                assert_eq!(*code, 0, "{what}: {command}: {text}");
            }
            let says = text.contains("seq ") || text.contains("from event ");
            assert!(is_whole || says, "{what}: {command}: {text}");
        }
        if is_whole {
            assert!(said["stats latest"].1.contains("calls"), "{}", said["stats latest"].1);
        }
    }
}

/// The key of an event in the file, as SQLite writes it: 7 bits in each byte.
fn key_of(seq: u64) -> Vec<u8> {
    let id = (1_u64 << 32) + seq;
    (0..5).rev().map(|n| (id >> (7 * n)) as u8 & 0x7f | if n > 0 { 0x80 } else { 0 }).collect()
}

/// A damaged key ends a scan of the events early: what follows is not there for it.
#[test]
fn a_run_whose_scan_ends_early_is_not_taken_for_whole() {
    let place = with_log();
    let mut bytes = fs::read(place.path("retold.db")).unwrap();
    let key = key_of(201);
    let at: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(&key)).collect();
    assert_eq!(at.len(), 1, "the key is in one place");
    bytes[at[0]] ^= 0x20;
    place.write("retold.db", &bytes);
    for command in ["verify latest", "show latest", "replay latest", "export latest out.jsonl"] {
        let said = place.run(command);
        let names = said.out.contains("201") || said.err.contains("201");
        assert!(said.code == 1 && names, "{command}: {said:?}");
    }
    assert!(!place.path("out.jsonl").exists());
}
