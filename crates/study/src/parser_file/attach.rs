//! Which answers a parser decides about.

use regex::Regex;
use serde_json::Value;

use super::fields::ConditionFields;
use super::strategy::compile;
use crate::config::ConfigProblem;
use retold::id::CallPath;
use retold::patterns::PatternBudget;
use retold::prompt::Request;

/// The conditions of a parser.
pub(super) struct ParserConditions {
    call: Option<Pattern>,
    model: Option<Pattern>,
    prompt: Option<Regex>,
}

/// A text in which `*` stands for any characters.
struct Pattern(Vec<String>);

impl ParserConditions {
    pub(super) fn new(
        fields: &ConditionFields,
        patterns: &mut PatternBudget,
        key: &str,
    ) -> Result<Self, ConfigProblem> {
        let ConditionFields { call, model, prompt } = fields;
        let pattern = |name: &str, text: &Option<String>| match text {
            Some(text) if text.trim().is_empty() => {
                let message = "it is empty: leave it out, or write *".to_owned();
                Err(ConfigProblem::new(&format!("{key}.{name}"), message))
            }
            text => Ok(text.as_deref().map(Pattern::new)),
        };
        let prompt =
            prompt.as_deref().map(|text| compile(text, patterns, &format!("{key}.prompt")));
        Ok(ParserConditions {
            call: pattern("call", call)?,
            model: pattern("model", model)?,
            prompt: prompt.transpose()?,
        })
    }

    /// True if all conditions hold. Nothing fits a condition on an unknown call or request.
    pub(super) fn fits(&self, call: Option<&CallPath>, request: Option<&Request>) -> bool {
        let ParserConditions { call: calls, model, prompt } = self;
        let is_call = |calls: &Pattern| call.is_some_and(|call| calls.has_call(call.as_str()));
        let is_model =
            |model: &Pattern| request.is_some_and(|request| model.is(model_of(request.body())));
        let is_prompt = |prompt: &Regex| {
            let messages = request.map(Request::messages).unwrap_or_default();
            messages.iter().any(|(_, text)| prompt.is_match(text))
        };
        calls.as_ref().is_none_or(is_call)
            && model.as_ref().is_none_or(is_model)
            && prompt.as_ref().is_none_or(is_prompt)
    }
}

/// The model that a request names. Gemini has it in the path.
fn model_of(body: &Value) -> &str {
    let named = body["model"].as_str();
    let path = || {
        let (_, after) = body["http"]["path"].as_str()?.rsplit_once("/models/")?;
        Some(after.split(':').next().unwrap_or(after))
    };
    named.or_else(path).unwrap_or("")
}

impl Pattern {
    fn new(text: &str) -> Self {
        Pattern(text.trim().split('*').map(str::to_owned).collect())
    }

    /// Whether it is a call, or a call above it.
    fn has_call(&self, call: &str) -> bool {
        let ends = call.match_indices('/').map(|(at, _)| at).chain([call.len()]);
        ends.into_iter().any(|end| self.is(&call[..end]))
    }

    /// Whether it stands for the whole text: each part is searched from where the one before ends.
    fn is(&self, text: &str) -> bool {
        let Some((first, rest)) = self.0.split_first() else { return false };
        let Some(mut left) = text.strip_prefix(first.as_str()) else { return false };
        let Some((last, middle)) = rest.split_last() else { return left.is_empty() };
        for part in middle {
            match left.split_once(part.as_str()) {
                Some((_, after)) => left = after,
                None => return false,
            }
        }
        left.ends_with(last.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn a_star_stands_for_any_characters() {
        let is = |pattern: &str, text: &str| Pattern::new(pattern).is(text);
        assert!(is("gpt-4", "gpt-4") && !is("gpt-4", "gpt-4o") && is("gpt-4*", "gpt-4o"));
        assert!(is("*", "") && is("*4*", "gpt-4o") && is("a*b*c", "a-b-b-c"));
        assert!(!is("a*b*c", "acb") && !is("aa*aa", "aaa"));
        let has = |pattern: &str, call: &str| Pattern::new(pattern).has_call(call);
        assert!(has("solve", "solve/1") && has("solve/*", "solve/1/x") && !has("solve", "solved"));
        assert!(has("openai.chat", "openai.chat/0123/stream") && has("*/judge", "p_1/judge"));
    }
}
