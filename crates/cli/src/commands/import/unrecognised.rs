//! A file whose format is not recognised: which formats were tried, and why each does not fit.

use std::fmt::Write;

use crate::error::{CliError, NOTHING_IMPORTED};
use retold::escaping::printable;
use retold::exchange::ImportError;
use retold::jsonl::JsonlProblem;
use retold_traffic::Format;

/// The most fields that are shown.
const SHOWN: usize = 8;

/// The error for a file that was read as exchanges because it is in no other format. One whose first line
/// has a request is of exchanges, with a mistake.
pub(super) fn format_error(shown: &str, begin: &[u8], error: ImportError) -> CliError {
    let why = match &error {
        ImportError::Exchange { line: 1, problem, .. } => problem.to_string(),
        ImportError::File(error) if matches!(error.problem, JsonlProblem::NotUtf8 { .. }) => {
            "it is not text".to_owned()
        }
        _ => return error.into(),
    };
    let fields = Format::fields(begin);
    let is_of_exchanges = fields.iter().any(|name| name == "request");
    // A pipe is not looked into.
    if begin.is_empty() || is_of_exchanges {
        return error.into();
    }
    let found: Vec<String> = fields.iter().take(SHOWN).map(|name| printable(name, 40)).collect();
    let found = match found.is_empty() {
        true => String::new(),
        false => format!(" (its first fields: {})", found.join(", ")),
    };
    let mut message = format!("{shown} is in none of the formats that can be imported{found}");
    // Writing to a string cannot fail.
    let _ = write!(message, "\n  recording: its first line is not {{\"recording\":\"retold\",..}}");
    let _ = write!(message, "\n  exchanges: line 1: {why}");
    for (format, why) in Format::misfits(begin) {
        let _ = write!(message, "\n  {format}: {why}");
    }
    CliError::usage(message)
        .hint("`--format FORMAT` says why a file of that format cannot be read")
        .hint(NOTHING_IMPORTED)
}
