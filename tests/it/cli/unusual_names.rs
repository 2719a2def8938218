//! Logs and files whose names are not what one would choose.

use crate::support::cli::Place;

#[test]
fn a_log_may_be_named_like_a_uri() {
    let place = Place::with_run();
    std::fs::copy(place.path("retold.db"), place.path("file:x.db")).unwrap();
    assert!(place.ok("--log file:x.db log").contains("finished"));
    place.ok("--log file:x.db verify");
    assert!(!place.path("x.db").exists());
}

#[test]
fn a_log_whose_name_leaves_no_room_for_the_files_beside_it_is_refused() {
    let place = Place::with_run();
    place.ok("export latest run.jsonl");
    let too_long = format!("{}.db", "n".repeat(240));
    let said = place.run(&format!("--log {too_long} import run.jsonl"));
    assert_eq!(said.code, 3, "{}", said.err);
    let due = "its name has 243 bytes, and the names of the files beside it are longer: choose one of at most 232";
    assert!(said.err.contains(due), "{}", said.err);
    assert!(!place.path(&too_long).exists());
    place.ok(&format!("--log {}.db import run.jsonl", "n".repeat(229)));
}

#[cfg(unix)]
#[test]
fn a_log_can_be_read_by_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::with_run();
    for file in ["retold.db", "retold.db-mark"] {
        let mode = std::fs::metadata(place.path(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
    // Whoever shares a log decides so.
    let shared = std::fs::Permissions::from_mode(0o640);
    std::fs::set_permissions(place.path("retold.db"), shared).unwrap();
    place.ok("show latest");
    let mode = std::fs::metadata(place.path("retold.db")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
}

#[test]
fn an_export_is_not_written_under_a_name_that_promises_something_else() {
    let place = Place::with_run();
    for (name, format, says) in [
        ("x.xyz", "recording", "x.xyz: this export is JSON Lines, and .xyz is not"),
        ("x.json", "cassette", "x.json: this export is YAML, and .json is not"),
    ] {
        let said = place.run(&format!("export latest {name} --as {format}"));
        assert_eq!(said.code, 2, "{}", said.err);
        assert!(
            said.err.contains(says) && said.err.contains("let the name end in"),
            "{}",
            said.err
        );
        assert!(!place.path(name).exists());
    }
    place.ok("export latest recording");
}

#[test]
fn zstd_data_with_a_large_window_is_refused() {
    // RFC 8878, section 3.1.1.1: a frame without content size, whose window has 2^31 bytes.
    let place = Place::new();
    place.write("x.jsonl.zst", [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0xA8, 0x01, 0x00, 0x00]);
    let said = place.run("import x.jsonl.zst");
    assert_eq!(said.code, 2, "{}", said.err);
    let due = "it was compressed with a window of 2048 MiB, as by `zstd --long`, and at most 128 are unpacked";
    assert!(said.err.contains(due), "{}", said.err);
}
