//! A run while it is recorded: its events as they are added.

use std::sync::Arc;

use retold::escaping::inert_json;
use retold::event::Event;
use retold::id::{RunId, Seq};
use retold::log::{EventFilter, Filtering, LogError};
use serde::Serialize;
use serde_json::json;

use super::row::{ListedEvent, row};
use super::{PageReply, RunPageRequest};
use crate::error::PageError;
use crate::render::render;
use crate::site::Site;
use retold_archive::Damage;

/// The most events of one message.
const MOST: usize = 200;

/// A page that follows a run.
pub(crate) struct Follow {
    run: RunId,
    pub(crate) after: u64,
    filter: EventFilter,
    /// Whether the run has ended, or cannot be read on.
    pub(crate) is_over: bool,
    /// Whether there is more to send at once.
    pub(crate) has_more: bool,
}

#[derive(Serialize)]
struct LiveRows {
    rows: Vec<ListedEvent>,
}

pub(super) fn page(of: &RunPageRequest<'_>) -> Result<PageReply, PageError> {
    let query = &of.asked.query;
    let filter = super::timeline::filter(query)?;
    let after = query.parse::<u64>("after")?.unwrap_or(of.head.head.seq.0);
    let run = of.head.run;
    Ok(PageReply::Follow(Follow { run, after, filter, is_over: false, has_more: false }))
}

impl Follow {
    /// The news, as a server-sent event whose id is the last event's seq.
    pub(crate) fn look(&mut self, site: &Arc<Site>) -> Option<String> {
        match self.news(site) {
            Ok(news) => news,
            Err(error) => {
                self.is_over = true;
                let message = self.trouble(site, &error);
                let message = inert_json(&json!({"error": message}).to_string());
                Some(format!("event: trouble\ndata: {message}\n\n"))
            }
        }
    }

    /// Why the run is not followed any more. Damage that was found before comes first.
    fn trouble(&self, site: &Arc<Site>, error: &PageError) -> String {
        let head = site.find(&self.run.to_string()).ok();
        let known = head.and_then(|head| site.damage(&head));
        match known {
            Some(Damage { seq, fault }) => LogError::corrupt(self.run, seq, fault).to_string(),
            None => error.to_string(),
        }
    }

    fn news(&mut self, site: &Arc<Site>) -> Result<Option<String>, PageError> {
        let mut reader = site.reader()?;
        let events = reader.events(self.run, Seq(self.after), MOST)?;
        self.has_more = events.len() == MOST;
        let Some(last) = events.last() else { return Ok(None) };
        self.after = last.seq.0;
        self.is_over = matches!(last.event(), Ok(Event::RunFinished(_)));
        let mut filtering = Filtering::by(&self.filter);
        let mut rows = Vec::new();
        for event in &events {
            if filtering.lists(reader.as_mut(), event)? {
                rows.push(row(self.run, event, None));
            }
        }
        let html = render(&site.templates, "rows.html", &LiveRows { rows })?;
        let message = json!({"html": html, "events": self.after, "finished": self.is_over});
        let message = inert_json(&message.to_string());
        Ok(Some(format!("id: {}\nevent: rows\ndata: {message}\n\n", self.after)))
    }
}
