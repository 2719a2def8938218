//! Studies by batch whose process is killed (SIGKILL) before and after requests take effect, whose requests vanish and whose
//! replies are lost or errors: nothing is submitted twice, no answer that was paid for is lost, and the outcome is that of a
//! live run. `scripts/batch-kills` does it a thousand times.
//!
//! Nothing here knows how retold goes on: it is started until it has ended, by its own words.

use std::collections::{BTreeMap, VecDeque};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use rand_chacha::rand_core::Rng;
use retold::run::{RunRecord, rng_for};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::batches::{BatchFake, Counts, Kind, Options, Trouble, What, study};
use crate::support::cli::Place;
use crate::support::logs::open;
use crate::support::waiting::ended;

/// Forty questions in four layers, each about the day before.
const STUDY: &str = "society_small.yaml --set agents=10 --set days=4 --set retry.base_seconds=0.01";

/// Each API: its kind, the path of its base URL, and the variable of its key.
const APIS: [(&str, &str, &str); 3] = [
    ("openai", "/v1", "OPENAI_API_KEY"),
    ("anthropic", "", "ANTHROPIC_API_KEY"),
    ("gemini", "", "GEMINI_API_KEY"),
];

/// Most of the time, a process waits for the disk.
const AT_ONCE: usize = 4;

/// The exit code of a run that waits for a batch.
const WAITS: i32 = 75;

/// How many processes are disturbed.
#[expect(clippy::disallowed_methods, reason = "how the script asks for more")]
fn cases() -> u64 {
    std::env::var("RETOLD_TEST_BATCH_KILLS").map_or(20, |n| n.parse().unwrap())
}

/// How a request is disturbed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    /// The process is killed before the request takes effect.
    KilledBefore,
    /// The process is killed before it has the reply.
    KilledAfter,
    /// The process is killed a millisecond after the reply, while it records what was in it.
    KilledLater,
    /// The process is killed when it has recorded the first half of the reply.
    KilledHalfway,
    Vanished,
    Lost,
    Refused(u16),
}

const HOWS: [How; 8] = [
    How::KilledBefore,
    How::KilledAfter,
    How::KilledLater,
    How::KilledHalfway,
    How::Vanished,
    How::Lost,
    How::Refused(429),
    How::Refused(500),
];

/// A run in a folder, against a fake that outlives its processes.
struct Trial {
    place: Place,
    url: String,
    fake: BatchFake,
    api: usize,
    /// It waits for its batches in one process.
    waits: bool,
}

/// How a process ended: its exit code, unless it was killed, and what it printed.
struct End {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Trial {
    fn new(api: usize, waits: bool) -> Self {
        // A batch has ended at the fourth look.
        let options = Options { per_get: 1500, ..Options::default() };
        let (url, fake) = BatchFake::with(options, study("society"));
        Trial { place: Place::new(), url, fake, api, waits }
    }

    fn command(&self, args: &str) -> Command {
        let (kind, path, key) = APIS[self.api];
        let mut command = self.place.command();
        command.args(args.split_whitespace()).args(["--quiet", "--json", "--no-outputs"]);
        command.args(["--model", kind, "--base-url", &format!("{}{path}", self.url)]);
        command.env(key, "sk-test").stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn first(&self) -> String {
        format!("run {}/config/{STUDY}", env!("RETOLD_ROOT"))
    }

    /// The command that goes on, once there is a run.
    fn next(&self) -> String {
        let has_run =
            self.place.path("retold.db").exists() && self.place.run("log latest --json").code == 0;
        if has_run { "run --resume latest".to_owned() } else { self.first() }
    }

    fn flags(&self) -> &'static str {
        if self.waits { "--batch --poll 0 --wait" } else { "--batch --poll 0" }
    }

    /// The number of answers in the log.
    fn answers(&self) -> u64 {
        let log = open(&self.place.path("retold.db"));
        let mut reader = log.reader().unwrap();
        let run = reader.runs().unwrap()[0].run;
        RunRecord::read(reader.as_mut(), run).unwrap().answers
    }

    /// Runs a process; the fake kills it if this is what it has to do.
    fn process(&self, args: &str, victim: &Victim) -> End {
        let child = self.command(args).spawn().unwrap();
        victim.0.store(i32::try_from(child.id()).unwrap(), Ordering::SeqCst);
        let output = ended(child);
        victim.0.store(0, Ordering::SeqCst);
        End {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Disturbs requests, by their number from 1, and runs to the end.
    fn disturbed(&self, disturbed: &BTreeMap<u64, How>, what: &str) -> (Value, u64) {
        let mut deaths = VecDeque::new();
        for (nth, how) in disturbed {
            let trouble = match how {
                How::KilledBefore | How::Vanished => What::Vanished,
                How::KilledAfter | How::Lost => What::Lost,
                How::KilledLater => What::Answered,
                How::KilledHalfway => What::Halfway,
                How::Refused(status) => What::Refused(*status),
            };
            self.fake.trouble(Trouble { kind: None, nth: *nth, what: trouble });
            if !matches!(how, How::Refused(_)) {
                deaths.push_back(*how);
            }
        }
        let victim = Victim::default();
        let hooked = victim.clone();
        self.fake.on_trouble(move || match deaths.pop_front() {
            Some(How::KilledBefore | How::KilledAfter) => hooked.kill(),
            Some(How::KilledLater) => hooked.kill_in(1),
            Some(How::KilledHalfway) => hooked.kill_in(300),
            _ => {}
        });
        self.run(&victim, what)
    }

    /// Starts processes until the run has ended; returns what the last one printed, and how many there were.
    fn run(&self, victim: &Victim, what: &str) -> (Value, u64) {
        let mut said = Vec::new();
        for count in 1..=60 {
            let args = format!("{} {}", self.next(), self.flags());
            let End { code, out, err } = self.process(&args, victim);
            match code {
                Some(0) => return (serde_json::from_str(&out).unwrap(), count),
                // It was killed, waits, or could not go on after what was done to it.
                None | Some(WAITS | 3 | 4) => said.push(format!("[{code:?}] {err}")),
                Some(code) => panic!("{what}: exit {code}: {args}\n{out}{err}"),
            }
        }
        panic!("{what}: it never ended: {}", said.join("\n"));
    }
}

/// The process that the fake may kill: its id, and 0 once it is gone.
#[derive(Clone, Default)]
struct Victim(Arc<AtomicI32>);

impl Victim {
    /// Kills the process and waits until it is gone, so that nothing of it follows what the fake does next.
    fn kill(&self) {
        let id = self.0.load(Ordering::SeqCst);
        let Some(pid) = Pid::from_raw(id) else { return };
        // It may have ended by itself.
        let _ = kill_process(pid, Signal::KILL);
        while self.0.load(Ordering::SeqCst) == id {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Kills the process some milliseconds from now.
    fn kill_in(&self, milliseconds: u64) {
        let victim = self.clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(milliseconds));
            victim.kill();
        });
    }
}

/// What an undisturbed run of an API is like.
struct Undisturbed {
    digest: Value,
    paid: BTreeMap<String, u64>,
    /// The number of requests of a run by batch that waits in one process, and of one that does not.
    requests: [u64; 2],
}

static UNDISTURBED: LazyLock<[Undisturbed; 3]> = LazyLock::new(|| [0, 1, 2].map(Undisturbed::of));

impl Undisturbed {
    fn of(api: usize) -> Self {
        let live = Trial::new(api, true);
        let end = live.process(&live.first(), &Victim::default());
        assert_eq!(end.code, Some(0), "{}", end.err);
        let whole: Value = serde_json::from_str(&end.out).unwrap();
        let (digest, paid) = (whole["outcome_digest"].clone(), live.fake.counts().paid);
        assert!(digest.is_string() && paid.values().sum::<u64>() >= 40, "{whole}");
        let mut undisturbed = Undisturbed { digest, paid, requests: [0, 0] };
        for (place, waits) in [false, true].into_iter().enumerate() {
            let trial = Trial::new(api, waits);
            let (whole, _) = trial.run(&Victim::default(), "undisturbed");
            let counts = undisturbed.check(&trial, &whole, "undisturbed");
            undisturbed.requests[place] = counts.all();
        }
        undisturbed
    }

    /// Checks that a run by batch has ended as a live one, for the same questions and no more.
    fn check(&self, trial: &Trial, whole: &Value, what: &str) -> Counts {
        let counts = trial.fake.counts();
        assert_eq!(whole["outcome_digest"], self.digest, "{what}: {whole}");
        assert_eq!(counts.doubles(), Vec::<&str>::new(), "{what}: submitted twice");
        assert_eq!(counts.paid, self.paid, "{what}: an answer was paid for twice, or not used");
        assert_eq!(counts.paid_lines.values().max(), Some(&1), "{what}");
        assert_eq!(counts.of(Kind::Live), 0, "{what}: asked live");
        trial.place.ok("verify");
        counts
    }
}

#[test]
fn a_batch_that_is_killed_or_whose_replies_are_lost_ends_as_a_live_run() {
    let (next, seen) = (AtomicU64::new(0), Mutex::new(BTreeMap::<_, [u64; 2]>::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let n = next.fetch_add(1, Ordering::SeqCst);
                    if n >= cases() {
                        return;
                    }
                    let (disturbed, processes) = case(n);
                    let mut seen = seen.lock().unwrap();
                    for how in disturbed.values() {
                        let key = (APIS[n as usize % APIS.len()].0, format!("{how:?}"));
                        let counts = seen.entry(key).or_default();
                        counts[0] += 1;
                        counts[1] += processes;
                    }
                }
            });
        }
    });
    eprintln!("| API | disturbed | times | processes |");
    eprintln!("|---|---|---|---|");
    for ((api, how), [times, processes]) in seen.lock().unwrap().iter() {
        eprintln!("| {api} | {how} | {times} | {processes} |");
    }
}

#[test]
fn results_of_which_a_part_was_recorded_are_read_again() {
    for (api, undisturbed) in UNDISTURBED.iter().enumerate() {
        let trial = Trial::new(api, true);
        let (kind, what) = (Some(Kind::Results), What::Halfway);
        trial.fake.trouble(Trouble { kind, nth: 1, what });
        let victim = Victim::default();
        let hooked = victim.clone();
        trial.fake.on_trouble(move || hooked.kill_in(300));
        let end = trial.process(&format!("{} {}", trial.first(), trial.flags()), &victim);
        assert_eq!(end.code, None, "{}: it was not killed: {}", APIS[api].0, end.err);
        let answers = trial.answers();
        assert!((1..10).contains(&answers), "{}: {answers} answers", APIS[api].0);
        let (whole, _) = trial.run(&victim, APIS[api].0);
        undisturbed.check(&trial, &whole, APIS[api].0);
    }
}

/// Disturbs up to three requests of a run; returns them, and how many processes it took to end.
fn case(n: u64) -> (BTreeMap<u64, How>, u64) {
    let mut rng = rng_for(n, "kills of batches");
    let mut random = |below: u64| rng.next_u64() % below;
    let (api, waits) = (n as usize % APIS.len(), random(2) == 0);
    let undisturbed = &UNDISTURBED[api];
    let disturbed: BTreeMap<u64, How> = (0..=random(3))
        .map(|_| {
            let how = HOWS[random(HOWS.len() as u64) as usize];
            (1 + random(undisturbed.requests[usize::from(waits)]), how)
        })
        .collect();
    let what = format!("case {n}: {}, waits: {waits}, {disturbed:?}", APIS[api].0);
    let trial = Trial::new(api, waits);
    let (whole, processes) = trial.disturbed(&disturbed, &what);
    undisturbed.check(&trial, &whole, &what);
    (disturbed, processes)
}
