//! Programs for Node.

use std::path::Path;

use super::upstream::{Failing, server};
use super::{again, program};
use crate::support::cli::Place;

/// Puts the packages that `scripts/test` installs where a program of this folder finds them.
pub(super) fn with_packages(place: &Place) {
    let packages = Path::new(env!("RETOLD_ROOT")).join("target/clients/node/node_modules");
    std::os::unix::fs::symlink(packages, place.path("node_modules")).unwrap();
}

#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn openai_s_sdk_for_node_gets_the_same_answers_again() {
    let place = Place::new();
    with_packages(&place);
    std::fs::copy(program("node_study.mjs"), place.path("study.mjs")).unwrap();
    let said = again(&place, &["node", "study.mjs"], server(Failing { one_in: 5 }), &[]);
    assert!(said.out.contains("9007199254740993"), "{}", said.out);
}
