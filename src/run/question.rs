//! Questions and answers, as experiments see them.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::because::{DecisionRef, Source};
use super::details::usage;
use crate::content::Content;
use crate::event::{Labels, ResponseDetails};
use crate::id::{CallPath, PromptHash, Sample, Seq};
use crate::model::{Failure, Usage};
use crate::parse::WholeAnswer;
use crate::prompt::Request;

/// Which recorded answers may answer a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reuse {
    /// Only the one at the same address: prompt hash, call and sample. Draws stay independent.
    #[default]
    Exact,
    /// Any recorded answer to the same prompt in this run: for embeddings and temperature 0.
    Shared,
}

/// A request, its address, and the parser of the answer.
///
/// ```
/// use std::sync::Arc;
///
/// use retold::id::CallPath;
/// use retold::parse::vote::{VoteParams, parser};
/// use retold::prompt::ChatRequest;
/// use retold::run::Question;
///
/// let parser = Arc::new(parser(VoteParams { options: vec!["tea".into(), "coffee".into()] })?);
/// let request = ChatRequest::new("gpt-4o", "Tea or coffee?").into_request()?;
/// // Two independent answers to one prompt: two samples of a call, each with its own address.
/// let call = CallPath::new("breakfast/p_0001")?;
/// let [first, second] = [0, 1].map(|sample| {
///     Question::new(call.clone(), request.clone(), parser.clone()).sample(sample)
/// });
/// assert_eq!(first.request().hash(), second.request().hash());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Question<P> {
    pub(super) asked: QuestionCore,
    pub(super) parser: Arc<P>,
}

/// The part of a question that does not depend on the parser.
#[derive(Debug, Clone)]
pub(super) struct QuestionCore {
    pub(super) call: CallPath,
    pub(super) sample: Sample,
    pub(super) request: Request,
    pub(super) reuse: Reuse,
    /// The sources of the prompt.
    pub(super) because: Vec<Source>,
    /// The participant, condition or round that the call belongs to.
    pub(super) labels: Labels,
}

impl QuestionCore {
    pub(super) fn prompt(&self) -> PromptHash {
        self.request.hash()
    }
}

impl<P> Question<P> {
    /// Sample 0 of a call.
    pub fn new(call: CallPath, request: Request, parser: Arc<P>) -> Self {
        let (reuse, because, labels) = (Reuse::Exact, Vec::new(), Labels::default());
        Question {
            asked: QuestionCore { call, sample: 0, request, reuse, because, labels },
            parser,
        }
    }

    /// The request.
    pub fn request(&self) -> &Request {
        &self.asked.request
    }

    /// Another sample of the same call.
    #[must_use]
    pub fn sample(mut self, sample: Sample) -> Self {
        self.asked.sample = sample;
        self
    }

    /// Names the sources of the prompt: decisions and facts of this run, and earlier questions,
    /// each of which stands for everything that its own prompt was made from. Calling this again
    /// adds to the sources named before.
    ///
    /// The sources are kept in the log, compared by a replay, and shown by `audit`. A dialogue that
    /// names its last question and the decision on it costs as much at its thousandth turn as at
    /// its second:
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use retold::parse::Parser;
    /// # use retold::run::{Answer, Question};
    /// # fn turn<P: Parser>(next: Question<P>, last: &Answer<String>) -> Question<P> {
    /// next.because([last.decision.question()]).because([&last.decision])
    /// # }
    /// ```
    #[must_use]
    pub fn because(mut self, sources: impl IntoIterator<Item = impl Into<Source>>) -> Self {
        self.asked.because.extend(sources.into_iter().map(Into::into));
        self
    }

    /// Adds a label: the participant, condition or round that the call belongs to. Lists, filters, tables and intervals
    /// follow from labels, see [`CLUSTERS`](crate::event::CLUSTERS) and [`PARTICIPANTS`](crate::event::PARTICIPANTS);
    /// without them, each call stands alone. They are recorded with the question, but are not part of the prompt, and a
    /// replay does not compare them: an experiment may give its calls further labels, and its earlier runs replay as before.
    ///
    /// ```
    /// # use retold::parse::Parser;
    /// # use retold::run::Question;
    /// # fn turn<P: Parser>(next: Question<P>, game: u32, round: u32) -> Question<P> {
    /// next.label("game", game).label("round", round)
    /// # }
    /// ```
    #[must_use]
    pub fn label(self, name: impl Into<String>, value: impl ToString) -> Self {
        self.labels([(name.into(), value.to_string())])
    }

    /// Several [labels](Self::label), beside those that it has.
    #[must_use]
    pub fn labels(mut self, labels: impl IntoIterator<Item = (String, String)>) -> Self {
        self.asked.labels.extend(labels);
        self
    }

    /// Which recorded answers may serve.
    #[must_use]
    pub fn reuse(mut self, reuse: Reuse) -> Self {
        self.asked.reuse = reuse;
        self
    }
}

/// An answer and the decision made of it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Answer<V> {
    /// The parser's value.
    pub value: V,
    /// The strategy that produced the value.
    pub method: &'static str,
    /// The reasoning that the parser separated from the value.
    pub reasoning: Option<String>,
    /// Things that the parser repaired or found odd.
    pub warnings: Vec<String>,
    /// Whether the parser accepts the answer, see
    /// [`Parser::accepts`](crate::parse::Parser::accepts).
    pub accepted: bool,
    /// The answer, verbatim.
    pub content: Content,
    /// The other parts: finish reason, usage, tool calls and everything else. The latency is not
    /// included, because nothing in an experiment may depend on time.
    pub details: Arc<ResponseDetails>,
    /// The place of the answer in the log.
    pub response: Seq,
    /// The decision, to be named as the cause of facts or as a source of later prompts.
    pub decision: DecisionRef,
}

impl<V> Answer<V> {
    /// The answer as parsers see it.
    pub fn whole(&self) -> WholeAnswer<'_> {
        let ResponseDetails { finish_reason, extra, .. } = &*self.details;
        let finish_reason = finish_reason.as_deref();
        WholeAnswer { text: self.content.text(), finish_reason, extra: Some(extra) }
    }

    /// Its tokens and cost, if the provider counted them.
    pub fn usage(&self) -> Option<Usage> {
        usage(&self.details)
    }

    /// The parts other than the text, such as `tool_calls`, `refusal` and `logprobs`. What says
    /// nothing is left out, such as `"logprobs": null` or `"audio_tokens": 0`; see
    /// [`Response`](crate::model::Response).
    pub fn extra(&self) -> &Map<String, Value> {
        &self.details.extra
    }

    /// Whether it is empty; see [`WholeAnswer::is_empty`]. A vector never is.
    pub fn is_empty(&self) -> bool {
        matches!(self.content, Content::Text(_)) && self.whole().is_empty()
    }

    /// Whether it was cut off because it reached the maximum length.
    pub fn is_cut_off(&self) -> bool {
        self.whole().is_cut_off()
    }
}

/// A call that failed after all retries. The run continues.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("call {call} sample {sample} failed: {failure}")]
pub struct CallFailed {
    /// The call.
    pub call: CallPath,
    /// The sample.
    pub sample: Sample,
    /// The last failure.
    pub failure: Failure,
}
