//! `log` and `show` at a terminal go through a pager.

use crate::support::cli::Place;
use crate::support::terminal::on_terminal;

/// A pager that keeps what it gets.
const KEEPING: (&str, &str) = ("PAGER", "tee paged.txt");

#[test]
fn what_may_be_long_goes_through_the_pager_at_a_terminal() {
    for args in ["log", "log latest", "show latest", "show latest solve/0#0"] {
        let place = Place::with_run();
        let seen = on_terminal(&place, args, &[KEEPING]);
        let paged = place.read("paged.txt");
        assert_eq!(seen.replace("\r\n", "\n"), paged, "{args}");
        assert_eq!(paged, place.ok(args), "{args}: the same as in a pipe");
    }
    for args in ["log --no-pager", "show latest --no-pager", "show latest --json", "stats latest"] {
        let place = Place::with_run();
        assert!(!on_terminal(&place, args, &[KEEPING]).is_empty(), "{args}");
        assert!(!place.path("paged.txt").exists(), "{args}");
    }
    // In a pipe there is none.
    let place = Place::with_run();
    let piped = place.command().args(["log"]).env(KEEPING.0, KEEPING.1).output().unwrap();
    assert!(piped.status.success() && !place.path("paged.txt").exists());
}

#[test]
fn a_pager_that_is_left_or_missing_is_no_error() {
    let place = Place::with_run();
    let whole = place.ok("log latest");
    assert!(whole.lines().count() > 10, "{whole}");
    let left = on_terminal(&place, "log latest", &[("PAGER", "head -n 2")]);
    assert_eq!(left.lines().count(), 2, "{left}");
    for none in ["no-such-pager", "", "cat"] {
        let direct = on_terminal(&place, "log latest", &[("PAGER", none)]);
        assert_eq!(direct.replace("\r\n", "\n"), whole, "{none:?}");
    }
    // Errors come after the pager has left the screen.
    let wrong = on_terminal(&place, "show latest no/such/call", &[KEEPING]);
    assert!(wrong.contains("error:"), "{wrong}");
}

/// `less -R` shows colours: nothing that a model wrote may be one.
#[test]
fn what_a_model_wrote_cannot_control_the_pager() {
    let place = Place::new();
    let line = serde_json::json!({"call": "a", "sample": 0,
        "request": {"model": "m", "messages": [{"role": "user", "content": "?"}]},
        "response": {"content": "\u{1b}[31mred\u{1b}]0;title\u{7}\r\u{8}"}});
    place.write("answers.jsonl", format!("{line}\n"));
    place.ok("import answers.jsonl");
    for args in ["log latest", "show latest a#0"] {
        on_terminal(&place, args, &[KEEPING, ("NO_COLOR", "1")]);
        let paged = place.read("paged.txt");
        assert!(paged.contains("red"), "{args}: {paged}");
        assert!(!paged.contains(['\u{1b}', '\u{7}', '\u{8}', '\r']), "{args}: {paged:?}");
    }
}

/// What is printed for other programs is exact in a pipe, and inert on a terminal.
#[test]
fn what_a_model_wrote_cannot_control_the_terminal_of_an_export() {
    let place = Place::new();
    let raw = "\u{202e}desrever\u{2066}\u{9b}31m\u{feff}";
    let line = serde_json::json!({"call": "a", "sample": 0,
        "request": {"model": "m", "messages": [{"role": "user", "content": raw}]},
        "response": {"content": raw}});
    place.write("answers.jsonl", format!("{line}\n"));
    place.ok("import answers.jsonl");
    let recording = place.ok("export latest -");
    let (_, prompt) = recording.split_once("\"prompt\":\"").unwrap();
    let prompt = &prompt[..64];
    for args in [
        "export latest -",
        "export latest - --as exchanges",
        "export latest - --as fine-tuning",
        "export latest - --as otlp",
        &format!("show {prompt} --canonical"),
    ] {
        assert!(place.ok(args).contains(raw), "{args}");
        let shown = on_terminal(&place, args, &[("NO_COLOR", "1")]);
        assert!(shown.contains("desrever"), "{args}: {shown}");
        let dangerous = ['\u{202e}', '\u{2066}', '\u{9b}', '\u{feff}'];
        assert!(!shown.contains(dangerous), "{args}: {shown:?}");
    }
}
