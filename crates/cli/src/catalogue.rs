//! What a program knows: its studies, and the commands that only it has.

use clap::ArgMatches;

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::Output;
use retold_study::error::Clash;
use retold_study::{Registration, Studies};

/// What a program knows: its studies.
pub struct Catalogue {
    studies: Studies,
    pub(crate) commands: Vec<OwnCommand>,
}

impl Catalogue {
    /// The studies of a program; their parsers are listed in this order.
    ///
    /// # Errors
    /// [`Clash`] if two studies, or two of their parsers, have one name.
    pub fn new(
        studies: impl IntoIterator<Item = &'static dyn Registration>,
    ) -> Result<Self, Clash> {
        Ok(Catalogue { studies: Studies::new(studies)?, commands: Vec::new() })
    }

    /// The studies.
    pub fn studies(&self) -> &Studies {
        &self.studies
    }
}

/// A command that only this program has.
pub(crate) struct OwnCommand {
    pub(crate) command: clap::Command,
    pub(crate) run: fn(&ArgMatches, &Global<'_>, &Output) -> Result<Status, CliError>,
}
