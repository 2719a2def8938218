//! `record --progress`: a line at the bottom of the terminal, for programs that write nothing there.

use crate::support::cli::Place;
use crate::support::terminal::on_terminal;

#[test]
fn progress_is_shown_on_request_and_at_a_terminal_alone() {
    let place = Place::new();
    let shown = on_terminal(&place, "record --progress -- /bin/sleep 1", &[]);
    let line = "retold: 0 answers, 0 failed, $0.0000";
    assert!(shown.matches(line).count() >= 2, "while it runs, and at the end: {shown:?}");
    for quiet in ["record -- /bin/sleep 1", "record --progress --quiet -- /bin/sleep 1"] {
        let shown = on_terminal(&place, quiet, &[]);
        assert!(!shown.contains("0 answers, 0 failed"), "{quiet}: {shown:?}");
    }
    let said = place.run("record --progress -- /bin/sleep 1");
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(!said.err.contains("0 answers, 0 failed"), "{}", said.err);
}
