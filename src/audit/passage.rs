//! Where in a prompt a text stands.

use crate::lookup::LookupMap;
use crate::prompt::Request;

/// Texts of at least so many bytes do not stand somewhere by chance.
pub(super) const LONG: usize = 32;

/// Shorter texts say nothing at all.
const SHORT: usize = 4;

/// So many parts of one value do not stand together by chance.
const TOGETHER: usize = 4;

/// Bytes by which a place is looked up.
const START: usize = 16;

/// How a text has to stand in a prompt to be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Proof {
    /// Word for word.
    Anywhere,
    /// And no word goes on at either end.
    WholeWords,
    /// And in quotation marks.
    Quoted,
}

/// The messages of a request, made to be searched for many texts.
pub(super) struct Passages {
    /// Role and text.
    messages: Vec<(String, String)>,
    /// Every run of [`START`] bytes that is in some message.
    starts: LookupMap<[u8; START], ()>,
}

impl Passages {
    pub(super) fn new(request: &Request) -> Self {
        let messages = request.messages();
        let mut starts = LookupMap::default();
        for (_, text) in &messages {
            for window in text.as_bytes().windows(START) {
                let mut start = [0; START];
                start.copy_from_slice(window);
                starts.insert(start, ());
            }
        }
        Passages { messages, starts }
    }

    /// The role of a message.
    pub(super) fn role(&self, message: usize) -> &str {
        self.messages.get(message).map_or("", |(role, _)| role)
    }

    /// The texts of the messages.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.messages.iter().map(|(_, text)| text.as_str())
    }

    /// The first message and byte where a text stands.
    pub(super) fn find(&self, text: &str, proof: Proof) -> Option<(usize, usize)> {
        if text.len() < SHORT {
            return None;
        }
        if let Some(start) = text.as_bytes().first_chunk::<START>()
            && self.starts.get(start).is_none()
        {
            return None;
        }
        self.each_place(text, proof).next()
    }

    /// All of them, in order.
    pub(super) fn places(&self, text: &str, proof: Proof) -> Vec<(usize, usize)> {
        match text.len() < SHORT {
            true => Vec::new(),
            false => self.each_place(text, proof).collect(),
        }
    }

    fn each_place(&self, text: &str, proof: Proof) -> impl Iterator<Item = (usize, usize)> {
        self.messages.iter().enumerate().flat_map(move |(number, (_, message))| {
            let stands = move |(at, _): &(usize, &str)| {
                let beside = beside(message, *at, text);
                match proof {
                    Proof::Anywhere => true,
                    Proof::WholeWords => is_word(beside),
                    Proof::Quoted => beside.iter().all(|c| c.is_some_and(is_quote)),
                }
            };
            message.match_indices(text).filter(stands).map(move |(at, _)| (number, at))
        })
    }

    /// The message and byte where a text of any length stands as a word of its own.
    fn word(&self, message: usize, text: &str) -> Option<usize> {
        let (_, message) = self.messages.get(message)?;
        let mut places = message.match_indices(text).map(|(at, _)| at);
        places.find(|at| is_word(beside(message, *at, text)))
    }

    /// The message in which all of some texts stand as words of their own, and the first of their places:
    /// one short text may stand somewhere by chance, [`TOGETHER`] of them do not.
    pub(super) fn find_all(&self, texts: &[String]) -> Option<(usize, usize)> {
        if texts.len() < TOGETHER {
            return None;
        }
        (0..self.messages.len()).find_map(|number| {
            let places: Option<Vec<usize>> =
                texts.iter().map(|text| self.word(number, text)).collect();
            Some((number, places?.into_iter().min()?))
        })
    }
}

/// The characters before and after a text that stands in a message.
fn beside(message: &str, at: usize, text: &str) -> [Option<char>; 2] {
    let before = message.get(..at).and_then(|s| s.chars().next_back());
    let after = message.get(at + text.len()..).and_then(|s| s.chars().next());
    [before, after]
}

fn is_word(beside: [Option<char>; 2]) -> bool {
    beside.iter().flatten().all(|c| !c.is_alphanumeric())
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'' | '`' | '\u{00AB}' | '\u{00BB}' | '\u{2018}'..='\u{201F}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prompt::{ChatRequest, Message, Role};

    #[test]
    fn a_text_stands_where_its_proof_says() {
        let messages = vec![
            Message::new(Role::System, "Options: Parks, Parkside. She said parks"),
            Message::new(Role::User, "You chose \u{201C}Parks\u{201D}, a long way from the city."),
        ];
        let request = ChatRequest { model: "m".into(), messages, ..ChatRequest::default() };
        let passages = Passages::new(&request.into_request().unwrap());
        assert_eq!(passages.find("Parks", Proof::Anywhere), Some((0, 9)));
        assert_eq!(passages.find("Parks", Proof::Quoted), Some((1, 13)));
        assert_eq!(passages.find("Park", Proof::WholeWords), None);
        assert_eq!(passages.find("parks", Proof::WholeWords), Some((0, 35)));
        assert_eq!(passages.find("a long way from the city", Proof::Anywhere), Some((1, 23)));
        assert_eq!(passages.find("a long way from the sea.", Proof::Anywhere), None);
        assert_eq!(passages.places("Park", Proof::Anywhere), [(0, 9), (0, 16), (1, 13)]);
        assert_eq!(passages.find("You", Proof::Anywhere), None, "says nothing");
        let words = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
        let together = words(&["Parks", "Parkside", "She", "said"]);
        assert_eq!(passages.find_all(&together), Some((0, 9)));
        assert_eq!(passages.find_all(&together[1..]), None, "three may be chance");
        assert_eq!(passages.find_all(&words(&["Park", "Parks", "She", "said"])), None);
        assert_eq!((passages.role(0), passages.role(1), passages.role(2)), ("system", "user", ""));
    }
}
