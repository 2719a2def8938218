//! Deciding with a parser of the registry.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{AnswerDecision, DecideError, Decider, UndecidedAnswer};
use crate::parse::registry::RegistryError;
use crate::parse::{AnyParser, ParserFamily, ParserSpec, Parsers};

/// How many parsers are cached: each call of a run may have its own settings.
const MOST_READY: usize = 4096;

/// One version of a parser of the registry, with the settings that come with each answer.
pub struct RegisteredParser {
    family: &'static ParserFamily,
    version: u32,
    /// The cached parsers, by the text of their settings.
    ready: BTreeMap<String, Box<dyn AnyParser>>,
}

impl RegisteredParser {
    /// The parser among some that `name@version` names, or the latest version of `name`.
    ///
    /// # Errors
    /// [`RegistryError`] if it does not exist.
    pub fn new(parsers: &Parsers, text: &str) -> Result<Self, RegistryError> {
        let (family, version) = parsers.resolve(text)?;
        Ok(RegisteredParser { family, version, ready: BTreeMap::new() })
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.family.name
    }

    /// Its version.
    pub fn version(&self) -> u32 {
        self.version
    }

    fn parser(&mut self, params: &Value) -> Result<&dyn AnyParser, RegistryError> {
        let key = params.to_string();
        if !self.ready.contains_key(&key) {
            let parser = self.family.parser(&self.spec(params))?;
            if self.ready.len() >= MOST_READY {
                self.ready.clear();
            }
            self.ready.insert(key.clone(), parser);
        }
        Ok(&*self.ready[&key])
    }
}

impl Decider for RegisteredParser {
    fn spec(&self, params: &Value) -> ParserSpec {
        ParserSpec { name: self.family.name.into(), version: self.version, params: params.clone() }
    }

    fn decide(
        &mut self,
        answers: &[UndecidedAnswer<'_>],
    ) -> Result<Vec<AnswerDecision>, DecideError> {
        let decide = |asked: &UndecidedAnswer<'_>| {
            Ok(AnswerDecision::by(self.parser(asked.params)?, asked.answer))
        };
        answers.iter().map(decide).collect()
    }
}
