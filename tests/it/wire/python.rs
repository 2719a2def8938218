//! Python programs with the providers' own SDKs, none of which knows anything of retold.

use std::path::Path;

use super::upstream::{Failing, server};
use super::{assert_no_key, program, record, replay};
use crate::support::cli::Place;

/// The interpreter with the SDKs that `scripts/test` installs.
pub(super) fn python() -> String {
    let python = Path::new(env!("RETOLD_ROOT")).join("target/clients/python/bin/python");
    python.to_str().unwrap().to_owned()
}

#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn openai_s_sdk_gets_the_same_answers_again() {
    let (place, script) = (Place::new(), program("openai_study.py"));
    let (python, script) = (python(), script.to_str().unwrap().to_owned());
    let program = [python.as_str(), script.as_str()];
    let upstream = server(Failing { one_in: 5 });
    let recorded = record(&place, "", &upstream.base_url(), &program);
    assert_eq!(recorded.code, 0, "{}{}", recorded.out, recorded.err);
    assert!(recorded.err.contains("failed attempt"), "it was tried again: {}", recorded.err);
    drop(upstream);
    assert_no_key(&place, &recorded);
    let replayed = replay(&place, "latest", &program);
    assert_eq!(replayed.out, recorded.out, "{}", replayed.err);
    assert_eq!(
        (replayed.code, replayed.err.contains("never asked")),
        (0, false),
        "{}",
        replayed.err
    );
    place.ok("verify");
}
