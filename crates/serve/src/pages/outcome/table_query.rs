//! The table that a query asks for.

use std::collections::BTreeSet;

use retold::escaping::printable;
use retold::event::PARTICIPANTS;

use crate::error::PageError;
use crate::event_columns::EventColumns;
use crate::query::Query;
use crate::question_columns::QuestionStatus;
use crate::table::{TableOptions, TimeWindow};

/// The value of `by` for a table of calls, unless a label has this name.
pub(super) const CALL: &str = "call";

/// The table that a query asks for.
pub(super) struct TableQuery {
    pub(super) options: TableOptions,
    pub(super) status: Option<QuestionStatus>,
}

impl TableQuery {
    pub(super) fn new(query: &Query, roll: &EventColumns, most: usize) -> Result<Self, PageError> {
        let names: BTreeSet<&str> = roll.labels().map(|(name, ..)| name).collect();
        let usual = || PARTICIPANTS.iter().find(|name| names.contains(**name));
        let by = match query.text("by")? {
            Some(by) if by == CALL && !names.contains(CALL) => None,
            Some(by) => Some(by),
            None => usual().map(|name| (*name).to_owned()),
        };
        if let Some(by) = by.as_ref().filter(|by| !names.contains(by.as_str())) {
            // A run that is still being read may have it.
            let there: Vec<&str> = names.iter().copied().chain([CALL]).collect();
            if !names.is_empty() {
                return Err(PageError::BadRequest(format!(
                    "no call has a label {}: there is {}",
                    printable(by, 60),
                    there.join(", ")
                )));
            }
        }
        let from = query.parse::<usize>("skip")?.unwrap_or(0);
        let window = query.text("window")?.map(|window| {
            let wrong = || {
                let window = printable(&window, 60);
                let message = "is not a part of the time axis: write milliseconds, such as 0-1500";
                PageError::BadRequest(format!("window={window} {message}"))
            };
            TimeWindow::parse(&window).ok_or_else(wrong)
        });
        let options =
            TableOptions { by, sort: query.text("sort")?, from, most, window: window.transpose()? };
        Ok(TableQuery { options, status: status(query)? })
    }
}

/// What has come of the calls that a query chooses.
pub(crate) fn status(query: &Query) -> Result<Option<QuestionStatus>, PageError> {
    let Some(named) = query.text("status")? else { return Ok(None) };
    let found = QuestionStatus::ALL.into_iter().find(|status| status.name() == named);
    let wrong = || {
        PageError::BadRequest(format!(
            "status={} is not a status: there is {}",
            printable(&named, 60),
            QuestionStatus::ALL.map(QuestionStatus::name).join(", ")
        ))
    };
    found.map(Some).ok_or_else(wrong)
}
