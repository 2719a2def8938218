//! The messages of a request in its canonical text, and requests that begin with those of others.

use serde_json::Value;

use super::request::{Request, RequestError, short_enough};
use super::straight::ItemPositions;
use crate::id::PromptHash;
use crate::members::Members;
use crate::values::too_many;

/// The messages of a chat in its canonical text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Messages<'a> {
    canonical: &'a str,
    start: usize,
    ends: &'a [usize],
}

impl<'a> Messages<'a> {
    pub(super) fn new(canonical: &'a str, start: usize, ends: &'a [usize]) -> Self {
        Messages { canonical, start, ends }
    }

    /// The number of messages.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The text before the first message.
    pub(crate) fn before(&self) -> &'a str {
        &self.canonical[..self.start]
    }

    /// The text after the last message.
    pub(crate) fn after(&self) -> &'a str {
        &self.canonical[self.end(self.len())..]
    }

    /// Some consecutive messages, with commas between them.
    pub(crate) fn text(&self, from: usize, to: usize) -> &'a str {
        if from >= to { "" } else { &self.canonical[self.begin(from)..self.end(to)] }
    }

    /// Where a message begins.
    fn begin(&self, message: usize) -> usize {
        if message == 0 { self.start } else { self.ends[message - 1] + 1 }
    }

    /// Where the first `messages` messages end.
    fn end(&self, messages: usize) -> usize {
        if messages == 0 { self.start } else { self.ends[messages - 1] }
    }
}

impl Request {
    /// One of its messages as canonical JSON, counted from 0.
    pub fn message_text(&self, message: usize) -> Option<&str> {
        let list = self.message_list().filter(|list| message < list.len())?;
        Some(list.text(message, message + 1))
    }

    /// The hash of the request that has only the first `messages` messages of this one.
    pub(crate) fn hash_of_first(&self, messages: usize) -> Option<PromptHash> {
        let list = self.message_list().filter(|list| messages <= list.len())?;
        let mut hasher = blake3::Hasher::new();
        for text in [list.before(), list.text(0, messages), list.after()] {
            hasher.update(text.as_bytes());
        }
        Some(PromptHash(*hasher.finalize().as_bytes()))
    }

    /// The request with all of this one's own messages after the first ones of others: the given
    /// number of each.
    ///
    /// # Errors
    /// [`RequestError::NotCanonical`] if one of them does not have that many,
    /// [`RequestError::TooLong`].
    pub(crate) fn after(&self, others: &[(&Request, usize)]) -> Result<Self, RequestError> {
        let none = || RequestError::NotCanonical("it has no list of messages".to_owned());
        let own = self.message_list().ok_or_else(none)?;
        let taken = || others.iter().copied().chain([(self, own.len())]).filter(|(_, n)| *n > 0);
        let mut canonical = own.before().to_owned();
        let start = canonical.len();
        let mut ends = Vec::new();
        for (request, messages) in taken() {
            let list =
                request.message_list().filter(|list| messages <= list.len()).ok_or_else(none)?;
            if !ends.is_empty() {
                canonical.push(',');
            }
            let shift = canonical.len();
            canonical.push_str(list.text(0, messages));
            ends.extend(list.ends[..messages].iter().map(|end| end - list.start + shift));
            short_enough(canonical.len())?;
        }
        canonical.push_str(own.after());
        if too_many(canonical.as_bytes()) {
            return Err(RequestError::TooManyValues);
        }
        let mut values = Vec::with_capacity(ends.len());
        for (request, messages) in taken() {
            let items = request.body()["messages"].as_array().ok_or_else(none)?;
            values.extend_from_slice(&items[..messages]);
        }
        let mut body = self.body().clone();
        body.set("messages", Value::Array(values));
        let places = ItemPositions { start, ends: ends.into() };
        Request::of_parts(self.parts(body), canonical, Some(places))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn chat(texts: &[&str]) -> Request {
        let messages: Vec<Value> =
            texts.iter().map(|text| json!({"role": "user", "content": text})).collect();
        Request::from_body(json!({"model": "m", "messages": messages, "seed": 1})).unwrap()
    }

    #[test]
    fn an_assembled_request_equals_the_original() {
        let first = chat(&["a", "b \" ,", "c"]);
        let second = chat(&["d"]);
        for (others, whole) in [
            (vec![(&first, 2), (&second, 1)], chat(&["a", "b \" ,", "d", "e"])),
            (vec![(&first, 3)], chat(&["a", "b \" ,", "c", "e"])),
            (vec![(&first, 0)], chat(&["e"])),
            (vec![], chat(&["e"])),
        ] {
            let joined = chat(&["e"]).after(&others).unwrap();
            assert_eq!(joined.canonical(), whole.canonical());
            assert_eq!((joined.hash(), joined.body()), (whole.hash(), whole.body()));
            let list = joined.message_list().unwrap();
            let due = whole.message_list().unwrap();
            assert_eq!((list.start, list.ends), (due.start, due.ends));
        }
        assert_eq!(first.hash_of_first(1), Some(chat(&["a"]).hash()));
        assert_eq!((first.hash_of_first(3), first.hash_of_first(4)), (Some(first.hash()), None));
        let nothing_new = chat(&[]).after(&[(&first, 2)]).unwrap();
        assert_eq!(nothing_new.canonical(), chat(&["a", "b \" ,"]).canonical());
        assert!(chat(&["e"]).after(&[(&second, 2)]).is_err());
    }

    #[test]
    fn messages_are_found_in_the_text() {
        let request = chat(&["a", "b"]);
        let list = request.message_list().unwrap();
        assert_eq!(list.text(0, 1), r#"{"content":"a","role":"user"}"#);
        assert_eq!(list.text(1, 2), r#"{"content":"b","role":"user"}"#);
        let whole = [list.before(), list.text(0, 2), list.after()].concat();
        assert_eq!(whole, request.canonical());
        assert_eq!(chat(&[]).message_list().unwrap().text(0, 0), "");
        // Keys that are ordered differently by bytes and by UTF-16 units.
        let odd = json!({"model": "m", "messages": [{"\u{ffff}": 1, "\u{10000}": 2}]});
        assert!(Request::from_body(odd).unwrap().message_list().is_none());
    }
}
