//! Templates from a folder, in the place of recorded ones.

use std::error::Error;
use std::iter;
use std::path::{Path, PathBuf};

use crate::error::{CliError, Status};
use retold_study::template::TemplateError;
use retold_study::templates::{ReplaceError, TemplateReplacement};

/// The error of a template, with the file that it was read from.
pub(crate) fn wrong(
    error: &(dyn Error + 'static),
    folder: &Path,
    replaced: &TemplateReplacement,
) -> CliError {
    let file = of_template(error).and_then(|template| replaced.files.get(&template.name));
    let place = file.map_or(folder, PathBuf::as_path);
    CliError::usage(format!("{}: {error}", place.display()))
}

/// The error of a template among an error and its causes.
pub(crate) fn of_template<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e TemplateError> {
    let mut causes = iter::successors(Some(error), |error| (*error).source());
    causes.find_map(|error| error.downcast_ref())
}

impl From<ReplaceError> for CliError {
    fn from(error: ReplaceError) -> Self {
        let status = match &error {
            ReplaceError::Unreadable { .. } => Status::Io,
            _ => Status::Usage,
        };
        CliError::new(status, error.to_string())
    }
}
