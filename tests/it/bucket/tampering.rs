//! What the program says of a log whose objects somebody changed, removed, exchanged or added: `verify` names each, and
//! commands that show runs read what can be read.

use super::lab::Lab;

/// A log with two runs, as it was and as it is.
struct Tampered<'a> {
    lab: &'a Lab,
    whole: Vec<(String, Vec<u8>)>,
    /// The ids of the runs.
    runs: [String; 2],
    /// The names of the segments of the first, in order.
    segments: Vec<String>,
}

/// What was done to a log, and what is said of it.
struct Case {
    name: &'static str,
    tamper: fn(&Tampered<'_>),
    /// What `verify` says, with the names of objects.
    verify: fn(&Tampered<'_>) -> String,
    /// Whether the first run can still be trusted, and so `show` and `report` end with 0.
    is_sound: bool,
    /// Whether `log` notices, which reads the newest runs for their calls.
    log_notices: bool,
}

impl Tampered<'_> {
    fn segment(&self, number: usize) -> &str {
        &self.segments[number - 1]
    }

    fn last(&self) -> &str {
        self.segments.last().unwrap()
    }

    fn after_last(&self) -> String {
        let folder = self.last().rsplit_once('/').unwrap().0;
        format!("{folder}/0000009999.jsonl.zst")
    }

    fn changed(&self, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = self.lab.object(name);
        change(&mut bytes);
        self.lab.put(name, bytes);
    }

    fn event(&self, seq: &str) -> String {
        format!("run {}, seq {seq}: ", self.runs[0])
    }
}

const FIRST_OF_LEDGER: &str = "ledger/0000000001.jsonl.zst";

const LAST_OF_LEDGER: &str = "ledger/0000000004.jsonl.zst";

const CASES: [Case; 15] = [
    Case {
        name: "a byte of a segment is changed",
        tamper: |log| log.changed(log.segment(4), |bytes| bytes[30] ^= 1),
        verify: |log| format!("{} was changed: its bytes do not have the hash", log.segment(4)),
        is_sound: false,
        log_notices: true,
    },
    Case {
        name: "a segment is cut off",
        tamper: |log| log.changed(log.segment(4), |bytes| bytes.truncate(bytes.len() / 2)),
        verify: |log| format!("{} was changed: it is cut off", log.segment(4)),
        is_sound: false,
        log_notices: true,
    },
    Case {
        name: "two segments are exchanged",
        tamper: |log| {
            let [one, other] = [2, 4].map(|number| log.lab.object(log.segment(number)));
            log.lab.put(log.segment(2), other);
            log.lab.put(log.segment(4), one);
        },
        verify: |log| format!("{} holds the segment of run {}", log.segment(2), log.runs[0]),
        is_sound: false,
        log_notices: true,
    },
    Case {
        name: "a segment of another run is in its place",
        tamper: |log| {
            let of_other = format!("runs/{}/", log.runs[1]);
            let (_, other) =
                log.whole.iter().filter(|(name, _)| name.starts_with(&of_other)).nth(1).unwrap();
            log.lab.put(log.segment(2), other.clone());
        },
        verify: |log| format!("{} holds the segment of run {}", log.segment(2), log.runs[1]),
        is_sound: false,
        log_notices: true,
    },
    Case {
        name: "the first segment is missing",
        tamper: |log| log.lab.remove(log.segment(1)),
        verify: |log| format!("{}the object {} is missing", log.event("1"), log.segment(1)),
        is_sound: false,
        log_notices: true,
    },
    Case {
        name: "a segment in the middle is missing",
        tamper: |log| log.lab.remove(log.segment(4)),
        verify: |log| format!("the object {} is missing", log.segment(4)),
        is_sound: false,
        log_notices: true,
    },
    Case {
        name: "the last segment is missing",
        tamper: |log| log.lab.remove(log.last()),
        verify: |log| format!("the object {} is missing", log.last()),
        is_sound: false,
        log_notices: true,
    },
    Case {
        name: "the last segment is changed",
        tamper: |log| log.changed(log.last(), |bytes| bytes[30] ^= 1),
        verify: |log| format!("the object {} was changed", log.last()),
        is_sound: false,
        log_notices: true,
    },
    Case {
        name: "all segments of a run are missing",
        tamper: |log| log.segments.iter().for_each(|name| log.lab.remove(name)),
        verify: |log| format!("{}the object {} is missing", log.event("1"), log.segment(1)),
        is_sound: false,
        log_notices: true,
    },
    Case {
        name: "the last segment is there twice",
        tamper: |log| log.lab.put(&log.after_last(), log.lab.object(log.last())),
        verify: |log| format!("the object {} holds the segment of run ", log.after_last()),
        is_sound: false,
        log_notices: true,
    },
    Case {
        name: "an object of the ledger is missing",
        tamper: |log| log.lab.remove(FIRST_OF_LEDGER),
        verify: |_| format!("the object {FIRST_OF_LEDGER} is missing"),
        is_sound: false,
        log_notices: true,
    },
    Case {
        name: "an object of the ledger is changed",
        tamper: |log| log.changed(FIRST_OF_LEDGER, |bytes| bytes[20] ^= 1),
        verify: |_| format!("the object {FIRST_OF_LEDGER} was changed"),
        // Later objects repeat its lines.
        is_sound: true,
        log_notices: false,
    },
    Case {
        name: "the last object of the ledger is cut off",
        tamper: |log| log.changed(LAST_OF_LEDGER, |bytes| bytes.truncate(bytes.len() / 2)),
        verify: |_| format!("the object {LAST_OF_LEDGER} was changed"),
        is_sound: false,
        log_notices: true,
    },
    Case {
        name: "the whole ledger is missing",
        tamper: |log| {
            let ledger = log.whole.iter().filter(|(name, _)| name.starts_with("ledger/"));
            ledger.for_each(|(name, _)| log.lab.remove(name));
        },
        verify: |_| "the object ledger/0000000000.jsonl.zst is missing".to_owned(),
        is_sound: false,
        log_notices: true,
    },
    Case {
        name: "a foreign object",
        tamper: |log| log.lab.put("runs/notes.txt", b"hello".to_vec()),
        verify: |_| "the object runs/notes.txt is not a part of a log".to_owned(),
        is_sound: true,
        log_notices: false,
    },
];

/// Names of objects in a bucket begin with the prefix of the log.
fn without_prefix(text: &str) -> String {
    text.replace("study/", "")
}

fn everything_is_said<'a>(lab: &Lab, cases: impl Iterator<Item = &'a Case>) {
    for seed in [1, 2] {
        lab.ok(&format!("run small.yaml --quiet --no-outputs --set seed={seed}"));
    }
    let listed = lab.json("log");
    let runs = [0, 1].map(|n| listed["runs"][n]["run"].as_str().unwrap().to_owned());
    let whole = lab.everything();
    let of_first = whole.iter().map(|(name, _)| name.clone());
    let segments: Vec<String> =
        of_first.filter(|name| name.starts_with(&format!("runs/{}", runs[0]))).collect();
    assert!(segments.len() > 5, "{segments:?}");
    let log = Tampered { lab, whole, runs, segments };
    for case in cases {
        (case.tamper)(&log);
        is_said(&log, case);
        lab.restore(&log.whole);
    }
    assert!(lab.ok("verify").contains("2 runs verified"));
}

fn is_said(log: &Tampered<'_>, case: &Case) {
    let (lab, name, run) = (log.lab, case.name, &log.runs[0]);
    let verified = lab.run("verify");
    let due = (case.verify)(log);
    assert_eq!(verified.code, 1, "{name}: {}{}", verified.out, verified.err);
    assert!(without_prefix(&verified.out).contains(&due), "{name}: {due}\n{}", verified.out);
    assert!(!verified.out.contains('\u{1b}'), "{name}: {:?}", verified.out);
    let listed = lab.run("log");
    assert_eq!(listed.code, i32::from(case.log_notices), "{name}: {}{}", listed.out, listed.err);
    assert!(log.runs.iter().all(|run| listed.out.contains(run)), "{name}: {}", listed.out);
    for args in [format!("log {run}"), format!("report {run} --output report.html --force")] {
        let said = lab.run(&args);
        let due = i32::from(!case.is_sound);
        assert_eq!(said.code, due, "{name}: {args}\n{}{}", said.out, said.err);
        assert!(!said.err.contains("panicked"), "{name}: {args}\n{}", said.err);
    }
    let shown = lab.run(&format!("show {run}"));
    let text = format!("{}{}", shown.out, shown.err);
    assert_eq!(shown.code, i32::from(!case.is_sound), "{name}: {text}");
    // The other run is as it was.
    let other = lab.run(&format!("verify {}", log.runs[1]));
    assert!(other.out.contains(": ok, "), "{name}: {}{}", other.out, other.err);
}

#[test]
fn of_a_folder_everything_is_said() {
    everything_is_said(&Lab::folder(), CASES.iter());
}

/// A bucket differs from a folder in how an object is read, not in what follows from it: some of the cases show that.
#[test]
#[cfg_attr(not(real_clients), ignore = "scripts/test installs moto")]
fn of_a_bucket_the_same_is_said() {
    everything_is_said(&Lab::bucket(), CASES.iter().step_by(4));
}

/// Nobody starts a new log among the runs of one whose marker is gone.
#[test]
fn a_place_whose_marker_is_missing_is_not_read_or_written_before_it_is_back() {
    let lab = Lab::folder();
    lab.ok("run small.yaml --quiet --no-outputs");
    let whole = lab.everything();
    lab.remove("retold.json");
    for args in [
        "run small.yaml --quiet --set seed=2",
        "run --resume latest",
        "copy --from other.db",
        "log",
        "verify",
    ] {
        lab.place.ok("run small.yaml --quiet --log other.db --no-outputs");
        let said = match args.strip_prefix("copy ") {
            Some(rest) => lab.run(&format!("copy {rest} --to {}", lab.log)),
            None => lab.run(args),
        };
        assert_eq!(said.code, 1, "{args}: {}{}", said.out, said.err);
        let text = format!("{}{}", said.out, said.err);
        assert!(text.contains("the object retold.json is missing"), "{args}: {text}");
        let is_hinted = args == "verify" || said.err.contains("put retold.json back");
        assert!(is_hinted, "{args}: {}", said.err);
    }
    assert_eq!(lab.everything().len(), whole.len() - 1);
    // What is said to help does.
    lab.put("retold.json", br#"{"format":1,"retold":"log"}"#.to_vec());
    lab.ok("verify");
    lab.ok("replay latest --quiet");
}
