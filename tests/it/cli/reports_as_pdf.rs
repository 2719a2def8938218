//! `retold report -o FILE.pdf`.

use std::io::Read;
use std::os::unix::fs::PermissionsExt;

use flate2::read::ZlibDecoder;

use crate::support::cli::Place;

/// The streams of a PDF as they were before they were compressed.
fn streams(pdf: &[u8]) -> Vec<String> {
    let mut streams = Vec::new();
    let mut rest = pdf;
    let begin = b"stream\n";
    while let Some(at) = rest.windows(begin.len()).position(|window| window == begin) {
        rest = &rest[at + begin.len()..];
        let mut text = Vec::new();
        if ZlibDecoder::new(rest).read_to_end(&mut text).is_ok() {
            streams.push(String::from_utf8_lossy(&text).into_owned());
        }
    }
    streams
}

#[cfg_attr(
    not(real_browser),
    ignore = "needs the browser and its driver that scripts/test installs"
)]
#[test]
fn a_report_is_printed_with_text_that_can_be_selected() {
    let place = Place::with_run();
    let said = place.with_path(&["report", "latest", "-o", "x.pdf"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains("written to x.pdf, printed by /"), "{said:?}");
    let pdf = std::fs::read(place.path("x.pdf")).unwrap();
    assert!(pdf.starts_with(b"%PDF-"));
    // Text is drawn as text, and has a table of which letter each shape is.
    let streams = streams(&pdf);
    let has = |what: &str| streams.iter().any(|stream| stream.contains(what));
    assert!(has("Tj") && has("beginbfchar"), "{} streams", streams.len());
    // Nothing in it is of today, so that the same run makes the same file.
    place.with_path(&["report", "latest", "-o", "again.pdf"]);
    assert!(pdf == std::fs::read(place.path("again.pdf")).unwrap(), "the two files differ");
    let time = place.json("log latest").0["events"].as_array().unwrap().last().unwrap().clone();
    let time = time["time"].as_str().unwrap().to_owned();
    let digits: String = time.chars().filter(char::is_ascii_digit).take(14).collect();
    let text = String::from_utf8_lossy(&pdf).into_owned();
    assert!(text.contains(&format!("/CreationDate (D:{digits}+00'00')")), "{time}");
}

#[test]
fn without_a_browser_nothing_is_written_and_the_error_says_what_to_do() {
    let place = Place::with_run();
    let with = |name: &str, value: &str| {
        let mut command = place.command();
        command.args(["report", "latest", "-o", "x.pdf"]).env("PATH", place.path("empty"));
        if !name.is_empty() {
            command.env(name, value);
        }
        let out = command.output().unwrap();
        assert!(!place.path("x.pdf").exists());
        (out.status.code(), String::from_utf8(out.stderr).unwrap())
    };
    let (code, said) = with("", "");
    assert!(
        code == Some(2) && said.contains("no browser that prints to PDF is installed"),
        "{said}"
    );
    assert!(said.contains("CHROME_PATH=/path/to/chromium names the browser"), "{said}");
    assert!(said.contains("`retold report RUN -o FILE.html` needs none"), "{said}");
    let (code, said) = with("CHROME_PATH", "/no/browser");
    assert!(code == Some(2) && said.contains("there is no program /no/browser"), "{said}");
    let browser = place.path("browser");
    place.write("browser", "#!/bin/sh\necho it is too cold >&2\n");
    std::fs::set_permissions(&browser, PermissionsExt::from_mode(0o755)).unwrap();
    let (code, said) = with("CHROME_PATH", browser.to_str().unwrap());
    assert!(code == Some(3) && said.contains("printed no PDF: it is too cold"), "{code:?} {said}");
    std::fs::set_permissions(&browser, PermissionsExt::from_mode(0o644)).unwrap();
    let (code, said) = with("CHROME_PATH", browser.to_str().unwrap());
    assert!(code == Some(3) && said.contains("cannot be started"), "{code:?} {said}");
}

/// A browser that takes its time, and writes all the while.
#[test]
fn a_signal_ends_the_browser_as_well_and_nothing_of_it_stays() {
    use crate::support::waiting::soon;
    use rustix::process::{Pid, Signal, kill_process};
    let place = Place::with_run();
    std::fs::create_dir(place.path("tmp")).unwrap();
    let browser = "#!/bin/sh\nfor word; do case $word in --user-data-dir=*) mkdir -p \"${word#*=}\"; \
        while :; do echo x >>\"${word#*=}/part\"; done;; esac; done\n";
    place.write("browser", browser);
    let mode = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(place.path("browser"), mode).unwrap();
    let mut command = place.command();
    command.args(["report", "latest", "-o", "x.pdf"]);
    command.env("CHROME_PATH", place.path("browser")).env("TMPDIR", place.path("tmp"));
    let mut child = command.spawn().unwrap();
    let has_begun = || {
        let mut made = std::fs::read_dir(place.path("tmp")).unwrap().flatten();
        made.any(|entry| entry.path().join("profile/part").exists()).then_some(())
    };
    soon("the browser", has_begun);
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(143));
    std::thread::sleep(std::time::Duration::from_millis(100));
    let left: Vec<_> = std::fs::read_dir(place.path("tmp")).unwrap().flatten().collect();
    assert!(left.is_empty() && !place.path("x.pdf").exists(), "{left:?}");
}
