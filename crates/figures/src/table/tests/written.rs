//! Runs as tests write them down.

use retold::event::{
    AttemptDetails, AttemptFailed, Because, DecidedBy, DecisionDetails, DecisionMade, Event,
    FactOccurred, Labels, NewEvent, PROGRAM, RequestSent, ResponseDetails, ResponseReceived,
    RunStarted,
};
use retold::id::{CallPath, Sample, Seq, Time};
use retold::prompt::Request;
use serde_json::{Value, json};

/// A run while it is written down.
pub(super) struct Written(pub(super) Vec<NewEvent>);

impl Written {
    pub(super) fn of(experiment: &str, seed: u64) -> Self {
        Written::with_settings(experiment, seed, json!({}))
    }

    pub(super) fn with_settings(experiment: &str, seed: u64, settings: Value) -> Self {
        let started = RunStarted::new(experiment, seed, settings, json!({}));
        let mut written = Written(Vec::new());
        written.add(&Event::RunStarted(started), None);
        written
    }

    pub(super) fn program() -> Self {
        Written::of(PROGRAM, 0)
    }

    pub(super) fn add(&mut self, event: &Event, request: Option<Request>) -> Seq {
        self.0.push(NewEvent::from_event(event, Time(0), request).unwrap());
        Seq(self.0.len() as u64)
    }

    pub(super) fn asked(&mut self, call: &str, sample: Sample, labels: &[(&str, &str)]) -> Seq {
        let request = Request::from_body(json!({"model": "m-1", "messages": []})).unwrap();
        let (call, prompt) = (CallPath::new(call).unwrap(), request.hash());
        let labels = labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let (because, labels) = (Because::default(), labels.collect::<Labels>());
        let sent = RequestSent { call, sample, prompt, because, labels };
        self.add(&Event::RequestSent(sent), Some(request))
    }

    pub(super) fn answered(&mut self, request: Seq) -> Seq {
        let (content, details) = ("text".into(), ResponseDetails::default());
        self.add(&Event::ResponseReceived(ResponseReceived { request, content, details }), None)
    }

    pub(super) fn decided(&mut self, response: Seq, name: &str, method: &str, value: Value) {
        let parser = json!({"name": "program", "params": {"name": name}, "version": 1});
        let by = DecidedBy { name: None, method: method.to_owned(), parser };
        let details =
            DecisionDetails { choice: None, reasoning: None, value, warnings: Vec::new() };
        self.add(&Event::DecisionMade(DecisionMade { response, by, details }), None);
    }

    /// A call with an answer and a decision.
    pub(super) fn decision(
        &mut self,
        call: &str,
        labels: &[(&str, &str)],
        name: &str,
        value: Value,
    ) {
        let asked = self.asked(call, 0, labels);
        let answer = self.answered(asked);
        self.decided(answer, name, "reported", value);
    }

    pub(super) fn failed(&mut self, call: &str, labels: &[(&str, &str)]) {
        let request = self.asked(call, 0, labels);
        let details = AttemptDetails {
            attempt: 0,
            batch: None,
            error: "no".to_owned(),
            gave_up: true,
            failure: "server".to_owned(),
            from: None,
            http: None,
            retry_after_ms: None,
            status: Some(500),
        };
        self.add(&Event::AttemptFailed(AttemptFailed { request, details }), None);
    }

    pub(super) fn fact(&mut self, fact: Value) {
        self.add(&Event::Occurred(FactOccurred { causes: Vec::new(), fact }), None);
    }
}
