//! How many requests a command makes, and that what stays open sees what is new all the same.

use super::compacting::exchanges;
use super::lab::Lab;
use crate::serve::Served;

/// A log with two runs of 5 segments each, and one of them.
fn lab() -> (Lab, String) {
    let lab = Lab::counted();
    lab.place.write("exchanges.jsonl", exchanges(9000));
    for _ in 0..2 {
        lab.ok("import exchanges.jsonl --quiet");
    }
    let run = lab.json("log")["runs"][1]["run"].as_str().unwrap().to_owned();
    (lab, run)
}

#[test]
#[cfg_attr(not(real_clients), ignore = "scripts/test installs moto")]
fn one_call_is_shown_and_audited_with_few() {
    let (lab, run) = lab();
    // `retold.json`, the ledger and its list, whether the run is compacted, its list, and its segments.
    for command in ["show", "audit"] {
        let requests = lab.requests_of(&format!("{command} {run} vote/p_04321"));
        assert_eq!(requests, 5 + 5, "{command} of a run of 5 segments");
    }
    lab.ok("copy --compact");
    // `retold.json`, the ledger and its list, the directory, and a segment.
    for command in ["show", "audit"] {
        let requests = lab.requests_of(&format!("{command} {run} vote/p_04321"));
        assert_eq!(requests, 5, "{command} of a compacted run");
    }
    // All of it is in a few segments of the part.
    for command in ["stats", "show"] {
        let requests = lab.requests_of(&format!("{command} {run}"));
        assert!(requests <= 12, "{command}: {requests}");
    }
}

#[test]
fn each_page_has_the_runs_that_there_are_when_it_is_asked_for() {
    let lab = Lab::folder();
    lab.ok("run small.yaml --quiet --no-outputs");
    let served = Served::log(&lab.place, &lab.log);
    for seed in 2..5 {
        lab.ok(&format!("run small.yaml --quiet --no-outputs --set seed={seed}"));
        let run = lab.json("log")["runs"][seed - 1]["run"].as_str().unwrap().to_owned();
        assert!(served.get("/").body.contains(&run), "{seed}");
        assert_eq!(served.get(&format!("/run/{run}")).status, 200, "{seed}");
    }
}
