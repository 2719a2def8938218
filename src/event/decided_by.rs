//! Who or what made a decision: a parser, a program, a function, a person or a judge.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::prompt::{canonical, hash_of};

/// What made a decision. Kept as a content, since thousands of decisions share it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DecidedBy {
    /// The name that the decision was given, if that is not its parser's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The strategy that yielded the value.
    pub method: String,
    /// The parser: its name, version and settings.
    pub parser: Value,
}

/// The parser of decisions that a recorded program made itself and reported; its settings have their
/// name.
pub const REPORTED: &str = "program";

/// The parser of decisions that a program made about recorded answers, once it was run for them; its settings have its
/// command and the hashes of its files.
pub const FILTER: &str = "filter";

/// The parser of decisions that a function of the user's made about recorded answers; its settings have their name.
pub const FUNCTION: &str = "function";

/// The parser of decisions that a person made about recorded answers; its settings have their name.
pub const PERSON: &str = "person";

/// The parser of decisions that a model made about recorded answers; its settings have their name.
pub const JUDGE: &str = "judge";

impl DecidedBy {
    /// The name of the decision, where one answer may have several: the name that it was given, or else the parser's.
    /// Of several with one name about one choice of an answer, the last is in force.
    pub fn decides(&self) -> &str {
        if let Some(name) = &self.name {
            return name;
        }
        let reported = &self.parser["params"]["name"];
        let name = if self.is_reported() { reported } else { &self.parser["name"] };
        name.as_str().unwrap_or("?")
    }

    /// The maker of the decision, for people: the parser with its version (of a filter also its program), or the program,
    /// the function, the person or the judge, with the name of the decision.
    pub fn made_by(&self) -> String {
        let Self { parser, .. } = self;
        let own = |value: &Value| value.as_str().unwrap_or("?").to_owned();
        let (name, settings) = (own(&parser["name"]), &parser["params"]);
        let (decides, version) = (own(&settings["name"]), parser["version"].as_u64());
        let versioned = |name: &str| match version {
            Some(version) => format!("{name}@{version}"),
            None => name.to_owned(),
        };
        match name.as_str() {
            FILTER if settings["command"].is_array() => filter_name(&versioned(&name), settings),
            _ if !self.is_reported() => versioned(&name),
            REPORTED if self.is_imported() => format!("imported: {decides}"),
            REPORTED => format!("reported by the program: {decides}"),
            FUNCTION => format!("a function: {}", versioned(&decides)),
            PERSON => format!("a person, {}: {decides}", own(&settings["person"])),
            _ if self.is_simulated() => format!("a simulated judge: {decides}"),
            _ => format!("a judge, {}: {decides}", own(&settings["model"])),
        }
    }

    /// Whether a simulated judge made it: it is made up, also where the answer is not.
    pub fn is_simulated(&self) -> bool {
        self.is_by_judge() && self.parser["params"]["simulated"] == true
    }

    /// Whether a model made it that judged recorded answers.
    pub fn is_by_judge(&self) -> bool {
        self.parser["name"] == JUDGE && self.is_reported()
    }

    /// The person who made it, if one did.
    pub fn person(&self) -> Option<&str> {
        let is_person = self.parser["name"] == PERSON && self.is_reported();
        is_person.then(|| self.parser["params"]["person"].as_str().unwrap_or("?"))
    }

    /// Whether a person or a judge gave it: a verdict about the answer, not something that the answer says.
    pub fn is_verdict(&self) -> bool {
        let by = self.parser["name"].as_str();
        by.is_some_and(|by| [PERSON, JUDGE].contains(&by)) && self.is_reported()
    }

    /// What decided in a file of another tool: its name there, and the format of the file.
    pub fn from_import(name: &str, format: &str) -> Self {
        let params = serde_json::json!({"imported": format, "name": name});
        let parser = serde_json::json!({"name": REPORTED, "params": params, "version": 1});
        DecidedBy { name: None, method: "imported".to_owned(), parser }
    }

    /// Whether it was in a file of another tool: a program that is replayed does not report it.
    pub fn is_imported(&self) -> bool {
        self.is_reported() && self.parser["params"]["imported"].is_string()
    }

    /// Whether a program reported it, or a scorer gave it, under a name of its own: no parser made it, so nobody here
    /// can make it again.
    pub fn is_reported(&self) -> bool {
        let Self { parser, .. } = self;
        parser["name"].as_str().is_some_and(|name| is_reported_by(name, &parser["params"]))
    }
}

/// A filter with the program that decided: the first digits of a hash of its command and its files, and the command.
fn filter_name(filter: &str, settings: &Value) -> String {
    let program = serde_json::json!([settings["command"], settings["blake3"]]);
    let hash = canonical(&program).map(|program| hash_of(program.as_bytes())).unwrap_or_default();
    let hash: String = hash.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    let words = settings["command"].as_array().into_iter().flatten().filter_map(Value::as_str);
    format!("{filter} {hash}: {}", words.collect::<Vec<_>>().join(" "))
}

/// Whether decisions that are recorded with this parser and these settings were reported by a program, or given by a
/// scorer. A parser file may have a parser called `judge`, whose settings have no name.
pub fn is_reported_by(parser: &str, settings: &Value) -> bool {
    let is_scorer = [FUNCTION, PERSON, JUDGE].contains(&parser) && settings["name"].is_string();
    is_scorer || parser == REPORTED
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_made_a_decision_and_what_it_is_called() {
        let by = |parser: Value| DecidedBy { name: None, method: "m".to_owned(), parser };
        let scorer = |kind: &str, settings: Value| {
            by(serde_json::json!({"name": kind, "params": settings, "version": 4}))
        };
        let vote = serde_json::json!({"model": "gpt-4o", "name": "vote", "person": "ada"});
        for (kind, made_by) in [
            (REPORTED, "reported by the program: vote"),
            (FUNCTION, "a function: vote@4"),
            (PERSON, "a person, ada: vote"),
            (JUDGE, "a judge, gpt-4o: vote"),
        ] {
            let made = scorer(kind, vote.clone());
            assert_eq!((made.decides(), made.made_by().as_str()), ("vote", made_by));
            assert!(made.is_reported());
            assert_eq!(
                (made.is_by_judge(), made.person().is_some()),
                (kind == JUDGE, kind == PERSON)
            );
        }
        // A parser file may have a parser of this name.
        let written = scorer(JUDGE, serde_json::json!({"parser_file": {}}));
        assert_eq!((written.decides(), written.made_by().as_str()), ("judge", "judge@4"));
        let named = DecidedBy { name: Some("vote".to_owned()), ..written.clone() };
        assert_eq!((named.decides(), named.made_by().as_str()), ("vote", "judge@4"));
        assert!(!written.is_reported());
    }
}
