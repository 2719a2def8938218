//! The layers of ARCHITECTURE.md that are not separate crates, which the compiler keeps apart: what
//! each module of the core imports, and what the command line must not name.

use std::path::{Path, PathBuf};

/// Each module of the core, and the other modules of the crate that it may use.
const LAYERS: &[(&str, &[&str])] = &[
    ("sidecar", &[]),
    ("char_boundary", &[]),
    ("counted", &[]),
    ("id", &[]),
    ("explain", &["escaping", "text_diff"]),
    ("fetch", &["escaping"]),
    ("escaping", &[]),
    ("exact", &[]),
    ("leftovers", &[]),
    ("scratch_folder", &["leftovers", "sidecar"]),
    ("draft", &["leftovers", "sidecar"]),
    ("open", &[]),
    ("patterns", &[]),
    ("percentile", &[]),
    ("process", &[]),
    ("text_diff", &["char_boundary"]),
    ("unique", &[]),
    ("values", &[]),
    ("encoding", &["open"]),
    ("jsonl", &["draft", "encoding", "open", "values"]),
    ("lookup", &[]),
    ("members", &[]),
    ("prompt", &["id", "escaping", "members", "text_diff", "values"]),
    ("content", &["id", "prompt"]),
    ("event", &["content", "counted", "escaping", "exact", "id", "lookup", "prompt"]),
    (
        "log",
        &[
            "sidecar", "content", "counted", "draft", "escaping", "event", "id", "leftovers",
            "lookup", "prompt", "scratch_folder", "values",
        ],
    ),
    ("parse", &["escaping", "prompt"]),
    (
        "model",
        &[
            "content", "counted", "exact", "explain", "id", "escaping", "members", "prompt",
            "unique", "values",
        ],
    ),
    (
        "run",
        &[
            "content", "event", "id", "escaping", "log", "lookup", "model", "parse", "prompt",
            "text_diff",
        ],
    ),
    ("batch", &["content", "event", "id", "log", "model", "prompt", "run", "scratch_folder"]),
    (
        "decide",
        &[
            "content", "counted", "event", "explain", "id", "escaping", "jsonl", "log", "lookup",
            "members", "model", "parse", "prompt", "run", "unique",
        ],
    ),
    (
        "decided",
        &[
            "counted", "decide", "escaping", "event", "exchange", "id", "log", "lookup", "prompt",
            "run",
        ],
    ),
    (
        "compare",
        &[
            "content", "decided", "escaping", "event", "exact", "id", "log", "lookup", "prompt",
            "run", "text_diff",
        ],
    ),
    ("check", &["decide", "event", "id", "log", "model", "parse", "prompt"]),
    (
        "snapshot",
        &[
            "content", "decide", "draft", "encoding", "event", "exchange", "id", "escaping",
            "jsonl", "log", "parse", "prompt",
        ],
    ),
    (
        "totals",
        &[
            "content", "counted", "decide", "event", "exchange", "id", "escaping", "log", "lookup",
            "model", "parse", "prompt", "percentile", "run",
        ],
    ),
    (
        "audit",
        &[
            "counted", "decide", "event", "id", "escaping", "log", "lookup", "parse", "prompt",
            "run",
        ],
    ),
    ("effective", &["counted", "decided", "exchange", "id", "log"]),
    ("scores", &["decide", "decided", "event", "exchange", "id", "log", "prompt"]),
    ("proof", &["audit", "content", "event", "id", "log", "prompt"]),
    (
        "exchange",
        &[
            "content", "event", "explain", "id", "escaping", "jsonl", "log", "lookup", "members",
            "model", "prompt", "run",
        ],
    ),
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn every_module_uses_what_it_may() {
    let root = Path::new(env!("RETOLD_ROOT")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut wrong = Vec::new();
    let mut seen = 0;
    for file in files {
        let inside = file.strip_prefix(&root).unwrap();
        let first = inside.components().next().unwrap().as_os_str().to_str().unwrap();
        let module = first.trim_end_matches(".rs");
        if module == "lib" {
            continue;
        }
        let Some((_, may)) = LAYERS.iter().find(|(name, _)| *name == module) else {
            wrong.push(format!("{module} has no place in LAYERS"));
            continue;
        };
        let text = std::fs::read_to_string(&file).unwrap();
        for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            for used in line.split("crate::").skip(1) {
                let used = used.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap();
                seen += 1;
                if used != module && used != "PROGRAM" && !may.contains(&used) {
                    wrong.push(format!("{} uses {used}", inside.display()));
                }
            }
        }
    }
    wrong.sort();
    wrong.dedup();
    assert!(wrong.is_empty(), "not allowed by the layers:\n{}", wrong.join("\n"));
    assert!(seen > 100, "the sources were not read");
}

/// The command line works for any set of studies: only the program `retold` knows ours.
#[test]
fn the_command_line_knows_no_study() {
    let root = Path::new(env!("RETOLD_ROOT")).join("crates/cli/src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 30, "the sources were not read");
    let program = root.join("program");
    for file in files.iter().filter(|file| !file.starts_with(&program)) {
        let text = std::fs::read_to_string(file).unwrap();
        for study in ["adventure", "deliberation", "game24", "public_goods", "society"] {
            let named = text.contains(&format!("retold_{study}"));
            assert!(!named, "{} names the study {study}", file.display());
        }
    }
}

/// Code that two commands share is in a module that is not a command, so that a command can be
/// changed, or read, alone.
#[test]
fn no_command_uses_another() {
    let root = Path::new(env!("RETOLD_ROOT")).join("crates/cli/src");
    let (mut files, commands) = (Vec::new(), root.join("commands"));
    sources(&root, &mut files);
    let is_command = |file: &PathBuf| file.starts_with(&commands);
    assert!(files.iter().filter(|file| is_command(file)).count() > 15, "the sources were not read");
    // These call all commands.
    let calls_them = ["lib.rs", "arguments.rs", "command_line.rs", "commands/mod.rs"];
    let calls_them = calls_them.map(|file| root.join(file));
    for file in files.iter().filter(|file| !calls_them.contains(file)) {
        let text = std::fs::read_to_string(file).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        let shown = file.strip_prefix(&root).unwrap().display();
        assert!(!code.contains("crate::commands"), "{shown} uses a command");
        // A command with several files is a folder, whose files may use each other.
        let from_above =
            if file.parent() == Some(&commands) { "super::" } else { "super::super::" };
        assert!(!is_command(file) || !code.contains(from_above), "{shown} uses another command");
    }
}

/// Where in the sources each of these may occur, tests excepted. A key is sent only to the server
/// that a [`NamedUrl`] names, so it matters which code creates one, reads the key, or opens
/// connections.
///
/// [`NamedUrl`]: retold::model::NamedUrl
const OUTSIDE: &[(&str, &[&str])] = &[
    (
        "NamedUrl::from_user",
        &[
            "crates/cli/src/model/addresses.rs",
            "crates/cli/src/model/args.rs",
            "crates/cli/src/runs/program/environment.rs",
            "crates/study/src/config/change.rs",
            "crates/study/src/config/common.rs",
            // The upstream to which a program has sent its key itself.
            "crates/wire/src/batching.rs",
        ],
    ),
    ("OPENAI_API_KEY\")", &["crates/cli/src/model/servers.rs"]),
    (
        "SecretString::from",
        &[
            "crates/cli/src/model/addresses.rs",
            "crates/cli/src/model/args.rs",
            "crates/cli/src/model/servers.rs",
        ],
    ),
    // The second one fetches a list of personas, and has no key. The third forwards what a program sends to an upstream
    // that the user named.
    (
        "Client::builder",
        &["src/model/openai/client.rs", "src/fetch.rs", "crates/wire/src/upstream.rs"],
    ),
    (
        "named_by_config",
        &[
            "crates/study/src/config/common.rs",
            "crates/study/src/config/named.rs",
            "crates/study/src/studies.rs",
        ],
    ),
];

/// What retold knows of an API is data and pure functions: whoever asks, reads or imports does the rest.
#[test]
fn what_is_known_of_an_api_does_no_io() {
    let mut files = Vec::new();
    sources(&Path::new(env!("RETOLD_ROOT")).join("src/model/providers"), &mut files);
    assert!(files.len() > 10, "the sources were not read");
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        for outside in
            ["reqwest", "tokio", "std::fs", "std::net", "std::env", "std::time", "secrecy"]
        {
            assert!(!text.contains(outside), "{} uses {outside}", file.display());
        }
    }
}

#[test]
fn only_what_the_user_gives_names_a_server() {
    let root = Path::new(env!("RETOLD_ROOT"));
    let mut files = Vec::new();
    sources(&root.join("src"), &mut files);
    sources(&root.join("crates"), &mut files);
    let mut found = Vec::new();
    for file in files {
        let inside = file.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        for (what, may) in OUTSIDE {
            if code.contains(what) {
                assert!(may.contains(&inside.as_str()), "{inside} has {what}");
                found.push((*what, inside.clone()));
            }
        }
    }
    for (what, may) in OUTSIDE {
        assert!(
            found.iter().filter(|(found, _)| found == what).count() >= may.len().min(1),
            "{what}"
        );
    }
}
