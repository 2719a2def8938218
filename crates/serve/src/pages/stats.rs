//! A run in numbers: what `retold stats` prints.

use retold::totals::{Figures, Totals};
use serde::Serialize;

use super::{PageReply, RunPageRequest};
use crate::computed::RunTotals;
use crate::error::PageError;
use crate::figures::FiguresView;
use crate::job::JobState;
use crate::runs::Notice;

#[derive(Serialize)]
struct Stats {
    #[serde(flatten)]
    outcome: FiguresView,
    /// The numbers, as `retold stats --json` has them; `None` while the run is being read.
    stats: Option<Figures>,
    /// How many events were read so far.
    read: u64,
}

pub(super) fn page(of: RunPageRequest<'_>) -> Result<PageReply, PageError> {
    let (site, run) = (of.asked.site.clone(), of.head.run);
    let stand = of.asked.site.counted.stand((run, of.head.head.seq), move |progress| {
        let mut reader = site.reader()?;
        let mut totals = Totals::new(run, &site.prices);
        let wrong = loop {
            match totals.read_on(reader.as_mut()) {
                Ok(true) => progress.at(totals.end().0),
                Ok(false) => break None,
                Err(error) => break Some(error.to_string()),
            }
        };
        let mut others = site.reader()?;
        let others = others.as_mut();
        let read = totals.read_accepted(others).and_then(|()| totals.read_shards(others));
        Ok(RunTotals { totals, wrong: wrong.or(read.err().map(|error| error.to_string())) })
    });
    let title = "In numbers".to_owned();
    let site = of.asked.site.clone();
    match stand {
        JobState::Running(read) => {
            let outcome = FiguresView::default();
            of.page("stats", title, true, Stats { outcome, stats: None, read })
        }
        JobState::Failed(why) => Err(PageError::NotFound(why.to_string())),
        JobState::Done(counted) => {
            let RunTotals { totals, wrong } = &*counted;
            let figures = totals.figures(site.studies.parsers());
            let read = figures.events;
            let notices = wrong.iter().map(|why| {
                let text = format!("These are the numbers up to event {read}: {why}");
                Notice::danger(text)
            });
            let notices = notices.collect();
            let (outcome, is_complete) = of.figures();
            let stats = Stats { outcome, stats: Some(figures), read };
            of.page_with("stats", title, !is_complete, notices, stats)
        }
    }
}
