//! The row of a run.

use retold::event::{Event, RunStarted};
use retold::id::{EventHash, RunId, Seq, Time};
use retold::log::{LogError, Reader};
use retold::run::latest_start;

use crate::column::Cell;

/// The facts about a run that its first and its last event give.
pub(crate) struct RunRow {
    run: String,
    pub(crate) started: RunStarted,
    began: Time,
    /// The last event: its seq, its hash, its time and the event itself.
    end: Option<(Seq, EventHash, Time, Event)>,
}

impl RunRow {
    pub(crate) fn read(reader: &mut dyn Reader, run: RunId) -> Result<Self, LogError> {
        let head = reader.runs()?.into_iter().find(|head| head.run == run);
        let last = head.map_or(Seq(1), |head| head.head.seq);
        let began = reader.events(run, Seq(0), 1)?.pop().map_or(Time(0), |first| first.time);
        let last = reader.events(run, Seq(last.0.saturating_sub(1)), 1)?.pop();
        let end = match last {
            Some(last) => Some((last.seq, last.hash, last.time, last.event()?)),
            None => None,
        };
        Ok(RunRow { run: run.to_string(), started: latest_start(reader, run)?, began, end })
    }

    /// Its id.
    pub(crate) fn id(&self) -> &str {
        &self.run
    }

    /// The kind of the model that a study asks; programs ask upstreams.
    pub(crate) fn study_model(&self) -> Option<&str> {
        self.started.model["kind"].as_str().filter(|_| self.started.is_of_experiment())
    }

    pub(crate) fn cells(&self) -> Vec<Cell<'_>> {
        let RunRow { run, started, began, end } = self;
        let finished = end.as_ref().and_then(|(.., time, event)| match event {
            Event::RunFinished(finished) => Some((*time, finished)),
            _ => None,
        });
        let forked_from = started.forked_from.map(|from| from.run.to_string());
        vec![
            (&**run).into(),
            Cell::maybe(started.name()),
            (&*started.experiment).into(),
            Cell::json(&started.settings),
            Cell::json(&started.model),
            Cell::Truth(started.is_simulated()),
            Cell::count(started.drawn_from()),
            forked_from.map_or(Cell::Missing, Cell::from),
            Cell::Time(began.0),
            finished.map_or(Cell::Missing, |(time, _)| Cell::Time(time.0)),
            Cell::maybe(finished.map(|(_, finished)| finished.outcome.as_str())),
            finished
                .and_then(|(_, finished)| finished.digest())
                .map_or(Cell::Missing, |digest| digest.to_string().into()),
            Cell::count(end.as_ref().map(|(seq, ..)| seq.0)),
            end.as_ref().map_or(Cell::Missing, |(_, hash, ..)| hash.to_string().into()),
        ]
    }
}
