//! The index of a run's events gives the same results as a scan, in every log.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use retold::audit::{Target, audit};
use retold::content::Content;
use retold::event::{Event, NewEvent, StoredEvent};
use retold::id::{CallPath, PromptHash, RunId, Seq, Time};
use retold::log::ledger::LedgerEntry;
use retold::log::{
    Append, Backend, CallTable, Census, EventFault, Fault, Head, Index, LogError, MemoryBackend,
    Reader, RunHead, SqliteBackend, SqliteOptions, StoreIndex, verify_run,
};
use retold::parse::Parsers;
use retold::prompt::Request;

use crate::support::logs::{Folder, assert_sound, events, open, problems};
use crate::support::mixed::chat;

const RUN: RunId = RunId([1; 8]);
const OTHER: RunId = RunId([2; 8]);

/// How many events a piece of an index covers.
const PIECE: u64 = 8192;

/// A run like those of real studies: participants who are asked several kinds of questions, some
/// calls with many samples, answers of all lengths, failed attempts, decisions, and facts with many
/// causes.
fn study(exchanges: u64, seed: u64) -> Vec<NewEvent> {
    let mut events = vec![NewEvent {
        content: Some(Content::from("{\"experiment\":{}}")),
        body: r#"{"experiment":"none","model":{},"program":"a test","seed":1}"#.into(),
        ..NewEvent::new("RunStarted", Time(0))
    }];
    let (mut state, mut causes) = (seed, Vec::new());
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    for n in 0..exchanges {
        let person = next(40);
        let call = match next(5) {
            0 => format!("vote/p_{person:04}"),
            1 => format!("talk/p_{person:04}/{}/moderator", n / 50),
            2 => format!("p_{person:04}/talk/{}", n / 50),
            3 => "summary".to_owned(),
            _ => format!("solve/{person}"),
        };
        let request = chat(format!("Question {} to {person}?", next(30)));
        let at = events.len() as u64 + 1;
        events.push(NewEvent {
            call: Some(CallPath::new(&call).unwrap()),
            sample: Some(n as u32),
            prompt: Some(request),
            ..NewEvent::new("RequestSent", Time(n as i64))
        });
        let cause = Some(Seq(at));
        if next(10) == 0 {
            let body = r#"{"attempt":1,"error":"busy","failure":"busy","gave_up":false}"#.into();
            events.push(NewEvent { cause, body, ..NewEvent::new("AttemptFailed", Time(1)) });
        }
        let text = match next(3) {
            0 => " Yes. ".to_owned(),
            1 => format!("  I say that it is {} because of all the others", next(100)),
            _ => format!("Because of {person}, of whom \"much\" has been said, I choose {n}."),
        };
        let answer = Some(Seq(events.len() as u64 + 1));
        let body = r#"{"latency_ms":5}"#.into();
        let content = Some(Content::from(text));
        events.push(NewEvent {
            cause,
            content,
            body,
            ..NewEvent::new("ResponseReceived", Time(2))
        });
        let value =
            ["\"parks\"", "{\"why\":\"a reason that is long enough to be \\\"found\\\"\"}", "3"];
        let value = value[next(3) as usize];
        causes.push(events.len() as u64 + 1);
        events.push(NewEvent {
            cause: answer,
            content: Some(Content::from(
                r#"{"method":"m","parser":{"name":"n","params":{},"version":1}}"#,
            )),
            body: format!(
                r#"{{"reasoning":"a text of reasons that is not indexed","value":{value}}}"#
            )
            .into(),
            ..NewEvent::new("DecisionMade", Time(3))
        });
        if next(7) == 0 {
            let list = causes.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
            let said = "what was said in this round, told at some length";
            let body = format!(
                r#"{{"causes":[{list}],"fact":{{"n":{n},"said":["{said}"],"who":"p_{person:04}"}}}}"#
            );
            events.push(NewEvent { body: body.into(), ..NewEvent::new("Occurred", Time(4)) });
            causes.clear();
        }
    }
    events
}

/// Appends events in commits of the given sizes, each with a new committer, as by processes that
/// come and go.
fn append(backend: &dyn Backend, run: RunId, events: &[NewEvent], sizes: &[usize]) -> Head {
    let mut reader = backend.reader().unwrap();
    let there = reader.runs().unwrap().into_iter().find(|head| head.run == run);
    let mut head = there.map_or(Head::START, |there| there.head);
    let (mut left, mut sizes) = (events, sizes.iter().cycle());
    while !left.is_empty() {
        let (now, rest) = left.split_at(left.len().min(*sizes.next().unwrap()));
        let append = Append::new(run, head, now.to_vec());
        head = append.events.last().unwrap().head();
        backend.committer().unwrap().commit(&[append]).unwrap();
        left = rest;
    }
    head
}

/// The results of look-ups in an index.
#[derive(Debug, PartialEq)]
struct Said {
    census: Census,
    facts: Vec<Seq>,
    calls: Vec<Vec<Seq>>,
    with: Vec<(Vec<Seq>, usize)>,
    caused: BTreeMap<Seq, Vec<Seq>>,
}

const CALLS: [&str; 4] = ["vote/p_0003", "p_0003/vote", "summary", "talk/p_0007/0/moderator"];
const PARTS: [&str; 5] = ["p_0007", "vote", "3", "summary", "0"];

fn said(reader: &mut dyn Reader, run: RunId) -> Said {
    let index = Index::open(reader, run).unwrap();
    let causes: BTreeSet<Seq> = (1..=index.end().0).step_by(7).map(Seq).collect();
    let call = |call: &str| CallPath::new(call).unwrap();
    Said {
        census: index.census(reader).unwrap(),
        facts: index.facts(reader).unwrap(),
        calls: CALLS.map(|c| index.calls(reader, &call(c)).unwrap()).to_vec(),
        with: PARTS.map(|part| index.calls_with(reader, part).unwrap()).to_vec(),
        caused: index.caused_by(reader, &causes).unwrap(),
    }
}

/// The same results from a scan of the whole run.
fn scanned(all: &[StoredEvent]) -> Said {
    let parts = |call: &str| {
        let mut parts: Vec<String> = call.split('/').map(str::to_owned).collect();
        parts.sort();
        parts
    };
    let is_numbered = |part: &&str| part.contains(|c: char| c.is_ascii_digit());
    let kind =
        |call: &str| call.split('/').filter(|p| !is_numbered(p)).collect::<Vec<_>>().join("/");
    let asked: Vec<(Seq, &str)> =
        all.iter().filter_map(|e| Some((e.seq, e.call.as_ref()?.as_str()))).collect();
    let mut census = Census::default();
    asked.iter().for_each(|(_, call)| *census.calls.entry(kind(call)).or_default() += 1);
    all.iter().for_each(|e| *census.events.entry(e.kind.to_string()).or_default() += 1);
    let mut caused: BTreeMap<Seq, Vec<Seq>> = BTreeMap::new();
    for event in all {
        let causes = match event.event().unwrap() {
            Event::Occurred(fact) => fact.causes,
            _ => event.cause.into_iter().collect(),
        };
        for cause in causes.into_iter().filter(|cause| cause.0 % 7 == 1) {
            caused.entry(cause).or_default().push(event.seq);
        }
    }
    let seqs = |wanted: &dyn Fn(&str) -> bool| -> Vec<Seq> {
        asked.iter().filter(|(_, call)| wanted(call)).map(|(seq, _)| *seq).collect()
    };
    let with = |part: &str| {
        let has = |call: &str| call.split('/').any(|p| p == part);
        let kinds: BTreeSet<String> =
            asked.iter().filter(|(_, call)| has(call)).map(|(_, call)| kind(call)).collect();
        (seqs(&has), kinds.len())
    };
    Said {
        census,
        facts: all.iter().filter(|e| e.kind == "Occurred").map(|e| e.seq).collect(),
        calls: CALLS.map(|c| seqs(&|call| parts(call) == parts(c))).to_vec(),
        with: PARTS.map(with).to_vec(),
        caused,
    }
}

/// A table in memory has at least what a scan finds, and no question too many.
fn assert_table(reader: &mut dyn Reader, all: &[StoredEvent]) {
    let index = Index::open(reader, RUN).unwrap();
    let table = CallTable::read(&index, reader).unwrap();
    let asked = all.iter().filter_map(|e| Some((e.seq, e.call.as_ref()?)));
    assert_eq!(table.questions(), asked.clone().map(|(seq, _)| seq).collect::<Vec<_>>());
    let mut calls: BTreeMap<&CallPath, Vec<Seq>> = BTreeMap::new();
    asked.for_each(|(seq, call)| calls.entry(call).or_default().push(seq));
    for (call, seqs) in calls.into_iter().step_by(7) {
        let mut found = table.calls(call);
        assert!(found.is_sorted());
        found.retain(|seq| seqs.binary_search(seq).is_ok());
        assert_eq!(found, seqs, "{call}");
    }
    let mut caused: BTreeMap<Seq, Vec<Seq>> = BTreeMap::new();
    let with_cause = all.iter().filter_map(|e| Some((e.seq, e.cause?)));
    with_cause.for_each(|(seq, cause)| caused.entry(cause).or_default().push(seq));
    for event in all {
        let mut found = table.caused_by(event.seq);
        let named = caused.remove(&event.seq).unwrap_or_default();
        // Facts name causes of their own.
        found.retain(|seq| all[seq.0 as usize - 1].kind != "Occurred");
        assert_eq!(found, named);
        assert!(table.is_cause(event.seq) || named.is_empty());
    }
}

fn pieces(folder: &Folder) -> u64 {
    let count = "SELECT count(DISTINCT id / 8192) FROM event_index";
    folder.sql().query_row(count, [], |r| r.get::<_, i64>(0)).unwrap() as u64
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    #[test]
    fn an_index_gives_the_results_of_a_scan(
        exchanges in 2000_u64..8000,
        seed in any::<u64>(),
        sizes in prop::collection::vec(1_usize..5000, 1..4),
    ) {
        let study = study(exchanges, seed);
        let sizes: Vec<usize> = sizes.into_iter().map(|size| size.max(study.len() / 12)).collect();
        let (folder, memory) = (Folder::new(), MemoryBackend::new());
        let log = folder.log();
        // Events of another run are appended to the file alternately with these.
        let (first, second) = study.split_at(study.len() / 2);
        append(log.backend().as_ref(), RUN, first, &sizes);
        append(log.backend().as_ref(), OTHER, &study, &sizes);
        append(log.backend().as_ref(), RUN, second, &sizes);
        append(&memory, RUN, &study, &sizes);
        let mut reader = log.reader().unwrap();
        let all = events(reader.as_mut(), RUN);
        let due = scanned(&all);
        assert_table(reader.as_mut(), &all);
        prop_assert_eq!(&said(reader.as_mut(), RUN), &due);
        prop_assert_eq!(&said(reader.as_mut(), OTHER), &due);
        prop_assert_eq!(&said(memory.reader().unwrap().as_mut(), RUN), &due);
        prop_assert_eq!(pieces(&folder), 2 * (study.len() as u64 / PIECE));
        prop_assert_eq!(problems(reader.as_mut()), []);
    }
}

#[test]
fn a_lost_piece_is_made_again_in_memory() {
    let folder = Folder::new();
    let log = folder.log();
    append(log.backend().as_ref(), RUN, &study(9000, 7), &[4000]);
    let whole = pieces(&folder);
    let gap = "DROP TRIGGER event_index_no_delete;
        DELETE FROM event_index WHERE id & 4294967295 BETWEEN 8192 AND 2 * 8192;";
    folder.sql().execute_batch(gap).unwrap();
    assert_eq!(pieces(&folder), whole - 1);
    let mut reader = log.reader().unwrap();
    let due = scanned(&events(reader.as_mut(), RUN));
    assert_eq!(said(reader.as_mut(), RUN), due);
}

#[test]
fn damage_to_the_index_is_reported() {
    let folder = Folder::new();
    let log = folder.log();
    append(log.backend().as_ref(), RUN, &study(4000, 8), &[4000]);
    assert_sound(&log);
    let due = scanned(&events(log.reader().unwrap().as_mut(), RUN));
    // Whether a look-up notices it, and whether it is a piece of the run that is damaged.
    let broken = [
        (
            "UPDATE event_index SET entries = zeroblob(length(entries)) WHERE id & 8191 = 3 AND id & 4294967295 < 8192",
            false,
            true,
        ),
        (
            "UPDATE event_index SET entries = x'ffffffffffffffffffffff' WHERE id & 8191 BETWEEN 2 AND 5 AND id & 4294967295 < 8192",
            true,
            true,
        ),
        (
            "UPDATE event_index SET entries = entries || x'80' WHERE id & 4294967295 < 8192",
            true,
            true,
        ),
        (
            "UPDATE event_index SET entries = 'text' WHERE id & 8191 = 1 AND id & 4294967295 < 8192",
            true,
            true,
        ),
        ("DELETE FROM event_index WHERE id & 8191 = 4 AND id & 4294967295 < 8192", true, true),
        ("INSERT INTO event_index (id, entries) VALUES ((9 << 32) + 1, x'00')", true, false),
        ("INSERT INTO event_index (id, entries) VALUES ((1 << 32) + 7, x'00')", true, false),
        ("INSERT INTO event_index SELECT id + 1024 * 8192, entries FROM event_index", true, true),
        (
            "INSERT INTO event_index (id, entries) VALUES ((1 << 32) + 524287 * 8192 + 1, x'7b7d')",
            true,
            true,
        ),
    ];
    for (sql, is_noticed, names_run) in broken {
        let copy = Folder::new();
        folder.sql().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        std::fs::copy(folder.path(), copy.path()).unwrap();
        let db = copy.sql();
        let triggers: Vec<String> = {
            let all =
                "SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'event_index'";
            let mut all = db.prepare(all).unwrap();
            all.query_map([], |r| r.get(0)).unwrap().map(Result::unwrap).collect()
        };
        let names = ["update", "delete", "replace"].map(|what| format!("event_index_no_{what}"));
        names.iter().for_each(|n| db.execute_batch(&format!("DROP TRIGGER {n}")).unwrap());
        assert!(db.execute(sql, []).unwrap() > 0);
        triggers.iter().for_each(|sql| db.execute_batch(sql).unwrap());
        drop(db);
        let found = problems(open(&copy.path()).reader().unwrap().as_mut());
        let text = found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        assert!(text.contains("index"), "{sql}: {text}");
        let log = open(&copy.path());
        let mut reader = log.reader().unwrap();
        if is_noticed {
            // What cannot be read is made again from the events.
            assert_eq!(said(reader.as_mut(), RUN), due, "{sql}");
        } else {
            // It is read as it is, without a panic.
            let index = Index::open(reader.as_mut(), RUN).unwrap();
            let _ = index.calls(reader.as_mut(), &CallPath::new("summary").unwrap());
            let _ = index.caused_by(reader.as_mut(), &BTreeSet::from([Seq(2)]));
            let _ = index.census(reader.as_mut());
        }
        let verified = verify_run(reader.as_mut(), RUN, None).unwrap();
        let fits = |fault: &Fault| matches!(fault, Fault::Event(EventFault::Index { .. }));
        let named = verified.finding.map(|found| found.seq.is_none() && fits(&found.fault));
        assert_eq!(named, names_run.then_some(true), "{sql}");
    }
}

/// Counts the events that are read.
struct Counting {
    reader: Box<dyn Reader>,
    events: usize,
}

impl Reader for Counting {
    fn runs(&mut self) -> Result<Vec<RunHead>, LogError> {
        self.reader.runs()
    }

    fn events(
        &mut self,
        run: RunId,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, LogError> {
        let events = self.reader.events(run, after, limit)?;
        self.events += events.len();
        Ok(events)
    }

    fn request(&mut self, prompt: PromptHash) -> Result<Option<Request>, LogError> {
        self.reader.request(prompt)
    }

    fn ledger(&mut self, after: u64, limit: usize) -> Result<Vec<LedgerEntry>, LogError> {
        self.reader.ledger(after, limit)
    }

    fn index(&mut self) -> Option<&mut dyn StoreIndex> {
        self.reader.index()
    }
}

#[test]
fn an_audit_of_a_long_run_reads_few_events_and_finds_the_same() {
    let folder = Folder::new();
    let study = study(12_000, 9);
    let log = folder.log();
    append(log.backend().as_ref(), RUN, &study, &[6000]);
    let asked =
        study.iter().rposition(|e| e.call.as_ref().is_some_and(|c| c.as_str() == "vote/p_0003"));
    let target = Target::Seq(Seq(asked.unwrap() as u64 + 1));
    let mut counting = Counting { reader: log.reader().unwrap(), events: 0 };
    let with_index = audit(&mut counting, RUN, &target, &Parsers::default()).unwrap();
    let read = counting.events;
    folder
        .sql()
        .execute_batch("DROP TRIGGER event_index_no_delete; DELETE FROM event_index")
        .unwrap();
    let mut counting = Counting { reader: folder.log().reader().unwrap(), events: 0 };
    let without = audit(&mut counting, RUN, &target, &Parsers::default()).unwrap();
    assert_eq!(format!("{with_index:?}"), format!("{without:?}"));
    assert!(counting.events > study.len());
    // The newest events, which no piece covers, and the participant's, which are a fortieth of all.
    assert!(read < study.len() % PIECE as usize + study.len() / 4, "{read} of {}", study.len());
    assert!(with_index.decision.is_some() && !with_index.facts.is_empty());
}

#[test]
fn a_log_that_has_reached_its_limit_stays_sound() {
    let folder = Folder::new();
    append(folder.log().backend().as_ref(), RUN, &study(100, 3), &[1000]);
    let options = SqliteOptions { max_bytes: Some(400_000), ..SqliteOptions::default() };
    let backend = SqliteBackend::open(&folder.path(), options).unwrap();
    let study = study(10_000, 4);
    let mut committer = backend.committer().unwrap();
    let refused = committer.commit(&[Append::new(OTHER, Head::START, study)]);
    assert!(matches!(refused, Err(LogError::Full { .. })), "{refused:?}");
    assert_sound(&folder.log());
}
