//! The files with certificate authorities that an intercepted program trusts: those that it trusts
//! anyway, and ours.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use data_encoding::BASE64;

use super::environment::variable;
use crate::error::{CliError, Status, write_err};
use retold::scratch_folder::ScratchFolder;

/// The variables that name a file which replaces the roots that a client has.
const REPLACING: &[&str] =
    &["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "AWS_CA_BUNDLE"];

/// Certificate authorities in the files that the environment names for HTTP clients. retold makes requests in place of these
/// clients, so it trusts the same authorities. A file that cannot be read is left out with a warning: some clients do without it.
pub(super) fn named_files() -> Vec<Vec<u8>> {
    let names = REPLACING.iter().copied().chain([FURTHER]).filter(|name| *name != "SSL_CERT_FILE");
    // Several of them often name the same.
    let paths: BTreeMap<String, &str> =
        names.filter_map(|name| Some((variable(name)?, name))).collect();
    let file = |(path, name): (String, &str)| match std::fs::read(&path) {
        Ok(pem) => Some(pem),
        Err(error) => {
            write_err(&format!("warning: {name}: cannot read {path}: {error}\n"));
            None
        }
    };
    paths.into_iter().filter_map(file).collect()
}

/// The variable that names a file of further roots.
const FURTHER: &str = "NODE_EXTRA_CA_CERTS";

/// The width of base64 in a PEM file.
const WIDTH: usize = 64;

/// The files, until this is dropped.
pub(super) struct Authorities {
    folder: ScratchFolder,
    variables: Vec<(String, OsString)>,
}

impl Authorities {
    /// Writes the files into a temporary folder that only this user can read.
    pub(super) fn write(ours: &str) -> Result<Self, CliError> {
        let folder = ScratchFolder::make();
        let folder =
            folder.map_err(|e| CliError::new(Status::Io, format!("no temporary folder: {e}")))?;
        let mut authorities = Authorities { folder, variables: Vec::new() };
        let system = system();
        if system.is_empty() {
            write_err(
                "warning: no root certificates were found on this machine: hosts that are not recorded will not be \
                 trusted. SSL_CERT_FILE may name a file with them\n",
            );
        }
        for name in REPLACING {
            let own = variable(name).or_else(|| variable("SSL_CERT_FILE"));
            let roots = match own {
                Some(path) => read(name, Path::new(&path))?,
                None => system.clone(),
            };
            authorities.add(name, &roots, ours)?;
        }
        let further = variable(FURTHER).map(|path| read(FURTHER, Path::new(&path))).transpose()?;
        authorities.add(FURTHER, &further.unwrap_or_default(), ours)?;
        Ok(authorities)
    }

    fn add(&mut self, name: &str, roots: &str, ours: &str) -> Result<(), CliError> {
        let path: PathBuf = self.folder.path().join(format!("{}.pem", name.to_ascii_lowercase()));
        let between = if roots.is_empty() || roots.ends_with('\n') { "" } else { "\n" };
        std::fs::write(&path, format!("{roots}{between}{ours}")).map_err(|e| {
            CliError::new(Status::Io, format!("cannot write {}: {e}", path.display()))
        })?;
        self.variables.push((name.to_owned(), path.into_os_string()));
        Ok(())
    }

    /// The variables that are set for the program.
    pub(super) fn variables(&self) -> impl Iterator<Item = (String, OsString)> {
        self.variables.iter().cloned()
    }
}

fn read(name: &str, path: &Path) -> Result<String, CliError> {
    std::fs::read_to_string(path).map_err(|e| {
        CliError::new(Status::Io, format!("{name}: cannot read {}: {e}", path.display()))
    })
}

/// The roots of this machine, as PEM.
fn system() -> String {
    let certificates = rustls_native_certs::load_native_certs().certs;
    let pem = |der: &[u8]| {
        let text = BASE64.encode(der);
        let lines: Vec<String> = text
            .as_bytes()
            .chunks(WIDTH)
            .map(|line| String::from_utf8_lossy(line).into_owned())
            .collect();
        format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"))
    };
    certificates.iter().map(|certificate| pem(certificate)).collect()
}
