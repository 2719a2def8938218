//! A program's run that was recorded when most APIs had no file, so that its requests are stored without being read.
//! It must stay replayable. The log is from the last commit of that time, so nothing makes it again.

use super::replay;
use crate::support::cases::fixtures;
use crate::support::cli::Place;

/// What the program was. Its server numbered its answers.
const PROGRAM: &str = include_str!("programs/before_files.sh");

#[test]
fn requests_that_were_recorded_before_their_apis_had_files_are_found() {
    let place = Place::new();
    std::fs::copy(fixtures("logs").join("before-files.db"), place.path("retold.db")).unwrap();
    let replayed = replay(&place, "before-files", &["sh", "-c", PROGRAM.trim_end()]);
    assert_eq!(replayed.code, 0, "{}{}", replayed.out, replayed.err);
    let numbers: Vec<u32> = replayed
        .out
        .lines()
        .filter_map(|line| line.split_once("\"answer\":")?.1.trim_end_matches('}').parse().ok())
        .collect();
    assert_eq!(numbers, (1..=17).collect::<Vec<_>>());
    assert!(replayed.err.contains("replayed 17 recorded answers"), "{}", replayed.err);
}

/// The envelope of an answer is not an answer: a pattern that fits it decides nothing.
#[test]
fn what_is_not_read_is_called_so_everywhere_and_no_parser_decides_about_it() {
    let place = Place::new();
    std::fs::copy(fixtures("logs").join("before-files.db"), place.path("retold.db")).unwrap();
    place.write(
        "parsers.yaml",
        "parsers: [{name: number, strategies: [{regex: '([0-9]+)', number: {from: 1, to: 99}}]}]",
    );
    let checked = place.run("check before-files --parsers parsers.yaml");
    assert_eq!(checked.code, 2, "{}", checked.out);
    assert!(
        checked.err.contains(
            "has 17 answers, but retold does not read their API, so there is no text to parse"
        ),
        "{}",
        checked.err
    );
    for (command, said) in [
        ("log before-files", "{\"answer\":1} (not read)"),
        ("show before-files", "of the answers: 17 not read"),
        ("stats before-files", "17 answered (of these 17 not read)"),
        ("show before-files greeting/1", "not read: no file of retold's describes this API"),
    ] {
        let shown = place.ok(command);
        assert!(shown.contains(said), "{command}: {shown}");
    }
}
