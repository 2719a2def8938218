//! Prompt templates: text with `{name}` where values go.
//!
//! The syntax is that of the source documents: single braces around an expression, no escaping, the
//! last newline kept. Statements (`{% for %}`) and comments (`{# #}`) work as in Jinja, except for
//! those that could make a prompt of any length (macros, includes, captured blocks, recursive
//! loops, assignments of combined texts). A prompt has at most 4 MB.

mod bounds;

use std::collections::BTreeSet;

use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, ErrorKind, UndefinedBehavior};
use retold::run::Stop;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::bounds::{LONGEST_PROMPT, PromptDraft};

/// A complete template, as settings record it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TemplateText {
    /// Its name, or the path it was read from.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// A template that cannot be read or rendered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("template {name}: {reason}")]
pub struct TemplateError {
    /// Its name.
    pub name: String,
    /// The problem, with the line.
    pub reason: String,
}

impl From<TemplateError> for Stop {
    fn from(error: TemplateError) -> Self {
        Stop::invalid("prompt", error)
    }
}

/// Named templates, checked when they are added.
#[derive(Debug)]
pub struct Templates(Environment<'static>);

impl Templates {
    /// Reads templates: pairs of name and text.
    ///
    /// # Errors
    /// [`TemplateError`] with the line of a syntax error.
    pub fn new(
        templates: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, TemplateError> {
        let syntax = SyntaxConfig::builder()
            .variable_delimiters("{", "}")
            .block_delimiters("{%", "%}")
            .comment_delimiters("{#", "#}")
            .keep_trailing_newline(true)
            .build()
            .map_err(|e| error("syntax", &e))?;
        let mut environment = Environment::new();
        environment.set_syntax(syntax.clone());
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        // A template from a foreign recording must terminate: this is more than any prompt needs.
        environment.set_fuel(Some(5_000_000));
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        for (name, text) in templates {
            bounds::check(&text, &syntax)
                .map_err(|e| TemplateError { name: name.clone(), reason: e.to_string() })?;
            let added = environment.add_template_owned(name.clone(), text);
            added.map_err(|e| error(&name, &e))?;
        }
        Ok(Templates(environment))
    }

    /// Reads the templates of an experiment, which must include all of `names`.
    ///
    /// # Errors
    /// [`TemplateError`]: one is missing, or has a syntax error.
    pub fn all_of(names: &[&str], templates: &[TemplateText]) -> Result<Self, TemplateError> {
        if let Some(name) = names.iter().find(|name| !templates.iter().any(|t| t.name == **name)) {
            let reason = "missing: the experiment needs it".to_owned();
            return Err(TemplateError { name: (*name).to_owned(), reason });
        }
        Self::new(templates.iter().map(|t| (t.name.clone(), t.text.clone())))
    }

    /// Renders a template.
    ///
    /// # Errors
    /// [`TemplateError`]: the template does not exist, or a value that it needs is missing.
    pub fn render(&self, name: &str, values: impl Serialize) -> Result<String, TemplateError> {
        let template = self.0.get_template(name).map_err(|e| error(name, &e))?;
        let mut prompt = PromptDraft::default();
        let rendered =
            template.render_captured_to(minijinja::value::Serde(&values), &mut prompt).map(drop);
        rendered.map_err(|e| match e.kind() {
            ErrorKind::WriteFailure => TemplateError {
                name: name.to_owned(),
                reason: format!("it makes a prompt of more than {} MB", LONGEST_PROMPT >> 20),
            },
            ErrorKind::UndefinedError => {
                let values = serde_json::json!(&values);
                self.unknown(name, &values).unwrap_or_else(|| error(name, &e))
            }
            _ => error(name, &e),
        })?;
        Ok(prompt.into_text())
    }

    /// The variables that a template uses, such as `topic.description`, without those that it
    /// defines itself, as in loops. Empty if the template does not exist.
    pub fn variables(&self, name: &str) -> BTreeSet<String> {
        let Ok(template) = self.0.get_template(name) else { return BTreeSet::new() };
        let globals: BTreeSet<&str> = self.0.globals().map(|(name, _)| name).collect();
        let named = template.undeclared_variables(true).into_iter();
        named.filter(|path| !globals.contains(root(path))).collect()
    }

    /// The first line, from 1, in which a template uses a variable.
    pub fn line_of(&self, name: &str, variable: &str) -> Option<usize> {
        let template = self.0.get_template(name).ok()?;
        template.source().lines().position(|line| line.contains(variable)).map(|at| at + 1)
    }

    /// The error for a template that uses a variable missing from its values.
    fn unknown(&self, name: &str, values: &Value) -> Option<TemplateError> {
        let missing = self.variables(name).into_iter().filter(|path| !has(values, path));
        let missing = missing.map(|path| (self.line_of(name, &path), path)).min();
        let (line, path) = missing?;
        let place = line.map_or_else(String::new, |line| format!(" (line {line})"));
        let there = variable_list(&paths(values));
        let reason = format!("there is no {{{path}}}{place}; there is {there}");
        Some(TemplateError { name: name.to_owned(), reason })
    }
}

/// Variables as they are written in templates.
pub fn variable_list<'a>(paths: impl IntoIterator<Item = &'a String>) -> String {
    let named: Vec<String> = paths.into_iter().map(|path| format!("{{{path}}}")).collect();
    if named.is_empty() { "nothing to name".to_owned() } else { named.join(", ") }
}

fn root(path: &str) -> &str {
    path.split('.').next().unwrap_or(path)
}

/// True if the values contain a path. The contents of lists and texts are left to the template.
fn has(values: &Value, path: &str) -> bool {
    let mut value = values;
    for part in path.split('.') {
        match value {
            Value::Object(map) => match map.get(part) {
                Some(inner) => value = inner,
                None => return false,
            },
            Value::Null => return false,
            _ => return true,
        }
    }
    true
}

/// The paths in the values: names, and those inside groups with a dot.
fn paths(values: &Value) -> Vec<String> {
    let Value::Object(map) = values else { return Vec::new() };
    let inner = |(name, value): (&String, &Value)| match value {
        Value::Object(group) => group.keys().map(|key| format!("{name}.{key}")).collect(),
        _ => vec![name.clone()],
    };
    map.iter().flat_map(inner).collect()
}

fn error(name: &str, error: &minijinja::Error) -> TemplateError {
    let place = error.line().map_or_else(String::new, |line| format!(" (line {line})"));
    let reason = match error.detail() {
        Some(detail) => format!("{}: {detail}{place}", error.kind()),
        None => format!("{}{place}", error.kind()),
    };
    TemplateError { name: name.to_owned(), reason }
}

/// Defines `NAMES` and `built_in()` for a study's templates, which are the files `NAME.txt` in a
/// folder. The folder is given relative to that of the study's `Cargo.toml`.
#[macro_export]
macro_rules! embedded {
    ($folder:literal: $($name:literal),+ $(,)?) => {
        /// The names of all templates.
        pub const NAMES: &[&str] = &[$($name),+];

        /// The templates that come with the program.
        pub fn built_in() -> Vec<$crate::template::TemplateText> {
            vec![$($crate::template::TemplateText {
                name: $name.to_owned(),
                text: include_str!(concat!(
                    env!("CARGO_MANIFEST_DIR"), "/", $folder, "/", $name, ".txt"
                ))
                .to_owned(),
            }),+]
        }
    };
}
pub use embedded;
