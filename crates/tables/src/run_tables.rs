//! A run, event by event, as batches of rows.

use std::collections::BTreeSet;

use arrow_schema::ArrowError;
use retold::decided::{DecisionAbout, DecisionJoin, DecisionsSince};
use retold::event::{AttemptFailed, Event, EventError, ResponseReceived, StoredEvent};
use retold::id::{RunId, Seq, Time};
use retold::log::{LogError, Reader, RunEvents};
use retold::run::Shortcomings;

use crate::asked::AskedOf;
use crate::batches::{TableBatch, WantedRows};
use crate::decision::{decision_cells, fact_cells};
use crate::exchange::{Answered, Exchange, OpenExchanges, attempt_cells};
use crate::labels::LabelColumns;
use crate::messages::Conversations;
use crate::run_row::RunRow;
use crate::table::Table;

/// Why a run cannot be read as tables.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// The log cannot be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// Rows do not make up a batch.
    #[error(transparent)]
    Arrow(#[from] ArrowError),
}

impl From<EventError> for TableError {
    fn from(error: EventError) -> Self {
        TableError::Log(error.into())
    }
}

/// What tables have besides what all have.
#[derive(Debug, Clone, Copy, Default)]
pub struct TableOptions {
    /// With the whole prompt of each exchange.
    pub prompts: bool,
    /// With the decisions that the run has itself, whatever was accepted since, instead of those that are in force.
    pub recorded: bool,
}

/// The tables of a run, read in one pass, and then the decisions that were accepted about its answers.
pub struct RunTables {
    reader: Box<dyn Reader>,
    run: RunId,
    row: RunRow,
    events: RunEvents,
    labels: LabelColumns,
    options: TableOptions,
    rows: WantedRows,
    join: DecisionJoin,
    since: Option<DecisionsSince>,
    open: OpenExchanges,
    /// The answers that were refused.
    refused: BTreeSet<Seq>,
    conversations: Conversations,
    is_read: bool,
}

impl RunTables {
    /// The wanted tables of a run, with a column for each of the labels.
    ///
    /// # Errors
    /// [`TableError`] if the beginning of the run cannot be read.
    pub fn new(
        mut reader: Box<dyn Reader>,
        run: RunId,
        wanted: &[Table],
        labels: LabelColumns,
        options: TableOptions,
    ) -> Result<Self, TableError> {
        let row = RunRow::read(reader.as_mut(), run)?;
        let join = DecisionJoin::new(reader.as_mut(), run)?;
        let columns = |table: &Table| (*table, table.columns(&labels, options.prompts));
        let rows = WantedRows::new(wanted.iter().map(columns));
        Ok(RunTables {
            reader,
            run,
            row,
            events: RunEvents::new(run),
            labels,
            options,
            rows,
            join,
            since: None,
            open: OpenExchanges::default(),
            refused: BTreeSet::new(),
            conversations: Conversations::default(),
            is_read: false,
        })
    }

    /// The next rows of any of the wanted tables; `None` after the last.
    ///
    /// # Errors
    /// [`TableError`] if the log cannot be read, or the run is damaged, or with decisions: a run of accepted decisions about
    /// its answers.
    pub fn next_batch(&mut self) -> Result<Option<TableBatch>, TableError> {
        loop {
            let ready = self.rows.next();
            if ready.is_some() || self.is_read {
                return Ok(ready);
            }
            match self.next_event()? {
                Some(event) => self.event(event)?,
                None => self.after_events()?,
            }
        }
    }

    /// The next event; none at all if only the table of runs is wanted.
    fn next_event(&mut self) -> Result<Option<StoredEvent>, TableError> {
        match self.rows.any(&Table::ALL[1..]) {
            true => Ok(self.events.next(self.reader.as_mut())?),
            false => Ok(None),
        }
    }

    fn event(&mut self, stored: StoredEvent) -> Result<(), TableError> {
        if stored.is_decision() && !self.rows.any(&[Table::Decisions]) {
            return Ok(());
        }
        let decision = self.join.decision(self.reader.as_mut(), &stored)?;
        if let Some(decision) = decision {
            let about =
                DecisionAbout { run: self.run, answer: decision.made.response, joined: decision };
            return self.add_decision(&about);
        }
        let at = (stored.seq, stored.time);
        let hash = stored.hash;
        let event = stored.event()?;
        let lacks = Shortcomings::of(&event).unwrap_or_default();
        self.refused.extend((lacks.refused > 0).then_some(at.0));
        match event {
            Event::RequestSent(_) => self.add_question(at)?,
            Event::ResponseReceived(received) => {
                let ResponseReceived { request, content, details } = received;
                let reused_from = None;
                let answered = Answered { seq: at.0, hash, content, details, reused_from, lacks };
                self.add_answer(request, answered)?;
            }
            Event::AnswerReused(reused) => {
                let reused_from = Some((reused.from_run, reused.from_seq));
                let (content, details) = (reused.content, reused.details);
                self.add_answer(
                    reused.request,
                    Answered { seq: at.0, hash, content, details, reused_from, lacks },
                )?;
            }
            Event::AttemptFailed(failed) => self.add_failure(at, failed)?,
            Event::Occurred(occurred) if self.rows.any(&[Table::Facts]) => {
                let cells = fact_cells(self.row.id(), at, &self.row.started, &occurred);
                self.rows.add(Table::Facts, &cells)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// The next decision that was accepted since the run, or the end.
    fn after_events(&mut self) -> Result<(), TableError> {
        if self.options.recorded || !self.rows.any(&[Table::Decisions]) {
            return self.end();
        }
        let reader = self.reader.as_mut();
        let since = match &mut self.since {
            Some(since) => since,
            since => since.insert(self.join.since(reader)?),
        };
        match since.next(reader)? {
            Some(about) => self.add_decision(&about),
            None => self.end(),
        }
    }

    fn add_decision(&mut self, about: &DecisionAbout) -> Result<(), TableError> {
        if !about.joined.in_force && !self.options.recorded {
            return Ok(());
        }
        let is_refused = self.refused.contains(&about.answer);
        let cells = decision_cells((self.run, self.row.id()), &self.labels, about, is_refused);
        Ok(self.rows.add(Table::Decisions, &cells)?)
    }

    fn add_question(&mut self, (seq, time): (Seq, Time)) -> Result<(), TableError> {
        if !self.rows.any(&[Table::Exchanges, Table::Messages, Table::Contents]) {
            return Ok(());
        }
        let question = self.join.question(self.reader.as_mut(), seq, seq)?;
        let mut exchange = Exchange::new(time, question);
        if let Some(request) = self.reader.request(exchange.question.prompt)? {
            let listing = self.conversations.list(self.run, &request, &mut self.rows)?;
            let asked = AskedOf::new(&request, listing);
            for text in &asked.long {
                self.conversations.content(self.run, text, &mut self.rows)?;
            }
            exchange.asked = Some(asked);
            exchange.request = self.options.prompts.then_some(request);
        }
        self.open.add(exchange);
        Ok(())
    }

    fn add_answer(&mut self, question: Seq, answered: Answered) -> Result<(), TableError> {
        self.open.add_answer(question, answered);
        self.close(false)
    }

    fn add_failure(&mut self, at: (Seq, Time), failed: AttemptFailed) -> Result<(), TableError> {
        let AttemptFailed { request, details } = failed;
        if self.rows.any(&[Table::Attempts]) {
            let question = self.join.question(self.reader.as_mut(), at.0, request)?;
            let cells = attempt_cells(self.row.id(), at, &question, &self.labels, &details);
            self.rows.add(Table::Attempts, &cells)?;
        }
        self.open.add_failure(request, details);
        self.close(false)
    }

    /// Writes the exchanges that can be.
    fn close(&mut self, is_end: bool) -> Result<(), TableError> {
        while let Some(exchange) = self.open.next(is_end) {
            let cells = exchange.cells(
                self.row.id(),
                self.row.study_model(),
                &self.labels,
                self.options.prompts,
            );
            self.rows.add(Table::Exchanges, &cells)?;
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), TableError> {
        self.close(true)?;
        self.rows.add(Table::Runs, &self.row.cells())?;
        self.rows.finish()?;
        self.is_read = true;
        Ok(())
    }
}
