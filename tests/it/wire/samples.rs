//! Equal requests, and which recorded answer each of them gets.

use std::collections::BTreeSet;

use super::upstream::{Failing, server};
use super::{program, record_with, replay_with};
use crate::support::cli::Place;

fn draws(out: &str) -> BTreeSet<String> {
    out.lines().filter(|line| line.contains("Answer ")).map(str::to_owned).collect()
}

#[test]
fn thirty_equal_questions_in_parallel_have_thirty_answers() {
    let (place, script) = (Place::new(), program("draw.sh"));
    let script = ["sh", script.to_str().unwrap()];
    let upstream = server(Failing { one_in: 0 });
    let recorded = record_with(&place, "", &upstream.base_url(), &script, &[]);
    assert_eq!(
        (recorded.code, draws(&recorded.out).len()),
        (0, 30),
        "{}{}",
        recorded.out,
        recorded.err
    );
    assert_eq!(upstream.received().len(), 30);
    drop(upstream);
    // Another order, and another number at a time.
    let replayed = replay_with(&place, "latest", &script, &[("PARALLEL", "3"), ("ORDER", "-rn")]);
    assert_eq!(replayed.out, recorded.out, "{}", replayed.err);
    assert_eq!(replayed.code, 0);
    let once_more = replay_with(&place, "latest", &script, &[("COUNT", "31")]);
    assert_eq!(once_more.code, 1, "{}", once_more.err);
    assert!(
        once_more.err.contains("is recorded 30 times, and was asked once more"),
        "{}",
        once_more.err
    );
    assert_eq!(draws(&once_more.out).len(), 30);
    let fewer = replay_with(&place, "latest", &script, &[("COUNT", "28")]);
    assert_eq!(fewer.code, 0);
    assert!(fewer.err.contains("2 recorded requests were never asked: "), "{}", fewer.err);
}

#[test]
fn a_caller_that_names_its_calls_gets_its_own_answers_again() {
    let (place, script) = (Place::new(), program("draw.sh"));
    let script = ["sh", script.to_str().unwrap()];
    let upstream = server(Failing { one_in: 0 });
    let named = [("NAMED", "yes"), ("COUNT", "12")];
    let recorded = record_with(&place, "", &upstream.base_url(), &script, &named);
    assert!(upstream.received().iter().all(|request| request.header("x-retold-call").is_none()));
    drop(upstream);
    let other_order = [("NAMED", "yes"), ("COUNT", "12"), ("PARALLEL", "5"), ("ORDER", "-rn")];
    let replayed = replay_with(&place, "latest", &script, &other_order);
    assert_eq!((replayed.code, replayed.out), (0, recorded.out), "{}", replayed.err);
    assert!(place.ok("show latest caller/7").contains("draw a number"));
}

#[test]
fn a_run_that_was_cut_off_is_continued_and_a_finished_one_is_forked() {
    let (place, script) = (Place::new(), program("draw.sh"));
    let script = ["sh", script.to_str().unwrap()];
    let upstream = server(Failing { one_in: 0 });
    let url = upstream.base_url();
    let asked = || upstream.received().len();
    let cut_off = record_with(&place, "", &url, &script, &[("COUNT", "4"), ("EXIT", "3")]);
    assert_eq!((cut_off.code, asked()), (3, 4), "{}", cut_off.err);
    assert!(cut_off.err.contains("retold record --resume"), "{}", cut_off.err);
    let resumed = super::with(&place, "record --resume latest", &url, &script, &[("COUNT", "10")]);
    assert_eq!((resumed.code, asked()), (0, 10), "{}", resumed.err);
    assert!(draws(&resumed.out).is_superset(&draws(&cut_off.out)));
    assert_eq!(draws(&resumed.out).len(), 10);
    let again = super::with(&place, "record --resume latest", &url, &script, &[("COUNT", "12")]);
    assert_eq!((again.code, asked()), (2, 10), "{}", again.err);
    assert!(again.err.contains("is finished, and nothing is added to it"), "{}", again.err);
    let forked = super::with(&place, "fork latest", &url, &script, &[("COUNT", "12")]);
    assert_eq!((forked.code, asked()), (0, 12), "{}", forked.err);
    assert!(draws(&forked.out).is_superset(&draws(&resumed.out)));
    drop(upstream);
    let replayed = replay_with(&place, "latest", &script, &[("COUNT", "12"), ("ORDER", "-rn")]);
    assert_eq!((replayed.code, replayed.out), (0, forked.out), "{}", replayed.err);
    assert!(place.ok("show latest").contains("forked from run"));
    place.ok("verify");
}

#[test]
fn a_fork_that_was_cut_off_still_has_the_answers_of_its_parent() {
    let (place, script) = (Place::new(), program("draw.sh"));
    let script = ["sh", script.to_str().unwrap()];
    let upstream = server(Failing { one_in: 0 });
    let url = upstream.base_url();
    let cut_off = [("COUNT", "2"), ("EXIT", "3")];
    let recorded = record_with(&place, "", &url, &script, &[("COUNT", "9")]);
    assert_eq!((recorded.code, upstream.received().len()), (0, 9), "{}", recorded.err);
    // Those that it did not come to wait for whatever continues it: another fork, cut off as well, and its resumption.
    for command in ["fork latest", "fork latest", "record --resume latest"] {
        let again = super::with(&place, command, &url, &script, &cut_off);
        assert_eq!((again.code, upstream.received().len()), (3, 9), "{}", again.err);
    }
    let whole = super::with(&place, "record --resume latest", &url, &script, &[("COUNT", "10")]);
    assert_eq!((whole.code, upstream.received().len()), (0, 10), "{}", whole.err);
    assert!(draws(&whole.out).is_superset(&draws(&recorded.out)), "{}", whole.out);
    drop(upstream);
    let replayed = replay_with(&place, "latest", &script, &[("COUNT", "10"), ("ORDER", "-rn")]);
    assert_eq!((replayed.code, replayed.out), (0, whole.out), "{}", replayed.err);
    place.ok("verify");
}

/// One answer of named calls is taken back: it alone is asked again, also after a crash of the fork, and everything of the first run is
/// still there.
#[test]
fn an_answer_that_is_taken_back_is_alone_asked_again() {
    let (place, script) = (Place::new(), program("draw.sh"));
    let script = ["sh", script.to_str().unwrap()];
    let upstream = server(Failing { one_in: 0 });
    let url = upstream.base_url();
    let (named, cut_off) =
        ([("NAMED", "yes"), ("COUNT", "5")], [("NAMED", "yes"), ("COUNT", "2"), ("EXIT", "3")]);
    let recorded = record_with(&place, "--name first", &url, &script, &named);
    assert_eq!((recorded.code, upstream.received().len()), (0, 5), "{}", recorded.err);
    let once = super::with(&place, "fork first --without caller/4", &url, &script, &cut_off);
    assert_eq!((once.code, upstream.received().len()), (3, 5), "{}", once.err);
    let whole = super::with(&place, "record --resume latest", &url, &script, &named);
    assert_eq!((whole.code, upstream.received().len()), (0, 6), "{}", whole.err);
    let new: Vec<_> = draws(&whole.out).difference(&draws(&recorded.out)).cloned().collect();
    assert_eq!((new.len(), draws(&whole.out).len()), (1, 5), "{}", whole.out);
    let said = place.ok("show latest");
    assert!(
        said.contains("forked from run") && said.contains(", without the answer to its seq "),
        "{said}"
    );
    let diff = place.run("diff first latest");
    assert!(diff.code == 1 && diff.out.contains("without the answer to its seq"), "{}", diff.out);
    let none = super::with(&place, "fork first --without caller/9", &url, &script, &named);
    assert_eq!((none.code, upstream.received().len()), (2, 6), "{}", none.err);
    assert!(none.err.contains("caller/9"), "{}", none.err);
    drop(upstream);
    for (run, due) in [("first", recorded), ("latest", whole)] {
        let replayed = replay_with(&place, run, &script, &named);
        assert_eq!((replayed.code, replayed.out), (0, due.out), "{}", replayed.err);
    }
    place.ok("verify");
}

/// The answers before a place are those of the first run; all others are asked, whatever it has of them.
#[test]
fn a_fork_of_a_program_shares_what_is_before_a_place() {
    let (place, script) = (Place::new(), program("draw.sh"));
    let script = ["sh", script.to_str().unwrap()];
    let upstream = server(Failing { one_in: 0 });
    let url = upstream.base_url();
    let named = [("NAMED", "yes"), ("COUNT", "5"), ("PARALLEL", "1")];
    let recorded = record_with(&place, "--name first", &url, &script, &named);
    assert_eq!((recorded.code, upstream.received().len()), (0, 5), "{}", recorded.err);
    let forked = super::with(&place, "fork first --at caller/4", &url, &script, &named);
    let asked = upstream.received().len() - 5;
    let new = draws(&forked.out).difference(&draws(&recorded.out)).count();
    assert_eq!((forked.code, asked, new), (0, 2, 2), "{}{}", forked.err, forked.out);
    assert!(place.ok("show latest").contains(", before seq "));
    drop(upstream);
    let replayed = replay_with(&place, "latest", &script, &named);
    assert_eq!((replayed.code, replayed.out), (0, forked.out), "{}", replayed.err);
}

#[test]
fn shared_answers_are_asked_for_once() {
    let (place, script) = (Place::new(), program("draw.sh"));
    let script = ["sh", script.to_str().unwrap()];
    let upstream = server(Failing { one_in: 0 });
    let recorded =
        record_with(&place, "--shared", &upstream.base_url(), &script, &[("COUNT", "9")]);
    assert_eq!((recorded.code, upstream.received().len()), (0, 1), "{}", recorded.err);
    drop(upstream);
    assert_eq!(draws(&recorded.out).len(), 1);
    let shared = "; 8 requests shared the answers of equal ones";
    assert!(recorded.err.contains("recorded 1 answer as run "), "{}", recorded.err);
    assert!(recorded.err.contains(&format!("{shared}\n")), "{}", recorded.err);
    let replayed = replay_with(&place, "latest", &script, &[("COUNT", "9")]);
    assert!(replayed.err.contains("replayed 1 recorded answer of run "), "{}", replayed.err);
    assert!(replayed.err.contains(&format!("{shared}; retold asked")), "{}", replayed.err);
    for count in ["9", "11"] {
        let replayed = replay_with(&place, "latest", &script, &[("COUNT", count)]);
        assert_eq!(
            (replayed.code, draws(&replayed.out)),
            (0, draws(&recorded.out)),
            "{}",
            replayed.err
        );
    }
    place.ok("verify");
}

/// A run that was recorded otherwise can be shared when it is served.
#[test]
fn recorded_answers_can_be_shared_later() {
    let (place, script) = (Place::new(), program("draw.sh"));
    let script = ["sh", script.to_str().unwrap()];
    let upstream = server(Failing { one_in: 0 });
    let url = upstream.base_url();
    let recorded = record_with(&place, "", &url, &script, &[("COUNT", "2")]);
    assert_eq!((recorded.code, draws(&recorded.out).len()), (0, 2), "{}", recorded.err);
    let more = [("COUNT", "7")];
    let strict = replay_with(&place, "latest", &script, &more);
    assert_eq!(strict.code, 1, "{}", strict.err);
    let replayed = replay_with(&place, "latest --shared", &script, &more);
    assert_eq!(replayed.code, 0, "{}", replayed.err);
    assert!(draws(&replayed.out).is_subset(&draws(&recorded.out)), "{}", replayed.out);
    let forked = super::with(&place, "fork latest --shared", &url, &script, &more);
    assert_eq!((forked.code, upstream.received().len()), (0, 2), "{}", forked.err);
    drop(upstream);
    let again = replay_with(&place, "latest", &script, &more);
    assert_eq!((again.code, draws(&again.out)), (0, draws(&forked.out)), "{}", again.err);
}

#[test]
fn volatile_parts_do_not_count_if_they_are_named() {
    let place = Place::new();
    let ask = "curl -sS --max-time 20 $OPENAI_BASE_URL/chat/completions -d \"$(printf \
        '{\"model\":\"m\",\"trace\":{\"id\":\"%s\"},\"messages\":[{\"role\":\"user\",\"content\":\"It is %s. Hi\"}]}' $$ $NOW)\"";
    let program = ["sh", "-c", ask];
    let upstream = server(Failing { one_in: 0 });
    let rules = r"--ignore trace.id --replace \d\d:\d\d=TIME";
    let recorded = record_with(&place, rules, &upstream.base_url(), &program, &[("NOW", "11:30")]);
    drop(upstream);
    let replayed = replay_with(&place, "latest", &program, &[("NOW", "23:59")]);
    assert_eq!((replayed.code, replayed.out), (0, recorded.out), "{}", replayed.err);
    let missed = replay_with(&place, "latest", &program, &[("NOW", "noon")]);
    assert_eq!(missed.code, 1);
    for part in
        ["first difference at messages.0.content", "recorded  It is TIME. Hi", "--ignore trace.id"]
    {
        assert!(missed.err.contains(part), "{}", missed.err);
    }
    // The request as it was sent.
    assert!(place.ok("export latest").contains("It is 11:30. Hi"));
}

/// Clients that do not say how often they have tried: whatever the schedule, each outcome that was recorded is handed out once.
#[test]
fn as_many_failures_come_again_as_were_recorded() {
    let place = Place::new();
    let ask = "seq 16 | xargs -P $PARALLEL -I{} curl -sS --max-time 30 -o /dev/null -w '%{http_code}\\n' \
        -d '{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"draw\"}]}' $OPENAI_BASE_URL/chat/completions";
    let program = ["sh", "-c", ask];
    let upstream = server(Failing { one_in: 2 });
    let recorded = record_with(&place, "", &upstream.base_url(), &program, &[("PARALLEL", "16")]);
    drop(upstream);
    let sorted = |out: &str| {
        let mut lines: Vec<String> = out.lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines
    };
    let due = sorted(&recorded.out);
    assert_eq!(due.iter().filter(|status| *status == "200").count(), 8, "{due:?}");
    for parallel in ["16", "1", "5", "16"] {
        let again = replay_with(&place, "latest", &program, &[("PARALLEL", parallel)]);
        assert_eq!((again.code, sorted(&again.out)), (0, due.clone()), "{parallel}: {}", again.err);
        assert!(!again.err.contains("never asked"), "{}", again.err);
    }
}
