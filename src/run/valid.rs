//! Asks again until an answer is usable.

use super::converse::Talk;
use super::experiment::{Experiment, Run};
use super::question::{Answer, CallFailed, Question};
use super::stop::Stop;
use crate::id::Sample;
use crate::parse::Parser;

/// The outcome of a question that was asked until an answer was usable.
#[derive(Debug, Clone)]
pub struct RetriedAnswer<V> {
    /// The answer that was accepted, otherwise the last one; or the failure of the call, after
    /// which it is not asked again.
    pub answer: Result<Answer<V>, CallFailed>,
    /// Whether the answer was accepted.
    pub accepted: bool,
    /// Which sample it is.
    pub sample: Sample,
    /// How many answers were refused.
    pub refused: u32,
}

impl<V> RetriedAnswer<V> {
    /// The answer, if it was accepted.
    pub fn accepted_answer(&self) -> Option<&Answer<V>> {
        self.answer.as_ref().ok().filter(|_| self.accepted)
    }

    /// The answer if it was accepted, otherwise why there is none.
    ///
    /// # Errors
    /// [`Unusable`]: the call failed, or none of its answers was accepted.
    pub fn into_used(self) -> Result<Answer<V>, Unusable<V>> {
        match self {
            RetriedAnswer { answer: Ok(answer), accepted: true, .. } => Ok(answer),
            RetriedAnswer { answer: Ok(last), refused, .. } => {
                Err(Unusable::Refused { last: Box::new(last), refused })
            }
            RetriedAnswer { answer: Err(failed), .. } => Err(Unusable::Failed(failed)),
        }
    }
}

/// Why a question has no usable answer.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Unusable<V> {
    /// The call failed.
    #[error(transparent)]
    Failed(CallFailed),
    /// No answer was accepted.
    #[error("none of {refused} answers could be used")]
    Refused {
        /// The last one.
        last: Box<Answer<V>>,
        /// How many there were.
        refused: u32,
    },
}

/// Counts the answers of one question.
struct Trying {
    /// The sample asked for now.
    sample: Sample,
    refused: u32,
    most: u32,
}

impl Trying {
    fn begin<P>(question: &Question<P>, most: u32) -> Result<Self, Stop> {
        if most == 0 {
            return Err(Stop::invalid("limit of answers", "a question is asked at least once"));
        }
        Ok(Trying { sample: question.asked.sample, refused: 0, most })
    }

    /// Takes in an answer. Returns the outcome, unless the question should be asked again.
    fn take<V>(
        &mut self,
        answer: Result<Answer<V>, CallFailed>,
        accept: &impl Fn(&Answer<V>) -> bool,
    ) -> Option<RetriedAnswer<V>> {
        let accepted = answer.as_ref().is_ok_and(accept);
        self.refused += u32::from(answer.is_ok() && !accepted);
        let next = self.sample.checked_add(1);
        let again = answer.is_ok() && !accepted && self.refused < self.most;
        match next.filter(|_| again) {
            Some(next) => {
                self.sample = next;
                None
            }
            None => {
                let Trying { sample, refused, .. } = *self;
                Some(RetriedAnswer { answer, accepted, sample, refused })
            }
        }
    }
}

impl<P> Question<P> {
    /// The same question, for another sample.
    fn at(&self, sample: Sample) -> Self {
        Question { asked: self.asked.clone(), parser: self.parser.clone() }.sample(sample)
    }
}

impl<E: Experiment + ?Sized> Run<E> {
    /// Asks a question, and asks it again as the next sample, until its parser
    /// [accepts](Parser::accepts) an answer, for at most `most` answers. Each has its own address
    /// and decision in the log, so it replays and resumes like any other.
    ///
    /// # Errors
    /// As [`Run::ask`]; [`Stop::Invalid`] if `most` is 0.
    pub async fn ask_valid<P: Parser>(
        &mut self,
        question: Question<P>,
        most: u32,
    ) -> Result<RetriedAnswer<P::Value>, Stop> {
        self.ask_until(question, most, |answer| answer.accepted).await
    }

    /// The same with the experiment's own rule instead of the parser's. The rule must be pure,
    /// because a replay applies it again.
    ///
    /// # Errors
    /// As [`Run::ask_valid`].
    pub async fn ask_until<P: Parser>(
        &mut self,
        question: Question<P>,
        most: u32,
        accept: impl Fn(&Answer<P::Value>) -> bool,
    ) -> Result<RetriedAnswer<P::Value>, Stop> {
        let mut trying = Trying::begin(&question, most)?;
        loop {
            let answer = self.ask(question.at(trying.sample)).await?;
            if let Some(tried) = trying.take(answer, &accept) {
                return Ok(tried);
            }
        }
    }

    /// Asks many questions concurrently. Those whose answers are not accepted are asked again as
    /// the next sample, all together, up to `most` answers each. The outcomes are in the order of
    /// the questions.
    ///
    /// # Errors
    /// As [`Run::ask_valid`].
    pub async fn ask_all_until<P: Parser>(
        &mut self,
        questions: impl IntoIterator<Item = Question<P>>,
        most: u32,
        accept: impl Fn(&Answer<P::Value>) -> bool,
    ) -> Result<Vec<RetriedAnswer<P::Value>>, Stop> {
        let begin = |(place, question)| Ok((place, Trying::begin(&question, most)?, question));
        let open = questions.into_iter().enumerate().map(begin);
        let mut open = open.collect::<Result<Vec<_>, Stop>>()?;
        let mut done: Vec<Option<RetriedAnswer<P::Value>>> = open.iter().map(|_| None).collect();
        while !open.is_empty() {
            let questions = open.iter().map(|(_, trying, question)| question.at(trying.sample));
            let answers = self.ask_all(questions.collect::<Vec<_>>()).await?;
            let mut again = Vec::new();
            for ((place, mut trying, question), answer) in open.into_iter().zip(answers) {
                match trying.take(answer, &accept) {
                    Some(tried) => done[place] = Some(tried),
                    None => again.push((place, trying, question)),
                }
            }
            open = again;
        }
        Ok(done.into_iter().flatten().collect())
    }
}

impl<E: Experiment + ?Sized> Talk<E> {
    /// Asks a question until its parser accepts an answer, as [`Run::ask_valid`] does.
    ///
    /// # Errors
    /// As [`Run::ask_valid`].
    pub async fn ask_valid<P: Parser>(
        &mut self,
        question: Question<P>,
        most: u32,
    ) -> Result<RetriedAnswer<P::Value>, Stop> {
        self.ask_until(question, most, |answer| answer.accepted).await
    }

    /// The same with the experiment's own rule instead of the parser's.
    ///
    /// # Errors
    /// As [`Run::ask_valid`].
    pub async fn ask_until<P: Parser>(
        &mut self,
        question: Question<P>,
        most: u32,
        accept: impl Fn(&Answer<P::Value>) -> bool,
    ) -> Result<RetriedAnswer<P::Value>, Stop> {
        let mut trying = Trying::begin(&question, most)?;
        loop {
            let answer = self.ask(question.at(trying.sample)).await?;
            if let Some(tried) = trying.take(answer, &accept) {
                return Ok(tried);
            }
        }
    }
}
