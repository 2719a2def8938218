//! Which answers a program was given, so that it can name them in what it reports.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use retold::id::{CallPath, Sample, Seq};

use crate::limits::NAMED_ANSWERS;

/// An answer that the program was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Given {
    /// The event of its question.
    pub(crate) request: Seq,
    /// The event of the answer.
    pub(crate) answer: Seq,
    /// Its call.
    pub(crate) call: CallPath,
    /// Its sample.
    pub(crate) sample: Sample,
    /// The provider's id for it.
    pub(crate) id: Option<String>,
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
pub(crate) struct Handed {
    /// Their questions, in the order in which they were answered.
    all: VecDeque<Seq>,
    by_request: BTreeMap<Seq, Given>,
    /// The questions by the id of their answer: most providers give each answer its own, but there
    /// are servers that give all of them the same.
    by_id: BTreeSet<(String, Seq)>,
    /// The question whose answer is the last to a call.
    by_call: BTreeMap<CallPath, Seq>,
}

impl Handed {
    /// Notes that an answer was given.
    pub(crate) fn note(&mut self, given: Given) {
        if self.all.len() >= NAMED_ANSWERS
            && let Some(oldest) = self.all.pop_front()
        {
            self.forget(oldest);
        }
        let request = given.request;
        if let Some(id) = &given.id {
            self.by_id.insert((id.clone(), request));
        }
        self.by_call.insert(given.call.clone(), request);
        self.by_request.insert(request, given);
        self.all.push_back(request);
    }

    fn forget(&mut self, oldest: Seq) {
        let Some(oldest) = self.by_request.remove(&oldest) else { return };
        if self.by_call.get(&oldest.call) == Some(&oldest.request) {
            self.by_call.remove(&oldest.call);
        }
        if let Some(id) = oldest.id {
            self.by_id.remove(&(id, oldest.request));
        }
    }

    /// The answer to a question, or the answer at a seq.
    pub(crate) fn at(&self, seq: Seq) -> Option<&Given> {
        self.by_request.get(&seq)
    }

    /// The answer with an id of the provider's, or the last one to a call.
    pub(crate) fn named(&self, name: &str) -> Result<&Given, NotOne> {
        let from = (name.to_owned(), Seq(0));
        let same = self.by_id.range(from..).take_while(|(id, _)| id == name);
        match same.clone().count() {
            0 => {}
            1 => {
                let one = same.last().and_then(|(_, request)| self.by_request.get(request));
                return one.ok_or(NotOne::Unknown);
            }
            several => return Err(NotOne::Several(several)),
        }
        let last = |name: String| {
            let request = self.by_call.get(&CallPath::new(name).ok()?)?;
            self.by_request.get(request)
        };
        let (whole, streamed) = (last(name.to_owned()), last(format!("{name}/stream")));
        // The later one, if a call was asked in both forms.
        let latest = whole.into_iter().chain(streamed).max_by_key(|given| given.answer);
        latest.ok_or(NotOne::Unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(n: u64, call: &str, id: Option<&str>) -> Given {
        let call = CallPath::new(call).unwrap();
        Given { request: Seq(n), answer: Seq(n + 1), call, sample: 0, id: id.map(str::to_owned) }
    }

    #[test]
    fn an_answer_is_found_by_what_a_client_knows_of_it() {
        let mut handed = Handed::default();
        handed.note(given(2, "vote/1", Some("chatcmpl-a")));
        handed.note(given(4, "vote/1", Some("chatcmpl-b")));
        handed.note(given(6, "story/stream", Some("chatcmpl-b")));
        assert_eq!(handed.named("chatcmpl-a").unwrap().answer, Seq(3));
        assert_eq!(handed.named("chatcmpl-b"), Err(NotOne::Several(2)));
        assert_eq!(handed.named("vote/1").unwrap().answer, Seq(5));
        assert_eq!(handed.named("story").unwrap().answer, Seq(7));
        assert_eq!(handed.named("nothing"), Err(NotOne::Unknown));
        assert_eq!(handed.at(Seq(2)).unwrap().answer, Seq(3));
        assert_eq!(handed.at(Seq(3)), None);
    }

    #[test]
    fn only_the_last_answers_are_kept() {
        let mut handed = Handed::default();
        let many = NAMED_ANSWERS as u64 + 10;
        for n in 0..many {
            handed.note(given(2 * n, &format!("call/{n}"), Some(&format!("id-{n}"))));
        }
        assert_eq!(handed.all.len(), NAMED_ANSWERS);
        assert_eq!(handed.by_id.len(), NAMED_ANSWERS);
        assert_eq!(handed.by_call.len(), NAMED_ANSWERS);
        assert_eq!(handed.by_request.len(), NAMED_ANSWERS);
        assert_eq!(handed.named("id-9"), Err(NotOne::Unknown));
        assert!(handed.named("id-10").is_ok());
    }
}
