//! The parsers that there are: `retold check --list`.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::Output;
use retold::parse::{ParserFamily, ParserSpec};
use retold_study::studies::Studies;

/// A version of a parser.
struct ParserVersion {
    version: u32,
    /// Its strategies, in the order in which they are tried.
    strategies: Vec<&'static str>,
    /// The method where none of them finds anything, if it has one.
    last_resort: Option<&'static str>,
    /// Its settings with their defaults, or those of an example.
    settings: Value,
    /// Whether it can be made without settings.
    has_defaults: bool,
}

/// Settings for parsers that have no defaults: votes need options.
const EXAMPLE: &str = r#"{"options":["A","B"]}"#;

/// Shows all parsers, or one of them, the newest version first.
pub(super) fn show(
    only: Option<&str>,
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    let parsers = global.studies.parsers();
    let only = only.map(|name| parsers.resolve(name)).transpose()?;
    let families =
        parsers.families().filter(|family| only.is_none_or(|(one, _)| one.name == family.name));
    let (mut text, mut all) = (String::new(), Vec::new());
    for family in families {
        let versions = family.versions.iter().rev().map(|version| version_of(family, *version));
        let versions: Vec<ParserVersion> = versions.collect::<Result<_, CliError>>()?;
        let studies = users(family, global.studies);
        if output.is_json() {
            all.extend(versions.iter().map(|version| object(family, version, &studies)));
        } else {
            text.push_str(&lines(family, &versions, &studies));
        }
    }
    match output.is_json() {
        true => output.object(&json!({"parsers": all}))?,
        false => output.text(&text)?,
    }
    Ok(Status::Fine)
}

fn version_of(family: &ParserFamily, version: u32) -> Result<ParserVersion, CliError> {
    let spec = |params| ParserSpec { name: family.name.into(), params, version };
    let (parser, has_defaults) = match family.parser(&spec(Value::Null)) {
        Ok(parser) => (parser, true),
        Err(error) => {
            let example = serde_json::from_str(EXAMPLE).unwrap_or_default();
            (family.parser(&spec(example)).map_err(|_| error)?, false)
        }
    };
    let last_resort = parser.last_resort();
    let mut strategies = parser.methods();
    strategies.retain(|method| Some(*method) != last_resort);
    let settings = parser.spec().params.clone();
    Ok(ParserVersion { version, strategies, last_resort, settings, has_defaults })
}

/// The studies in whose runs it decides.
fn users(family: &ParserFamily, studies: &Studies) -> Vec<&'static str> {
    let uses = |parsers: &[&'static ParserFamily]| parsers.iter().any(|it| it.name == family.name);
    studies.iter().filter(|study| uses(study.parsers())).map(|study| study.name()).collect()
}

fn is_default(family: &ParserFamily, version: &ParserVersion) -> bool {
    family.versions.last() == Some(&version.version)
}

fn object(family: &ParserFamily, version: &ParserVersion, studies: &[&str]) -> Value {
    let ParserVersion { version: number, strategies, last_resort, settings, has_defaults } =
        version;
    json!({
        "name": family.name,
        "version": number,
        "default": is_default(family, version),
        "strategies": strategies,
        "last_resort": last_resort,
        "settings": settings,
        "has_default_settings": has_defaults,
        "studies": studies,
    })
}

fn lines(family: &ParserFamily, versions: &[ParserVersion], studies: &[&str]) -> String {
    let mut text = String::new();
    for version in versions {
        let ParserVersion { version: number, strategies, last_resort, settings, has_defaults } =
            version;
        let default = if is_default(family, version) { "  (default)" } else { "" };
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(text, "{}@{number}{default}", family.name);
        if !strategies.is_empty() {
            let _ = writeln!(text, "    strategies: {}", strategies.join(", "));
        }
        if let Some(method) = last_resort {
            let _ = writeln!(text, "    if none finds anything: {method}");
        }
        if is_default(family, version) {
            let none = if *has_defaults { "" } else { " for example; they have no default" };
            let _ = writeln!(text, "    settings: {settings}{none}");
            if !studies.is_empty() {
                let _ = writeln!(text, "    studies: {}", studies.join(", "));
            }
        }
    }
    text.push('\n');
    text
}
