//! Limits on templates. They also come with recordings, and a few bytes of template must not be
//! able to fill memory. Constructs that could double a value repeatedly are refused before
//! compiling; the output is bounded while it is written.

use std::io::{self, Write};

use minijinja::machinery::{Token, tokenize};
use minijinja::syntax::SyntaxConfig;

/// The longest template, in bytes.
const LONGEST: usize = 1 << 20;

/// The longest prompt that a template can produce, in bytes: about a million tokens.
pub(super) const LONGEST_PROMPT: usize = 4 << 20;

/// The most names, operators and values in one pair of braces: nesting needs stack.
const MOST_TOKENS: usize = 500;

/// The most `elif` in a template: each is nested in the previous one.
const MOST_ELIF: usize = 200;

/// How many parts of one expression may make its value longer.
const MOST_GROWTH: usize = 16;

/// Statements that do not store newly made text.
const STATEMENTS: [&str; 9] =
    ["for", "endfor", "if", "elif", "else", "endif", "set", "with", "endwith"];

/// Filters that can make a text several times as long, depending on their arguments.
const GROWING: [&str; 8] = ["join", "replace", "indent", "format", "batch", "slice", "map", "sum"];

/// The longest text and the largest number that such a filter may have as an argument.
const LARGEST_ARGUMENT: usize = 100;

/// What could make a prompt of any length, or shows what no prompt should, with its line.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct TemplateFault(String);

/// Checks a template before it is compiled. Invalid templates pass: the compiler reports their
/// faults.
///
/// # Errors
/// A message that names the unavailable feature, with the line.
pub(super) fn check(text: &str, syntax: &SyntaxConfig) -> Result<(), TemplateFault> {
    if text.len() > LONGEST {
        return Err(TemplateFault(format!("it is longer than {} MB", LONGEST >> 20)));
    }
    let mut tag: Vec<Token<'_>> = Vec::new();
    let (mut is_block, mut elifs) = (false, 0);
    for token in tokenize(text, false, syntax.clone()) {
        let Ok((token, span)) = token else { return Ok(()) };
        let at = |TemplateFault(what)| TemplateFault(format!("{what} (line {})", span.start_line));
        match token {
            Token::TemplateData(_) => {}
            Token::VariableStart | Token::BlockStart => {
                tag.clear();
                is_block = matches!(token, Token::BlockStart);
            }
            Token::VariableEnd => check_shown(&tag).map_err(at)?,
            Token::BlockEnd => {
                elifs += usize::from(matches!(tag.first(), Some(Token::Ident("elif"))));
                if elifs > MOST_ELIF {
                    return Err(at(TemplateFault(format!("it has more than {MOST_ELIF} elif"))));
                }
                statement(&tag).map_err(at)?;
            }
            token => tag.push(token),
        }
        if tag.len() > MOST_TOKENS {
            let kind = if is_block { "a statement" } else { "an expression" };
            return Err(TemplateFault(format!(
                "{kind} has more than {MOST_TOKENS} parts (line {})",
                span.start_line
            )));
        }
    }
    Ok(())
}

/// An expression that is shown: its value is written and discarded.
fn check_shown(tag: &[Token<'_>]) -> Result<(), TemplateFault> {
    functions(tag)?;
    let has_text = tag.iter().any(|token| matches!(token, Token::Str(_) | Token::String(_)));
    let mut growth = 0;
    for (at, token) in tag.iter().enumerate() {
        growth += match token {
            Token::Plus | Token::Tilde => 1,
            Token::Mul if has_text => {
                return Err(TemplateFault("a text cannot be multiplied".to_owned()));
            }
            Token::Mul => MOST_GROWTH,
            Token::Ident(name) if is_growing(tag, at, name) => {
                arguments(tag)?;
                MOST_GROWTH / 2
            }
            Token::BracketOpen | Token::BraceOpen if is_literal(tag, at) => 1,
            _ => 0,
        };
    }
    if growth > MOST_GROWTH {
        Err(TemplateFault(
            "an expression makes its value too long, by ~, +, * or filters".to_owned(),
        ))
    } else {
        Ok(())
    }
}

/// A statement. The values that it names may be used again, so they must not be longer than their
/// sources.
fn statement(tag: &[Token<'_>]) -> Result<(), TemplateFault> {
    let Some(Token::Ident(name)) = tag.first() else { return Ok(()) };
    let not_available = |what: &str| {
        Err(TemplateFault(format!("{what} is not available: it could make a prompt of any length")))
    };
    if !STATEMENTS.contains(name) {
        return not_available(&format!("{{% {name} %}}"));
    }
    functions(tag)?;
    let is = |token: &Token<'_>, name: &str| matches!(token, Token::Ident(found) if *found == name);
    match *name {
        "set" if !tag.iter().any(|token| matches!(token, Token::Assign)) => {
            return not_available("{% set %} without a value");
        }
        "for" if tag.iter().any(|token| is(token, "recursive")) => {
            return not_available("a recursive loop");
        }
        "for" | "set" | "with" => {}
        _ => return check_shown(tag),
    }
    let names_any = tag.iter().skip(1).any(|token| matches!(token, Token::Ident(_)));
    for (at, token) in tag.iter().enumerate() {
        let beside = [at.checked_sub(1), at.checked_add(1)].into_iter().flatten();
        let counts = beside.filter_map(|at| tag.get(at)).any(|t| matches!(t, Token::Int(_)));
        let grows = match token {
            Token::Mul | Token::Tilde => true,
            Token::Plus => !counts,
            Token::Ident(name) => is_growing(tag, at, name),
            Token::BracketOpen | Token::BraceOpen => is_literal(tag, at) && names_value(tag, at),
            Token::ParenOpen => is_literal(tag, at) && names_value(tag, at),
            _ => false,
        };
        if grows && names_any {
            return not_available(&format!("a value made of others, in {{% {name} %}},"));
        }
    }
    Ok(())
}

/// Whether a name is that of a filter that can make texts longer.
fn is_growing(tag: &[Token<'_>], at: usize, name: &str) -> bool {
    let before = at.checked_sub(1).and_then(|before| tag.get(before));
    let picks = name == "map" && matches!(tag.get(at + 2), Some(Token::Ident("attribute")));
    matches!(before, Some(Token::Pipe)) && GROWING.contains(&name) && !picks
}

/// Whether a bracket begins a list, as opposed to an index or a call.
fn is_literal(tag: &[Token<'_>], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| tag.get(before));
    match before {
        Some(Token::Ident(name)) => matches!(*name, "in" | "if" | "else" | "and" | "or" | "not"),
        Some(Token::BracketClose | Token::ParenClose | Token::Str(_) | Token::String(_)) => false,
        _ => true,
    }
}

/// Whether the expression inside a bracket names any value.
fn names_value(tag: &[Token<'_>], open: usize) -> bool {
    let mut depth = 0;
    for token in tag.iter().skip(open) {
        match token {
            Token::BracketOpen | Token::BraceOpen | Token::ParenOpen => depth += 1,
            Token::BracketClose | Token::BraceClose | Token::ParenClose => depth -= 1,
            Token::Ident(name) if !matches!(*name, "true" | "false" | "none") => return true,
            _ => {}
        }
        if depth == 0 {
            return false;
        }
    }
    false
}

/// Functions that show or keep everything that there is.
fn functions(tag: &[Token<'_>]) -> Result<(), TemplateFault> {
    const NONE: [&str; 5] = ["debug", "dict", "namespace", "self", "super"];
    let named = tag.windows(2).find_map(|pair| match pair {
        [Token::Ident(name), Token::ParenOpen | Token::Dot] if NONE.contains(name) => Some(*name),
        _ => None,
    });
    named.map_or(Ok(()), |name| Err(TemplateFault(format!("{name} is not available in prompts"))))
}

/// The arguments of such a filter, which must not be long or large.
fn arguments(tag: &[Token<'_>]) -> Result<(), TemplateFault> {
    let large = tag.iter().any(|token| match token {
        Token::Str(text) => text.len() > LARGEST_ARGUMENT || text.contains('%'),
        Token::String(text) => text.len() > LARGEST_ARGUMENT || text.contains('%'),
        Token::Int(number) => *number > LARGEST_ARGUMENT as u64,
        Token::Int128(_) => true,
        _ => false,
    });
    if large {
        Err(TemplateFault(format!(
            "a filter has a text or a number beyond {LARGEST_ARGUMENT} as its argument, or a format with %"
        )))
    } else {
        Ok(())
    }
}

/// A prompt that is being written.
#[derive(Default)]
pub(super) struct PromptDraft {
    bytes: Vec<u8>,
}

impl PromptDraft {
    pub(super) fn into_text(self) -> String {
        // The template writes texts, whole or in consecutive parts.
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

impl Write for &mut PromptDraft {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + text.len() > LONGEST_PROMPT {
            return Err(io::Error::other("the prompt is too long"));
        }
        self.bytes.extend_from_slice(text);
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::template::{TemplateError, Templates};

    fn render(text: &str) -> Result<String, TemplateError> {
        let templates = Templates::new([("t".to_owned(), text.to_owned())]);
        let values = json!({"name": "Ann", "n": 3, "list": ["a", "b"], "group": {"key": "v"}});
        templates.and_then(|templates| templates.render("t", values))
    }

    #[test]
    fn anything_that_could_make_a_prompt_of_any_length_is_refused() {
        let nested = "{% for x in [y ~ y] %}".replace('y', "name");
        let refused = [
            "{% set x %}text{% endset %}",
            "{% filter upper %}text{% endfilter %}",
            "{% macro m() %}text{% endmacro %}{ m() }",
            "{% include 't' %}",
            "{% extends 't' %}",
            "{% block b %}text{% endblock %}",
            "{% for x in list recursive %}{ loop(x) }{% endfor %}",
            "{% set x = name ~ name %}",
            "{% set x = name + name %}",
            "{% set x = [name, name] %}",
            "{% set x = (name, name) %}",
            "{% set x = name|replace('A', 'long') %}",
            "{% with x = name * 3 %}{% endwith %}",
            &format!("{nested}{{ x }}{{% endfor %}}"),
            "{ 'x' * 100000000 }",
            "{ name|join('xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx') }",
            "{ name|indent(1000000000) }",
            "{ '%1000000000d'|format(n) }",
            "{ name|join(name)|join(name)|join(name) }",
            "{ namespace(x=1) }",
            "{ debug() }",
            &format!("{{ name{} }}", " ~ name".repeat(20)),
            &format!("{{ n{} }}", ".a".repeat(400_000)),
            &format!("{{% if n %}}{}{{% endif %}}", "{% elif n %}".repeat(100_000)),
            &"{% if n %}".repeat(10_000),
            &format!("{{ {}n }}", "(".repeat(100_000)),
            &"x".repeat(2 << 20),
        ];
        for template in refused {
            let begin: String = template.chars().take(80).collect();
            assert!(render(template).is_err(), "{begin}");
        }
        let said = render("one\n{% set x = name ~ name %}").unwrap_err().to_string();
        assert_eq!(
            said,
            "template t: a value made of others, in {% set %}, is not available: it could make a prompt of any \
             length (line 2)"
        );
    }

    #[test]
    fn endless_output_is_stopped() {
        let loops = "{% for a in range(100000) %}{% for b in range(100000) %}{ 'xxxxxxxxxx' }{% endfor %}{% endfor %}";
        assert_eq!(
            render(loops).unwrap_err().to_string(),
            "template t: it makes a prompt of more than 4 MB"
        );
        let fuel =
            "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}";
        assert!(render(fuel).is_err());
        let long = format!("{{% for a in range(100000) %}}{}{{% endfor %}}", "x".repeat(100_000));
        assert!(render(&long).is_err());
        let product = "{% for a in range(9) %}{ name * 33333333 }{% endfor %}";
        assert!(render(product).is_err());
    }

    #[test]
    fn everything_that_prompts_need_is_available() {
        for (template, made) in [
            ("{name} { name ~ '!' } { n + 1 } { n * 2 }", "Ann Ann! 4 6"),
            (
                "{% for x in list %}{ loop.index + 1 }{x}{% if not loop.last %}, {% endif %}{% endfor %}",
                "2a, 3b",
            ),
            (
                "{ list|join(', ') } { name|upper } { list|length } { list[0] } { group['key'] }",
                "a, b ANN 2 a v",
            ),
            ("{% set x = n + 1 %}{% set y = 'a' %}{x}{y}", "4a"),
            (
                "{% for x in ['p', 'q'] %}{x}{% endfor %}{% for i in range(2) %}{i}{% endfor %}",
                "pq01",
            ),
            ("{% raw %}{\"a\": \"b * c\"}{% endraw %}{# note #}", "{\"a\": \"b * c\"}"),
            ("{% if n > 2 and name in ['Ann'] %}yes{% elif n %}no{% else %}none{% endif %}", "yes"),
        ] {
            assert_eq!(render(template).unwrap(), made, "{template}");
        }
    }
}
