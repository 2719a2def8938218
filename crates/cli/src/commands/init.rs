//! `retold init`: a first config, and what version control leaves alone.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::again::{begins, quote};
use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::Output;
use retold_archive::bucket;

/// Write a commented config to begin with, and a .gitignore.
///
/// The config is complete: it runs at once with answers that a program makes up, and its comments say what can be
/// changed. An existing file is never replaced.
///
/// The .gitignore is beside the log. It leaves the log out of version control, and what retold keeps beside it on this
/// machine alone: its mark, the key of its redactions, leases and indexes. Lines that it already has stay as they are.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The experiment. Without one, only the .gitignore is written.
    experiment: Option<String>,
    /// The name of the config; EXPERIMENT.yaml if left out.
    file: Option<PathBuf>,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let Args { experiment, file } = args;
    if bucket(&global.log)?.is_some() {
        let message = format!(
            "{} is not a file: version control has nothing to leave out",
            global.log.display()
        );
        return Err(CliError::usage(message).hint("leave out --log, or name a file"));
    }
    let config = match &experiment {
        Some(name) => {
            let text = example(name, global)?;
            let file = file.unwrap_or_else(|| PathBuf::from(format!("{name}.yaml")));
            create(&file, text)?;
            Some(file)
        }
        None => None,
    };
    let (ignore, added) = ignore_log(&global.log)?;
    let place = ignore.display().to_string();
    if output.is_json() {
        let config = config.map(|file| file.display().to_string());
        output.object(&json!({"config": config, "gitignore": place, "lines_added": added}))?;
        return Ok(Status::Fine);
    }
    let mut text = String::new();
    if let Some(file) = &config {
        text.push_str(&format!("{} written\n", file.display()));
    }
    text.push_str(&match added {
        0 => format!("{place} has the log already\n"),
        _ => format!("{place} has the log and what is kept beside it\n"),
    });
    if let Some(named) = config.as_deref().and_then(Path::to_str).and_then(quote) {
        text.push_str(&format!("\nnext:\n  {} run {named}\n", begins()));
    }
    output.text(&text)?;
    Ok(Status::Fine)
}

/// The config of an experiment to begin with.
fn example(name: &str, global: &Global) -> Result<&'static str, CliError> {
    let found = global.studies.iter().find(|study| study.name() == name);
    found.and_then(|study| study.example_config()).ok_or_else(|| {
        let with_one = global.studies.iter().filter(|study| study.example_config().is_some());
        let known: Vec<&str> = with_one.map(|study| study.name()).collect();
        let error = CliError::usage(format!("there is no config to begin with for {name:?}"));
        match known.is_empty() {
            true => error,
            false => error.hint(format!("there is one for {}", known.join(", "))),
        }
    })
}

/// Creates a file that does not exist yet.
fn create(file: &Path, text: &str) -> Result<(), CliError> {
    let shown = file.display();
    let written = File::create_new(file).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => CliError::usage(format!("{shown} already exists"))
            .hint("name another file: `retold init EXPERIMENT FILE`"),
        _ => CliError::new(Status::Io, format!("{shown} cannot be written: {error}")),
    })
}

/// Adds a log to the .gitignore beside it. Returns its path, and how many lines were added.
fn ignore_log(log: &Path) -> Result<(PathBuf, usize), CliError> {
    let place = log.with_file_name(".gitignore");
    let unwritten = |error: std::io::Error| {
        CliError::new(Status::Io, format!("{} cannot be written: {error}", place.display()))
    };
    let had = match fs::read_to_string(&place) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        Err(error) => return Err(unwritten(error)),
    };
    let name = log.file_name().unwrap_or(log.as_os_str()).to_string_lossy().into_owned();
    // All that retold keeps beside a log has its name and a hyphen.
    let due = [format!("/{name}"), format!("/{name}-*")];
    let missing: Vec<&String> =
        due.iter().filter(|due| !had.lines().any(|line| line.trim() == due.as_str())).collect();
    if missing.is_empty() {
        return Ok((place, 0));
    }
    let mut text = String::new();
    if !had.is_empty() && !had.ends_with('\n') {
        text.push('\n');
    }
    text.push_str("# The log of retold, and what it keeps beside it.\n");
    for line in &missing {
        text.push_str(&format!("{line}\n"));
    }
    let added = File::options().create(true).append(true).open(&place);
    added.and_then(|mut file| file.write_all(text.as_bytes())).map_err(unwritten)?;
    Ok((place, missing.len()))
}
