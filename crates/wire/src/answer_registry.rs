//! The answers that a program was given, so that it can name them in its reports.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use retold::id::{CallPath, Sample, Seq};

use crate::digest::Digest;
use crate::limits::NAMED_ANSWERS;

/// An answer that the program was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GivenAnswer {
    /// The event of its question.
    pub(crate) request: Seq,
    /// The event of the answer.
    pub(crate) answer: Seq,
    /// Its call.
    pub(crate) call: CallPath,
    /// Its sample.
    pub(crate) sample: Sample,
    /// The provider's id for it.
    pub(crate) id: Option<Digest>,
    /// Whether a tool gave it: the name of a call stands for what the model said.
    pub(crate) is_tool: bool,
}

/// Why a name stands for no answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NotOne {
    /// No answer has it.
    Unknown,
    /// Several have it: so many.
    Several(usize),
}

/// The answers that the program was given last.
#[derive(Debug, Default)]
pub(crate) struct AnswerRegistry {
    /// In the order in which they were given.
    all: VecDeque<GivenAnswer>,
    /// Most programs never name an answer: made when one does.
    names: Option<AnswerNames>,
}

/// The names by which answers are found.
#[derive(Debug, Default)]
struct AnswerNames {
    by_request: BTreeMap<Seq, GivenAnswer>,
    /// The questions by the id of their answer: most providers give each answer its own, but there
    /// are servers that give all of them the same.
    by_id: BTreeSet<(Digest, Seq)>,
    /// The question whose answer is the last to a call.
    by_call: BTreeMap<Digest, Seq>,
}

impl AnswerRegistry {
    /// Notes that an answer was given.
    pub(crate) fn note(&mut self, given: GivenAnswer) {
        if self.all.len() >= NAMED_ANSWERS
            && let Some(oldest) = self.all.pop_front()
            && let Some(names) = &mut self.names
        {
            names.forget(&oldest);
        }
        if let Some(names) = &mut self.names {
            names.add(&given);
        }
        self.all.push_back(given);
    }

    /// The answer to a question.
    pub(crate) fn at(&mut self, question: Seq) -> Option<&GivenAnswer> {
        self.names().by_request.get(&question)
    }

    /// The answer with an id of the provider's, or the last one to a call.
    pub(crate) fn by_name(&mut self, name: &str) -> Result<&GivenAnswer, NotOne> {
        self.names().by_name(name)
    }

    fn names(&mut self) -> &AnswerNames {
        self.names.get_or_insert_with(|| {
            let mut names = AnswerNames::default();
            self.all.iter().for_each(|given| names.add(given));
            names
        })
    }
}

impl AnswerNames {
    fn add(&mut self, given: &GivenAnswer) {
        let request = given.request;
        if let Some(id) = given.id {
            self.by_id.insert((id, request));
        }
        if !given.is_tool {
            self.by_call.insert(Digest::new(given.call.as_str()), request);
        }
        self.by_request.insert(request, given.clone());
    }

    fn forget(&mut self, oldest: &GivenAnswer) {
        self.by_request.remove(&oldest.request);
        let call = Digest::new(oldest.call.as_str());
        if self.by_call.get(&call) == Some(&oldest.request) {
            self.by_call.remove(&call);
        }
        if let Some(id) = oldest.id {
            self.by_id.remove(&(id, oldest.request));
        }
    }

    fn by_name(&self, name: &str) -> Result<&GivenAnswer, NotOne> {
        let wanted = Digest::new(name);
        let same = self.by_id.range((wanted, Seq(0))..).take_while(|(id, _)| *id == wanted);
        match same.clone().count() {
            0 => {}
            1 => {
                let one = same.last().and_then(|(_, request)| self.by_request.get(request));
                return one.ok_or(NotOne::Unknown);
            }
            several => return Err(NotOne::Several(several)),
        }
        let last = |call| self.by_request.get(self.by_call.get(&call)?);
        let (whole, streamed) = (last(wanted), last(Digest::new(&format!("{name}/stream"))));
        // The later one, if a call was asked in both forms.
        let latest = whole.into_iter().chain(streamed).max_by_key(|given| given.answer);
        latest.ok_or(NotOne::Unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(n: u64, call: &str, id: Option<&str>) -> GivenAnswer {
        let call = CallPath::new(call).unwrap();
        GivenAnswer {
            request: Seq(n),
            answer: Seq(n + 1),
            call,
            sample: 0,
            id: id.map(Digest::new),
            is_tool: false,
        }
    }

    #[test]
    fn an_answer_is_found_by_what_a_client_knows_of_it() {
        let mut handed = AnswerRegistry::default();
        handed.note(given(2, "vote/1", Some("chatcmpl-a")));
        handed.note(given(4, "vote/1", Some("chatcmpl-b")));
        handed.note(given(6, "story/stream", Some("chatcmpl-b")));
        assert_eq!(handed.by_name("chatcmpl-a").unwrap().answer, Seq(3));
        assert_eq!(handed.by_name("chatcmpl-b"), Err(NotOne::Several(2)));
        assert_eq!(handed.by_name("vote/1").unwrap().answer, Seq(5));
        assert_eq!(handed.by_name("story").unwrap().answer, Seq(7));
        assert_eq!(handed.by_name("nothing"), Err(NotOne::Unknown));
        assert_eq!(handed.at(Seq(2)).unwrap().answer, Seq(3));
        assert_eq!(handed.at(Seq(3)), None);
    }

    #[test]
    fn only_the_last_answers_are_kept() {
        // Whether the first name comes before they are forgotten, or after that.
        for names_early in [true, false] {
            let mut handed = AnswerRegistry::default();
            let many = NAMED_ANSWERS as u64 + 10;
            for n in 0..many {
                handed.note(given(2 * n, &format!("call/{n}"), Some(&format!("id-{n}"))));
                if names_early && n == 0 {
                    assert!(handed.by_name("id-0").is_ok());
                }
            }
            assert_eq!(handed.by_name("id-9"), Err(NotOne::Unknown));
            assert!(handed.by_name("id-10").is_ok());
            assert_eq!(handed.at(Seq(18)), None);
            assert_eq!(handed.all.len(), NAMED_ANSWERS);
            let names = handed.names();
            assert_eq!(names.by_id.len(), NAMED_ANSWERS);
            assert_eq!(names.by_call.len(), NAMED_ANSWERS);
            assert_eq!(names.by_request.len(), NAMED_ANSWERS);
        }
    }
}
