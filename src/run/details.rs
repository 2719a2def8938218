//! The parts of an answer next to its text: between a model and the log, and between the log and a
//! parser.

use std::ops::AddAssign;
use std::sync::Arc;

use serde::Serialize;

use crate::content::Content;
use crate::event::{AnswerReused, Event, ResponseDetails, ResponseReceived};
use crate::model::{
    HTTP, OtherChoice, Response, UNREADABLE, Unreadable, Usage, is_not_read, other_choices,
};
use crate::parse::WholeAnswer;

/// The largest count that canonical JSON can hold exactly.
const EXACT: u64 = 1 << 53;

/// The parts of an answer that a log keeps: its content, and everything next to it.
pub(crate) fn content_and_details(response: Response) -> (Content, ResponseDetails) {
    let Response {
        content,
        finish_reason,
        usage,
        model,
        id,
        system_fingerprint,
        service_tier,
        extra,
    } = response;
    let Usage { prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens, cost } =
        usage.unwrap_or_default();
    // An experiment must see a new answer exactly as it will see the recorded one.
    let exact = |count: Option<u64>| count.filter(|count| *count <= EXACT);
    let details = ResponseDetails {
        batch: None,
        cached_tokens: exact(cached_tokens),
        completion_tokens: exact(completion_tokens),
        cost: cost.filter(|cost| cost.is_finite()),
        extra,
        finish_reason,
        id,
        label: None,
        latency_ms: 0,
        model,
        prompt_tokens: exact(prompt_tokens),
        reasoning_tokens: exact(reasoning_tokens),
        service_tier,
        system_fingerprint,
    };
    (content, details)
}

/// An answer from the log.
pub(crate) fn response(content: Content, details: ResponseDetails) -> Response {
    let usage = usage(&details);
    let ResponseDetails {
        extra, finish_reason, id, model, service_tier, system_fingerprint, ..
    } = details;
    Response { content, finish_reason, usage, model, id, system_fingerprint, service_tier, extra }
}

/// The tokens and cost of an answer, if they were counted.
pub(crate) fn usage(details: &ResponseDetails) -> Option<Usage> {
    let ResponseDetails {
        prompt_tokens,
        completion_tokens,
        cached_tokens,
        reasoning_tokens,
        cost,
        ..
    } = *details;
    let usage = Usage { prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens, cost };
    (usage != Usage::default()).then_some(usage)
}

/// A choice after the first as parsers see it.
pub(crate) fn whole_choice(choice: &OtherChoice) -> WholeAnswer<'_> {
    let OtherChoice { text, finish_reason, extra, unreadable: _ } = choice;
    WholeAnswer { text, finish_reason: finish_reason.as_deref(), extra: Some(extra) }
}

/// The numbers of answers that fall short of their requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Shortcomings {
    /// Blank answers: no text, no tool call, no refusal.
    pub blank: u64,
    /// Answers that were refused: see [`WholeAnswer::is_refused`].
    pub refused: u64,
    /// Answers that were cut off because they reached the maximum length.
    pub cut_off: u64,
    /// Answers to a recorded program whose stream was closed before their end.
    pub unended: u64,
    /// Answers that are kept as bytes because no text could be read from them.
    pub unreadable: u64,
    /// Answers of which nothing is read, because no file describes their API.
    pub not_read: u64,
}

impl Shortcomings {
    /// Those of an answer; `None` of another event.
    pub fn of(event: &Event) -> Option<Self> {
        let (content, details, is_unreadable) = match event {
            Event::ResponseReceived(ResponseReceived { content, details, .. }) => {
                (content, details, Unreadable::why(content, &details.extra).is_some())
            }
            Event::AnswerReused(AnswerReused { content, details, unreadable, .. }) => {
                (content, details, unreadable.is_some())
            }
            _ => return None,
        };
        let (finish_reason, extra) = (details.finish_reason.as_deref(), Some(&details.extra));
        let whole = WholeAnswer { text: content.text(), finish_reason, extra };
        let is_not_read = is_not_read(content, &details.extra);
        Some(Shortcomings::new(content, whole, is_unreadable, is_not_read))
    }

    fn new(
        content: &Content,
        whole: WholeAnswer<'_>,
        is_unreadable: bool,
        is_not_read: bool,
    ) -> Self {
        let is_empty = matches!(content, Content::Text(_)) && whole.is_empty();
        Shortcomings {
            blank: u64::from(is_empty && !is_unreadable && !is_not_read),
            refused: u64::from(whole.is_refused()),
            cut_off: u64::from(whole.is_cut_off()),
            unended: u64::from(whole.missing_end().is_some()),
            unreadable: u64::from(is_unreadable),
            not_read: u64::from(is_not_read),
        }
    }
}

impl AddAssign for Shortcomings {
    fn add_assign(&mut self, other: Self) {
        let Shortcomings { blank, refused, cut_off, unended, unreadable, not_read } = other;
        self.blank += blank;
        self.refused += refused;
        self.cut_off += cut_off;
        self.unended += unended;
        self.unreadable += unreadable;
        self.not_read += not_read;
    }
}

/// The parts of an answer next to its text, as parsers and experiments see them: the same when it
/// is asked for, replayed, or shared with a fork. They therefore include neither the latency nor a
/// label, and only the reason for a part that could not be read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AnswerDetails {
    details: Arc<ResponseDetails>,
    /// Why there is no text, if it could not be read.
    unreadable: Option<Arc<str>>,
    is_not_read: bool,
}

impl AnswerDetails {
    /// The parts of an answer, where it was recorded.
    pub fn new(content: &Content, mut details: ResponseDetails) -> Self {
        let unreadable = Unreadable::why(content, &details.extra);
        let is_not_read = is_not_read(content, &details.extra);
        details.extra.remove(UNREADABLE);
        details.extra.remove(HTTP);
        (details.batch, details.latency_ms, details.label) = (None, 0, None);
        AnswerDetails { is_not_read, ..AnswerDetails::of_reuse(content, details, unreadable) }
    }

    /// The parts of an answer that is shared with another run.
    pub(crate) fn of_reuse(
        content: &Content,
        details: ResponseDetails,
        unreadable: Option<String>,
    ) -> Self {
        let is_not_read = is_not_read(content, &details.extra);
        let unreadable = unreadable.map(Arc::from);
        AnswerDetails { details: Arc::new(details), unreadable, is_not_read }
    }

    /// The answer as parsers see it.
    pub fn whole<'a>(&'a self, content: &'a Content) -> WholeAnswer<'a> {
        let ResponseDetails { finish_reason, extra, .. } = &*self.details;
        let finish_reason = finish_reason.as_deref();
        WholeAnswer { text: content.text(), finish_reason, extra: Some(extra) }
    }

    /// The result of a function for one choice of the answer, or for the first if none is named; `None` if the answer has no
    /// such choice.
    pub fn of_choice<T>(
        &self,
        content: &Content,
        choice: Option<u32>,
        make: impl FnOnce(WholeAnswer<'_>) -> T,
    ) -> Option<T> {
        match usize::try_from(choice.unwrap_or(0)).ok()?.checked_sub(1) {
            None => Some(make(self.whole(content))),
            Some(at) => {
                let others = other_choices(&self.details.extra);
                others.get(at).map(|other| make(whole_choice(other)))
            }
        }
    }

    /// The shortcomings of the answer with this content.
    pub(crate) fn shortcomings(&self, content: &Content) -> Shortcomings {
        Shortcomings::new(content, self.whole(content), self.is_unreadable(), self.is_not_read)
    }

    /// Whether nothing of it is read: see [`is_not_read`].
    pub fn is_not_read(&self) -> bool {
        self.is_not_read
    }

    /// Why there is no text, if it could not be read.
    pub(crate) fn unreadable(&self) -> Option<&str> {
        self.unreadable.as_deref()
    }

    pub(crate) fn is_unreadable(&self) -> bool {
        self.unreadable.is_some()
    }

    pub(crate) fn details(&self) -> Arc<ResponseDetails> {
        self.details.clone()
    }
}
