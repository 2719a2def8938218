//! The page in a real browser, by mouse and by keyboard, and without barriers.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use super::{Feeding, RECORDINGS, Served, imported, recording, runs};
use crate::support::cli::Place;

/// Runs a script of tests/browser against a server. A line `feed N` that it prints adds N events to a
/// run, `finish` the rest of them; it is told when they are there.
fn drive(place: &Place, served: &Served, script: &str, feeding: Option<&mut Feeding>) {
    drive_at(place, &format!("http://{}/?token={}", served.host, served.token), script, feeding);
}

/// The same, for pages below any address.
fn drive_at(place: &Place, base: &str, script: &str, feeding: Option<&mut Feeding>) {
    let root = Path::new(env!("RETOLD_ROOT"));
    let packages = root.join("target/browser/node_modules");
    std::os::unix::fs::symlink(packages, place.path("node_modules")).unwrap();
    for name in [script, "browser.mjs"] {
        std::fs::copy(root.join("tests/browser").join(name), place.path(name)).unwrap();
    }
    let mut command = Command::new("node");
    command.arg(script).arg(base).current_dir(place.root());
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (mut told, mut feeding) = (child.stdin.take().unwrap(), feeding);
    let mut said = String::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap) {
        let feeding = feeding.as_deref_mut();
        let fed = match (line.strip_prefix("feed "), feeding) {
            (Some(most), Some(feeding)) => feeding.feed(most.parse().unwrap()),
            (None, Some(feeding)) if line == "finish" => feeding.finish(),
            _ => {
                said.push_str(&line);
                said.push('\n');
                continue;
            }
        };
        writeln!(told, "{fed}").unwrap();
    }
    assert!(child.wait().unwrap().success(), "{said}");
    assert!(said.contains("all is well"), "{said}");
}

/// A log with a run that has failed attempts and changed decisions, and one that is being recorded.
fn scene() -> (Place, Feeding) {
    let place = Place::new();
    place.ok("run small.yaml --quiet --no-outputs --set parser=game24@1 --set samples=20 \
        --set retry.max_retries=9 --set model.rates.rate_limited=0.2");
    let mut feeding = Feeding::new("society_small.jsonl", &place.path("retold.db"));
    feeding.feed(40);
    (place, feeding)
}

#[cfg_attr(
    not(real_browser),
    ignore = "needs the browser and its driver that scripts/test installs"
)]
#[test]
fn a_reader_gets_from_a_failed_call_to_a_live_run_by_mouse() {
    let (place, mut feeding) = scene();
    let served = Served::log(&place, "retold.db");
    drive(&place, &served, "mouse.mjs", Some(&mut feeding));
}

#[cfg_attr(
    not(real_browser),
    ignore = "needs the browser and its driver that scripts/test installs"
)]
#[test]
fn a_reader_gets_from_a_failed_call_to_a_live_run_by_keyboard() {
    let (place, mut feeding) = scene();
    let served = Served::log(&place, "retold.db");
    drive(&place, &served, "keyboard.mjs", Some(&mut feeding));
}

#[cfg_attr(
    not(real_browser),
    ignore = "needs the browser and its driver that scripts/test installs"
)]
#[test]
fn no_page_has_a_barrier_in_light_or_dark() {
    let place = imported();
    place.ok(
        "--log all.db run small.yaml --quiet --no-outputs --set parser=game24@1 --set samples=9",
    );
    place.ok("--log all.db check latest --accept --parser game24@2");
    let served = Served::log(&place, "all.db");
    assert_eq!(runs(&served).len(), 7);
    drive(&place, &served, "barriers.mjs", None);
}

#[cfg_attr(
    not(real_browser),
    ignore = "needs the browser and its driver that scripts/test installs"
)]
#[test]
fn reports_open_from_disk_without_a_network() {
    let place = Place::new();
    for name in RECORDINGS {
        place.ok(&format!("report {} -o {name}.html", recording(name)));
    }
    // A program's run.
    let log = format!("{}/fixtures/logs/program.db", env!("RETOLD_ROOT"));
    std::fs::copy(log, place.path("program.db")).unwrap();
    place.ok("--log program.db report latest -o program.html");
    place.ok("run small.yaml --quiet --no-outputs --set samples=9");
    place.ok("export latest parent.jsonl");
    place.ok("fork latest --set parser=game24@1 --quiet");
    let game = format!("{}/recordings/game24_small.jsonl", env!("RETOLD_ROOT"));
    place.ok(&format!("report latest {game} -o two.html"));
    place.ok(&format!("report latest parent.jsonl {game} -o several.html"));
    drive_at(&place, &format!("file://{}", place.root().display()), "report.mjs", None);
}
