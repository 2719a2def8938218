//! The pages, one file each: a function from a request to a `struct`, and a template of the same name.

mod accepted;
mod agreement;
mod answer_parts;
mod check;
pub(crate) mod compare;
mod csv_file;
mod event;
mod exchange;
mod live;
mod outcome;
mod participant;
mod parts;
mod provenance;
mod row;
mod runs;
mod state;
pub(crate) mod stats;
mod timeline;

use std::cell::Cell;
use std::sync::Arc;

use retold::escaping::{inert_json, printable};
use retold::id::Seq;
use retold::log::{EndedReader, LogError, Reader, RunHead};
use serde::Serialize;
use serde_json::json;

use crate::assets::{ASSETS, Asset};
use crate::error::PageError;
use crate::prompt_images::PromptImage;
use crate::query::{Query, part, parts};
use crate::render::render;
use crate::runs::{Notice, RunInfo, effective_decisions, notices, run_info};
use crate::site::Site;

pub(crate) use live::Follow;

/// The reply to a request.
pub(crate) enum PageReply {
    Page {
        status: u16,
        html: String,
    },
    Json {
        status: u16,
        text: String,
    },
    /// Text for a file: never shown by a browser.
    Text {
        name: String,
        text: String,
    },
    Asset(&'static Asset),
    /// An image of a prompt.
    Image(PromptImage),
    /// The page is at another address.
    Elsewhere(String),
    Follow(Follow),
}

/// What every page has.
#[derive(Serialize)]
struct PageFrame<T: Serialize> {
    /// The name of the source.
    log: String,
    /// The title of the page.
    title: String,
    /// Which page it is.
    page: &'static str,
    /// The address of the page, with its query, as JSON.
    json: String,
    /// The run that it is about.
    run: Option<RunInfo>,
    /// The notices that a reader has to know first.
    notices: Vec<Notice>,
    /// Whether it is not complete yet, so that it should be loaded again soon.
    unfinished: bool,
    #[serde(flatten)]
    data: T,
}

/// A request for a page.
struct PageRequest<'a> {
    site: &'a Arc<Site>,
    query: Query,
    path: &'a str,
    json: bool,
    /// Whether it is answered once more, since damage was met.
    again: Cell<bool>,
}

/// A request for a page about a run.
struct RunPageRequest<'a> {
    asked: &'a PageRequest<'a>,
    reader: Box<dyn Reader>,
    head: RunHead,
    info: RunInfo,
    /// How many runs the log has.
    runs: usize,
    /// Of a damaged run, the first event that is not read.
    end: Option<Seq>,
}

/// A page about something in a run: an event, or a participant.
type PageOf<T> = fn(RunPageRequest<'_>, T) -> Result<PageReply, PageError>;

#[derive(Serialize)]
struct ErrorPage {
    error: String,
    status: u16,
    /// For a state that cannot be trusted: the last event of which the state can.
    last_good: Option<u64>,
}

/// The answer to a request that may be answered.
pub(crate) fn answer(site: &Arc<Site>, path: &str, query: Query, json: bool) -> PageReply {
    let asked = PageRequest { site, query, path, json, again: Cell::new(false) };
    asked
        .answer()
        .or_else(|error| asked.once_more(error, None))
        .or_else(|error| asked.error_page(&error, None))
        .unwrap_or_else(|error| {
            let text = json!({"error": error.to_string(), "status": 500}).to_string();
            PageReply::Json { status: 500, text: inert_json(&text) }
        })
}

impl PageRequest<'_> {
    fn answer(&self) -> Result<PageReply, PageError> {
        let none = || PageError::missing("this server", "page", self.path, "begin at /");
        let parts = parts(self.path).ok_or_else(none)?;
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        match parts.as_slice() {
            [""] => {
                self.query.only(runs::KEYS)?;
                runs::page(self)
            }
            ["assets", name] => {
                let asset = ASSETS.iter().find(|asset| asset.name == *name).ok_or_else(none)?;
                Ok(PageReply::Asset(asset))
            }
            ["favicon.ico"] => Ok(PageReply::Elsewhere("/assets/icon.svg".to_owned())),
            ["compare"] => {
                self.query.only(compare::KEYS)?;
                compare::page(self)
            }
            ["run", run, rest @ ..] => {
                let of = self.of_run(run)?;
                let before = |of, seq: &str, page: PageOf<Seq>| {
                    let seq = seq_of(seq)?;
                    self.before_damage(of, seq, seq, page)
                };
                let (head, info) = (of.head.clone(), of.info.clone());
                if let Err(error) = self.query.only(keys(rest)) {
                    return self.error_page(&error, Some((head, info)));
                }
                let page = match rest {
                    [] => timeline::page(of),
                    ["table.csv"] => outcome::csv(of),
                    ["live"] => live::page(&of),
                    ["event", seq] => event::page(of, seq_of(seq)?),
                    ["exchange", seq] => before(of, seq, exchange::page),
                    ["exchange", seq, "prompt"] => before(of, seq, exchange::prompt),
                    ["exchange", seq, "answer"] => before(of, seq, exchange::answer),
                    ["exchange", seq, "image", number] => {
                        let number = number.parse().map_err(|_| none())?;
                        let seq = seq_of(seq)?;
                        self.before_damage(of, (seq, number), seq, exchange::image)
                    }
                    ["chain", seq] => before(of, seq, provenance::page),
                    ["participant", name @ ..] if !name.is_empty() => {
                        let name = name.join("/");
                        self.before_damage(of, &*name, Seq(1), participant::page)
                    }
                    ["state"] => state::page(of),
                    ["parts"] => self.before_damage(of, (), Seq(1), parts::page),
                    ["agreement"] => agreement::page(of),
                    ["agreement.csv"] => agreement::csv(of),
                    ["check"] => check::page(of),
                    ["stats"] => stats::page(of),
                    _ => Err(none()),
                };
                let page = page.or_else(|error| self.once_more(error, Some(&head)));
                page.or_else(|error| self.error_page(&error, Some((head, info))))
            }
            _ => Err(none()),
        }
    }

    /// Answers again if the page met damage that was not known yet: the log was changed since it was read.
    fn once_more(&self, error: PageError, of: Option<&RunHead>) -> Result<PageReply, PageError> {
        let is_known = of.is_some_and(|head| self.site.damage(head).is_some());
        match &error {
            PageError::Log(met) if met.is_damage() && !is_known && !self.again.replace(true) => {
                match of {
                    Some(head) => self.site.forget(head.run),
                    None => self.site.source.look_again(),
                }
                self.answer()
            }
            _ => Err(error),
        }
    }

    /// Why a page is not shown. If it is one of a run, what has to be known about the run is above it.
    fn error_page(
        &self,
        error: &PageError,
        of: Option<(RunHead, RunInfo)>,
    ) -> Result<PageReply, PageError> {
        let status = error.status();
        let (title, state) = match error {
            PageError::Untrusted { last_good, .. } => ("This cannot be trusted", *last_good),
            _ if status == 404 => ("Not found", None),
            _ => ("This cannot be shown", None),
        };
        let is_pending = of.as_ref().is_some_and(|(head, _)| self.site.is_being_read(head.run));
        let (notices, info) = match of {
            // If the log cannot be read, the error says so.
            Some((head, info)) => (notices(self.site, Some(&head)).unwrap_or_default(), Some(info)),
            // The subject of the page may be lost in a damaged log.
            None => (notices(self.site, None).unwrap_or_default(), None),
        };
        let data =
            ErrorPage { error: error.to_string(), status, last_good: state.map(|seq| seq.0) };
        self.page(status, "error", title.to_owned(), info, notices, is_pending, data)
    }

    fn of_run(&self, name: &str) -> Result<RunPageRequest<'_>, PageError> {
        let mut reader = self.site.reader()?;
        let head = self.site.find(name)?;
        let info = run_info(self.site, reader.as_mut(), &head);
        // A list that cannot be read is reported by the page of all runs.
        let runs = reader.runs().map_or(0, |runs| runs.len());
        drop(self.site.roll(&head));
        Ok(RunPageRequest { asked: self, reader, head, info, runs, end: None })
    }

    /// A page about something in a run that begins with an event. If the run cannot be read to its end, the
    /// page is made from what comes before the damage, as far as it is about that.
    fn before_damage<T: Copy>(
        &self,
        of: RunPageRequest<'_>,
        what: T,
        seq: Seq,
        page: PageOf<T>,
    ) -> Result<PageReply, PageError> {
        let head = of.head.clone();
        let error = match page(of, what) {
            Err(PageError::Log(error)) if error.is_damage() => error,
            done => return done,
        };
        let untrusted = |error: LogError| {
            Err(PageError::Untrusted { message: error.to_string(), last_good: None })
        };
        let known = match &error {
            LogError::Corrupt { seq, .. } => Some(*seq),
            _ => self.site.first_untrusted(&head).map(Seq),
        };
        match known.and_then(|damaged| damaged.0.checked_sub(1)).filter(|last| seq.0 <= *last) {
            Some(last) => {
                let mut of = self.of_run(&head.run.to_string())?;
                of.reader = Box::new(EndedReader::as_of(of.reader, of.head.run, Seq(last)));
                of.end = Some(Seq(last + 1));
                match page(of, what) {
                    Err(PageError::Log(error)) if error.is_damage() => untrusted(error),
                    // What is asked for may be what is damaged.
                    Err(PageError::NotFound(_)) => untrusted(error),
                    done => done,
                }
            }
            None => untrusted(error),
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a page")]
    fn page<T: Serialize>(
        &self,
        status: u16,
        page: &'static str,
        title: String,
        run: Option<RunInfo>,
        notices: Vec<Notice>,
        unfinished: bool,
        data: T,
    ) -> Result<PageReply, PageError> {
        let json = format!("{}{}", self.path, self.query.with(&[("format", Some("json"))]));
        let log = self.site.title();
        let whole = PageFrame { log, title, page, json, run, notices, unfinished, data };
        // A page that is not complete yet says so with its status, too.
        let status = if unfinished { 202 } else { status };
        if self.json {
            return Ok(PageReply::Json {
                status,
                text: inert_json(&serde_json::to_string(&whole)?),
            });
        }
        let html = render(&self.site.templates, &format!("{page}.html"), &whole)?;
        Ok(PageReply::Page { status, html })
    }
}

impl RunPageRequest<'_> {
    /// The address of something about the run.
    fn href(&self, rest: &str) -> String {
        format!("/run/{}{rest}", self.info.run)
    }

    fn page<T: Serialize>(
        self,
        page: &'static str,
        title: String,
        unfinished: bool,
        data: T,
    ) -> Result<PageReply, PageError> {
        self.page_with(page, title, unfinished, Vec::new(), data)
    }

    fn page_with<T: Serialize>(
        self,
        page: &'static str,
        title: String,
        unfinished: bool,
        more: Vec<Notice>,
        data: T,
    ) -> Result<PageReply, PageError> {
        let unfinished = unfinished || self.asked.site.is_being_read(self.head.run);
        let mut notices = notices(self.asked.site, Some(&self.head))?;
        notices.extend(more);
        if let Some(end) = self.end {
            let text = format!(
                "This page shows what comes before event {end}. What follows cannot be read."
            );
            notices.push(Notice::warning(text));
        }
        if self.info.simulated {
            notices.push(Notice::simulated());
        }
        notices.extend(effective_decisions(self.asked.site, &self.head, self.runs));
        self.asked.page(200, page, title, Some(self.info), notices, unfinished, data)
    }
}

/// The keys that the query of a page about a run may have.
fn keys(page: &[&str]) -> &'static [&'static str] {
    match page {
        [] | ["table.csv"] | ["live"] => timeline::KEYS,
        ["agreement" | "agreement.csv"] => agreement::KEYS,
        ["participant", ..] => participant::KEYS,
        ["state"] => state::KEYS,
        ["parts"] => parts::KEYS,
        ["check"] => check::KEYS,
        ["stats"] => &[outcome::SO_FAR],
        _ => &[],
    }
}

fn seq_of(text: &str) -> Result<Seq, PageError> {
    text.parse().map(Seq).map_err(|_| {
        PageError::NotFound(format!(
            "{} is not the number of an event: events are numbered from 1",
            printable(text, 100)
        ))
    })
}

/// The address of the story of a label's value, or of a call.
fn participant_href(run: &str, by: Option<&str>, name: &str) -> String {
    let parts: Vec<String> = name.split('/').map(part).collect();
    // An empty value has no story, but events.
    if let Some(by) = by.filter(|_| name.is_empty()) {
        return format!("/run/{run}?label={}%3D", part(by));
    }
    let by = by.map(|by| format!("?by={}", part(by))).unwrap_or_default();
    format!("/run/{run}/participant/{}{by}", parts.join("/"))
}
