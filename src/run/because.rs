//! The sources of a prompt, as the experiment declares them.

use std::cell::Cell;
use std::rc::Rc;

use crate::event::Because;
use crate::id::Seq;

/// Something a prompt was made from, for [`Question::because`](super::Question::because): a
/// decision, a fact, or everything that an earlier question's prompt was made from.
#[derive(Debug, Clone)]
pub struct Source(SourceKind);

#[derive(Debug, Clone)]
enum SourceKind {
    /// Already in the log. A decision is named by its answer, which is logged before anything uses
    /// it; in one of many dialogues, the decision itself is logged only when its turn has come.
    Logged(Seq),
    Fact(FactRef),
}

/// A fact, as a source of later prompts.
#[derive(Debug, Clone)]
pub struct FactRef(FactLocation);

#[derive(Debug, Clone)]
enum FactLocation {
    Logged(Seq),
    /// A fact of a dialogue: its place, and whether any of the dialogues is still under way.
    OfDialogue(Rc<Cell<Seq>>, Rc<Cell<bool>>),
}

/// An earlier question, as a source of later prompts: everything that its own prompt was made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuestionRef(pub(super) Seq);

/// A decision, as the cause of a fact. Its place in the log is known once it is logged: at once
/// for [`Run::ask`](super::Run::ask), when its dialogue's turn has come in
/// [`Run::converse_all`](super::Run::converse_all).
#[derive(Debug, Clone)]
pub struct DecisionRef {
    seq: Rc<Cell<Seq>>,
    question: QuestionRef,
    answer: Seq,
}

impl DecisionRef {
    /// A decision on an answer, which is not logged yet.
    pub(super) fn on(question: Seq, answer: Seq) -> Self {
        DecisionRef { seq: Rc::default(), question: QuestionRef(question), answer }
    }

    pub(super) fn set(&self, seq: Seq) {
        self.seq.set(seq);
    }

    /// The place in the log; 0 while not logged yet.
    pub fn seq(&self) -> Seq {
        self.seq.get()
    }

    /// The place of the answer it was made from.
    pub fn answer(&self) -> Seq {
        self.answer
    }

    /// The question that was answered, as a source of later prompts: all that its own prompt was
    /// made from.
    pub fn question(&self) -> QuestionRef {
        self.question
    }
}

impl FactRef {
    /// A fact that is in the log.
    pub(super) fn at(seq: Seq) -> Self {
        FactRef(FactLocation::Logged(seq))
    }

    /// A fact of a dialogue, which is logged when the dialogue's turn has come.
    pub(super) fn of_dialogue(under_way: &Rc<Cell<bool>>) -> Self {
        FactRef(FactLocation::OfDialogue(Rc::default(), under_way.clone()))
    }

    pub(super) fn set(&self, seq: Seq) {
        if let FactRef(FactLocation::OfDialogue(place, _)) = self {
            place.set(seq);
        }
    }
}

/// A source of a prompt that has no place in the log yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a fact of `converse_all` has its place in the log when all dialogues have ended: until then, name the decisions that \
     caused it"
)]
pub(super) struct NoPlace;

impl Source {
    /// The place in the log. Whether it has one must not depend on which dialogue was faster, so no
    /// fact of a dialogue has one before all dialogues have ended.
    fn seq(&self) -> Result<Seq, NoPlace> {
        match &self.0 {
            SourceKind::Logged(seq) | SourceKind::Fact(FactRef(FactLocation::Logged(seq))) => {
                Ok(*seq)
            }
            SourceKind::Fact(FactRef(FactLocation::OfDialogue(seq, under_way)))
                if !under_way.get() =>
            {
                Ok(seq.get())
            }
            SourceKind::Fact(FactRef(FactLocation::OfDialogue(..))) => Err(NoPlace),
        }
    }
}

/// The sources of the prompts to one participant, who is asked again and again: everything that the
/// last prompt was made from, and the sources added since. Each question therefore names only the
/// new sources, however many there are.
#[derive(Debug, Clone, Default)]
pub struct SoFar(Vec<Source>);

impl<S: Into<Source>> FromIterator<S> for SoFar {
    fn from_iter<I: IntoIterator<Item = S>>(sources: I) -> Self {
        SoFar(sources.into_iter().map(Into::into).collect())
    }
}

impl SoFar {
    /// Adds a source of all later prompts.
    pub fn add(&mut self, source: impl Into<Source>) {
        self.0.push(source.into());
    }

    /// Call this when a prompt made from all of this was answered: the decision then stands for all
    /// of it.
    pub fn replace_with(&mut self, decision: &DecisionRef) {
        self.0 = vec![decision.question().into()];
    }

    /// The sources of the next prompt.
    pub fn sources(&self) -> &[Source] {
        &self.0
    }
}

/// The places of some sources.
pub(super) fn places(sources: &[Source]) -> Result<Because, NoPlace> {
    if sources.is_empty() {
        return Ok(Because::default());
    }
    let seqs = sources.iter().map(Source::seq).collect::<Result<Vec<_>, _>>()?;
    // A rehearsal logs nothing, and uses 0 for a fact that was never recorded.
    Ok(Because::new(seqs.into_iter().filter(|seq| *seq > Seq(0))))
}

impl From<&DecisionRef> for Source {
    fn from(decision: &DecisionRef) -> Self {
        Source(SourceKind::Logged(decision.answer()))
    }
}

impl From<DecisionRef> for Source {
    fn from(decision: DecisionRef) -> Self {
        Source::from(&decision)
    }
}

impl From<&FactRef> for Source {
    fn from(fact: &FactRef) -> Self {
        Source(SourceKind::Fact(fact.clone()))
    }
}

impl From<FactRef> for Source {
    fn from(fact: FactRef) -> Self {
        Source(SourceKind::Fact(fact))
    }
}

impl From<&QuestionRef> for Source {
    fn from(question: &QuestionRef) -> Self {
        Source(SourceKind::Logged(question.0))
    }
}

impl From<QuestionRef> for Source {
    fn from(question: QuestionRef) -> Self {
        Source::from(&question)
    }
}

impl From<&Source> for Source {
    fn from(source: &Source) -> Self {
        source.clone()
    }
}
