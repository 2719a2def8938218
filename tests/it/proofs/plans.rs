//! Twenty ways to make a plan fit what came out, by somebody who can write the log and compute its hashes: each is named against
//! a seal with a time from outside, or against heads that somebody noted.

use serde_json::{Value, json};

use super::seals::key;
use super::times::Authority;
use crate::support::cli::{Place, Said};
use crate::support::forged::{chained, with_settings};

/// A change to the settings in which a plan is.
type Change<'a> = &'a dyn Fn(&mut Value);

/// A planned run, with what somebody else has of it.
struct Evidence {
    place: Place,
    authority: Authority,
    /// The recordings.
    plan: String,
    run: String,
    /// The head of the run, as it was noted.
    head: String,
}

impl Evidence {
    fn gather() -> Self {
        let (place, authority) = (Place::new(), Authority::honest());
        key(&place, "mine");
        key(&place, "other");
        let hypotheses = json!({
            "hypotheses": [
                {"figure": "share of solved = true", "baseline": 0.05, "direction": "greater"},
                {"figure": "share of decision.game24 != none independent"},
            ],
            "stopping": "each puzzle three times",
            "parsers": ["game24@1"],
        });
        place.write("small.hypotheses.yaml", hypotheses.to_string());
        place.ok("plan small.yaml --register");
        let evidence = Evidence {
            plan: String::new(),
            run: String::new(),
            head: String::new(),
            place,
            authority,
        };
        evidence.seal("mine", "plan.seal", &evidence.authority);
        evidence.place.ok("run small.yaml -q --plan small-plan");
        evidence.place.ok("export small-plan plan.jsonl");
        evidence.place.ok("export latest run.jsonl");
        let (verified, _) = evidence.place.json("verify latest");
        let head = verified["head"].as_str().unwrap().to_owned();
        let [plan, run] = ["plan.jsonl", "run.jsonl"].map(|name| evidence.place.read(name));
        Evidence { plan, run, head, ..evidence }
    }

    fn seal(&self, key: &str, name: &str, authority: &Authority) {
        let certificate = authority.certificate().display().to_string();
        let args = ["verify", "seal", "small-plan", "--key", key, "--output", name];
        let time = ["--time", &authority.url, "--authority", &certificate];
        let said = self.place.with_path(&[&args[..], &time[..]].concat());
        assert_eq!(said.code, 0, "{}", said.err);
    }

    /// Verifies the recording of a plan against a seal of it.
    fn verify_plan(&self, recording: &str, seal: &str) -> Said {
        let certificate = self.authority.certificate().display().to_string();
        let args = [
            "verify", recording, "--seal", seal, "--signer", "mine.pub", "--authority",
            &certificate,
        ];
        self.place.with_path(&args)
    }

    /// Verifies the recording of the run against its noted head.
    fn verify_run(&self, recording: &str) -> Said {
        self.place.run(&format!("verify {recording} --head {}", self.head))
    }
}

fn lines(recording: &str) -> Vec<Value> {
    recording.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The events of a recording, changed, with hashes that fit.
fn with_events(recording: &str, change: impl FnOnce(&mut Vec<Value>)) -> String {
    let mut lines = lines(recording);
    change(&mut lines);
    let mut seq = 0;
    for line in lines.iter_mut().filter(|line| line["kind"].is_string()) {
        seq += 1;
        line["seq"] = json!(seq);
    }
    chained(lines)
}

/// The place of the n-th event of a kind.
fn place_of(lines: &[Value], kind: &str, n: usize) -> usize {
    lines.iter().enumerate().filter(|(_, line)| line["kind"] == kind).nth(n).unwrap().0
}

fn is_named(said: &Said) -> bool {
    let named = said.out.contains("NOT OK") || said.err.contains("error:");
    said.code == 1 && named
}

#[test]
fn twenty_ways_to_make_a_plan_fit_are_named() {
    let evidence = Evidence::gather();
    let place = &evidence.place;
    assert_eq!(evidence.verify_plan("plan.jsonl", "plan.seal").code, 0, "as it is, it holds");
    assert_eq!(evidence.verify_run("run.jsonl").code, 0);

    let plans: [(&str, Change<'_>); 9] = [
        ("another direction", &|it| it["plan"]["hypotheses"][0]["direction"] = json!("less")),
        ("another baseline", &|it| it["plan"]["hypotheses"][0]["number"] = json!(0.5)),
        ("another figure", &|it| {
            it["plan"]["hypotheses"][1]["figure"] = json!("share of solved = false");
        }),
        ("a hypothesis more", &|it| {
            let first = it["plan"]["hypotheses"][0].clone();
            it["plan"]["hypotheses"].as_array_mut().unwrap().push(first);
        }),
        ("a hypothesis less", &|it| {
            it["plan"]["hypotheses"].as_array_mut().unwrap().pop();
        }),
        ("another n", &|it| it["plan"]["calls"] = json!(12)),
        ("another stopping rule", &|it| it["plan"]["stopping"] = json!("when it is significant")),
        ("another parser admitted", &|it| it["plan"]["parsers"] = json!(["game24@1", "vote@1"])),
        ("another prompt", &|it| it["plan"]["settings"]["experiment"]["template"] = json!("io")),
    ];
    let mut ways = 0;
    for (way, change) in plans {
        place.write("forged.jsonl", with_settings(&evidence.plan, change));
        assert_eq!(place.run("verify forged.jsonl").code, 0, "{way}: it is consistent in itself");
        let said = evidence.verify_plan("forged.jsonl", "plan.seal");
        assert!(is_named(&said), "{way}: {said:?}");
        ways += 1;
    }
    let earlier = with_events(&evidence.plan, |lines| {
        for line in lines.iter_mut().filter(|line| line["time"].is_i64()) {
            line["time"] = json!(line["time"].as_i64().unwrap() - 86_400_000);
        }
    });
    place.write("forged.jsonl", earlier);
    assert!(
        is_named(&evidence.verify_plan("forged.jsonl", "plan.seal")),
        "a plan that is a day older"
    );
    ways += 1;

    let runs: [(&str, &dyn Fn() -> String); 6] = [
        ("the run names another plan", &|| {
            with_settings(&evidence.run, |it| it["plan"]["run"] = json!("0123456789abcdef"))
        }),
        ("the run names another head", &|| {
            with_settings(&evidence.run, |it| it["plan"]["head"]["hash"] = json!("0".repeat(64)))
        }),
        ("the run names no plan", &|| {
            with_settings(&evidence.run, |it| {
                it.as_object_mut().unwrap().remove("plan");
            })
        }),
        ("the run began later", &|| {
            with_events(&evidence.run, |lines| {
                for line in lines.iter_mut().filter(|line| line["time"].is_i64()) {
                    line["time"] = json!(line["time"].as_i64().unwrap() + 86_400_000);
                }
            })
        }),
        ("two events in another order", &|| {
            with_events(&evidence.run, |lines| {
                let (one, other) =
                    (place_of(lines, "RequestSent", 0), place_of(lines, "RequestSent", 1));
                lines.swap(one, other);
            })
        }),
        ("an event less", &|| {
            with_events(&evidence.run, |lines| {
                lines.remove(place_of(lines, "DecisionMade", 0));
            })
        }),
    ];
    for (way, forged) in runs {
        place.write("forged.jsonl", forged());
        let said = evidence.verify_run("forged.jsonl");
        assert!(is_named(&said), "{way}: {said:?}");
        ways += 1;
    }

    let (other, text) = (Authority::honest(), place.read("plan.seal"));
    let at = text.find("-----BEGIN TIME").unwrap();
    evidence.seal("other", "others.seal", &evidence.authority);
    evidence.seal("mine", "elsewhere.seal", &other);
    place.write("stampless.seal", &text[..at]);
    let foreign = place.read("others.seal");
    let stamp = &foreign[foreign.find("-----BEGIN TIME").unwrap()..];
    place.write("exchanged.seal", format!("{}{stamp}", &text[..at]));
    for (way, seal) in [
        ("sealed by another key", "others.seal"),
        ("a time of another authority", "elsewhere.seal"),
        ("without the time", "stampless.seal"),
        ("with the time of another seal", "exchanged.seal"),
    ] {
        let said = evidence.verify_plan("plan.jsonl", seal);
        assert!(is_named(&said), "{way}: {said:?}");
        ways += 1;
    }
    assert_eq!(ways, 20);
}

/// A log in which both the plan and the run were written anew: what the run names is then no plan of this log.
#[test]
fn a_plan_that_took_the_place_of_another_is_a_deviation() {
    let evidence = Evidence::gather();
    let forged = with_settings(&evidence.plan, |it| {
        it["plan"]["hypotheses"][0]["direction"] = json!("less");
    });
    let elsewhere = Place::new();
    elsewhere.write("plan.jsonl", forged);
    elsewhere.write("run.jsonl", &evidence.run);
    elsewhere.ok("import plan.jsonl");
    elsewhere.ok("import run.jsonl");
    let (stats, _) = elsewhere.json("stats latest");
    let deviations: Vec<&Value> =
        stats["search"][0]["deviations"].as_array().unwrap().iter().map(|of| &of["kind"]).collect();
    assert_eq!(deviations, ["plan"], "{stats}");
}
