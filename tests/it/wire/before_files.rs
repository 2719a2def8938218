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
