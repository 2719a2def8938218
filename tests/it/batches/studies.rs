//! Studies whose answers come by batch: each has the outcome that it has when it is asked at once, and a run that waits goes on where it
//! stopped, whatever the server does meanwhile.

use crate::support::batches::{
    Asked, BatchFake, Fate, Kind, Options, Refusal, Trouble, What, echo, study,
};
use crate::support::cli::{Place, Said};
use crate::support::studies::{STUDIES, Small};
use serde_json::Value;

/// A fake in whose time half an hour passes with each look.
fn fake(experiment: &str) -> (String, BatchFake) {
    BatchFake::with(Options { per_get: 1800, ..Options::default() }, study(experiment))
}

/// The flags that lead to a fake.
fn at(url: &str, kind: &str) -> String {
    match kind {
        "openai" | "responses" => format!("--base-url {url}/v1 --key k --model {kind}"),
        _ => format!("--base-url {url} --key k --model {kind}"),
    }
}

fn game24() -> &'static Small {
    STUDIES.iter().find(|study| study.name == "game24").unwrap()
}

fn outcome((whole, code): (Value, i32)) -> Value {
    assert_eq!(code, 0, "{whole}");
    assert_eq!(whole["failed_calls"], 0, "{whole}");
    whole["outcome_digest"].clone()
}

#[test]
fn each_study_has_the_outcome_of_its_live_run() {
    for small in &STUDIES {
        let (url, fake) = fake(small.name);
        let run = format!("{} {}", small.run(), at(&url, "openai"));
        let live = outcome(Place::new().json(&run));
        let before = fake.counts();
        let place = Place::new();
        let batch = outcome(place.json(&format!("{run} --batch --wait --poll 0.01")));
        assert_eq!(live, batch, "{}", small.name);
        let counts = fake.counts();
        assert!(counts.batches > 0 && counts.doubles().is_empty(), "{counts:?}");
        let chats = |counts: &crate::support::batches::Counts| counts.of(Kind::Live);
        assert!(chats(&counts) >= chats(&before), "{}", small.name);
        place.ok("replay latest");
        place.ok("verify");
    }
}

#[test]
fn each_api_takes_a_study() {
    for kind in ["openai", "responses", "anthropic", "gemini"] {
        let (url, fake) = fake("game24");
        let run = format!("{} {}", game24().run(), at(&url, kind));
        let live = outcome(Place::new().json(&run));
        let asked = fake.counts().of(Kind::Live);
        let place = Place::new();
        let batch = outcome(place.json(&format!("{run} --batch --wait --poll 0.01")));
        assert_eq!(live, batch, "{kind}");
        let counts = fake.counts();
        assert_eq!(counts.of(Kind::Live), asked, "{kind}: nothing is asked at once");
        assert!(counts.doubles().is_empty(), "{kind}: {counts:?}");
        // What one was answered serves the other: a fork in the usual tier asks the second samples alone.
        place.ok(&format!(
            "fork latest --quiet --set samples=2 --set model.tier=null {}",
            at(&url, kind)
        ));
        assert_eq!(fake.counts().of(Kind::Live), 2 * asked, "{kind}: the others are shared");
    }
}

#[test]
fn a_run_that_waits_ends_with_75_and_goes_on() {
    let (url, fake) = BatchFake::with(Options::default(), study("game24"));
    let place = Place::new();
    let flags = at(&url, "openai");
    let said = place.run(&format!("{} {flags} --batch", game24().run().replace(" --quiet", "")));
    assert_eq!(said.code, 75, "{}{}", said.out, said.err);
    assert!(said.out.contains("waiting"), "{}", said.out);
    assert!(said.out.contains("run --resume"), "{}", said.out);
    let list = place.ok("log");
    assert!(list.contains("waiting") && list.contains("batch 1"), "{list}");
    let again = || place.run(&format!("run --resume latest {flags}"));
    let said = again();
    assert_eq!(said.code, 75, "{}{}", said.out, said.err);
    assert_eq!(fake.counts().batches, 1, "nothing is submitted again");
    fake.advance(4000);
    let said = again();
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert_eq!(fake.counts().batches, 1);
    let shown = place.ok("log latest");
    for step in
        ["batch planned", "batch uploaded", "batch submitted", "batch ended", "batch collected"]
    {
        assert!(shown.contains(step), "{step}: {shown}");
    }
    let stats = place.json("stats latest").0;
    assert!(stats["cost"].is_object(), "{stats}");
    place.ok("replay latest");
}

#[test]
fn what_was_answered_before_a_batch_was_cancelled_is_kept() {
    for kind in ["openai", "anthropic", "gemini"] {
        let (url, fake) = BatchFake::with(Options::default(), study("game24"));
        let place = Place::new();
        let flags = at(&url, kind);
        assert_eq!(place.run(&format!("{} {flags} --batch", game24().run())).code, 75, "{kind}");
        fake.advance(1900);
        let said = place.run(&format!("run --cancel latest {flags}"));
        assert_eq!(said.code, 0, "{kind}: {}{}", said.out, said.err);
        assert!(said.out.contains("asked to begin nothing more"), "{}", said.out);
        fake.advance(4000);
        let asked = fake.counts().paid_lines.len();
        assert!(asked > 0 && asked < 30, "{kind}: {asked}");
        place.ok(&format!("run --resume latest --quiet {flags} --set model.tier=null"));
        let counts = fake.counts();
        assert_eq!(counts.batches, 1, "{kind}");
        // Gemini's API has no results of a batch that was cancelled.
        let kept = if kind == "gemini" { 0 } else { asked };
        assert_eq!(counts.of(Kind::Live) as usize, 30 - kept, "{kind}: the rest is asked at once");
        let said = place.run(&format!("run --cancel latest {flags}"));
        assert_eq!(said.code, 2, "{}", said.err);
    }
}

#[test]
fn a_judge_is_asked_by_batch() {
    let (url, fake) = BatchFake::with(Options { per_get: 1800, ..Options::default() }, echo());
    let place = Place::new();
    place.ok("run small.yaml --quiet --set samples=1");
    let judge = "experiment: judge\nname: polite\nvalues: [polite, rude]\nsamples: 2\n\
                 template: |\n  Is this polite?\n\n  {answer}\nrequest: {model: gpt-5-mini}\n";
    place.write("judge.yaml", judge);
    let flags = format!("--model openai --base-url {url}/v1 --key k --batch --wait --poll 0.01");
    let said = place.run(&format!("score judge latest --config judge.yaml {flags}"));
    assert_eq!(
        (fake.counts().batches, fake.counts().of(Kind::Live)),
        (1, 0),
        "{}{}",
        said.out,
        said.err
    );
}

/// The run by batch that goes through this, and its live run.
fn through(change: impl FnOnce(&BatchFake), kind: &str) -> (Said, BatchFake, Place) {
    let (url, fake) = fake("game24");
    let run = format!("{} {}", game24().run(), at(&url, kind));
    let live = outcome(Place::new().json(&run));
    change(&fake);
    let place = Place::new();
    let said = place.run(&format!("{run} --batch --wait --poll 0.01 --json"));
    if said.code == 0 {
        let whole: Value = serde_json::from_str(&said.out).unwrap();
        assert_eq!(whole["outcome_digest"], live, "{}", said.err);
        place.ok("replay latest");
        place.ok("verify");
    }
    (said, fake, place)
}

#[test]
fn what_expires_or_fails_in_passing_is_planned_again_in_smaller_batches() {
    for kind in ["openai", "anthropic", "gemini"] {
        let (said, fake, _) = through(
            |fake| fake.decide(0, Fate { expires_after: Some(4), ..Fate::default() }),
            kind,
        );
        assert_eq!(said.code, 0, "{kind}: {}", said.err);
        assert!(fake.counts().batches >= 3, "{kind}: {:?}", fake.counts().batches);
        let most = fake.counts().paid_lines.values().max().copied();
        assert_eq!(most, Some(1), "{kind}: no answer is paid for twice");
        let (said, ..) = through(
            |fake| {
                let errors = vec![(0, 429), (3, 500)];
                fake.decide(0, Fate { errors, ..Fate::default() });
            },
            kind,
        );
        assert_eq!(said.code, 0, "{kind}: {}", said.err);
    }
}

#[test]
fn a_line_that_is_refused_fails_its_call_as_it_would_alone() {
    let (url, fake) = fake("game24");
    fake.decide(0, Fate { errors: vec![(2, 400)], ..Fate::default() });
    let place = Place::new();
    let run = format!("{} {}", game24().run(), at(&url, "openai"));
    let (whole, code) = place.json(&format!("{run} --batch --wait --poll 0.01"));
    assert_eq!((code, whole["failed_calls"].as_u64()), (0, Some(1)), "{whole}");
    assert_eq!(fake.counts().batches, 1, "it is not tried again");
    place.ok("replay latest");
}

#[test]
fn a_model_with_another_name_for_the_limit_is_asked_so_in_the_next_batch() {
    let mut answers = echo();
    let renamed = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    let answer = move |asked: &Asked<'_>| match asked.body["max_tokens"].is_null() {
        true => answers(asked),
        false => Err(Refusal::new(400, renamed)),
    };
    let options = Options { per_get: 1800, ..Options::default() };
    let (url, fake) = BatchFake::with(options, Box::new(answer));
    let place = Place::new();
    let run = format!("{} {}", game24().run(), at(&url, "openai"));
    let said = place.run(&format!("{run} --set request.max_tokens=100 --batch --wait --poll 0.01"));
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(
        said.err.contains("takes the limit of an answer as max_completion_tokens"),
        "{}",
        said.err
    );
    assert_eq!((fake.counts().batches, fake.counts().paid_lines.len()), (2, 30));
    place.ok("replay latest");
}

#[test]
fn a_lost_reply_is_looked_for_and_nothing_is_submitted_twice() {
    for kind in ["openai", "anthropic", "gemini"] {
        for what in [What::Lost, What::Vanished] {
            for of in [Kind::Create, Kind::Upload] {
                let trouble = Trouble { kind: Some(of), nth: 1, what };
                let (said, fake, _) = through(|fake| fake.trouble(trouble), kind);
                assert_eq!(said.code, 0, "{kind} {what:?} {of:?}: {}", said.err);
                let counts = fake.counts();
                assert!(counts.doubles().is_empty(), "{kind} {what:?} {of:?}");
            }
        }
    }
}

#[test]
fn a_batch_that_is_refused_as_a_whole_is_named_and_planned_again_when_told() {
    let (said, fake, place) =
        through(|fake| fake.decide(0, Fate { fails: true, ..Fate::default() }), "openai");
    assert_eq!(said.code, 4, "{}", said.err);
    assert!(said.err.contains("refused batch 1"), "{}", said.err);
    assert!(said.err.contains("nothing of it is paid for"), "{}", said.err);
    let url = format!("{} --wait --poll 0.01", at(&fake.url(), "openai"));
    place.ok(&format!("run --resume latest --quiet {url}"));
    assert_eq!(fake.counts().batches, 2);
}

#[test]
fn what_no_batch_can_do_is_said_before_anything_is_sent() {
    let place = Place::new();
    let said = place.run("run small.yaml --batch");
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("a simulated model answers at once"), "{}", said.err);
    let said = place.run("run small.yaml --batch --poll soon --model gpt-5-mini");
    assert!(said.code == 2 && said.err.contains("a number of seconds"), "{}", said.err);
    // A server without batches.
    let server = crate::support::server::Server::handler(|_| {
        crate::support::server::Reply::error(404, "not_found", "no such path")
    });
    let url = server.base_url();
    let said =
        place.run(&format!("run small.yaml --quiet --batch --model gpt-5-mini --base-url {url}"));
    assert_eq!(said.code, 4, "{}{}", said.out, said.err);
    assert!(said.err.contains("takes no batches"), "{}", said.err);
}
