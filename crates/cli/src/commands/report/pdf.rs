//! Prints a page to PDF, by a browser that is installed.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::error::{CliError, Status};
use crate::runs::program::found_in_path;
use crate::signal::start_owned;
use retold::escaping::printable;
use retold::id::Time;
use retold::run::clock::Stopwatch;
use retold::scratch_folder::ScratchFolder;

/// The variable that names a browser; other tools that start Chromium read it as well.
const VARIABLE: &str = "CHROME_PATH";

/// What browsers that print in the same way are called.
const NAMES: &[&str] = &[
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "brave-browser",
];

/// Where macOS has them, which does not put them in PATH.
const PLACES: &[&str] = &[
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
];

/// The longest that a browser may take: reports are small, and it waits for nothing.
const LONGEST: Duration = Duration::from_secs(120);

/// The most bytes of a browser's complaints that are shown.
const MOST_SHOWN: u64 = 4_000;

/// A page as PDF.
pub(super) struct PrintedPage {
    pub(super) bytes: Vec<u8>,
    /// The browser that printed it.
    pub(super) browser: PathBuf,
}

/// Why a page was not printed.
#[derive(Debug, thiserror::Error)]
pub(super) enum PrintError {
    #[error("no browser that prints to PDF is installed (Chromium, Chrome, Edge or Brave)")]
    NoBrowser,
    #[error("{VARIABLE}: there is no program {}", path_text(browser))]
    NotThere { browser: PathBuf },
    #[error("{} cannot be started: {source}", path_text(browser))]
    NotStarted { browser: PathBuf, source: io::Error },
    #[error("{} did not end within {} s", path_text(browser), LONGEST.as_secs())]
    TooLong { browser: PathBuf },
    #[error("{} printed no PDF: {complaint}", path_text(browser))]
    NothingPrinted { browser: PathBuf, complaint: String },
    #[error("a temporary file for the browser: {0}")]
    Temporary(#[from] io::Error),
}

fn path_text(browser: &Path) -> String {
    printable(&browser.display().to_string(), 300)
}

impl From<PrintError> for CliError {
    fn from(error: PrintError) -> Self {
        let status = match error {
            PrintError::NoBrowser | PrintError::NotThere { .. } => Status::Usage,
            _ => Status::Io,
        };
        CliError::new(status, error.to_string())
            .hint(format!("{VARIABLE}=/path/to/chromium names the browser"))
            .hint("`retold report RUN -o FILE.html` needs none, and any browser prints that page")
    }
}

/// Prints a page. It is dated as its runs are, so that the same runs make the same file.
pub(super) fn print(html: &str, date: Time) -> Result<PrintedPage, PrintError> {
    let browser = browser()?;
    let folder = ScratchFolder::make()?;
    let (page, pdf) = (folder.path().join("report.html"), folder.path().join("report.pdf"));
    std::fs::write(&page, html)?;
    let mut command = Command::new(&browser);
    command
        .args(["--headless", "--disable-gpu", "--no-first-run", "--no-default-browser-check"])
        // The page loads nothing; nor does the browser by itself.
        .args(["--disable-background-networking", "--disable-extensions", "--disable-sync"])
        .arg("--host-resolver-rules=MAP * ~NOTFOUND")
        .arg("--no-pdf-header-footer")
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(format!("--print-to-pdf={}", pdf.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    #[cfg(unix)]
    if rustix::process::geteuid().is_root() {
        // As root, it refuses to start with it.
        command.arg("--no-sandbox");
    }
    let complaints = folder.path().join("complaints");
    command.stderr(std::fs::File::create(&complaints)?).arg(&page);
    wait(&mut command, &browser)?;
    match std::fs::read(&pdf) {
        Ok(bytes) if bytes.starts_with(b"%PDF-") => {
            Ok(PrintedPage { bytes: with_own_names(with_date(bytes, date)), browser })
        }
        _ => {
            let mut said = Vec::new();
            std::fs::File::open(&complaints)?.take(MOST_SHOWN).read_to_end(&mut said)?;
            let said = String::from_utf8_lossy(&said);
            let last = said.lines().rev().find(|line| !line.trim().is_empty());
            let complaint = printable(last.unwrap_or("it said nothing"), 300);
            Err(PrintError::NothingPrinted { browser, complaint })
        }
    }
}

/// The browser that is named, or else the first that is installed.
#[expect(clippy::disallowed_methods, reason = "the command line is what reads the environment")]
fn browser() -> Result<PathBuf, PrintError> {
    if let Some(named) = std::env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
        let named = PathBuf::from(named);
        return if named.is_file() {
            Ok(named)
        } else {
            Err(PrintError::NotThere { browser: named })
        };
    }
    let installed = NAMES.iter().find_map(|name| found_in_path(Path::new(name)));
    let elsewhere = || PLACES.iter().map(PathBuf::from).find(|place| place.is_file());
    installed.or_else(elsewhere).ok_or(PrintError::NoBrowser)
}

/// Waits for the browser to end, for some time.
fn wait(command: &mut Command, browser: &Path) -> Result<(), PrintError> {
    let not_started = |source| PrintError::NotStarted { browser: browser.to_owned(), source };
    let mut started = start_owned(command).map_err(not_started)?;
    let child = &mut started.child;
    let begin = Stopwatch::start();
    while child.try_wait()?.is_none() {
        if begin.elapsed() > LONGEST {
            // It may have ended just now.
            let _ = child.kill();
            child.wait()?;
            return Err(PrintError::TooLong { browser: browser.to_owned() });
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// A PDF with another date than that on which it was printed; places in the file, which it refers to, stay the same.
fn with_date(mut pdf: Vec<u8>, date: Time) -> Vec<u8> {
    let digits: String = date.to_string().chars().filter(char::is_ascii_digit).take(14).collect();
    for key in [&b"/CreationDate (D:"[..], &b"/ModDate (D:"[..]] {
        let place = pdf.windows(key.len()).rposition(|window| window == key);
        let Some(place) = place.map(|place| place + key.len()) else { continue };
        let Some(old) = pdf.get_mut(place..place + digits.len()) else { continue };
        if old.len() == 14 && old.iter().all(u8::is_ascii_digit) {
            old.copy_from_slice(digits.as_bytes());
        }
    }
    pdf
}

/// A PDF whose elements have names in the order in which they stand there. Browsers number them as they come to them, which is
/// not the same each time.
fn with_own_names(mut pdf: Vec<u8>) -> Vec<u8> {
    const BEFORE: &[u8] = b"(node";
    const DIGITS: usize = 8;
    let mut names: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
    let mut at = 0;
    let next_after = |pdf: &[u8], at: usize| {
        pdf.get(at..)?.windows(BEFORE.len()).position(|window| window == BEFORE)
    };
    while let Some(next) = next_after(&pdf, at) {
        at += next + BEFORE.len();
        let Some(name) = pdf.get(at..at + DIGITS) else { break };
        if name.iter().all(u8::is_ascii_digit) && pdf.get(at + DIGITS) == Some(&b')') {
            let (name, number) = (name.to_vec(), names.len());
            let number = *names.entry(name).or_insert(number);
            let own = format!("{number:0DIGITS$}");
            pdf[at..at + DIGITS].copy_from_slice(own.as_bytes());
        }
    }
    pdf
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_named_in_their_order() {
        let pdf = b"/ID (node00000065) [(node00000012)(node00000065)] (node7) (node000000".to_vec();
        let due = b"/ID (node00000000) [(node00000001)(node00000000)] (node7) (node000000".to_vec();
        assert_eq!(with_own_names(pdf), due);
    }

    #[test]
    fn a_pdf_is_dated_as_its_runs_are() {
        let pdf = |date: &str| {
            format!("%PDF-1.4\n/CreationDate (D:{date}+00'00')\n/ModDate (D:{date}+00'00')>>")
                .into_bytes()
        };
        let found = with_date(pdf("20261127154640"), Time(1_772_712_001_999));
        assert_eq!(found, pdf("20260305120001"));
        // Whatever else a browser writes there is left as it is.
        let other = b"%PDF-1.4\n/CreationDate (D:2026)".to_vec();
        assert_eq!(with_date(other.clone(), Time(0)), other);
    }

    #[test]
    fn errors_name_the_browser_and_what_to_do() {
        let browser = || PathBuf::from("/opt/chromium\u{1b}");
        let failed = || io::Error::other("no rights");
        let errors = [
            PrintError::NoBrowser,
            PrintError::NotThere { browser: browser() },
            PrintError::NotStarted { browser: browser(), source: failed() },
            PrintError::TooLong { browser: browser() },
            PrintError::NothingPrinted {
                browser: browser(),
                complaint: "it said nothing".to_owned(),
            },
            PrintError::Temporary(failed()),
        ];
        let said = errors.map(|error| error.to_string());
        let expected = [
            "no browser that prints to PDF is installed (Chromium, Chrome, Edge or Brave)",
            "CHROME_PATH: there is no program /opt/chromium\\u{1b}",
            "/opt/chromium\\u{1b} cannot be started: no rights",
            "/opt/chromium\\u{1b} did not end within 120 s",
            "/opt/chromium\\u{1b} printed no PDF: it said nothing",
            "a temporary file for the browser: no rights",
        ];
        assert_eq!(said, expected);
    }
}
