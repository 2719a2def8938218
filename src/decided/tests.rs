use serde_json::{Value, json};

use super::*;
use crate::decide::each_answer;
use crate::event::{
    Because, DecidedBy, DecisionDetails, NewEvent, RequestSent, ResponseDetails, ResponseReceived,
    RunStarted,
};
use crate::exchange::{AcceptedDecision, AcceptedRun};
use crate::log::{Append, Head, Log};
use crate::lookup::REMEMBERED;
use crate::prompt::Request;

pub(crate) const RUN: RunId = RunId([1; 8]);

/// A run while it is written down.
pub(crate) struct Written(Vec<NewEvent>);

impl Written {
    pub(crate) fn new() -> Self {
        let started = RunStarted {
            experiment: "test".to_owned(),
            seed: 1,
            settings: json!({}),
            model: json!({}),
            program: "test".to_owned(),
            forked_from: None,
        };
        let mut written = Written(Vec::new());
        written.add(&Event::RunStarted(started), None);
        written
    }

    fn add(&mut self, event: &Event, request: Option<Request>) -> Seq {
        self.0.push(NewEvent::from_event(event, Time(7), request).unwrap());
        Seq(self.0.len() as u64)
    }

    pub(crate) fn asked(&mut self, call: &str, condition: &str) -> Seq {
        let request = Request::from_body(json!({"model": "m", "messages": []})).unwrap();
        let labels = [("condition".to_owned(), condition.to_owned())].into();
        let (call, prompt) = (CallPath::new(call).unwrap(), request.hash());
        let sent = RequestSent { call, sample: 0, prompt, because: Because::default(), labels };
        self.add(&Event::RequestSent(sent), Some(request))
    }

    pub(crate) fn answered(&mut self, request: Seq) -> Seq {
        let (content, details) = ("yes".into(), ResponseDetails::default());
        self.add(&Event::ResponseReceived(ResponseReceived { request, content, details }), None)
    }

    fn decided(&mut self, response: Seq, by: DecidedBy, value: &str) -> Seq {
        let details = details(value);
        self.add(&Event::DecisionMade(DecisionMade { response, by, details }), None)
    }

    pub(crate) fn log(self) -> Log {
        let log = Log::in_memory();
        let append = Append::new(RUN, Head::START, self.0);
        log.backend().committer().unwrap().commit(&[append]).unwrap();
        log
    }
}

fn details(value: &str) -> DecisionDetails {
    DecisionDetails {
        choice: None,
        reasoning: None,
        value: Value::from(value),
        warnings: Vec::new(),
    }
}

fn parser(name: &str, version: u32) -> DecidedBy {
    let parser = json!({"name": name, "params": null, "version": version});
    DecidedBy { in_place_of: None, method: "tag".to_owned(), parser }
}

fn reported(name: &str) -> DecidedBy {
    let parser = json!({"name": "program", "params": {"name": name}, "version": 1});
    DecidedBy { in_place_of: None, method: "reported".to_owned(), parser }
}

/// Accepts decisions about the answers of the run whose calls are among these.
fn accept(log: &Log, run: u8, by: &DecidedBy, calls: &[&str]) -> RunId {
    accept_about(log, RUN, run, by, calls)
}

/// The same about the answers of any run.
fn accept_about(log: &Log, of: RunId, run: u8, by: &DecidedBy, calls: &[&str]) -> RunId {
    let mut reader = log.reader().unwrap();
    let id = RunId([run; 8]);
    let started = crate::run::started(reader.as_mut(), of).unwrap();
    let mut accepted = AcceptedRun::begin(id, of, Head::START, &started, Time(9)).unwrap();
    each_answer::<LogError>(reader.as_mut(), of, |reader, answer| {
        if calls.contains(&answer.call.as_str()) {
            let request = reader.request(answer.prompt)?.unwrap();
            let decision = AcceptedDecision {
                call: answer.call,
                sample: answer.sample,
                labels: answer.labels,
                content: answer.content,
                seq: answer.seq,
                beside: answer.beside,
                by: by.clone(),
                details: details("no"),
            };
            accepted.decision(decision, request)?;
        }
        Ok(())
    })
    .unwrap();
    accepted.store(log.backend().as_ref()).unwrap()
}

fn joined(log: &Log, run: RunId) -> Vec<JoinedDecision> {
    let mut reader = log.reader().unwrap();
    let mut join = DecisionJoin::new(reader.as_mut(), run).unwrap();
    let (mut events, mut found) = (RunEvents::new(run), Vec::new());
    while let Some(event) = events.next(reader.as_mut()).unwrap() {
        found.extend(join.decision(reader.as_mut(), &event).unwrap());
    }
    found
}

/// Each decision as `call name condition`, with a `-` if it is not in force.
fn shown(log: &Log, run: RunId) -> Vec<String> {
    let shown = |decision: JoinedDecision| {
        let DecidedQuestion { call, labels, .. } = decision.question.as_ref();
        let force = if decision.in_force { "" } else { " -" };
        format!("{call} {} {}{force}", decision.made.by.decides(), labels["condition"])
    };
    joined(log, run).into_iter().map(shown).collect()
}

#[test]
fn a_decision_has_the_question_of_its_answer() {
    let mut run = Written::new();
    let (one, other) = (run.asked("vote/p1", "a"), run.asked("vote/p2", "b"));
    let second = run.answered(other);
    let first = run.answered(one);
    run.decided(first, parser("vote", 3), "yes");
    run.decided(second, parser("vote", 3), "no");
    let log = run.log();
    assert_eq!(shown(&log, RUN), ["vote/p1 vote a", "vote/p2 vote b"]);
    let found = joined(&log, RUN);
    assert_eq!(
        (found[0].question.seq, found[0].made.response, found[0].time),
        (one, first, Time(7))
    );
}

#[test]
fn what_is_not_remembered_is_read_again() {
    let mut run = Written::new();
    let calls = 3 * REMEMBERED;
    let asked: Vec<Seq> = (0..calls).map(|n| run.asked(&format!("vote/{n}"), "a")).collect();
    let answers: Vec<Seq> = asked.iter().map(|asked| run.answered(*asked)).collect();
    for answer in &answers {
        run.decided(*answer, parser("vote", 3), "yes");
    }
    let log = run.log();
    let found: Vec<Seq> = joined(&log, RUN).iter().map(|found| found.question.seq).collect();
    assert_eq!(found, asked);
}

#[test]
fn the_decision_that_was_accepted_last_is_in_force() {
    let mut run = Written::new();
    for call in ["vote/p1", "vote/p2", "vote/p3"] {
        let asked = run.asked(call, "a");
        let answer = run.answered(asked);
        run.decided(answer, parser("vote", 3), "yes");
    }
    let log = run.log();
    let first = accept(&log, 2, &parser("vote", 4), &["vote/p1", "vote/p2"]);
    let second = accept(&log, 3, &parser("mine", 1), &["vote/p2"]);
    assert_eq!(shown(&log, RUN), ["vote/p1 vote a -", "vote/p2 vote a -", "vote/p3 vote a"]);
    assert_eq!(shown(&log, first), ["vote/p1 vote a", "vote/p2 vote a -"]);
    assert_eq!(shown(&log, second), ["vote/p2 mine a"]);
}

#[test]
fn of_several_reported_decisions_the_one_with_the_accepted_name_is_replaced() {
    let mut run = Written::new();
    let asked = run.asked("vote/p1", "a");
    let answer = run.answered(asked);
    run.decided(answer, reported("vote"), "yes");
    run.decided(answer, reported("mood"), "calm");
    let log = run.log();
    assert_eq!(shown(&log, RUN), ["vote/p1 vote a", "vote/p1 mood a"]);
    accept(&log, 2, &parser("vote", 1), &["vote/p1"]);
    assert_eq!(shown(&log, RUN), ["vote/p1 vote a -", "vote/p1 mood a"]);
}

/// As `check --accept` records it, where the parser has another name than the decision that it was compared with.
#[test]
fn what_is_accepted_in_place_of_a_decision_goes_by_its_name() {
    let mut run = Written::new();
    let asked = run.asked("vote/p1", "a");
    let answer = run.answered(asked);
    run.decided(answer, reported("vote"), "yes");
    run.decided(answer, reported("mood"), "calm");
    let log = run.log();
    let filter = DecidedBy { in_place_of: Some("vote".to_owned()), ..parser("filter", 1) };
    let accepted = accept(&log, 2, &filter, &["vote/p1"]);
    assert_eq!(shown(&log, RUN), ["vote/p1 vote a -", "vote/p1 mood a"]);
    assert_eq!(shown(&log, accepted), ["vote/p1 vote a"]);
}

#[test]
fn a_scorer_replaces_the_decisions_with_its_name_and_stands_beside_others() {
    let mut run = Written::new();
    let asked = run.asked("vote/p1", "a");
    let answer = run.answered(asked);
    run.decided(answer, parser("vote", 3), "yes");
    let log = run.log();
    let scorer = |kind: &str, name: &str| {
        let parser = json!({"name": kind, "params": {"name": name}, "version": 4});
        DecidedBy { in_place_of: None, method: kind.to_owned(), parser }
    };
    let polite = accept(&log, 2, &scorer("person", "polite"), &["vote/p1"]);
    assert_eq!(shown(&log, RUN), ["vote/p1 vote a"]);
    let vote = accept(&log, 3, &scorer("function", "vote"), &["vote/p1"]);
    assert_eq!(shown(&log, RUN), ["vote/p1 vote a -"]);
    let parsed = accept(&log, 4, &parser("vote", 5), &["vote/p1"]);
    assert_eq!(shown(&log, vote), ["vote/p1 vote a -"]);
    assert_eq!(shown(&log, polite), ["vote/p1 polite a"]);
    assert_eq!(shown(&log, parsed), ["vote/p1 vote a"]);
}

/// Accepted about a run of accepted decisions, whose answers have other seqs, and about one of those.
#[test]
fn a_chain_of_acceptances_is_followed_to_its_end() {
    let mut run = Written::new();
    for call in ["vote/p1", "vote/p2", "vote/p3"] {
        let asked = run.asked(call, "a");
        let answer = run.answered(asked);
        run.decided(answer, parser("vote", 1), "yes");
    }
    let log = run.log();
    let first = accept(&log, 2, &parser("vote", 2), &["vote/p2", "vote/p3"]);
    let second = accept_about(&log, first, 3, &parser("vote", 3), &["vote/p3"]);
    let third = accept_about(&log, second, 4, &parser("vote", 4), &["vote/p3"]);
    assert_eq!(shown(&log, RUN), ["vote/p1 vote a", "vote/p2 vote a -", "vote/p3 vote a -"]);
    assert_eq!(shown(&log, first), ["vote/p2 vote a", "vote/p3 vote a -"]);
    assert_eq!(shown(&log, second), ["vote/p3 vote a -"]);
    assert_eq!(shown(&log, third), ["vote/p3 vote a"]);
}

#[test]
fn a_decision_without_its_answer_is_named() {
    let mut run = Written::new();
    let asked = run.asked("vote/p1", "a");
    run.decided(asked, parser("vote", 3), "yes");
    let log = run.log();
    let mut reader = log.reader().unwrap();
    let mut join = DecisionJoin::new(reader.as_mut(), RUN).unwrap();
    let event = event_at(reader.as_mut(), RUN, Seq(3)).unwrap().unwrap();
    let error = join.decision(reader.as_mut(), &event).unwrap_err();
    assert!(error.to_string().contains("seq 3"), "{error}");
}
