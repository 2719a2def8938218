//! The command after `--`: what is set for it, which signals reach it, and what is said to type next.

use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use super::upstream::{Failing, server};
use super::{PATH, record_with, retold, with};
use crate::support::cli::{Place, Said};
use crate::support::server::{Reply, Server};
use crate::support::waiting::ended;

/// No requests go where this variable says.
const NOWHERE: &str = "http://127.0.0.1:1/v1";

/// Prints the name of each signal that it gets, even if it was started with signals ignored.
const TRAPS: &str = r#"
import os, signal, sys
def said(number, frame):
    # Not print, which the next signal may interrupt.
    os.write(1, signal.Signals(number).name.encode() + b"\n")
    if number == signal.SIGTERM: sys.exit(9)
for name in ("INT", "QUIT", "USR1", "USR2", "TERM"):
    signal.signal(getattr(signal, "SIG" + name), said)
open("ready", "w").close()
while True: signal.pause()
"#;

#[test]
fn signals_reach_the_program() {
    let place = Place::new();
    let mut command = retold(&place, "record", &["python3", "-c", TRAPS]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    while !place.path("ready").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it has ended");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let pid = Pid::from_raw(child.id().cast_signed()).unwrap();
    let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
    for (signal, due) in [
        (Signal::INT, "SIGINT\n"),
        (Signal::QUIT, "SIGQUIT\n"),
        (Signal::USR1, "SIGUSR1\n"),
        (Signal::USR2, "SIGUSR2\n"),
        (Signal::TERM, "SIGTERM\n"),
    ] {
        kill_process(pid, signal).unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(&mut out, &mut line).unwrap();
        assert_eq!(line, due);
    }
    let said = Said::new(ended(child));
    assert_eq!(said.code, 9, "{}", said.err);
    assert!(said.err.contains("ended with exit code 9"), "{}", said.err);
}

/// A program may try again and say nothing: what failed, and how, is said when it ends.
#[test]
fn failed_attempts_are_counted_by_their_reason() {
    let statuses = std::sync::Mutex::new(vec![200, 500, 429, 429]);
    let upstream = Server::handler(move |_| {
        let status = statuses.lock().unwrap().pop().unwrap();
        Reply::new(status, r#"{"choices":[{"message":{"role":"assistant","content":"yes"}}]}"#)
    });
    let ask = "for n in 1 2 3 4; do curl -sS -o reply --max-time 20 $OPENAI_BASE_URL/chat/completions \
        -d '{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}'; done";
    let place = Place::new();
    let said = record_with(&place, "", &upstream.base_url(), &["sh", "-c", ask], &[]);
    let due = "recorded 1 answer and 3 failed attempts (2 times HTTP 429, HTTP 500) as run";
    assert!(said.code == 0 && said.err.contains(due), "{}", said.err);
    drop(upstream);
    let again = with(&place, "--json replay latest", NOWHERE, &["sh", "-c", ask], &[]);
    assert!(again.code == 0 && again.err.contains("\"failures\":{}"), "{}", again.err);
}

/// The text in backquotes that begins with this.
pub(super) fn typed<'a>(said: &'a str, begin: &str) -> &'a str {
    let texts = said.split('`').skip(1).step_by(2);
    texts.into_iter().find(|text| text.starts_with(begin)).unwrap_or_else(|| panic!("{said}"))
}

/// Types a command into a shell.
pub(super) fn type_in(place: &Place, command: &str) -> Said {
    let mut shell = Command::new("/bin/sh");
    place.shut_off(&mut shell);
    let folder = Path::new(env!("CARGO_BIN_EXE_retold")).parent().unwrap();
    shell.env("PATH", format!("{}:{PATH}", folder.display())).args(["-c", command]);
    Said::ended(&mut shell)
}

#[test]
fn the_next_step_works_as_it_is_printed() {
    let (place, upstream) = (Place::new(), server(Failing { one_in: 0 }));
    let ask = "curl -sS --max-time 20 $MISTRAL_BASE_URL/chat/completions \
        -d '{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}'; exit 3";
    let url = upstream.base_url();
    let named = format!("--upstream mistral={url}");
    let recorded = record_with(&place, &named, NOWHERE, &["sh", "-c", ask], &[]);
    assert_eq!(recorded.code, 3, "{}", recorded.err);
    let resumed = type_in(&place, typed(&recorded.err, "retold record --resume"));
    assert_eq!((resumed.code, &resumed.out), (3, &recorded.out), "{}", resumed.err);
    assert!(resumed.err.contains("after 1 recorded answer"), "{}", resumed.err);
    // Without it, the program would ask by itself.
    for command in ["record --resume latest", "fork latest"] {
        let said = with(&place, command, NOWHERE, &["sh", "-c", ask], &[]);
        assert_eq!(said.code, 2, "{}", said.err);
        assert!(said.err.contains("not named now: mistral"), "{}", said.err);
        assert!(said.err.contains(&format!("--upstream mistral={url}")), "{}", said.err);
    }
    let other = ask.replace("hi", "ho").replace("exit 3", "exit 0");
    let missed = with(&place, "replay latest", NOWHERE, &["sh", "-c", &other], &[]);
    assert_eq!(missed.code, 1, "{}", missed.err);
    let forked = type_in(&place, typed(&missed.err, "retold fork"));
    assert_eq!(forked.code, 0, "{}", forked.err);
    let replayed = type_in(&place, typed(&forked.err, "retold replay"));
    assert_eq!((replayed.code, replayed.out), (0, forked.out), "{}", replayed.err);
    assert_eq!(upstream.received().len(), 2);
    // A password is not repeated.
    let secret = "--upstream a=http://u:hunter2@127.0.0.1:1";
    let said = record_with(&place, secret, NOWHERE, &["sh", "-c", "exit 4"], &[]);
    assert!(
        said.err.contains("--upstream a=URL --") && !said.err.contains("hunter2"),
        "{}",
        said.err
    );
    let hosts = "--intercept --host api.example.test";
    let said = record_with(&place, hosts, NOWHERE, &["sh", "-c", "exit 4"], &[]);
    assert!(said.err.contains(&format!(" {hosts} -- ")), "{}", said.err);
    let asks_nothing = record_with(&Place::new(), hosts, NOWHERE, &["true"], &[]);
    assert!(asks_nothing.err.contains("It has to read HTTPS_PROXY"), "{}", asks_nothing.err);
    let said = with(&place, "record --resume latest", NOWHERE, &["true"], &[]);
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains(&format!(" {hosts} -- true`\n")), "{}", said.err);
    assert!(said.err.contains("the recorded command was: sh -c 'exit 4'\n"), "{}", said.err);
}

/// Prints the last part of each base URL.
const VARIABLES: &str = "for name in GROQ_BASE_URL GOOGLE_VERTEX_BASE_URL AZURE_OPENAI_ENDPOINT OPENAI_BASE_URL OPENAI_API_BASE ANTHROPIC_BASE_URL OLLAMA_HOST; do
    eval \"echo \\${$name##*/}\"; done | tr '\\n' ' '";

/// Variables that are set before.
type Variables<'a> = &'a [(&'a str, &'a str)];

/// Clients refuse Azure's endpoint next to OpenAI's base URL, so only what was set is set. A replay
/// leaves no variable with a real server in it.
#[test]
fn each_variable_is_set_if_its_clients_work_with_it() {
    let program = ["sh", "-c", VARIABLES];
    let azure = ("AZURE_OPENAI_ENDPOINT", "https://mine.openai.azure.example/real");
    let openai = ("OPENAI_BASE_URL", "https://api.example/real");
    let both = [azure, openai];
    let vertex = [("GOOGLE_VERTEX_BASE_URL", "https://vertex.example/real")];
    let cases: [(&str, Variables, &str); 7] = [
        ("", &[], "   openai openai anthropic ollama "),
        ("", &[openai], "   openai openai anthropic ollama "),
        ("", &[azure], "  azure   anthropic ollama "),
        ("--upstream azure=https://mine.example", &[], "  azure   anthropic ollama "),
        ("", &both, "  azure openai openai anthropic ollama "),
        ("", &vertex, " vertex  openai openai anthropic ollama "),
        ("--upstream groq=https://api.groq.example", &[], "groq   openai openai anthropic ollama "),
    ];
    for (args, set, due) in cases {
        let place = Place::new();
        let run = |args: &str, set: Variables| {
            let mut command = retold(&place, args, &program);
            Said::ended(command.envs(set.iter().copied()))
        };
        let recorded = run(&format!("record {args}"), set);
        assert_eq!((recorded.code, recorded.out.as_str()), (0, due), "{set:?}: {}", recorded.err);
        for set in [&[][..], &[azure], &[openai], &both, &vertex] {
            let replayed = run("replay latest", set);
            assert_eq!(replayed.out, due, "replayed with {set:?}: {}", replayed.err);
        }
    }
}
