//! A file of one document, such as a page or a picture.

use std::io::{self, Write};
use std::path::PathBuf;

use crate::error::{CliError, Status};
use crate::output::Output;
use retold::draft::Draft;
use retold::escaping::printable;

/// The file of a picture, which ends with `.svg`.
///
/// # Errors
/// As [`DocumentFile::new`], and for another ending.
pub(crate) fn svg_file(
    path: PathBuf,
    force: bool,
    output: &Output,
) -> Result<DocumentFile, CliError> {
    let is_svg = path.extension().is_some_and(|it| it.eq_ignore_ascii_case("svg"));
    if path.as_os_str() != "-" && !is_svg {
        let name = printable(&path.display().to_string(), 300);
        return Err(CliError::usage(format!("{name}: a figure is drawn as SVG"))
            .hint("name a file that ends with .svg, or `-` for stdout"));
    }
    DocumentFile::new(path, force, output)
}

/// Where a document goes: a file, which is written as a whole or not at all, or stdout.
#[derive(Debug)]
pub(crate) struct DocumentFile(Option<PathBuf>);

impl DocumentFile {
    /// The file that a user named, or `-` for stdout. A file that exists is replaced only by force.
    ///
    /// # Errors
    /// [`CliError`]: it is a log, exists, or stdout would have JSON as well.
    pub(crate) fn new(path: PathBuf, force: bool, output: &Output) -> Result<Self, CliError> {
        if path.as_os_str() == "-" {
            if output.is_json() {
                let error = CliError::usage("--json and -o - both write to stdout");
                return Err(error.hint("name a file after -o"));
            }
            output.is_a_document();
            return Ok(DocumentFile(None));
        }
        CliError::refuse_log(&path)?;
        if path.exists() && !force {
            return Err(CliError::usage(format!("{}: the file exists", path.display()))
                .hint("--force replaces it"));
        }
        Ok(DocumentFile(Some(path)))
    }

    /// The file; `None` for stdout.
    pub(crate) fn path(&self) -> Option<&PathBuf> {
        self.0.as_ref()
    }

    /// Writes the document. Devices and links are written to as they are.
    pub(crate) fn write(&self, bytes: &[u8], output: &Output) -> Result<(), CliError> {
        let Some(path) = &self.0 else {
            return output.raw(&String::from_utf8_lossy(bytes));
        };
        let write = || -> io::Result<()> {
            if path.symlink_metadata().is_ok_and(|there| !there.is_file()) {
                return std::fs::write(path, bytes);
            }
            let (draft, mut file) = Draft::file(path)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            std::fs::rename(draft.path(), path)
        };
        let failed = |e| format!("{}: cannot write it: {e}", path.display());
        write().map_err(|e| CliError::new(Status::Io, failed(e)))
    }
}
