//! `retold schema`: the JSON Schema of a kind of file.

use serde_json::Value;

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::Output;
use retold_study::parser_file::parser_file_schema;

/// What parser files are called here.
const PARSERS: &str = "parsers";

/// Print the JSON Schema of configs or of parser files.
///
/// An editor completes and checks keys by it. With the extension for YAML of VS Code, and in other editors with
/// yaml-language-server, a first line in the file names its schema:
/// `# yaml-language-server: $schema=game24.schema.json`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The experiment whose configs are described, or `parsers`.
    name: String,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let Args { name } = args;
    let schema = match name.as_str() {
        PARSERS => parser_file_schema(),
        name => of_configs(name, global)?,
    };
    output.is_a_document();
    output.raw(format!("{schema:#}\n").as_bytes())?;
    Ok(Status::Fine)
}

fn of_configs(name: &str, global: &Global) -> Result<Value, CliError> {
    let studies = || global.studies.iter().filter(|study| study.config_schema().is_some());
    let found =
        studies().find(|study| study.name() == name).and_then(|study| study.config_schema());
    found.ok_or_else(|| {
        let known: Vec<&str> = studies().map(|study| study.name()).chain([PARSERS]).collect();
        CliError::usage(format!("there is no schema of {name:?}"))
            .hint(format!("the schemas are {}", known.join(", ")))
    })
}
