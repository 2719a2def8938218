//! Which answers a program was given, so that it can name them in what it reports.

use std::collections::{BTreeMap, VecDeque};

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
    /// In the order in which they were given.
    all: VecDeque<Given>,
    by_request: BTreeMap<Seq, Given>,
    /// The answers with an id: most providers give each its own.
    by_id: BTreeMap<String, Vec<Seq>>,
    /// The last answer to each call.
    by_call: BTreeMap<CallPath, Given>,
}

impl Handed {
    /// Notes that an answer was given.
    pub(crate) fn note(&mut self, given: Given) {
        if self.all.len() >= NAMED_ANSWERS
            && let Some(oldest) = self.all.pop_front()
        {
            self.forget(&oldest);
        }
        if let Some(id) = &given.id {
            let requests = self.by_id.entry(id.clone()).or_default();
            if !requests.contains(&given.request) {
                requests.push(given.request);
            }
        }
        self.by_request.insert(given.request, given.clone());
        self.by_call.insert(given.call.clone(), given.clone());
        self.all.push_back(given);
    }

    fn forget(&mut self, oldest: &Given) {
        self.by_request.remove(&oldest.request);
        if self.by_call.get(&oldest.call).is_some_and(|last| last.request == oldest.request) {
            self.by_call.remove(&oldest.call);
        }
        if let Some(id) = &oldest.id
            && let Some(requests) = self.by_id.get_mut(id)
        {
            requests.retain(|request| *request != oldest.request);
            if requests.is_empty() {
                self.by_id.remove(id);
            }
        }
    }

    /// The answer to a question, or the answer at a seq.
    pub(crate) fn at(&self, seq: Seq) -> Option<&Given> {
        self.by_request.get(&seq)
    }

    /// The answer with an id of the provider's, or the last one to a call.
    pub(crate) fn named(&self, name: &str) -> Result<&Given, NotOne> {
        if let Some(requests) = self.by_id.get(name) {
            return match requests.as_slice() {
                [one] => self.by_request.get(one).ok_or(NotOne::Unknown),
                several => Err(NotOne::Several(several.len())),
            };
        }
        let last = |name: String| self.by_call.get(&CallPath::new(name).ok()?);
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
