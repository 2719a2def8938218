//! `retold drift`.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::error::{CliError, Status};
use crate::global::Global;

/// Run an existing suite of vcrpy or pytest-recording, and list what it asks otherwise than recorded.
///
/// Each test that is marked with `vcr` is replayed from its own cassettes, strictly and without a network. Listed are, by
/// test, the requests that are not equal to any that were recorded, each with the field that differs, and the recorded ones
/// that were not made. Nothing is written. It needs the Python package of retold, beside the suite's own packages. Exit
/// code 1 if anything differs.
///
/// What an API answers now is another question: `pytest --retold=drift` asks it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The tests: files, folders, or names as pytest takes them.
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<String>,
    /// The Python of the suite [default: the one beside this program, or python3].
    #[arg(long, value_name = "PROGRAM")]
    python: Option<PathBuf>,
    /// More options for pytest.
    #[arg(last = true, value_name = "OPTION")]
    options: Vec<String>,
}

pub(crate) fn run(args: Args, global: &Global) -> Result<Status, CliError> {
    let Args { paths, python, options } = args;
    let python = python.unwrap_or_else(usual_python);
    let failed = |error: std::io::Error| {
        CliError::usage(format!("{} cannot be run: {error}", python.display()))
            .hint("name the Python of the suite with --python")
    };
    let has_package = Command::new(&python)
        .args(["-c", "import retold.drift"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !has_package.map_err(failed)?.success() {
        return Err(CliError::usage(format!(
            "{} has no package retold, or one of another version",
            python.display()
        ))
        .hint("install it beside the suite: `pip install retold`")
        .hint("or name the Python of the suite with --python"));
    }
    let mut command = Command::new(&python);
    command.args(["-m", "retold.drift"]);
    if global.json {
        command.arg("--json");
    }
    command.args(paths);
    if !options.is_empty() {
        command.arg("--").args(options);
    }
    if let Ok(program) = std::env::current_exe() {
        command.env(PROGRAM, program);
    }
    let status = command.status().map_err(failed)?;
    Ok(match status.code() {
        Some(0) => Status::Fine,
        Some(code) => Status::Program(u8::try_from(code).unwrap_or(1)),
        None => Status::Interrupted,
    })
}

/// The Python beside this program, as in an environment into which both were installed, or the one that is found by its name,
/// which is that of an active environment.
fn usual_python() -> PathBuf {
    let beside =
        std::env::current_exe().ok().and_then(|program| Some(program.parent()?.join(PYTHON)));
    beside.filter(|python| python.is_file()).unwrap_or_else(|| PathBuf::from(PYTHON3))
}

/// The variable that names the program to the package.
const PROGRAM: &str = "RETOLD_PROGRAM";

#[cfg(unix)]
const PYTHON: &str = "python";
#[cfg(not(unix))]
const PYTHON: &str = "python.exe";

#[cfg(unix)]
const PYTHON3: &str = "python3";
#[cfg(not(unix))]
const PYTHON3: &str = "python";
