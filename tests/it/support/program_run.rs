//! A program's run, call by call, as `retold record` would have recorded it.

use std::time::Duration;

use retold::event::{AttemptDetails, DecidedBy, DecisionDetails, Labels, PROGRAM, RunStarted};
use retold::exchange::Collector;
use retold::id::{CallPath, RunId, Sample, Seq, Time};
use retold::log::SqliteBackend;
use retold::model::Response;
use retold::prompt::Request;
use serde_json::{Value, json};

use super::cli::Place;

/// A program's run on its way into a log.
pub(crate) struct ProgramRun {
    started: RunStarted,
    collector: Collector,
}

impl ProgramRun {
    pub(crate) fn begin() -> Self {
        let started = RunStarted::new(PROGRAM, 0, json!({}), json!({}));
        let collector = Collector::begin("test".to_owned(), started.clone(), Time(0)).unwrap();
        ProgramRun { started, collector }
    }

    /// Asks the model `m` with these messages.
    pub(crate) fn asks(
        &mut self,
        call: &str,
        sample: Sample,
        labels: &[(&str, &str)],
        messages: &Value,
    ) -> Seq {
        let request = Request::from_body(json!({"model": "m", "messages": messages})).unwrap();
        let labels = labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let call = CallPath::new(call).unwrap();
        self.collector.add_question(call, sample, request, labels.collect::<Labels>()).unwrap()
    }

    pub(crate) fn answered(&mut self, asked: Seq, response: Response) -> Seq {
        self.collector.add_answer(asked, response, Duration::from_millis(5), None).unwrap()
    }

    /// The attempt failed with status 503, for the last time or not.
    pub(crate) fn failed(&mut self, asked: Seq, attempt: u32, gave_up: bool) {
        let details = AttemptDetails {
            batch: None,
            attempt,
            error: "overloaded".to_owned(),
            gave_up,
            failure: "server".to_owned(),
            from: None,
            http: None,
            retry_after_ms: (!gave_up).then_some(250),
            status: Some(503),
        };
        self.collector.add_failure(asked, details).unwrap();
    }

    /// The program reports a decision about an answer.
    pub(crate) fn decided(&mut self, answer: Seq, name: &str, method: &str, value: Value) -> Seq {
        let parser = json!({"name": "program", "params": {"name": name}, "version": 1});
        let by = DecidedBy { name: None, method: method.to_owned(), parser };
        let details =
            DecisionDetails { choice: None, reasoning: None, value, warnings: Vec::new() };
        self.collector.add_decision(answer, by, details).unwrap()
    }

    /// Stores it as `retold.db` of a folder, under an id that repeats a byte.
    pub(crate) fn store(self, place: &Place, run: u8) {
        let log = place.path("retold.db");
        let backend = SqliteBackend::open_or_create(&log, Default::default()).unwrap();
        let run = RunId([run; 8]);
        self.collector.finish(self.started, true).unwrap().store(&backend, run).unwrap();
    }
}
