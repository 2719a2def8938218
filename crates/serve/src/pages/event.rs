//! One event as the log has it.

use retold::escaping::inert_lines;
use retold::event::Event;
use retold::id::Seq;
use retold::log::LogError;
use serde::Serialize;
use serde_json::Value;

use super::row::{ListedEvent, row};
use super::{PageReply, RunPageRequest};
use crate::error::PageError;
use crate::tree::{TreeNode, tree};

#[derive(Serialize)]
struct OneEvent {
    row: ListedEvent,
    hash: String,
    version: u32,
    /// Its fields, as a tree.
    body: TreeNode,
    /// Its content: a text, cut.
    content: Option<String>,
    /// The events that caused it.
    causes: Vec<Cause>,
    previous: Option<u64>,
    next: Option<u64>,
    /// The exchange that it belongs to, if it does.
    exchange: Option<String>,
    /// The state after it.
    state: Option<String>,
}

/// An event that caused another.
#[derive(Serialize)]
pub(super) struct Cause {
    pub(super) seq: u64,
    pub(super) href: String,
    pub(super) text: String,
}

/// The longest content that is shown, in characters.
const LONGEST: usize = 20_000;

pub(super) fn page(mut of: RunPageRequest<'_>, seq: Seq) -> Result<PageReply, PageError> {
    let run = of.head.run;
    let stored = of.event(seq)?;
    let untrusted = of.asked.site.first_untrusted(&of.head);
    let slot = of.asked.site.roll(&of.head);
    let end = of.head.head.seq.max(slot.roll().end());
    let shown = row(run, &stored, untrusted);
    let causes = match stored.event() {
        Ok(Event::Occurred(fact)) => fact.causes,
        _ => stored.cause.into_iter().collect(),
    };
    let causes = of.causes(&causes)?;
    let body: Value =
        serde_json::from_str(&stored.body).unwrap_or_else(|_| Value::from(&*stored.body));
    let content = stored.content.as_ref().map(|content| match content {
        retold::content::Content::Text(text) => {
            inert_lines(&text.chars().take(LONGEST).collect::<String>())
        }
        retold::content::Content::Vector(numbers) => {
            format!("a vector of {} numbers", numbers.len())
        }
    });
    let is_exchange = shown.href.contains("/exchange/");
    let data = OneEvent {
        hash: stored.hash.to_string(),
        version: stored.version,
        body: tree(&body, None),
        content,
        causes,
        previous: (seq.0 > 1).then(|| seq.0 - 1),
        next: (seq < end).then(|| seq.0 + 1),
        exchange: is_exchange.then(|| shown.href.clone()),
        state: (of.info.kind == "study").then(|| of.href(&format!("/state?at={seq}"))),
        row: shown,
    };
    let title = format!("Event {seq}");
    of.page("event", title, false, data)
}

impl RunPageRequest<'_> {
    /// The event at a seq.
    pub(super) fn event(&mut self, seq: Seq) -> Result<retold::event::StoredEvent, PageError> {
        let before = Seq(seq.0.saturating_sub(1));
        let short = &self.info.short;
        let none = || PageError::NotFound(format!("run {short} has no event {seq}"));
        match self.reader.events(self.head.run, before, 1) {
            Ok(mut found) => found.pop().filter(|event| event.seq == seq).ok_or_else(none),
            Err(LogError::Corrupt { fault, .. } | LogError::Damaged { fault, .. }) => {
                let message = format!("event {seq} of run {short} cannot be read: {fault}");
                Err(PageError::NotFound(message))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Events that caused another, as links. Those that are not there are left out.
    pub(super) fn causes(&mut self, seqs: &[Seq]) -> Result<Vec<Cause>, PageError> {
        let run = self.head.run;
        let mut causes = Vec::new();
        for seq in seqs.iter().take(50) {
            if let Ok(stored) = self.event(*seq) {
                let row = row(run, &stored, None);
                let text = match stored.event() {
                    Ok(Event::RunStarted(_)) => "the draws of the run".to_owned(),
                    _ => format!("{} {seq}", row.label),
                };
                causes.push(Cause { seq: seq.0, href: row.href, text });
            }
        }
        Ok(causes)
    }
}
