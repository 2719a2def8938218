//! What of a run stands in a prompt.
//!
//! An experiment renders its prompts from earlier decisions and facts, and a log does not say which
//! ones. But their texts are there: an earlier answer, a value of its decision, or a text of a fact is
//! listed if it stands in the prompt word for word. A long text does not do so by chance; a short one
//! (a vote, a name) is believed only of the subject of the question (`p_0012` of `final_vote/p_0012`):
//! it must be a part of the other call, or a text of the fact. What the run's settings hold, too (an
//! option to vote for), is in prompts anyway, and counts only of the subject, and only in quotation marks;
//! what stands in a template (`SATISFIED`) never does, unless the parts of one value stand there together (age,
//! sex, education).
//! Of several equal texts the subject's own counts; of others' the first is listed, the rest counted. Equal
//! answers of the subject (two turns "Yes.") share the places of their text in their order.
//!
//! Answers of the subject are followed to their own prompts, facts to the decisions they name as
//! causes; others can be audited by their own call.

use std::collections::BTreeSet;

use serde_json::Value;

use super::chain::Link;
use super::hits::{Hit, Hits, Source, spread, worth_telling};
use super::index::{Asked, Index, damaged, strings};
use super::passage::{LONG, Passages, Proof};
use crate::event::Event;
use crate::id::{CallPath, ContentHash, Sample, Seq};
use crate::log::{LogError, TextKeys};
use crate::prompt::Request;

/// An earlier answer or fact that a prompt rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct Folded {
    /// How it got there.
    pub place: Place,
    /// What it is.
    pub origin: Origin,
    /// How many other answers or facts have the same text.
    pub also: u64,
}

/// How something got into a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Its text stands in it.
    Prompt {
        /// The question whose prompt it is: its call.
        call: CallPath,
        /// The question's sample.
        sample: Sample,
        /// The message, from 0.
        message: usize,
        /// The message's role.
        role: String,
        /// The text.
        text: String,
    },
    /// A fact in it names it as a cause.
    CauseOf(Seq),
}

/// An earlier answer or fact.
#[derive(Debug, Clone, PartialEq)]
pub enum Origin {
    /// An answer.
    Answer {
        /// The call it answers.
        call: CallPath,
        /// Which sample.
        sample: Sample,
        /// The answer.
        answer: Link<()>,
        /// The hash of its text or vector.
        content: ContentHash,
        /// What a parser made of it.
        decision: Option<Link<()>>,
    },
    /// A fact.
    Fact(Link<Value>),
}

/// A question whose prompt is searched.
struct Prompt {
    call: CallPath,
    sample: Sample,
    seq: Seq,
    passages: Passages,
}

/// What stands in the prompt of a question (its call, sample and seq), and in those behind it.
pub(super) fn folded(
    index: Index<'_>,
    (call, sample, seq): (&CallPath, Sample, Seq),
    request: &Request,
) -> Result<Vec<Folded>, LogError> {
    let mut search = Search { index, seen: BTreeSet::new(), found: Vec::new() };
    let passages = Passages::new(request);
    let mut prompts = vec![Prompt { call: call.clone(), sample, seq, passages }];
    while !prompts.is_empty() {
        prompts = search.round(&prompts)?;
    }
    Ok(search.found)
}

struct Search<'a> {
    index: Index<'a>,
    seen: BTreeSet<Seq>,
    found: Vec<Folded>,
}

impl Search<'_> {
    /// Searches some prompts; the prompts behind what was found in them.
    fn round(&mut self, prompts: &[Prompt]) -> Result<Vec<Prompt>, LogError> {
        let hits = self.hits(prompts)?;
        let answers = hits.iter().flat_map(|hits| hits.keys()).filter_map(|source| match source {
            Source::Answer(seq) => Some(*seq),
            Source::Fact(_) => None,
        });
        self.index.find_decisions(answers.collect())?;
        let mut behind = Vec::new();
        for (prompt, mut hits) in prompts.iter().zip(hits) {
            spread(&mut hits, &prompt.passages, |text| self.index.proof(true, text));
            let mut causes = Vec::new();
            for (source, hit, also) in worth_telling(hits) {
                let place = Place::Prompt {
                    call: prompt.call.clone(),
                    sample: prompt.sample,
                    message: hit.at.0,
                    role: prompt.passages.role(hit.at.0).to_owned(),
                    text: hit.text,
                };
                match source {
                    Source::Answer(seq) => behind.extend(self.tell_answer(seq, place, also)?),
                    Source::Fact(seq) => causes.extend(self.tell_fact(seq, place, also)?),
                }
            }
            let mut answers = Vec::new();
            for (fact, cause) in causes {
                let answer = self.index.answer_of(cause)?;
                answers.extend(answer.map(|answer| (fact, answer)));
            }
            self.index.find_decisions(answers.iter().map(|(_, answer)| *answer).collect())?;
            for (fact, answer) in answers {
                behind.extend(self.tell_answer(answer, Place::CauseOf(fact), 0)?);
            }
        }
        Ok(behind)
    }

    /// What stands in each of some prompts, of all that happened before its question.
    fn hits(&mut self, prompts: &[Prompt]) -> Result<Vec<Hits>, LogError> {
        let mut hits: Vec<Hits> = prompts.iter().map(|_| Hits::new()).collect();
        let mut keys = TextKeys::default();
        for prompt in prompts {
            prompt.passages.texts().for_each(|text| keys.within(text));
        }
        self.index.each_source(&keys, |index, stored, event| {
            let event_value = match &event {
                Event::DecisionMade(made) if made.details.value.is_object() => {
                    Some(&made.details.value)
                }
                _ => None,
            };
            let (source, texts) = match &event {
                Event::ResponseReceived(r) => {
                    (Source::Answer(stored.seq), answer(r.content.text()))
                }
                Event::AnswerReused(r) => (Source::Answer(stored.seq), answer(r.content.text())),
                Event::DecisionMade(made) => {
                    (Source::Answer(made.response), strings(&made.details.value))
                }
                Event::Occurred(occurred) => (Source::Fact(stored.seq), fact(&occurred.fact)),
                _ => return Ok(()),
            };
            let is_own = match source {
                Source::Answer(seq) => index.is_own_answer(seq)?,
                Source::Fact(_) => texts.contains(&index.subject),
            };
            let parts = match (is_own, event_value) {
                (true, Some(value)) => parts(value),
                _ => Vec::new(),
            };
            let texts: Vec<(&String, Proof)> =
                texts.iter().filter_map(|text| Some((text, index.proof(is_own, text)?))).collect();
            for (prompt, hits) in
                prompts.iter().zip(&mut hits).filter(|(p, _)| source.seq() < p.seq)
            {
                for (text, proof) in &texts {
                    let longest = hits.get(&source).map_or(0, |hit| hit.text.len());
                    if text.len() > longest
                        && let Some(at) = prompt.passages.find(text, *proof)
                    {
                        hits.insert(source, Hit::new(at, (*text).clone(), is_own));
                    }
                }
                if !hits.contains_key(&source)
                    && let Some(at) = prompt.passages.find_all(&parts)
                {
                    hits.insert(source, Hit::new(at, parts.join(", "), is_own));
                }
            }
            Ok(())
        })?;
        Ok(hits)
    }

    /// Adds an answer that was not there yet; of the subject's own, the prompt behind it.
    fn tell_answer(
        &mut self,
        seq: Seq,
        place: Place,
        also: u64,
    ) -> Result<Option<Prompt>, LogError> {
        if !self.seen.insert(seq) {
            return Ok(None);
        }
        let origin = self.answer(seq)?;
        self.found.extend(origin.map(|origin| Folded { place, origin, also }));
        match self.index.is_own_answer(seq)? {
            true => self.prompt(seq),
            false => Ok(None),
        }
    }

    /// Adds a fact that was not there yet; the fact and each of its causes.
    fn tell_fact(
        &mut self,
        seq: Seq,
        place: Place,
        also: u64,
    ) -> Result<Vec<(Seq, Seq)>, LogError> {
        let stored = self.index.stored(seq)?;
        let Event::Occurred(fact) = stored.event().map_err(damaged)? else { return Ok(Vec::new()) };
        if !self.seen.insert(seq) {
            return Ok(Vec::new());
        }
        let origin = Origin::Fact(Link { seq, hash: stored.hash, event: fact.fact });
        self.found.push(Folded { place, origin, also });
        Ok(fact.causes.into_iter().map(|cause| (seq, cause)).collect())
    }

    fn answer(&mut self, seq: Seq) -> Result<Option<Origin>, LogError> {
        let stored = self.index.stored(seq)?;
        let decision = match self.index.decision_on(seq)? {
            Some(seq) => Some(Link { seq, hash: self.index.stored(seq)?.hash, event: () }),
            None => None,
        };
        let asked = self.index.question_of(seq)?;
        Ok(asked.zip(stored.content).map(|(asked, content)| Origin::Answer {
            call: asked.call,
            sample: asked.sample,
            answer: Link { seq, hash: stored.hash, event: () },
            content: content.hash(),
            decision,
        }))
    }

    /// The prompt that an answer answers.
    fn prompt(&mut self, answer: Seq) -> Result<Option<Prompt>, LogError> {
        let Some(Asked { seq, call, sample, prompt }) = self.index.question_of(answer)? else {
            return Ok(None);
        };
        let request = self.index.request(prompt)?;
        let passages = request.as_ref().map(Passages::new);
        Ok(passages.map(|passages| Prompt { call, sample, seq, passages }))
    }
}

/// An answer's text without the white space around it; none of a vector.
fn answer(text: &str) -> Vec<String> {
    let text = text.trim();
    if text.is_empty() { Vec::new() } else { vec![text.to_owned()] }
}

/// The texts and numbers in a value, as a template writes them.
fn parts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Number(number) => vec![number.to_string()],
        Value::Array(items) => items.iter().flat_map(parts).collect(),
        Value::Object(map) => map.values().flat_map(parts).collect(),
        Value::Null | Value::Bool(_) => Vec::new(),
    }
}

/// The texts of a fact: its own, and the long ones of what is inside.
fn fact(fact: &Value) -> Vec<String> {
    let fields = fact.as_object().into_iter().flat_map(|map| map.values());
    let own: Vec<&str> = fields.filter_map(Value::as_str).collect();
    let counts = |text: &String| text.len() >= LONG || own.contains(&text.as_str());
    strings(fact).into_iter().filter(counts).collect()
}
