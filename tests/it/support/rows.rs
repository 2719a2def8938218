//! A run written event by event, and what plain SQL returns for it.

use std::collections::BTreeMap;

use retold::content::Content;
use retold::event::{
    Because, Event, Labels, NewEvent, RequestSent, ResponseDetails, ResponseReceived, RunStarted,
};
use retold::id::{CallPath, RunId, Seq, Time};
use retold::log::{Append, Head};
use retold::prompt::Request;
use rusqlite::Connection;
use rusqlite::types::Value;
use serde_json::json;

use super::logs::Folder;

/// The run to which all events belong.
pub(crate) const RUN: RunId = RunId([0xab; 8]);
const BEGIN: i64 = 1_750_000_000_000;

/// Events, as a run would append them.
pub(crate) struct Writer(pub(crate) Vec<NewEvent>);

impl Writer {
    /// Adds an event, a millisecond after the one before it.
    pub(crate) fn add(&mut self, event: Event, request: Option<Request>) -> Seq {
        let time = Time(BEGIN + self.0.len() as i64);
        self.0.push(NewEvent::from_event(&event, time, request).unwrap());
        Seq(self.0.len() as u64)
    }

    /// Adds a request.
    pub(crate) fn ask(&mut self, call: &str, body: serde_json::Value) -> Seq {
        let request = Request::from_body(body).unwrap();
        let (call, prompt) = (CallPath::new(call).unwrap(), request.hash());
        self.add(
            Event::RequestSent(RequestSent {
                call,
                sample: 0,
                prompt,
                because: Because::default(),
                labels: Labels::default(),
            }),
            Some(request),
        )
    }

    /// Adds an answer.
    pub(crate) fn answer(&mut self, request: Seq, text: &str) -> Seq {
        let details = ResponseDetails {
            finish_reason: Some("stop".to_owned()),
            latency_ms: 12,
            prompt_tokens: Some(3),
            completion_tokens: Some(4),
            ..ResponseDetails::default()
        };
        let content = Content::from(text);
        self.add(Event::ResponseReceived(ResponseReceived { request, content, details }), None)
    }

    /// Adds a decision by the parser of numbers.
    pub(crate) fn decide(&mut self, response: Seq, method: &str, body: &str) -> Seq {
        let parser = r#"{"name":"numbers","params":{"least":0},"version":3}"#;
        let by = format!("{{\"method\":\"{method}\",\"parser\":{parser}}}");
        let time = Time(BEGIN + self.0.len() as i64);
        self.0.push(NewEvent {
            cause: Some(response),
            content: Some(Content::from(by)),
            body: body.to_owned().into(),
            ..NewEvent::new("DecisionMade", time)
        });
        Seq(self.0.len() as u64)
    }
}

/// The beginning of the run.
pub(crate) fn started() -> Event {
    let model = json!({"kind": "simulated", "simulated": true});
    let started = RunStarted::new("jury", 9, json!({"people": 3}), model);
    Event::RunStarted(RunStarted { program: "retold".to_owned(), ..started })
}

/// Writes the run into a log.
pub(crate) fn write(folder: &Folder, events: Vec<NewEvent>) {
    let append = Append::new(RUN, Head::START, events);
    folder.log().backend().committer().unwrap().commit(&[append]).unwrap();
}

/// The rows of a query, with values as a person would write them.
pub(crate) fn rows(db: &Connection, sql: &str) -> Vec<Vec<String>> {
    let mut select = db.prepare(sql).unwrap();
    let columns = select.column_count();
    let rows = select.query_map([], |row| {
        (0..columns)
            .map(|i| {
                Ok(match row.get::<_, Value>(i)? {
                    Value::Null => "NULL".to_owned(),
                    Value::Integer(n) => n.to_string(),
                    Value::Real(x) => x.to_string(),
                    Value::Text(text) => text,
                    Value::Blob(bytes) => format!("{bytes:?}"),
                })
            })
            .collect()
    });
    rows.unwrap().map(Result::unwrap).collect()
}

/// The messages of all exchanges, put together from the view of messages as `docs/tables.md` says: what each is and what it says.
pub(crate) fn prompts(db: &Connection) -> Vec<Vec<[String; 2]>> {
    let sql = "WITH RECURSIVE prompt AS (
            SELECT e.seq AS asked, m.* FROM exchanges e LEFT JOIN messages m ON m.run = e.run AND m.message = e.last_message
            UNION ALL
            SELECT p.asked, m.* FROM prompt p JOIN messages m ON m.run = p.run AND m.message = p.after)
        SELECT asked, message, role, text FROM prompt ORDER BY asked, position";
    let mut asked = BTreeMap::<u64, Vec<[String; 2]>>::new();
    for row in rows(db, sql) {
        let [seq, message, role, text] = <[String; 4]>::try_from(row).unwrap();
        let said = asked.entry(seq.parse().unwrap()).or_default();
        if message != "NULL" {
            said.push([role, text]);
        }
    }
    asked.into_values().collect()
}
