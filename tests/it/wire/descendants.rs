//! Processes that a program has started and that outlive it.

use super::upstream::{Failing, server};
use super::{record, replay};
use crate::support::cli::Place;

const ASK: &str = "curl -sS --max-time 20 -d '{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}' $OPENAI_BASE_URL/chat/completions";

/// It asks after its parent has ended, and is recorded.
#[test]
fn a_process_that_ends_soon_is_waited_for() {
    let (place, upstream) = (Place::new(), server(Failing { one_in: 0 }));
    let script = format!("(sleep 0.6; {ASK} > late) & exit 0");
    let program = ["sh", "-c", &script];
    let recorded = record(&place, "", &upstream.base_url(), &program);
    assert_eq!((recorded.code, upstream.received().len()), (0, 1), "{}", recorded.err);
    assert!(recorded.err.contains("recorded 1 answer"), "{}", recorded.err);
    assert!(!recorded.err.contains("still run"), "{}", recorded.err);
    drop(upstream);
    let first = std::fs::read(place.path("late")).unwrap();
    let again = replay(&place, "latest", &program);
    assert_eq!(
        (again.code, std::fs::read(place.path("late")).unwrap()),
        (0, first),
        "{}",
        again.err
    );
}

#[test]
fn a_process_that_goes_on_is_named() {
    let (place, upstream) = (Place::new(), server(Failing { one_in: 0 }));
    let script = format!(
        "{ASK} >/dev/null; sleep 7.25 >/dev/null 2>&1 & sleep 7.5 >/dev/null 2>&1 & exit 0"
    );
    let recorded = record(&place, "", &upstream.base_url(), &["sh", "-c", &script]);
    assert_eq!(recorded.code, 0, "{}", recorded.err);
    assert!(
        recorded.err.contains("processes that the program has started still run"),
        "{}",
        recorded.err
    );
    assert!(recorded.err.contains("sleep 7.5"), "{}", recorded.err);
}
