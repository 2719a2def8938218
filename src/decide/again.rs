//! Deciding again about the answers of a recorded run.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;

use super::answers::{RecordedAnswer, each_answer_decided};
use super::{
    AnswerDecision, Choices, DecideError, Decider, ParserParams, RegisteredParser, SkippedChoices,
    UndecidedAnswer, filter,
};
use crate::content::Content;
use crate::event::{DecisionDetails, DecisionMade, FILTER, is_reported_by};
use crate::id::{CallPath, RunId};
use crate::log::{EventFault, LogError, Reader};
use crate::model::Unreadable;
use crate::parse::registry::RegistryError;
use crate::parse::{AnyParser, ParserSpec, Parsers};
use crate::prompt::Request;
use crate::run::OtherDecision;

/// The most answers that are decided about together, and the most bytes of them (unless a single
/// answer is longer).
const TOGETHER: usize = 10_000;
const BYTES: usize = 32 << 20;

/// Why no decision was made about the answers of a run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgainError {
    /// The log could not be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The decider could not decide.
    #[error(transparent)]
    Decide(#[from] DecideError),
    /// The decisions were made by a user's program, which is never run just because a recording
    /// names it.
    #[error(
        "the decisions of run {run} were made by the program {command:?}, which is never started because a recording names it"
    )]
    Filter {
        /// The run.
        run: RunId,
        /// The program, as recorded.
        command: String,
    },
    /// The decisions were made by a parser file, which is not here.
    #[error("the decisions of run {run} were made by {parser} of a parser file")]
    ParserFile {
        /// The run.
        run: RunId,
        /// `name@version` of the parser.
        parser: String,
    },
}

/// The setting under which a parser that is written down in a file has its definition.
pub const PARSER_FILE: &str = "parser_file";

/// Chooses a parser for each answer.
pub trait Chooser {
    /// The parser for the answers to a call and a request; `None` leaves them alone.
    fn choose(&self, call: &CallPath, request: &Request) -> Option<&dyn AnyParser>;
}

/// What makes the new decisions.
pub enum Again<'a> {
    /// The latest version of the parser that made the recorded decision; answers without one are
    /// left alone.
    Latest,
    /// This decider; answers that another parser of the registry decided about are left alone.
    By(&'a mut dyn Decider),
    /// A parser for each answer, whatever decided about it before; answers for which none is chosen
    /// are left alone.
    Chosen(&'a dyn Chooser),
}

/// Which answers to decide about, and how.
pub struct Selection<'a> {
    /// What makes the decisions.
    pub by: Again<'a>,
    /// The settings.
    pub params: &'a ParserParams,
    /// Limits it to this call and the calls under it.
    pub only: Option<&'a CallPath>,
    /// Which choices of the answers that have several.
    pub choices: Choices,
    /// The name of the recorded decision that each new one is compared with, if that is not the parser's. With
    /// [`Again::Chosen`], other decisions about the answer are none.
    pub name: Option<&'a str>,
    /// The parsers of the program.
    pub parsers: &'a Parsers,
}

/// A new decision about a recorded answer.
#[derive(Debug, Clone, PartialEq)]
pub struct RevisedDecision {
    /// The answer, with its recorded decision.
    pub answer: RecordedAnswer,
    /// The parser of the recorded decision, if there is one.
    pub recorded: Option<ParserSpec>,
    /// The parser of the new decision.
    pub by: ParserSpec,
    /// The new decision.
    pub now: AnswerDecision,
}

impl RevisedDecision {
    /// The new decision for a dry run, if it is not the recorded one. An answer without a decision has none to replace.
    pub fn other(&self) -> Option<OtherDecision> {
        let RevisedDecision { answer, now, .. } = self;
        let (_, recorded) = answer.decision.as_ref()?;
        let DecisionDetails { choice: _, reasoning, value, warnings } = &recorded.details;
        let is_same = (&recorded.by.method, value, reasoning, warnings)
            == (&now.method, &now.value, &now.reasoning, &now.warnings);
        let AnswerDecision { method, value, reasoning, warnings, .. } = now.clone();
        (!is_same).then_some(OtherDecision { method, value, reasoning, warnings })
    }
}

/// The answers that were left alone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkippedAnswers {
    /// The other parsers whose decisions were left alone.
    pub others: BTreeSet<String>,
    /// The number of answers left alone because of that.
    pub by_others: u64,
    /// The number left alone because they have no decision and no parser was named.
    pub undecided: u64,
    /// The number of answers without settings in the settings file.
    pub without_params: u64,
    /// The number of embeddings, which have no text to decide about.
    pub embeddings: u64,
    /// The number of answers that are not read, so that their text is the raw answer as received.
    pub not_read: u64,
    /// The number of answers with calls and prompts for which no parser is chosen.
    pub not_chosen: u64,
    /// The choices of answers with several that were not asked for.
    pub choices: SkippedChoices,
}

/// Decides again about the answers of a run and passes on each decision, in the order of
/// [`each_answer`](super::each_answer).
///
/// # Errors
/// [`AgainError`], or any error of `each`.
pub fn each_decision<E: From<AgainError>>(
    reader: &mut dyn Reader,
    run: RunId,
    choice: Selection<'_>,
    each: impl FnMut(&mut dyn Reader, RevisedDecision) -> Result<(), E>,
) -> Result<SkippedAnswers, E> {
    let Selection { by, params, only, choices, name, parsers } = choice;
    let mut pending = Pending {
        run,
        name: match &by {
            Again::By(decider) => decider.spec(&Value::Null).name.into_owned(),
            Again::Latest | Again::Chosen(_) => String::new(),
        },
        by,
        params,
        choices,
        parsers,
        latest: BTreeMap::new(),
        waiting: Vec::new(),
        bytes: 0,
        left: SkippedAnswers::default(),
        each,
    };
    // A program has no name for its decisions.
    let own = Some(pending.name.clone()).filter(|name| !["", FILTER].contains(&&**name));
    let chosen = name.filter(|_| matches!(pending.by, Again::Chosen(_)));
    let name = name.map(str::to_owned).or(own);
    let read = each_answer_decided(reader, run, name.as_deref(), |reader, mut answer| match only {
        Some(only) if !answer.call.is_under(only) => Ok(()),
        _ => {
            let is_it = |made: &DecisionMade| chosen.is_none_or(|name| made.by.decides() == name);
            answer.decision = answer.decision.filter(|(_, made)| is_it(made));
            pending.add(reader, answer).map_err(LogCallbackError::Here)
        }
    });
    read.map_err(|raised| match raised {
        LogCallbackError::Here(e) => e,
        LogCallbackError::Log(e) => AgainError::from(e).into(),
    })?;
    pending.decide(reader)?;
    Ok(pending.left)
}

/// An error of the log, or one from the callback.
enum LogCallbackError<E> {
    Log(LogError),
    Here(E),
}

impl<E> From<LogError> for LogCallbackError<E> {
    fn from(error: LogError) -> Self {
        LogCallbackError::Log(error)
    }
}

struct Pending<'a, F> {
    run: RunId,
    by: Again<'a>,
    /// The name of the decider, if one was given.
    name: String,
    params: &'a ParserParams,
    choices: Choices,
    parsers: &'a Parsers,
    latest: BTreeMap<String, RegisteredParser>,
    waiting: Vec<(RecordedAnswer, Option<ParserSpec>, Value)>,
    bytes: usize,
    left: SkippedAnswers,
    each: F,
}

impl<F> Pending<'_, F> {
    fn add<E: From<AgainError>>(
        &mut self,
        reader: &mut dyn Reader,
        answer: RecordedAnswer,
    ) -> Result<(), E>
    where
        F: FnMut(&mut dyn Reader, RevisedDecision) -> Result<(), E>,
    {
        if answer.choice.at == 0 {
            self.left.choices.count(answer.choice.of, self.choices);
        }
        if !self.choices.has(answer.choice.at) {
            return Ok(());
        }
        let recorded = self.spec(&answer).map_err(AgainError::from)?;
        if !self.takes(recorded.as_ref())? {
            return Ok(());
        }
        if !self.is_made_for_it(recorded.as_ref()) {
            if matches!(answer.content, Content::Vector(_)) {
                self.left.embeddings += 1;
                return Ok(());
            }
            if answer.beside.is_not_read() {
                self.left.not_read += 1;
                return Ok(());
            }
        }
        if let Again::Chosen(chooser) = self.by {
            return self.decide_by_chooser(chooser, reader, answer, recorded);
        }
        // Settings belong to the parser that they were recorded with.
        let same = recorded.as_ref().filter(|recorded| match &self.by {
            Again::Latest | Again::Chosen(_) => true,
            Again::By(_) => self.name == recorded.name,
        });
        let same = same.filter(|recorded| recorded.name != FILTER && !is_of_a_file(recorded));
        let recorded_params = same.map(|recorded| &recorded.params);
        let Some(params) = self.params.for_sample(&answer.call, answer.sample, recorded_params)
        else {
            self.left.without_params += 1;
            return Ok(());
        };
        let params = params.clone();
        self.bytes += answer.as_undecided(&params).bytes();
        self.waiting.push((answer, recorded, params));
        if self.waiting.len() >= TOGETHER || self.bytes >= BYTES {
            self.decide(reader)
        } else {
            Ok(())
        }
    }

    /// Decides about an answer with the parser that is chosen for it.
    fn decide_by_chooser<E: From<AgainError>>(
        &mut self,
        chooser: &dyn Chooser,
        reader: &mut dyn Reader,
        answer: RecordedAnswer,
        recorded: Option<ParserSpec>,
    ) -> Result<(), E>
    where
        F: FnMut(&mut dyn Reader, RevisedDecision) -> Result<(), E>,
    {
        let request = reader.request(answer.prompt).map_err(AgainError::from)?;
        let missing = || {
            let fault = EventFault::NoRequest { prompt: answer.prompt };
            LogError::corrupt(self.run, answer.seq, fault)
        };
        let request = request.ok_or_else(|| AgainError::from(missing()))?;
        let Some(parser) = chooser.choose(&answer.call, &request) else {
            self.left.not_chosen += 1;
            return Ok(());
        };
        let by = parser.spec().clone();
        let now = AnswerDecision::by(parser, answer.whole());
        self.pass_on(reader, RevisedDecision { answer, recorded, by, now })
    }

    /// Passes a decision on.
    fn pass_on<E>(&mut self, reader: &mut dyn Reader, mut made: RevisedDecision) -> Result<(), E>
    where
        F: FnMut(&mut dyn Reader, RevisedDecision) -> Result<(), E>,
    {
        // As in a run.
        if let Some(reason) = made.answer.unreadable() {
            made.now.warnings.insert(0, Unreadable::warning(reason));
        }
        (self.each)(reader, made)
    }

    /// The parser that made the decision about an answer.
    fn spec(&self, answer: &RecordedAnswer) -> Result<Option<ParserSpec>, LogError> {
        let Some((seq, made)) = &answer.decision else { return Ok(None) };
        let spec = ParserSpec::deserialize(&made.by.parser);
        let malformed = |error| EventFault::defect(format_args!("its parser: {error}"));
        spec.map(Some).map_err(|error| LogError::corrupt(self.run, *seq, malformed(error)))
    }

    /// Whether the parser is that of the recorded decision. Nobody but that can decide about an embedding, which any
    /// other would take for an empty text, or about an answer that is not read.
    fn is_made_for_it(&self, recorded: Option<&ParserSpec>) -> bool {
        match &self.by {
            Again::Latest => true,
            // Their strategies look at texts.
            Again::Chosen(_) => false,
            Again::By(_) => recorded.is_some_and(|recorded| recorded.name == self.name),
        }
    }

    /// Whether to decide about an answer with this recorded parser.
    fn takes(&mut self, recorded: Option<&ParserSpec>) -> Result<bool, AgainError> {
        let takes = match (&self.by, recorded) {
            (Again::Latest, None) => {
                self.left.undecided += 1;
                false
            }
            (Again::Latest, Some(spec)) if spec.name == FILTER => {
                let command = filter::command_of(&spec.params);
                return Err(AgainError::Filter { run: self.run, command });
            }
            // Only who made it can make it again.
            (Again::Latest, Some(spec)) if is_reported_by(&spec.name, &spec.params) => {
                self.left.others.insert(spec.to_string());
                self.left.by_others += 1;
                false
            }
            (Again::Latest, Some(spec)) if is_of_a_file(spec) => {
                return Err(AgainError::ParserFile { run: self.run, parser: spec.to_string() });
            }
            (Again::Latest, Some(_)) | (Again::By(_), None) | (Again::Chosen(_), _) => true,
            (Again::By(_), Some(spec)) => {
                // A program decides about everything; a parser of the registry, about what no other
                // parser has decided.
                let takes = self.name == spec.name
                    || self.parsers.get(&self.name).is_none()
                    || self.parsers.get(&spec.name).is_none()
                    || is_of_a_file(spec);
                if !takes {
                    self.left.others.insert(spec.to_string());
                    self.left.by_others += 1;
                }
                takes
            }
        };
        Ok(takes)
    }

    /// Decides about the waiting answers.
    fn decide<E: From<AgainError>>(&mut self, reader: &mut dyn Reader) -> Result<(), E>
    where
        F: FnMut(&mut dyn Reader, RevisedDecision) -> Result<(), E>,
    {
        let waiting = std::mem::take(&mut self.waiting);
        self.bytes = 0;
        let asked: Vec<UndecidedAnswer<'_>> =
            waiting.iter().map(|(answer, _, params)| answer.as_undecided(params)).collect();
        let (decided, specs) = match &mut self.by {
            Again::By(decider) => {
                let decided = decider.decide(&asked).map_err(AgainError::from)?;
                let specs = asked.iter().map(|asked| decider.spec(asked.params)).collect();
                (decided, specs)
            }
            Again::Latest => {
                let (mut decided, mut specs) = (Vec::new(), Vec::<ParserSpec>::new());
                for (asked, (_, recorded, _)) in asked.iter().zip(&waiting) {
                    let name = recorded.as_ref().map_or("", |recorded| &recorded.name);
                    let parser =
                        latest(&mut self.latest, self.parsers, name).map_err(AgainError::from)?;
                    let one = parser.decide(std::slice::from_ref(asked));
                    decided.extend(one.map_err(AgainError::from)?);
                    specs.push(parser.spec(asked.params));
                }
                (decided, specs)
            }
            // Each is decided about as it comes.
            Again::Chosen(_) => (Vec::new(), Vec::new()),
        };
        for (((answer, recorded, _), now), by) in waiting.into_iter().zip(decided).zip(specs) {
            self.pass_on(reader, RevisedDecision { answer, recorded, by, now })?;
        }
        Ok(())
    }
}

/// Whether a parser is one of a file, which may have the name of one of this program.
pub(crate) fn is_of_a_file(spec: &ParserSpec) -> bool {
    spec.params.get(PARSER_FILE).is_some()
}

/// The latest version of a parser, which is cached.
fn latest<'a>(
    ready: &'a mut BTreeMap<String, RegisteredParser>,
    parsers: &Parsers,
    name: &str,
) -> Result<&'a mut RegisteredParser, DecideError> {
    if !ready.contains_key(name) {
        ready.insert(name.to_owned(), RegisteredParser::new(parsers, name)?);
    }
    ready.get_mut(name).ok_or_else(|| {
        // It was just inserted.
        DecideError::Parser(RegistryError::BadName(name.to_owned()))
    })
}
