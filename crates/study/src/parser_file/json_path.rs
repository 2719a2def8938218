//! Paths into JSON: `answer.choice`, `$.votes[0].value`, `['a key'][-1]`.

use serde_json::Value;

/// One step down.
#[derive(Debug, Clone, PartialEq, Eq)]
enum PathStep {
    Key(String),
    /// From the end, if it is negative.
    Index(i64),
}

/// A path. The default leads to the whole value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct JsonPath(Vec<PathStep>);

/// Why a text is not a path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum PathError {
    #[error("the path is empty")]
    Empty,
    #[error("the path has an empty key")]
    EmptyKey,
    #[error("the path has a [ that is not closed")]
    Open,
    #[error("[{0}] is neither a number nor a key in quotes; [*] and filters are not supported")]
    Index(String),
}

impl JsonPath {
    /// The path that a text spells.
    pub(super) fn new(text: &str) -> Result<Self, PathError> {
        let text = text.trim();
        let mut rest = text.strip_prefix('$').unwrap_or(text);
        let mut steps = Vec::new();
        if rest.is_empty() && text.is_empty() {
            return Err(PathError::Empty);
        }
        let mut may_have_key = text == rest;
        while !rest.is_empty() {
            if let Some(inner) = rest.strip_prefix('[') {
                let (step, after) = parse_bracket(inner)?;
                steps.push(step);
                (rest, may_have_key) = (after, false);
                continue;
            }
            let key = match rest.strip_prefix('.') {
                Some(key) => key,
                None if may_have_key => rest,
                None => return Err(PathError::EmptyKey),
            };
            let end = key.find(['.', '[']).unwrap_or(key.len());
            if end == 0 {
                return Err(PathError::EmptyKey);
            }
            steps.push(PathStep::Key(key[..end].to_owned()));
            (rest, may_have_key) = (&key[end..], false);
        }
        Ok(JsonPath(steps))
    }

    /// The value at the path.
    pub(super) fn find<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        self.0.iter().try_fold(value, |value, step| match step {
            PathStep::Key(key) => value.get(key),
            PathStep::Index(at) => {
                let items = value.as_array()?;
                let at = match usize::try_from(*at) {
                    Ok(at) => at,
                    Err(_) => items.len().checked_sub(usize::try_from(at.unsigned_abs()).ok()?)?,
                };
                items.get(at)
            }
        })
    }
}

/// `0]`, `-1]` or `'a key']`, and what follows.
fn parse_bracket(inner: &str) -> Result<(PathStep, &str), PathError> {
    for quote in ['\'', '"'] {
        if let Some(inner) = inner.strip_prefix(quote) {
            let (key, after) = inner.split_once(&format!("{quote}]")).ok_or(PathError::Open)?;
            return Ok((PathStep::Key(key.to_owned()), after));
        }
    }
    let (number, after) = inner.split_once(']').ok_or(PathError::Open)?;
    let at = number.trim().parse().map_err(|_| PathError::Index(number.to_owned()))?;
    Ok((PathStep::Index(at), after))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_path_leads_to_a_value_or_nowhere() {
        let value = json!({"a": {"b": [1, {"c d": "x"}]}, "": 0, "e.f": 2});
        let at = |path: &str| JsonPath::new(path).unwrap().find(&value).cloned();
        assert_eq!(at("a.b[0]"), Some(json!(1)));
        assert_eq!(at("$.a['b'][-1]['c d']"), Some(json!("x")));
        assert_eq!(at("[\"e.f\"]"), Some(json!(2)));
        assert_eq!(at("$"), Some(value.clone()));
        for nowhere in ["a.x", "a[0]", "a.b[2]", "a.b[-3]", "a.b.c", "$.a.b[-9223372036854775808]"]
        {
            assert_eq!(at(nowhere), None, "{nowhere}");
        }
    }

    #[test]
    fn what_is_not_a_path_is_explained() {
        let wrong = |path: &str| JsonPath::new(path).unwrap_err();
        assert_eq!(wrong(" "), PathError::Empty);
        assert_eq!(wrong("a..b"), PathError::EmptyKey);
        assert_eq!(wrong("a."), PathError::EmptyKey);
        assert_eq!(wrong("$a"), PathError::EmptyKey);
        assert_eq!(wrong("a[0"), PathError::Open);
        assert_eq!(wrong("a['b]"), PathError::Open);
        assert_eq!(wrong("a[*]"), PathError::Index("*".to_owned()));
    }
}
