//! Bytes on disk per exchange, compared with the same exchanges as plain JSON Lines.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::studies as registry;
use retold::exchange::{export_exchanges, read_exchanges};
use retold::id::{CallPath, RunId, Sample};
use retold::jsonl::JsonlReader;
use retold::log::{Log, LogError, SqliteBackend, SqliteOptions};
use retold::model::scripted::ScriptedModel;
use retold::model::{Limits, Model, RetryPolicy, Throttle};
use retold::run::{Finish, Mode, Setup, Signal, execute};
use retold_game24::{Game24, Settings};
use serde_json::json;

use crate::row;
use crate::study::filler;

pub(crate) fn measure() {
    for style in ["cot", "standard"] {
        real(style);
    }
    dialogue();
    short_turns();
    long_dialogue();
}

/// The size of a closed log, and of its exchanges as plain JSON Lines.
fn sizes(path: &Path, run: RunId) -> (u64, u64, u64) {
    let backend = SqliteBackend::open(path, SqliteOptions::default()).unwrap();
    let log = Log::new(Arc::new(backend));
    let mut plain = 0;
    let exchanges =
        export_exchanges::<LogError>(log.reader().unwrap().as_mut(), run, &mut |line| {
            plain += line.len() as u64 + 1;
            Ok(())
        });
    drop(log);
    (exchanges.unwrap().written, std::fs::metadata(path).unwrap().len(), plain)
}

fn report(figure: &str, (exchanges, disk, plain): (u64, u64, u64)) {
    row(
        figure,
        &format!("{} B an exchange ({:.1} MB)", disk / exchanges, disk as f64 / 1e6),
        &format!("plain JSON Lines: {} B", plain / exchanges),
        disk as f64 / plain as f64,
    );
}

/// A real run of 10,000 answers; only our side includes decisions.
fn real(style: &str) {
    let root = PathBuf::from(env!("RETOLD_ROOT"));
    let answers = root.join(format!("../shared/data/game24/gpt-4_{style}.exchanges.jsonl.gz"));
    if !answers.exists() {
        println!("| disk, gpt-4_{style} | not measured: ../shared/data is missing | | |");
        return;
    }
    let overrides = [format!("template={style}")];
    let study = registry::study(&root.join("config/game24.yaml"), None, &overrides).unwrap();
    let settings = study.settings.experiment.read::<Settings>().unwrap();
    let game = Game24::new(settings.into_owned()).unwrap();
    let model = ScriptedModel::from_lines("answers", JsonlReader::open(&answers).unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.db");
    let backend = SqliteBackend::open_or_create(&path, SqliteOptions::default()).unwrap();
    let run = RunId([1; 8]);
    let setup = Setup {
        log: Log::new(Arc::new(backend)),
        run,
        mode: Mode::Record,
        started: retold::event::RunStarted::new(
            study.experiment.clone(),
            study.seed,
            serde_json::to_value(&study.settings).unwrap(),
            json!({}),
        ),
        model: Some(Arc::new(model) as Arc<dyn Model>),
        retry: RetryPolicy::default(),
        throttle: Throttle::new(&Limits { concurrency: 64, ..Limits::default() }).unwrap(),
        prices: retold::model::Prices::default(),
        shared_budget: None,
        holds: false,
        until: None,
        shards_end: None,
        settings_added: serde_json::Value::Null,
        rehearsal: retold::run::DryRunSettings::default(),
        signal: Signal::default(),
        on_progress: Box::new(|_| {}),
        look: Box::new(|| None),
        follow: Box::new(|_| {}),
    };
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let ended = tokio.block_on(execute(&game, setup)).unwrap();
    assert!(matches!(ended.finish, Finish::Finished));
    report(
        &format!("disk, the 10,000 real answers of gpt-4_{style}, with decisions"),
        sizes(&path, run),
    );
}

/// A dialogue of 100 turns that reaches about 200,000 tokens.
fn dialogue() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::new();
    let mut messages = Vec::new();
    for turn in 0..100_u64 {
        messages.push(json!({"role": "user", "content": filler(turn * 2, 4000)}));
        let answer = filler(turn * 2 + 1, 4000);
        let call = CallPath::new(format!("talk/{turn}")).unwrap();
        let line = json!({"call": call, "sample": 0 as Sample,
            "request": {"model": "gpt-4o", "messages": messages},
            "response": {"content": answer}});
        text.push_str(&format!("{line}\n"));
        messages.push(json!({"role": "assistant", "content": answer}));
    }
    stored("disk, one dialogue of 100 turns and 200,000 tokens", folder.path(), &text);
}

/// Stores exchanges and prints the space they take.
fn stored(figure: &str, folder: &Path, text: &str) {
    let (lines, path) = (folder.join("dialogue.jsonl"), folder.join("log.db"));
    std::fs::write(&lines, text).unwrap();
    let backend = SqliteBackend::open_or_create(&path, SqliteOptions::default()).unwrap();
    let run = RunId([2; 8]);
    let exchanges =
        read_exchanges(JsonlReader::open(&lines).unwrap(), retold::run::clock::now()).unwrap();
    exchanges.store(&backend, run).unwrap();
    // A store that is open keeps a connection, and what is in the WAL stays there until the last one is closed.
    drop(backend);
    report(figure, sizes(&path, run));
}

/// A thousand discussions of four speakers in five rounds: each speaker is shown what the others
/// have said since, with their names.
fn short_turns() {
    const SPEAKERS: [&str; 4] = ["Ana", "Ben", "Cleo", "Dan"];
    let rules = filler(1, 1200);
    let mut text = String::new();
    for talk in 0..1000_u64 {
        let system = json!({"role": "system", "content": rules});
        let mut views = [0; 4].map(|_| vec![system.clone()]);
        for turn in 0..20_usize {
            let answer = filler(talk * 20 + turn as u64 + 2, 600);
            let speaker = turn % 4;
            let call = CallPath::new(format!("talk/{talk}/{turn}")).unwrap();
            let line = json!({"call": call, "sample": 0 as Sample,
                "request": {"model": "gpt-4o-mini", "temperature": 0.7, "max_tokens": 300,
                    "messages": views[speaker]},
                "response": {"content": answer, "finish_reason": "stop", "model": "gpt-4o-mini",
                    "usage": {"prompt_tokens": 900, "completion_tokens": 200}}});
            text.push_str(&format!("{line}\n"));
            let said =
                json!({"role": "user", "content": format!("{}: {answer}", SPEAKERS[speaker])});
            for (who, view) in views.iter_mut().enumerate() {
                view.push(match who == speaker {
                    true => json!({"role": "assistant", "content": answer}),
                    false => said.clone(),
                });
            }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    stored("disk, growing dialogues of short turns, 20,000 calls", folder.path(), &text);
}

/// One dialogue of a thousand short turns.
fn long_dialogue() {
    let mut text = String::new();
    let mut messages = vec![json!({"role": "system", "content": filler(1, 1200)})];
    for turn in 0..1000_u64 {
        messages.push(json!({"role": "user", "content": format!("Question {turn}?")}));
        let answer = filler(turn + 2, 50);
        let call = CallPath::new(format!("talk/{turn}")).unwrap();
        let line = json!({"call": call, "sample": 0 as Sample,
            "request": {"model": "gpt-4o-mini", "messages": messages},
            "response": {"content": answer}});
        text.push_str(&format!("{line}\n"));
        messages.push(json!({"role": "assistant", "content": answer}));
    }
    let folder = tempfile::tempdir().unwrap();
    stored("disk, one dialogue of 1,000 short turns", folder.path(), &text);
}
