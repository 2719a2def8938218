//! `retold generate schema`: the JSON Schema of a kind of file.

use serde_json::Value;

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::Output;
use crate::schema_names::{PARSERS, schema_names};
use retold_study::parser_file::parser_file_schema;

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
    output.raw(&format!("{schema:#}\n"))?;
    Ok(Status::Fine)
}

fn of_configs(name: &str, global: &Global) -> Result<Value, CliError> {
    let found = global.studies.iter().find(|study| study.name() == name);
    found.and_then(|study| study.config_schema()).ok_or_else(|| {
        let known: Vec<&str> = schema_names(global).collect();
        CliError::usage(format!("there is no schema of {name:?}"))
            .hint(format!("the schemas are {}", known.join(", ")))
    })
}
