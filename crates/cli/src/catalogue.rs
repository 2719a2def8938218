//! The parts of a program: its studies, and the commands that only it or one of its studies has.

use std::error::Error;
use std::path::Path;

use clap::ArgMatches;

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::Output;
use retold_drift::DriftStudy;
use retold_judge::JudgeStudy;
use retold_study::error::Clash;
use retold_study::{Registration, Studies};

/// The parts of a program: its studies and its own commands.
pub struct Catalogue {
    studies: Studies,
    pub(crate) commands: Vec<OwnCommand>,
}

impl Catalogue {
    /// The studies of a program, besides the judge and the drift that every program has; their parsers are listed in this order.
    ///
    /// # Errors
    /// [`Clash`] if two studies, or two of their parsers, have the same name.
    pub fn new(
        studies: impl IntoIterator<Item = &'static dyn Registration>,
    ) -> Result<Self, Clash> {
        let every: [&'static dyn Registration; 2] = [&JudgeStudy, &DriftStudy];
        let studies = Studies::new(studies.into_iter().chain(every))?;
        Ok(Catalogue { studies, commands: Vec::new() })
    }

    /// Adds a command of the program's own. It is given its arguments and the log (`--log`); the
    /// text that it returns is printed, with nothing in it that a terminal would obey.
    #[must_use]
    pub fn with_command(
        mut self,
        command: clap::Command,
        run: impl Fn(&ArgMatches, &Path) -> Result<String, Box<dyn Error>> + Send + Sync + 'static,
    ) -> Self {
        let run: Run = Box::new(move |given, global, output| {
            let text = run(given, &global.log).map_err(|e| CliError::usage(e.to_string()))?;
            output.text(&text)?;
            Ok(Status::Fine)
        });
        self.commands.push(OwnCommand { study: None, command, run });
        self
    }

    /// The studies.
    pub fn studies(&self) -> &Studies {
        &self.studies
    }
}

/// The function that executes a command.
pub(crate) type Run =
    Box<dyn Fn(&ArgMatches, &Global<'_>, &Output) -> Result<Status, CliError> + Send + Sync>;

/// A command that only this program has.
pub(crate) struct OwnCommand {
    /// The study that it belongs to: it is then a command of `study`.
    pub(crate) study: Option<&'static str>,
    pub(crate) command: clap::Command,
    pub(crate) run: Run,
}
