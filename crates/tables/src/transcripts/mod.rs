//! A run as the transcripts that Inspect Scout reads: a row for each dialogue, with its messages as Inspect has them.
//!
//! The columns are those of Scout's database of transcripts (`transcripts_db_schema` of inspect-scout 0.6), and one for each
//! label, with which Scout filters. The run is read three times: for its decisions, for the dialogues that its requests
//! continue, and for the rows. The memory in use grows with the number of answers, not with their length.

mod dialogues;
mod inspect_message;
mod row;

use std::collections::BTreeMap;

use retold::decided::DecidedAnswers;
use retold::event::{AnswerReused, Event, RequestSent, ResponseReceived, StoredEvent};
use retold::id::{RunId, Seq};
use retold::log::{LogError, Reader, RunEvents};
use retold::prompt::Request;

use crate::RecordBatch;
use crate::batches::Rows;
use crate::labels::LabelColumns;
use crate::run_row::RunRow;
use crate::run_tables::TableError;
use dialogues::Dialogues;
use row::{Ending, TranscriptRow};

pub use row::transcript_columns;

/// The transcripts of a run.
pub struct Transcripts {
    reader: Box<dyn Reader>,
    row: RunRow,
    labels: LabelColumns,
    decisions: DecidedAnswers,
    dialogues: Dialogues,
    events: RunEvents,
    open: BTreeMap<Seq, RequestSent>,
    rows: Rows,
    /// Exchanges that are not of a conversation, such as embeddings.
    left_out: u64,
    is_read: bool,
}

impl Transcripts {
    /// The transcripts of a run, with a column for each of the labels.
    ///
    /// # Errors
    /// [`TableError`] if the run cannot be read.
    pub fn new(
        mut reader: Box<dyn Reader>,
        run: RunId,
        labels: LabelColumns,
    ) -> Result<Self, TableError> {
        let row = RunRow::read(reader.as_mut(), run)?;
        let decisions = DecidedAnswers::read(reader.as_mut(), run)?;
        let dialogues = Dialogues::read(reader.as_mut(), run)?;
        let rows = Rows::new(&transcript_columns(&labels));
        Ok(Transcripts {
            reader,
            row,
            labels,
            decisions,
            dialogues,
            events: RunEvents::new(run),
            open: BTreeMap::new(),
            rows,
            left_out: 0,
            is_read: false,
        })
    }

    /// The next rows; `None` after the last.
    ///
    /// # Errors
    /// [`TableError`] if the log cannot be read, or is damaged.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>, TableError> {
        while !self.is_read && !self.rows.is_full() {
            match self.events.next(self.reader.as_mut())? {
                Some(stored) => self.event(stored)?,
                None => self.is_read = true,
            }
        }
        Ok(self.rows.take()?)
    }

    /// How many exchanges are not in a transcript, because they are not conversations.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    fn event(&mut self, stored: StoredEvent) -> Result<(), TableError> {
        let (seq, hash) = (stored.seq, stored.hash);
        match stored.event()? {
            Event::RequestSent(sent) => {
                self.open.insert(seq, sent);
                Ok(())
            }
            Event::ResponseReceived(ResponseReceived { request, content, details })
            | Event::AnswerReused(AnswerReused { request, content, details, .. }) => {
                let decisions = self.decisions.about(self.reader.as_mut(), seq)?;
                self.end_question(
                    request,
                    Ending::Answer { hash, content, details: Box::new(details), decisions },
                )
            }
            Event::AttemptFailed(failed) if failed.details.gave_up => {
                self.end_question(failed.request, Ending::Failed(failed.details))
            }
            _ => Ok(()),
        }
    }

    fn end_question(&mut self, question: Seq, ending: Ending) -> Result<(), TableError> {
        let Some(sent) = self.open.remove(&question) else { return Ok(()) };
        // Its dialogue goes on, and is written at its end.
        let Some(dialogue) = self.dialogues.by_end(question) else { return Ok(()) };
        let request = request(self.reader.as_mut(), &sent)?;
        let row = TranscriptRow {
            run: &self.row,
            question,
            sent: &sent,
            request: request.as_ref(),
            dialogue,
            ending,
        };
        match row.cells(&self.labels) {
            Some(cells) => self.rows.add(&cells),
            None => self.left_out += 1,
        }
        Ok(())
    }
}

/// The request of a question.
fn request(reader: &mut dyn Reader, sent: &RequestSent) -> Result<Option<Request>, LogError> {
    reader.request(sent.prompt)
}
