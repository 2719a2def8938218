//! The tools of a program that are running.

use std::collections::BTreeMap;
use std::sync::Mutex;

use hyper::{Response, StatusCode};
use serde_json::json;
use tokio::sync::oneshot;

use crate::answered_by::ToolAnswer;
use crate::lock::lock;
use crate::outlet::Outgoing;
use crate::refusal::with_json;

/// The most calls that may be under way.
const MOST_OPEN: usize = 100_000;

/// The tools that are running.
#[derive(Default)]
pub(crate) struct OpenTools(Mutex<OpenState>);

#[derive(Default)]
struct OpenState {
    last: u64,
    open: BTreeMap<u64, OpenTool>,
}

/// A tool that is running.
pub(crate) struct OpenTool {
    pub(crate) given: oneshot::Sender<ToolAnswer>,
    pub(crate) recorded: oneshot::Receiver<Response<Outgoing>>,
}

impl OpenTools {
    /// Notes that a tool runs. Returns the number by which the program says what it gave.
    pub(crate) fn open(
        &self,
        given: oneshot::Sender<ToolAnswer>,
        recorded: oneshot::Receiver<Response<Outgoing>>,
    ) -> u64 {
        let state = &mut *lock(&self.0);
        state.last += 1;
        state.open.insert(state.last, OpenTool { given, recorded });
        if state.open.len() > MOST_OPEN {
            // It was forgotten by its program.
            state.open.pop_first();
        }
        state.last
    }

    /// A tool that has ended; `None` if none runs under this number.
    pub(crate) fn close(&self, number: u64) -> Option<OpenTool> {
        lock(&self.0).open.remove(&number)
    }
}

/// The program is told to run a tool; with a number, it says under that what the tool gave.
pub(crate) fn to_run(number: Option<u64>) -> Response<Outgoing> {
    with_json(StatusCode::ACCEPTED, &json!({"run": number}))
}
