//! A lease truncates the file beside the log that it locks, so it must never truncate any other
//! file.

use std::fs;
use std::os::unix::fs::symlink;

use retold::id::{RunId, Seq};
use retold::log::LogError;
use retold::sidecar::SidecarError;

use crate::support::cli::{Place, assert_said};
use crate::support::logs::{Folder, assert_sound, row};

const RUN: RunId = RunId([1; 8]);

/// A log with a run of one event.
fn folder() -> Folder {
    let folder = Folder::new();
    let mut writer = folder.log().begin(RUN).unwrap();
    writer.submit(row(1)).unwrap();
    drop(writer);
    folder
}

#[test]
fn a_planted_file_is_not_truncated() {
    for planted in ["a link", "a link to the log", "a hard link", "a hard link to the log"] {
        let folder = folder();
        let (lease, victim) = (folder.lease(RUN), folder.path().with_file_name("victim"));
        fs::write(&victim, "precious").unwrap();
        match planted {
            "a link" => symlink(&victim, &lease).unwrap(),
            "a link to the log" => symlink(folder.path(), &lease).unwrap(),
            "a hard link" => fs::hard_link(&victim, &lease).unwrap(),
            _ => fs::hard_link(folder.path(), &lease).unwrap(),
        }
        let log = folder.log();
        let refused = log.go_on(RUN).err().unwrap();
        let LogError::NotOurs { source, .. } = &refused else { panic!("{planted}: {refused}") };
        assert!(matches!(**source, SidecarError::Link { .. } | SidecarError::ManyNames { .. }));
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious", "{planted}");
        assert!(lease.symlink_metadata().is_ok(), "{planted} is left where it is");
        assert_sound(&log);
        fs::remove_file(&lease).unwrap();
        assert_eq!(log.go_on(RUN).unwrap().next_seq(), Seq(2), "{planted}");
    }
}

#[test]
fn the_lease_of_a_killed_process_is_taken_over() {
    let folder = folder();
    fs::write(folder.lease(RUN), "4194304").unwrap();
    drop(folder.log().go_on(RUN).unwrap());
    assert!(!folder.lease(RUN).exists());
}

#[test]
fn a_planted_link_is_reported() {
    let place = Place::with_run();
    let run = place.json("log").0["runs"][0]["run"].as_str().unwrap().to_owned();
    place.write("victim", "precious");
    symlink("victim", place.path(&format!("retold.db-{run}.lease"))).unwrap();
    let shown = place.session(&["run --resume latest"]).replace(&run, "[run]");
    assert_eq!(place.read("victim"), "precious");
    assert_said!("leases_link", shown);
}
