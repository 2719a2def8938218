//! All five studies, killed (SIGKILL) at seeded moments, half of them with a bit of the WAL flipped
//! afterwards: every loss is named, and whatever was lost, the resumed run reaches the end of an
//! undisturbed run. `scripts/kills` does it a thousand times.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use rand_chacha::rand_core::Rng;
use retold::log::{HighWaterMark, marks};
use retold::run::rng_for;
use serde_json::Value;

use crate::support::cli::Place;
use crate::support::logs::open;

/// Each study, small enough for a thousand runs.
const STUDIES: [(&str, &str); 5] = [
    ("game24", "game24.yaml --set puzzles.rows=900..904 --set samples=6"),
    ("deliberation", "deliberation_small.yaml --set participants_per_condition=3"),
    ("public_goods", "public_goods_small.yaml --set game_length=2"),
    ("society", "society_small.yaml --set agents=5 --set days=3"),
    ("adventure", "adventure.yaml --set games=2 --set turns=4"),
];

/// How many processes are killed.
#[expect(clippy::disallowed_methods, reason = "how the script asks for more")]
fn kills() -> u64 {
    std::env::var("RETOLD_TEST_KILLS").map_or(20, |n| n.parse().unwrap())
}

/// A study, and how an undisturbed run of it ends.
struct Study {
    name: &'static str,
    command: String,
    digest: Value,
    events: u64,
    seen: Seen,
}

/// The results of a study's kills.
#[derive(Default)]
struct Seen {
    kills: u64,
    sound: u64,
    flips: u64,
    named: u64,
    harmless: u64,
}

impl Study {
    fn undisturbed(name: &'static str, args: &str) -> Self {
        let command = format!("run {}/config/{args} --quiet --no-outputs", env!("RETOLD_ROOT"));
        let place = Place::new();
        let (object, code) = place.json(&command);
        assert_eq!(code, 0, "{object}");
        let digest = object["outcome_digest"].clone();
        assert!(digest.is_string(), "{object}");
        let events = marks(&place.path("retold.db"))[0].head.seq.0;
        Study { name, command, digest, events, seen: Seen::default() }
    }

    /// Kills a run once the log has that many events; `None` if the run was faster.
    fn killed_at(&self, seq: u64) -> Option<(Place, HighWaterMark)> {
        let place = Place::new();
        let log = place.path("retold.db");
        let mut process = place.command();
        process.args(self.command.split_whitespace());
        let mut process = process.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let reached = || marks(&log).first().is_some_and(|mark| mark.head.seq.0 >= seq);
        while !reached() && process.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_micros(200));
        }
        process.kill().unwrap();
        let was_killed = process.wait().unwrap().code().is_none();
        let mark = marks(&log).first().copied()?;
        was_killed.then_some((place, mark))
    }

    /// Checks that what is left makes a run of another log, and that it reaches the same end there: forked if something of it is
    /// lost, continued if nothing is, or started anew if all is.
    fn goes_on_from_the_rest(&self, place: &Place, what: &str) {
        let (copied, _) = place.json("copy --to rest.db");
        let runs = copied["runs"].as_array().cloned().unwrap_or_default();
        let next = match runs.first() {
            Some(run) if run["rest"].is_string() => {
                format!("fork {} --quiet", run["rest"].as_str().unwrap())
            }
            Some(_) => "run --resume latest --quiet".to_owned(),
            None => self.command.clone(),
        };
        let (ended, code) = place.json(&format!("--log rest.db {next}"));
        assert_eq!((code, &ended["outcome_digest"]), (0, &self.digest), "{what}: {ended}");
        let (object, code) = place.json("verify --log rest.db");
        assert_eq!(code, 0, "{what}: {object}");
    }

    /// Checks that what is left is sound, or its loss is named, and that the resumed run reaches
    /// the same end.
    fn check(&mut self, place: &Place, mark: HighWaterMark, flip: Option<u64>) {
        let log = place.path("retold.db");
        let wal = place.path("retold.db-wal");
        let flipped = flip.is_some_and(|random| {
            let mut bytes = fs::read(&wal).unwrap_or_default();
            let bits = bytes.len() as u64 * 8;
            if bits > 0 {
                let bit = (random % bits) as usize;
                bytes[bit / 8] ^= 1 << (bit % 8);
                fs::write(&wal, bytes).unwrap();
            }
            bits > 0
        });
        let what = format!("{}, seq {}, flip {flip:?}", self.name, mark.head.seq);
        let (object, code) = place.json("verify");
        assert_eq!(object["ok"], Value::Bool(code == 0), "{what}: {object}");
        self.seen.kills += 1;
        self.seen.flips += u64::from(flipped);
        if code == 0 {
            let run = open(&log).reader().unwrap().runs().unwrap().remove(0);
            assert!(
                run.head.seq >= mark.head.seq,
                "{what}: a silent loss, ends at {}",
                run.head.seq
            );
            self.seen.sound += u64::from(!flipped);
            self.seen.harmless += u64::from(flipped);
        } else {
            assert!(flipped, "{what}: {object}");
            self.seen.named += 1;
            self.goes_on_from_the_rest(place, &what);
            return;
        }
        let anything = !open(&log).reader().unwrap().runs().unwrap().is_empty();
        let next_command = if anything { "run --resume latest --quiet" } else { &self.command };
        let (ended, code) = place.json(next_command);
        assert_eq!((code, &ended["outcome_digest"]), (0, &self.digest), "{what}: {ended}");
        let (object, code) = place.json("verify");
        assert_eq!(code, 0, "{what}: {object}");
    }
}

#[test]
fn every_loss_of_a_killed_study_is_named_and_it_reaches_the_same_end() {
    let mut studies = STUDIES.map(|(name, args)| Study::undisturbed(name, args));
    let mut rng = rng_for(1, "kills and flips");
    for n in 0..kills() {
        let study = &mut studies[n as usize % STUDIES.len()];
        let left = (0..20).find_map(|_| study.killed_at(1 + rng.next_u64() % (study.events - 1)));
        let (place, mark) = left.expect("it must be killed before its end once in twenty times");
        let random = rng.next_u64();
        study.check(&place, mark, (n / 5).is_multiple_of(2).then_some(random));
    }
    eprintln!(
        "| study | events | kills | no flip: verified | flips | loss named | nothing lost | silent |"
    );
    eprintln!("|---|---|---|---|---|---|---|---|");
    for Study { name, events, seen, .. } in &studies {
        let Seen { kills, sound, flips, named, harmless } = seen;
        assert_eq!(kills - flips, *sound);
        assert_eq!(*flips, named + harmless);
        eprintln!("| {name} | {events} | {kills} | {sound} | {flips} | {named} | {harmless} | 0 |");
    }
}
