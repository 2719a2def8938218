//! A question with everything that came of it: the prompt as a conversation, the answer with the part
//! that the parser took, decisions, failed attempts, and the facts that follow.

mod gather;
mod shown;

use retold::content::Content;
use retold::event::{Event, Labels};
use retold::id::Seq;
use retold::log::{LogError, each_event_at};
use serde::Serialize;

use self::gather::ExchangeEvents;
use self::shown::{
    AnswerView, AttemptView, DecisionView, PromptView, answer_of, attempt_of, decision_of,
    image_of, prompt_of,
};
use super::accepted::AcceptedView;
use super::row::{ListedEvent, row};
use super::{PageReply, RunPageRequest, participant_href};
use crate::error::PageError;
use crate::span::DecisionSpan;
use retold_archive::Damage;

#[derive(Serialize)]
struct ExchangePage {
    call: String,
    sample: u32,
    /// The question's seq, which names the exchange.
    question: u64,
    asked_at: String,
    /// Other samples of the same call.
    samples: Vec<OtherSample>,
    prompt: PromptView,
    attempts: Vec<AttemptView>,
    /// The labels of the call.
    labels: Vec<CallLabel>,
    /// That the client hung up, if it did.
    left: Option<ListedEvent>,
    answer: Option<AnswerView>,
    decision: Option<DecisionView>,
    /// The decisions that were accepted since and are in force.
    accepted: Vec<AcceptedView>,
    /// Other decisions about the same answer.
    others: Vec<ListedEvent>,
    facts: Vec<ListedEvent>,
    /// The address of the page about how it came about.
    chain: String,
    /// The address of the parser's comparison, around this decision.
    check: Option<String>,
    /// The address of the state after the last of it.
    state: Option<String>,
    previous: Option<String>,
    next: Option<String>,
    /// Of a damaged run, the first event that is not read.
    end: Option<u64>,
}

/// A label, and the address of the story of all calls that have it.
#[derive(Serialize)]
struct CallLabel {
    name: String,
    value: String,
    href: String,
}

#[derive(Serialize)]
struct OtherSample {
    sample: u32,
    href: String,
    here: bool,
}

pub(super) fn page(mut of: RunPageRequest<'_>, seq: Seq) -> Result<PageReply, PageError> {
    let gathered = of.gather(seq)?;
    let ExchangeEvents { question, answer, attempts, left, decision, others, facts, index } =
        gathered;
    let run = of.head.run;
    let untrusted = of.asked.site.first_untrusted(&of.head);
    let request = of.request(&question)?;
    let call = question.call.clone();
    let call_text = call.as_ref().map_or_else(|| "?".to_owned(), ToString::to_string);
    let sample = question.sample.unwrap_or(0);
    let decisions = of.call_decisions()?;
    let accepted = call.as_ref().map(|call| of.accepted(&decisions, call, sample)).transpose()?;
    let labels = match question.event() {
        Ok(Event::RequestSent(sent)) => sent.labels,
        _ => Labels::default(),
    };
    let labels = labels.into_iter().map(|(name, value)| {
        let href = participant_href(&of.info.run, Some(&name), &value);
        CallLabel { name, value, href }
    });
    let mut samples = Vec::new();
    if let Some(call) = &call {
        let places = index.calls(of.reader.as_mut(), call)?;
        let places = places.get(..places.len().min(200)).unwrap_or(&[]).to_vec();
        each_event_at::<LogError>(of.reader.as_mut(), run, &places, |stored| {
            if stored.is_question() && stored.call.as_ref() == Some(call) {
                samples.push((stored.sample.unwrap_or(0), stored.seq));
            }
            Ok(())
        })?;
    }
    let samples: Vec<OtherSample> = samples
        .into_iter()
        .map(|(sample, at)| OtherSample {
            sample,
            href: of.href(&format!("/exchange/{at}")),
            here: at == question.seq,
        })
        .collect();
    let here = samples.iter().position(|sample| sample.here).unwrap_or(0);
    let neighbour = |at: Option<usize>| at.and_then(|at| samples.get(at)).map(|s| s.href.clone());
    let (previous, next) = (neighbour(here.checked_sub(1)), neighbour(Some(here + 1)));
    let shown_answer = answer.as_ref().map(|stored| answer_of(&of, stored, decision.as_ref()));
    let (answer_shown, taken) = match shown_answer {
        Some((answer, taken)) => (Some(answer), taken),
        None => (None, DecisionSpan::Unknown),
    };
    let last = facts.last().or(decision.as_ref().map(|(stored, _)| stored)).or(answer.as_ref());
    let last = last.map_or(question.seq, |stored| stored.seq);
    let is_study = of.info.kind == "study";
    let decision_shown =
        decision.map(|(stored, made)| decision_of(&of, &stored, made, answer.as_ref(), &taken));
    let check = decision_shown.as_ref().filter(|decision| !decision.reported);
    let data = ExchangePage {
        accepted: accepted.unwrap_or_default(),
        chain: of.href(&format!("/chain/{}", question.seq)),
        check: check.map(|decision| {
            let around = decision.seq.saturating_sub(1);
            of.href(&format!("/check?after={around}#d{}", decision.seq))
        }),
        state: is_study.then(|| of.href(&format!("/state?at={last}"))),
        call: call_text.clone(),
        sample,
        question: question.seq.0,
        asked_at: question.time.to_string(),
        samples,
        prompt: prompt_of(&request, &of.href(&format!("/exchange/{}", question.seq))),
        attempts: attempts.iter().filter_map(attempt_of).collect(),
        labels: labels.collect(),
        left: left.map(|left| row(run, &left, untrusted)),
        answer: answer_shown,
        decision: decision_shown,
        others: others.iter().map(|other| row(run, other, untrusted)).collect(),
        facts: facts.iter().map(|fact| row(run, fact, untrusted)).collect(),
        previous,
        next,
        end: of.end.map(|end| end.0),
    };
    of.page("exchange", format!("{call_text}#{sample}"), false, data)
}

/// The canonical request as a file.
pub(super) fn prompt(mut of: RunPageRequest<'_>, seq: Seq) -> Result<PageReply, PageError> {
    let gathered = of.gather(seq)?;
    let request = of.request(&gathered.question)?;
    ensure_trusted(&of, gathered.question.seq)?;
    let name = format!("prompt-{}.json", request.hash().short(12));
    Ok(PageReply::Text { name, text: request.canonical().to_owned() })
}

/// An image of a prompt.
pub(super) fn image(
    mut of: RunPageRequest<'_>,
    (seq, number): (Seq, usize),
) -> Result<PageReply, PageError> {
    let gathered = of.gather(seq)?;
    let request = of.request(&gathered.question)?;
    ensure_trusted(&of, gathered.question.seq)?;
    let none = || PageError::NotFound(format!("the prompt of event {seq} has no image {number}"));
    Ok(PageReply::Image(image_of(&request, number).ok_or_else(none)?))
}

/// A text in a file has no banner: it is refused if it cannot be trusted.
fn ensure_trusted(of: &RunPageRequest<'_>, seq: Seq) -> Result<(), PageError> {
    let known = of.asked.site.damage(&of.head).filter(|damage| damage.seq <= seq);
    let Some(damage) = known else { return Ok(()) };
    let Damage { seq: from, fault } = &damage;
    let message = format!(
        "this text is only shown on the page of its exchange: from event {from} on, the run cannot be trusted: {fault}"
    );
    Err(PageError::Untrusted { message, last_good: damage.last_good() })
}

/// The whole text of an answer as a file.
pub(super) fn answer(mut of: RunPageRequest<'_>, seq: Seq) -> Result<PageReply, PageError> {
    let gathered = of.gather(seq)?;
    let unanswered = || PageError::NotFound(format!("the question of event {seq} has no answer"));
    let stored = gathered.answer.ok_or_else(unanswered)?;
    let text = match &stored.content {
        Some(Content::Text(text)) => text.to_string(),
        Some(Content::Vector(numbers)) => serde_json::to_string(&numbers[..])?,
        None => String::new(),
    };
    ensure_trusted(&of, stored.seq)?;
    Ok(PageReply::Text { name: format!("answer-{}-{}.txt", of.info.short, stored.seq), text })
}
