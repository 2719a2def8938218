//! What an address asks for: its path and its query.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use retold::escaping::printable;

use crate::error::PageError;

/// The longest value in a query.
const LONGEST: usize = 2_000;

/// What stays as it is in a part of a path.
const PART: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A part of a path, or a value in a query, as it is written in an address.
pub(crate) fn part(text: &str) -> String {
    utf8_percent_encode(text, PART).to_string()
}

/// The parts of a path, decoded.
pub(crate) fn parts(path: &str) -> Option<Vec<String>> {
    path.trim_matches('/')
        .split('/')
        .map(|part| Some(percent_decode_str(part).decode_utf8().ok()?.into_owned()))
        .collect()
}

/// The query of an address.
#[derive(Debug, Clone, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    pub(crate) fn new(text: Option<&str>) -> Self {
        let pairs = form_urlencoded::parse(text.unwrap_or("").as_bytes());
        Query(pairs.map(|(key, value)| (key.into_owned(), value.into_owned())).collect())
    }

    /// A value; `None` if it is missing or empty, as in a form that was not filled in.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        let found = self.0.iter().find(|(name, _)| name == key);
        found.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    }

    /// Refuses a key that a page does not have; `format` is one of every page.
    ///
    /// # Errors
    /// [`PageError::BadRequest`], with the keys that there are.
    pub(crate) fn only(&self, known: &[&str]) -> Result<(), PageError> {
        let is_known = |key: &str| key == "format" || known.contains(&key);
        match self.0.iter().find(|(key, _)| !is_known(key)) {
            None => Ok(()),
            Some((unknown, _)) => {
                let there = if known.is_empty() { "format".to_owned() } else { known.join(", ") };
                let unknown = printable(unknown, 60);
                let message = format!("this page has no key {unknown}: there is {there}");
                Err(PageError::BadRequest(message))
            }
        }
    }

    /// A text that is not too long.
    ///
    /// # Errors
    /// [`PageError::BadRequest`].
    pub(crate) fn text(&self, key: &str) -> Result<Option<String>, PageError> {
        match self.get(key) {
            Some(text) if text.len() > LONGEST => {
                Err(PageError::BadRequest(format!("{key} is longer than {LONGEST} bytes")))
            }
            text => Ok(text.map(str::to_owned)),
        }
    }

    /// All values of a key.
    pub(crate) fn all(&self, key: &str) -> Vec<String> {
        let of = self.0.iter().filter(|(name, value)| name == key && !value.is_empty());
        of.map(|(_, value)| value.clone()).collect()
    }

    /// A value of another type.
    ///
    /// # Errors
    /// [`PageError::BadRequest`] if it is not one.
    pub(crate) fn parse<T: std::str::FromStr>(&self, key: &str) -> Result<Option<T>, PageError> {
        let wrong = |text: &str| {
            PageError::BadRequest(format!("{key}={} is not a value for it", printable(text, 60)))
        };
        self.get(key).map(|text| text.parse().map_err(|_| wrong(text))).transpose()
    }

    /// The query with some values changed; `None` removes a value. Begins with `?` unless it is
    /// empty.
    pub(crate) fn with(&self, changes: &[(&str, Option<&str>)]) -> String {
        let is_changed = |key: &str| changes.iter().any(|(changed, _)| *changed == key);
        let kept = self.0.iter().filter(|(key, value)| !is_changed(key) && !value.is_empty());
        let kept = kept.map(|(key, value)| (key.as_str(), value.as_str()));
        let new = changes.iter().filter_map(|(key, value)| Some((*key, (*value)?)));
        let pairs: Vec<String> =
            kept.chain(new).map(|(key, value)| format!("{}={}", part(key), part(value))).collect();
        if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        for text in ["p_0007", "a/b", "50% of ä?&=#", "..", " "] {
            assert_eq!(parts(&format!("/run/{}", part(text))).unwrap()[1], text);
            let query = Query::default().with(&[("call", Some(text)), ("none", None)]);
            assert_eq!(Query::new(query.strip_prefix('?')).all("call"), [text]);
        }
        assert_eq!(parts("/%ff"), None);
    }

    #[test]
    fn changes_replace_and_remove() {
        let query = Query::new(Some("kind=A&kind=B&after=9&empty="));
        assert_eq!(query.with(&[("after", Some("10"))]), "?kind=A&kind=B&after=10");
        assert_eq!(query.with(&[("kind", None), ("after", None)]), "");
        assert!(query.parse::<u64>("kind").is_err());
        assert_eq!(query.parse::<u64>("after").unwrap(), Some(9));
    }
}
