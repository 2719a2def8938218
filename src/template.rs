//! Prompt templates: text with `{name}` where values go.
//!
//! The syntax is that of the source documents: single braces around an expression, no escaping, the
//! last newline kept. Statements (`{% for %}`) and comments (`{# #}`) work as in Jinja.

use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde::{Deserialize, Serialize};

/// A template, whole, as settings record it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TemplateText {
    /// Its name, or the path it was read from.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// A template that cannot be read or filled in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("template {name}: {reason}")]
pub struct TemplateError {
    /// Its name.
    pub name: String,
    /// What is wrong, with the line.
    pub reason: String,
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
        environment.set_syntax(syntax);
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        // A template of a foreign recording must end: this is more than any prompt takes.
        environment.set_fuel(Some(5_000_000));
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        for (name, text) in templates {
            let added = environment.add_template_owned(name.clone(), text);
            added.map_err(|e| error(&name, &e))?;
        }
        Ok(Templates(environment))
    }

    /// Reads the templates of an experiment, which needs each of `names`.
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

    /// Fills a template in.
    ///
    /// # Errors
    /// [`TemplateError`]: no such template, or a value it needs is missing.
    pub fn render(&self, name: &str, values: impl Serialize) -> Result<String, TemplateError> {
        let template = self.0.get_template(name).map_err(|e| error(name, &e))?;
        template.render(minijinja::value::Serde(values)).map_err(|e| error(name, &e))
    }
}

fn error(name: &str, error: &minijinja::Error) -> TemplateError {
    let place = error.line().map(|line| format!(" (line {line})")).unwrap_or_default();
    let reason = match error.detail() {
        Some(detail) => format!("{}: {detail}{place}", error.kind()),
        None => format!("{}{place}", error.kind()),
    };
    TemplateError { name: name.to_owned(), reason }
}

/// Makes `NAMES` and `built_in()` of an experiment's templates, which are files of `config/prompts/`.
macro_rules! embedded {
    ($experiment:literal: $($name:literal),+ $(,)?) => {
        /// The names of all templates.
        pub const NAMES: &[&str] = &[$($name),+];

        /// The templates that come with the program.
        pub fn built_in() -> Vec<$crate::template::TemplateText> {
            vec![$($crate::template::TemplateText {
                name: $name.to_owned(),
                text: include_str!(concat!(
                    env!("CARGO_MANIFEST_DIR"), "/config/prompts/", $experiment, "/", $name, ".txt"
                ))
                .to_owned(),
            }),+]
        }
    };
}
pub(crate) use embedded;
