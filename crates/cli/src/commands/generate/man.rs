//! `retold generate man`: the help of all commands as manual pages.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::command_line::command_line;
use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::{Output, count_of};
use crate::{again, umask};

/// Write the help of all commands as manual pages.
///
/// `retold generate man ~/.local/share/man/man1` puts them where `man retold` and `man retold-run` find them.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder. Pages in it that have the same names are replaced.
    folder: PathBuf,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let Args { folder } = args;
    let place = folder.display().to_string();
    let unwritten =
        |error| CliError::new(Status::Io, format!("{place} cannot be written: {error}"));
    umask::with_own(|| fs::create_dir_all(&folder)).map_err(unwritten)?;
    let program = again::program();
    let mut command = command_line(global.catalogue, &program).disable_help_subcommand(true);
    command.build();
    let release = format!("{program} {}", command.get_version().unwrap_or_default());
    let mut pages = pages_of(&command, &release);
    pages.sort_by(|(one, _), (other, _)| one.cmp(other));
    for (name, page) in &pages {
        umask::with_own(|| fs::write(folder.join(name), page)).map_err(unwritten)?;
    }
    if output.is_json() {
        output.object(&json!({"folder": place, "pages": pages.len()}))?;
    } else {
        let pages = count_of(pages.len() as u64, "page");
        output.text(&format!("{pages} written to {place}\n"))?;
    }
    Ok(Status::Fine)
}

/// The pages of a command and of those below it, by the names of their files. The command is built, so that its commands
/// know what they are called in full. Each says of which `release` it is.
fn pages_of(command: &clap::Command, release: &str) -> Vec<(String, Vec<u8>)> {
    let shown = command.get_subcommands().filter(|below| !below.is_hide_set());
    let mut pages: Vec<(String, Vec<u8>)> =
        shown.flat_map(|below| pages_of(below, release)).collect();
    let mut page = Vec::new();
    // Writing to memory cannot fail.
    let _ = clap_mangen::Man::new(with_usage(command)).source(release).render(&mut page);
    let name = command.get_display_name().unwrap_or(command.get_name());
    pages.push((format!("{name}.1"), page));
    pages
}

/// The command with the usage line of its help as the synopsis: what is made otherwise lists every option, without
/// its value.
fn with_usage(command: &clap::Command) -> clap::Command {
    let mut command = command.clone();
    let usage = command.render_usage().to_string();
    let usage = usage.strip_prefix("Usage: ").unwrap_or(&usage).to_owned();
    command.override_usage(usage)
}
