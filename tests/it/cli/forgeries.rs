//! Many recordings as an attacker may write them: whatever the settings contain, no byte of a key
//! is sent, no server is contacted, and nothing is written but the log and a folder in `outputs`.
//!
//! `RETOLD_TEST_FORGED=2000` sets the number of recordings; the default takes a few seconds.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::Rng;
use retold::exchange::Recording;
use retold::id::RunId;
use retold::run::rng_for;
use serde_json::{Value, json};

use crate::support::cli::{Place, Said};
use crate::support::forge::{Listener, forged, holds, recording, settings};

const KEY: &str = "sk-live-0123456789abcdefSECRET";

const STUDIES: [&str; 5] = [
    "adventure_small.jsonl",
    "deliberation_small.jsonl.zst",
    "game24_small.jsonl",
    "public_goods_small.jsonl",
    "society_small.jsonl",
];

/// What an attacker may put into any study: places to connect to, read from or write to.
struct Bait {
    listener: Listener,
    /// A folder next to the one where commands run.
    outside: PathBuf,
}

impl Bait {
    /// What an attacker may write instead of a text.
    fn text(&self, rng: &mut ChaCha12Rng) -> String {
        let (url, outside) = (self.listener.url(), self.outside.display());
        let all = [
            format!("{url}/v1"),
            format!("{}/v1?k=$OPENAI_API_KEY", url.replace("//", "//${OPENAI_API_KEY}:x@")),
            format!("{outside}/new"),
            format!("{outside}/victim"),
            "../outside/new".to_owned(),
            "../outside/victim".to_owned(),
            "../../../../../../../../tmp/../tmp/retold-evil".to_owned(),
            "link".to_owned(),
            "link/new".to_owned(),
            "dangling".to_owned(),
            "..".to_owned(),
            ".".to_owned(),
            "/dev/stdin".to_owned(),
            "~/new".to_owned(),
            "$OPENAI_API_KEY".to_owned(),
            "{{ env.OPENAI_API_KEY }}".to_owned(),
            "{% include \"../outside/victim\" %}{OPENAI_API_KEY}".to_owned(),
            format!("file://{outside}/victim"),
            "$(touch ../outside/new)`id`".to_owned(),
            "victim\0\u{1b}[2J\u{202e}".to_owned(),
        ];
        all[pick(rng, all.len())].clone()
    }

    /// A model as an attacker may configure it.
    fn model(&self, rng: &mut ChaCha12Rng) -> Value {
        let text = self.text(rng);
        match pick(rng, 4) {
            0 => json!({"kind": "openai", "base_url": text}),
            1 => json!({"kind": "openai", "base_url": format!("{}/v1", self.listener.url())}),
            2 => json!({"kind": "scripted", "answers": text}),
            _ => json!({"kind": "simulated", "base_url": text, "answers": text}),
        }
    }
}

fn pick(rng: &mut ChaCha12Rng, below: usize) -> usize {
    usize::try_from(rng.next_u64() % below as u64).unwrap()
}

/// Collects the JSON pointer of every text in a value.
fn texts(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(path.to_owned()),
        Value::Array(list) => {
            let each = (0..).zip(list);
            each.for_each(|(n, value)| texts(value, &format!("{path}/{n}"), found));
        }
        Value::Object(map) => {
            let each = map.iter();
            each.for_each(|(key, value)| texts(value, &format!("{path}/{key}"), found));
        }
        _ => {}
    }
}

/// Replaces texts with bait: one after the other, and in some recordings all of them.
fn baited(settings: &mut Value, number: usize, bait: &Bait, rng: &mut ChaCha12Rng) {
    let mut found = Vec::new();
    texts(settings, "", &mut found);
    // Names that lead elsewhere in every known way; a config may omit them.
    for path in ["/experiment/config/persona_storage", "/experiment/config/personas_url"] {
        if let Some(config) =
            settings.pointer_mut("/experiment/config").and_then(Value::as_object_mut)
            && pick(rng, 3) == 0
        {
            let (_, key) = path.rsplit_once('/').unwrap();
            config.insert(key.to_owned(), bait.text(rng).into());
        }
    }
    let people = settings.pointer("/experiment/personas").and_then(Value::as_array).map(Vec::len);
    if let Some(people) = people.filter(|_| pick(rng, 3) == 0) {
        let drawn = vec![Value::Null; people];
        settings["experiment"]["pool"] = json!({"drawn": drawn, "spare": []});
    }
    match pick(rng, 8) {
        0 => found
            .iter()
            .for_each(|path| *settings.pointer_mut(path).unwrap() = bait.text(rng).into()),
        _ => {
            let path = &found[number / STUDIES.len() % found.len()];
            *settings.pointer_mut(path).unwrap() = bait.text(rng).into();
        }
    }
    for name in ["/experiment/config/pilot_id", "/experiment/config/experiment_id"] {
        if let Some(place) = settings.pointer_mut(name).filter(|_| pick(rng, 3) == 0) {
            *place = bait.text(rng).into();
        }
    }
    if pick(rng, 2) == 0 {
        settings["runtime"]["model"] = bait.model(rng);
    }
}

/// Every file of a folder with its bytes, and the targets of links, except the log and the contents
/// of `outputs`.
fn tree(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let kind = path.symlink_metadata().unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let ours = folder.ends_with("work") && (name.starts_with("retold.db") || name == "outputs");
        // The pool's own place, which no recording can choose.
        let pool = folder.ends_with("work") && name == "data";
        if ours || pool || name == "forged.jsonl" {
            continue;
        }
        if kind.is_symlink() {
            let target = std::fs::read_link(&path).unwrap();
            found.insert(path, target.into_os_string().into_encoded_bytes());
        } else if kind.is_dir() {
            found.insert(path.clone(), Vec::new());
            tree(&path, found);
        } else {
            found.insert(path.clone(), std::fs::read(&path).unwrap());
        }
    }
}

/// Asserts that a folder of outputs has one plain name in `outputs` and is not a link. The log file
/// of an unfinished run is next to it.
fn assert_plain_outputs(work: &Path) {
    let Ok(entries) = std::fs::read_dir(work.join("outputs")) else { return };
    for entry in entries {
        let entry = entry.unwrap();
        let name = entry.file_name().to_string_lossy().into_owned();
        let kind = entry.file_type().unwrap();
        let is_log = kind.is_file()
            && name.ends_with(".log")
            && std::fs::read(entry.path()).unwrap().starts_with(b"# written by retold");
        assert!((kind.is_dir() || is_log) && !name.starts_with('.'), "outputs/{name}");
    }
}

/// Runs one forged recording after the other through every command that executes recordings.
struct Trial {
    place: Place,
    bait: Bait,
    before: BTreeMap<PathBuf, Vec<u8>>,
    codes: BTreeMap<i32, usize>,
}

impl Trial {
    fn new() -> Trial {
        let place = Place::new();
        std::fs::create_dir(place.path("outside")).unwrap();
        std::fs::create_dir(place.path("work")).unwrap();
        place.write("outside/victim", "precious");
        std::os::unix::fs::symlink("../outside", place.path("work/link")).unwrap();
        std::os::unix::fs::symlink("../outside/new", place.path("work/dangling")).unwrap();
        let bait = Bait { listener: Listener::new(), outside: place.path("outside") };
        let mut before = BTreeMap::new();
        tree(place.root(), &mut before);
        Trial { place, bait, before, codes: BTreeMap::new() }
    }

    fn run(&mut self, number: usize, args: &[&str]) {
        let mut command = self.place.command();
        command.args(args).args(["--quiet", "-v"]).current_dir(self.place.path("work"));
        command.env("OPENAI_API_KEY", KEY);
        let said = Said::ended(&mut command);
        assert!((0..=4).contains(&said.code), "{number} {args:?}: {} {}", said.code, said.err);
        for text in [&said.out, &said.err] {
            assert!(!holds(text.as_bytes(), KEY), "{number} {args:?}: {text}");
            assert!(!text.contains("precious"), "{number} {args:?}: {text}");
        }
        *self.codes.entry(said.code).or_default() += 1;
    }

    fn forge(&mut self, number: usize, base: &Recording) {
        let mut rng = rng_for(number as u64, "forgeries");
        let mut settings = settings(base);
        baited(&mut settings, number, &self.bait, &mut rng);
        let whole = base.head.seq.0 as usize;
        let events = if pick(&mut rng, 3) == 0 { whole } else { whole / 2 };
        let run = RunId((number as u64 + 1).to_be_bytes());
        let text = forged(base, run, &settings, events, pick(&mut rng, 2) == 0);
        self.place.write("work/forged.jsonl", text);
        let _ = std::fs::remove_file(self.place.path("work/retold.db"));
        for end in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(self.place.path(&format!("work/retold.db{end}")));
        }
        self.run(number, &["import", "forged.jsonl"]);
        for args in [
            &["run", "--resume", "latest"][..],
            &["replay", "latest"],
            &["export", "latest", "--as", "outputs"],
            &["fork", "latest", "--at", "5"],
            &["study", "adventure", "play", "--resume", "latest"],
        ] {
            // Running all commands would take a few seconds per recording, so they take turns.
            if args.contains(&"--resume") || pick(&mut rng, 2) == 0 {
                self.run(number, args);
            }
        }
        let mut after = BTreeMap::new();
        tree(self.place.root(), &mut after);
        assert!(after == self.before, "{number} changed {:?}", changes(&self.before, &after));
        assert_plain_outputs(&self.place.path("work"));
        let _ = std::fs::remove_dir_all(self.place.path("work/outputs"));
        let _ = std::fs::remove_dir_all(self.place.path("work/data"));
    }
}

fn changes(
    before: &BTreeMap<PathBuf, Vec<u8>>,
    after: &BTreeMap<PathBuf, Vec<u8>>,
) -> Vec<PathBuf> {
    let all = before.keys().chain(after.keys());
    all.filter(|path| before.get(*path) != after.get(*path)).cloned().collect()
}

/// How many recordings are forged.
#[expect(clippy::disallowed_methods, reason = "more are asked for by hand")]
fn tries() -> usize {
    std::env::var("RETOLD_TEST_FORGED").map_or(60, |n| n.parse().unwrap())
}

#[test]
fn no_recording_takes_a_key_or_writes_elsewhere() {
    let tries = tries();
    let folder = Path::new(env!("RETOLD_ROOT")).join("recordings");
    let bases = STUDIES.map(|study| recording(&folder.join(study)));
    let threads = 2;
    let work = |thread: usize| {
        let mut trial = Trial::new();
        for number in (thread..tries).step_by(threads) {
            trial.forge(number, &bases[number % bases.len()]);
        }
        // Whatever was sent has arrived by now, because the commands that would have sent it have
        // ended.
        let heard = trial.bait.listener.heard();
        assert_eq!((heard.connections, heard.bytes.len()), (0, 0), "{:?}", heard.bytes);
        trial.codes
    };
    let codes: Vec<BTreeMap<i32, usize>> = std::thread::scope(|scope| {
        let started = (0..threads).map(|thread| scope.spawn(move || work(thread)));
        started.collect::<Vec<_>>().into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let total = |code: i32| codes.iter().filter_map(|codes| codes.get(&code)).sum::<usize>();
    eprintln!("{tries} forged recordings: commands ended {codes:?}");
    assert!(total(0) > tries, "most of them can be imported and used");
    assert!(total(2) > tries / 4, "and many are refused");
}
