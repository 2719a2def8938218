use serde_json::{Value, json};

use super::*;
use crate::decide::each_answer;
use crate::event::{
    Because, DecidedBy, DecisionDetails, NewEvent, PROGRAM, RequestSent, ResponseDetails,
    ResponseReceived, RunStarted,
};
use crate::exchange::{AcceptedDecision, AcceptedRun};
use crate::log::{Append, Head, Log};
use crate::lookup::REMEMBERED;
use crate::prompt::Request;
use crate::run::AnswerDetails;

pub(crate) const RUN: RunId = RunId([1; 8]);

/// A run while it is written down.
pub(crate) struct Written(Vec<NewEvent>);

impl Written {
    pub(crate) fn new() -> Self {
        Written::of("test")
    }

    fn of(experiment: &str) -> Self {
        let started = RunStarted::new(experiment, 1, json!({}), json!({}));
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
        self.decided_about(response, None, by, value)
    }

    fn decided_about(
        &mut self,
        response: Seq,
        choice: Option<u32>,
        by: DecidedBy,
        value: &str,
    ) -> Seq {
        let details = DecisionDetails { choice, ..details(value) };
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
    DecidedBy { name: None, method: "tag".to_owned(), parser }
}

fn reported(name: &str) -> DecidedBy {
    let parser = json!({"name": "program", "params": {"name": name}, "version": 1});
    DecidedBy { name: None, method: "reported".to_owned(), parser }
}

/// Accepts decisions about the answers of the run whose calls are among these.
fn accept(log: &Log, run: u8, by: &DecidedBy, calls: &[&str]) -> RunId {
    accept_about(log, RUN, run, by, calls)
}

/// The same about the answers of any run.
fn accept_about(log: &Log, of: RunId, run: u8, by: &DecidedBy, calls: &[&str]) -> RunId {
    let mut reader = log.reader().unwrap();
    let mut accepted = accepting(log, of, run);
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

/// A run of accepted decisions that has none so far.
fn accepting(log: &Log, of: RunId, run: u8) -> AcceptedRun {
    let started = crate::run::run_start(log.reader().unwrap().as_mut(), of).unwrap();
    AcceptedRun::begin(RunId([run; 8]), of, Head::START, &started, Time(9)).unwrap()
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
    let second = accept(&log, 3, &parser("vote", 1), &["vote/p2"]);
    accept(&log, 4, &parser("mine", 1), &["vote/p2", "vote/p3"]);
    assert_eq!(shown(&log, RUN), ["vote/p1 vote a -", "vote/p2 vote a -", "vote/p3 vote a"]);
    assert_eq!(shown(&log, first), ["vote/p1 vote a", "vote/p2 vote a -"]);
    assert_eq!(shown(&log, second), ["vote/p2 vote a"]);
    let replaced = |run| replaced_decisions(log.reader().unwrap().as_mut(), run).unwrap().len();
    assert_eq!((replaced(RUN), replaced(first), replaced(second)), (2, 1, 0));
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

/// As `check --accept --name vote` records it.
#[test]
fn a_decision_that_was_given_a_name_replaces_those_with_that_name() {
    let mut run = Written::new();
    let asked = run.asked("vote/p1", "a");
    let answer = run.answered(asked);
    run.decided(answer, reported("vote"), "yes");
    run.decided(answer, reported("mood"), "calm");
    let log = run.log();
    let filter = DecidedBy { name: Some("vote".to_owned()), ..parser("filter", 1) };
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
        DecidedBy { name: None, method: kind.to_owned(), parser }
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
fn of_what_a_program_reports_again_the_last_is_in_force() {
    let mut run = Written::of(PROGRAM);
    let asked = run.asked("vote/p1", "a");
    let answer = run.answered(asked);
    run.decided(answer, reported("vote"), "yes");
    run.decided(answer, reported("mood"), "calm");
    run.decided_about(answer, Some(1), reported("vote"), "yes");
    // As many events in between as an index has pieces for.
    for n in 0..5_000 {
        let asked = run.asked(&format!("vote/other_{n}"), "a");
        let other = run.answered(asked);
        run.decided(other, reported("vote"), "yes");
    }
    // The choice that is not named is the first.
    run.decided_about(answer, Some(0), reported("vote"), "no");
    run.decided(answer, reported("vote"), "perhaps");
    let log = run.log();
    let shown = shown(&log, RUN);
    let of_first: Vec<&String> = shown.iter().filter(|shown| shown.contains("p1")).collect();
    let expected = [
        "vote/p1 vote a -", "vote/p1 mood a", "vote/p1 vote a", "vote/p1 vote a -",
        "vote/p1 vote a",
    ];
    assert_eq!(of_first, expected);
    assert_eq!(shown.iter().filter(|shown| shown.ends_with('-')).count(), 2);
}

/// As a file of labels may have them: the choices of one answer with another answer in between.
#[test]
fn accepted_decisions_about_one_answer_need_not_be_together() {
    let mut run = Written::new();
    let (one, other) = (run.asked("vote/p1", "a"), run.asked("vote/p2", "a"));
    let (one, other) = (run.answered(one), run.answered(other));
    run.decided_about(one, Some(1), reported("vote"), "yes");
    run.decided_about(other, Some(1), reported("vote"), "yes");
    let log = run.log();
    let mut accepted = accepting(&log, RUN, 2);
    let request = || Request::from_body(json!({"model": "m", "messages": []})).unwrap();
    for (call, seq, choice) in [("vote/p1", one, 0), ("vote/p2", other, 0), ("vote/p1", one, 1)] {
        let details = DecisionDetails { choice: Some(choice), ..details("no") };
        let decision = AcceptedDecision {
            call: CallPath::new(call).unwrap(),
            sample: 0,
            labels: [("condition".to_owned(), "a".to_owned())].into(),
            content: "yes".into(),
            seq,
            beside: AnswerDetails::default(),
            by: reported("vote"),
            details,
        };
        accepted.decision(decision, request()).unwrap();
    }
    accepted.store(log.backend().as_ref()).unwrap();
    assert_eq!(shown(&log, RUN), ["vote/p1 vote a -", "vote/p2 vote a"]);
}

#[test]
fn an_answer_has_the_decisions_that_were_accepted_about_it() {
    let mut run = Written::new();
    let asked = run.asked("vote/p1", "a");
    let answer = run.answered(asked);
    run.decided(answer, parser("vote", 1), "yes");
    let log = run.log();
    let first = accept(&log, 2, &parser("vote", 2), &["vote/p1"]);
    let second = accept_about(&log, first, 3, &parser("vote", 3), &["vote/p1"]);
    let about = |of: RunId, answer: Seq| {
        let mut reader = log.reader().unwrap();
        let decided = DecidedAnswers::read(reader.as_mut(), of).unwrap();
        let about = decided.about(reader.as_mut(), answer).unwrap();
        about.into_iter().map(|decision| (decision.run, decision.in_force)).collect::<Vec<_>>()
    };
    assert_eq!(about(RUN, answer), [(RUN, false), (first, false), (second, true)]);
    // A run of accepted decisions has the answer at a seq of its own.
    assert_eq!(about(first, Seq(3)), [(first, false), (second, true)]);
    assert_eq!(about(second, Seq(3)), [(second, true)]);
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
