//! How long the bodies of a program's requests and answers may be.

use retold_wire::LONGEST_BODY;

use crate::error::CliError;

/// The variable that sets it, in MiB: programs, test runners and notebooks start retold alike.
const VARIABLE: &str = "RETOLD_LONGEST_BODY";

/// The longest body of a request or an answer, in bytes.
#[expect(clippy::disallowed_methods, reason = "the command line is what reads the environment")]
pub(super) fn longest_body() -> Result<usize, CliError> {
    let Some(given) = std::env::var_os(VARIABLE) else { return Ok(LONGEST_BODY) };
    let mebibytes = given.to_str().and_then(|text| text.trim().parse::<usize>().ok());
    let bytes = mebibytes.filter(|count| *count > 0).and_then(|count| count.checked_mul(1 << 20));
    bytes.ok_or_else(|| {
        CliError::usage(format!("{VARIABLE} is not a length in MiB")).hint(format!(
            "a number such as {VARIABLE}=1024; {} if it is not set",
            LONGEST_BODY >> 20
        ))
    })
}
