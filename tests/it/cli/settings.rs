//! Configs and flags that cannot be used: each message says what is wrong, where, and what would be
//! right.

use crate::support::cli::{Place, assert_said};
use crate::support::server::{Reply, Server};

const REQUEST: &str = "request:\n  model: x\n";

/// Runs each text as a config.
fn session(configs: &[&str]) -> String {
    let place = Place::new();
    let mut shown = String::new();
    for config in configs {
        place.write("bad.yaml", config);
        for line in config.lines() {
            shown.push_str(&format!("    {line}\n"));
        }
        shown.push_str(&format!("{}\n", place.session(&["run bad.yaml"])));
    }
    assert!(!place.path("retold.db").exists(), "nothing is recorded");
    shown
}

/// Runs valid configs with the given lines changed.
fn with(lines: &[&str]) -> String {
    let whole = |line: &&str| match line.starts_with("request:") || line.starts_with("samples:") {
        true => format!("experiment: game24\n{line}"),
        false => format!("experiment: game24\nsamples: 3\n{REQUEST}{line}"),
    };
    let configs: Vec<String> = lines.iter().map(whole).collect();
    session(&configs.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn encodings() {
    let place = Place::new();
    let config = format!("experiment: game24\nsamples: 3\n{REQUEST}");
    let wide = |encode: fn(u16) -> [u8; 2]| -> Vec<u8> {
        config.encode_utf16().flat_map(encode).collect()
    };
    let utf32: Vec<u8> = config.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
    place.write("latin1.yaml", [config.as_bytes(), b"# caf\xe9\n"].concat());
    place.write("utf16.yaml", [vec![0xff, 0xfe], wide(u16::to_le_bytes)].concat());
    place.write("utf16be.yaml", wide(u16::to_be_bytes));
    place.write("utf32.yaml", utf32);
    place.write("template.yaml", format!("{config}template: latin1.txt\n"));
    place.write("latin1.txt", b"caf\xe9 {{ numbers }}\n");
    let iconv = "convert it with `iconv -f";
    for (file, message) in [
        (
            "latin1.yaml",
            format!(
                "latin1.yaml, line 5: byte 0xE9 is not UTF-8; if it is Latin-1, {iconv} LATIN1 -t UTF-8`"
            ),
        ),
        ("utf16.yaml", format!("utf16.yaml: it is UTF-16: {iconv} UTF-16 -t UTF-8`")),
        ("utf16be.yaml", format!("utf16be.yaml: it is UTF-16BE: {iconv} UTF-16BE -t UTF-8`")),
        ("utf32.yaml", format!("utf32.yaml: it is UTF-32LE: {iconv} UTF-32LE -t UTF-8`")),
    ] {
        let said = place.run(&format!("run {file}"));
        assert_eq!((said.code, said.err), (2, format!("error: {message}\n")));
    }
    let said = place.run("run template.yaml");
    let expected = "latin1.txt, line 1: byte 0xE9 is not UTF-8; if it is Latin-1, convert it with \
                    `iconv -f LATIN1 -t UTF-8`";
    assert!(said.code == 2 && said.err.contains(expected), "{}", said.err);
    // A byte order mark is not part of the text.
    place.write("mark.yaml", format!("\u{feff}{config}"));
    assert_eq!(place.run("run mark.yaml").code, 0);
}

#[test]
fn keys() {
    let text = session(&[
        &format!("experiment: game24\nsamples: 3\nsampels: 4\n{REQUEST}"),
        &format!("experiment: game24\nsamples: 3\nx: 4\n{REQUEST}"),
        &format!("experiment: game24\n{REQUEST}"),
        "experiment: game24\nsamples: 3\nrequest:\n  temperature: 1\n",
        "experiment: game24\nsamples: 3\nrequest:\n  model: x\n  temprature: 1\n",
        &format!("experiment: game24\nsamples: 3\n{REQUEST}model:\n  rates:\n    bad: 1\n"),
        "experiment: game24\nsamples: 3\nrequest: {}\n",
        "experiment: game24\nrequest:\n  # a comment\n\n  temperature: 1\n  top_p: 1\nsamples: 3\n",
        "samples: 3\n",
        "experiment: gam24\nsamples: 3\n",
        "",
    ]);
    assert_said!("settings_keys", text);
}

#[test]
fn types() {
    let text = session(&[
        &format!("experiment: game24\nsamples: many\n{REQUEST}"),
        &format!("experiment: game24\nsamples: -1\n{REQUEST}"),
        &format!("experiment: game24\nsamples: 3\nseed: x\n{REQUEST}"),
        "experiment: game24\nsamples: 3\nrequest:\n  model: x\n  temperature: hot\n",
        "experiment: game24\nsamples: 3\nrequest: x\n",
        &format!("experiment: game24\nsamples: 3\nparser: [a]\n{REQUEST}"),
        &format!("experiment: game24\nsamples: 3\n{REQUEST}model:\n  kind: simulatd\n"),
        &format!("experiment: game24\nsamples: []\n{REQUEST}"),
        &format!("experiment: game24\nsamples: {{a: 1}}\n{REQUEST}"),
        &format!("experiment: game24\nsamples: 1.5\n{REQUEST}"),
        &format!("experiment: game24\nsamples:\n{REQUEST}"),
        "experiment: game24\nsamples: 3\nrequest:\n  model:\n",
        &format!("experiment: game24\nsamples: 3\n{REQUEST}model:\n  kind:\n"),
        &format!("experiment: game24\nsamples: 3\n{REQUEST}  temperature: 1e400\n"),
        &format!("experiment: game24\nsamples: 3\n{REQUEST}model:\n  kind: [openai]\n"),
        &format!("experiment: game24\nsamples: 3\n{REQUEST}model: [openai]\n"),
        &format!(
            "experiment: game24\nsamples: 3\n{REQUEST}model:\n  rates:\n    malformed_kinds: 3\n"
        ),
        &format!("experiment: game24\nseed: [x]\nsamples: [3]\n{REQUEST}"),
    ]);
    assert_said!("settings_types", text);
}

#[test]
fn broken_yaml() {
    let text = session(&[
        "experiment: [game24\nsamples: 3\n",
        "experiment: game24\nsamples: 3\n  request: x\n",
        "experiment: \"game24\nsamples: 3\n",
        "experiment: game24\n\tsamples: 3\n",
        "experiment: game24\nsamples: 3\nsamples: 4\n",
    ]);
    assert_said!("settings_broken_yaml", text);
}

#[test]
fn values() {
    let text = with(&[
        "samples: 0\nrequest:\n  model: x",
        "seed: 10000000000000000",
        "parser: game25",
        "parser: game24@9",
        "template: cott",
        "template: ./bad.yaml",
        "puzzles:\n  rows: 5..2",
        "puzzles:\n  rows: 0..9999",
        "puzzles:\n  file: none.txt",
        "puzzles:\n  file: bad.yaml",
        "model:\n  rates:\n    malformed: 1.5",
        "model:\n  kind: scripted",
        "model:\n  latency_ms: -1",
        "limits:\n  concurrency: 0",
        "retry:\n  base_seconds: -2",
    ]);
    assert_said!("settings_values", text);
}

#[test]
fn request_parameters() {
    let text = with(&[
        "samples: 1\nrequest:\n  model: \"\"",
        "samples: 1\nrequest:\n  model: x\n  temperature: 3",
        "samples: 1\nrequest:\n  model: x\n  top_p: -1",
        "samples: 1\nrequest:\n  model: x\n  max_tokens: 0",
        "samples: 1\nrequest:\n  model: x\n  extra:\n    messages: []",
    ]);
    assert_said!("settings_request", text);
}

#[test]
fn set() {
    let place = Place::new();
    let settings = [
        "samples",
        "samples=abc",
        "samples=0",
        "sampels=1",
        "request.modl=x",
        "samples.x=1",
        "samples=[",
        "model.kind=foo",
        "seed=-1",
        "=3",
        "request.temperature=.nan",
        "limits.concurrency=0",
        "puzzles=3",
        "request=[1]",
        "limits.concurrency={}",
        "model.answers=3",
        "request.extra.n=2",
    ];
    let commands: Vec<String> =
        settings.iter().map(|s| format!("run small.yaml --set {s}")).collect();
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    assert_said!("settings_set", place.session(&commands));
    place.ok("run small.yaml --set request.extra.top_k=4 --set samples=1");
}

#[test]
fn a_file_of_answers_is_looked_for_beside_the_config() {
    let place = Place::new();
    std::fs::create_dir(place.path("study")).unwrap();
    let scripted = "model:\n  kind: scripted\n  answers: answers.jsonl\n";
    let small = crate::support::cli::SMALL;
    place.write("study/small.yaml", format!("{small}{scripted}"));
    let said = place.run("run study/small.yaml");
    assert!(said.code != 0 && said.err.contains("answers.jsonl"), "{}", said.err);
    place.ok("run small.yaml -q");
    place.ok("export latest study/recording.jsonl");
    let line = |row: u32, n: u32| {
        let prompt = place.json(&format!("show latest solve/{row}#{n} ")).0["request"].clone();
        format!(
            "{}\n",
            serde_json::json!({"call": format!("solve/{row}"), "sample": n,
            "request": prompt, "response": {"content": "Answer: 4 * 6 = 24"}})
        )
    };
    let lines: String =
        (0..2).flat_map(|row| (0..3).map(move |n| (row, n))).map(|(r, n)| line(r, n)).collect();
    place.write("study/answers.jsonl", lines);
    let (run, code) = place.json("run study/small.yaml");
    assert_eq!((code, &run["exchanges"], &run["simulated"]), (0, &6.into(), &false.into()));
}

#[test]
fn flags() {
    let place = Place::new();
    place.write("spaced.key", "a b");
    assert_said!(
        "settings_flags",
        place.session(&[
            "run none.yaml",
            "run .",
            "run small.yaml --key-file none.key --base-url https://api.example.org/v1",
            "run small.yaml --key-file spaced.key --base-url https://api.example.org/v1",
            "run small.yaml --base-url https://api.example.org/v1",
            "run small.yaml --base-url example",
            "run small.yaml --base-url ftp://example.org",
            "run small.yaml --base-url https://api.example.org/v1/chat/completions",
            "run small.yaml --base-url https://api.example.org/v1 --answers x.jsonl",
            "run small.yaml --model scripted",
            "run small.yaml --concurrency 0",
            "run small.yaml --experiment chess",
            "run small.yaml --bogus",
            "run",
            "frobnicate",
            "verify --head 00",
            "verify latest --head 00",
        ])
    );
    assert!(!place.path("retold.db").exists(), "nothing is recorded");
}

/// Without a seed in the config, each run draws its own, which is recorded and shown; an unfinished one is found by its config.
#[test]
fn a_seed_that_nobody_chose_is_drawn_and_shown() {
    let place = Place::new();
    let config =
        "experiment: game24\npuzzles:\n  rows: 900..902\nsamples: 1\nrequest:\n  model: x\n";
    place.write("game.yaml", config);
    let seed = || place.json("show latest").0["seed"].as_u64().unwrap();
    let said = place.ok("run game.yaml");
    let first = seed();
    let shown = format!("\nseed {first}, drawn at random: the config names none\n");
    assert!(said.contains(&shown), "{said}");
    // Two of 2^32 are equal once in four billion runs.
    place.ok("run game.yaml");
    assert_ne!(seed(), first);
    assert!(!place.ok("run game.yaml --set seed=0").contains("drawn"));
    place.write("seeded.yaml", format!("seed: 7\n{config}"));
    assert!(!place.ok("run seeded.yaml").contains("drawn"));
}

/// The same for a study whose settings have what was drawn: its run is found whatever its seed.
#[test]
fn an_unfinished_run_of_a_config_without_a_seed_is_found() {
    let place = Place::new();
    let config =
        "experiment: game24\npuzzles:\n  rows: 900..950\nsamples: 100\nrequest:\n  model: x\n";
    place.write("game.yaml", config);
    let stopped = place.run("run game.yaml --log-limit 1000000");
    assert_eq!(stopped.code, 3, "{}{}", stopped.out, stopped.err);
    let unfinished = place.json("show latest").0;
    let again = place.run("run game.yaml");
    assert_eq!(again.code, 2, "{}{}", again.out, again.err);
    assert!(again.err.contains("the same command with --resume continues it"), "{}", again.err);
    let resumed = place.json("run game.yaml --resume").0;
    assert_eq!((&resumed["run"], &resumed["outcome"]), (&unfinished["run"], &"finished".into()));
    let seed = unfinished["seed"].as_u64().unwrap();
    let said = place.ok("run --resume latest");
    assert!(said.contains(&format!("\nseed {seed}, drawn at random")), "{said}");
}

/// A key is never recorded, so the command that continues a run asks for it again.
#[test]
fn the_command_that_continues_names_the_key_again() {
    let place = Place::new();
    let server = Server::handler(|_| Reply::chat("<answer>1</answer>"));
    let url = server.base_url();
    place.write("my.key", "sk-of-a-file\n");
    for (given, said_again) in
        [("--key sk-typed", "--key KEY"), ("--key-file my.key", "--key-file my.key")]
    {
        let said =
            place.run(&format!("run small.yaml --new --base-url {url} {given} --max-tokens 1"));
        let command = format!("--base-url {url} {said_again} --max-tokens 8`");
        assert!(said.err.contains(&command), "{given}: {}", said.err);
        assert!(!format!("{}{}", said.out, said.err).contains("sk-"), "{}", said.err);
    }
}
