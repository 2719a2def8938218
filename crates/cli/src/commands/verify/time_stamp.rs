//! Times from outside: an authority signs when the seal of a run existed (RFC 3161).
//!
//! Times in a log come from the recorder's own clock, and a signer can write any time. An authority signs the present time alone, with
//! a key that nobody else has. It gets a hash of the seal and no more. `openssl` makes the request
//! and checks the reply, as `ssh-keygen` does with signatures; the reply is kept in the file of the seal, so that it can be
//! checked later without a network.

use std::fmt;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use data_encoding::BASE64;

use crate::error::{CliError, Status};
use retold::escaping::printable;
use retold::fetch::{FetchLimits, Posted, PublicUrl, fetch};
use retold::id::Time;
use retold::scratch_folder::ScratchFolder;

/// The line before a reply in the file of a seal.
pub(super) const BEGIN: &str = "-----BEGIN TIME STAMP REPLY-----";

/// The line after it.
const END: &str = "-----END TIME STAMP REPLY-----";

/// The characters of a line of it.
const WIDTH: usize = 70;

/// Replies have a few thousand bytes, most of them certificates.
const LIMITS: FetchLimits = FetchLimits { longest: 48 << 10, timeout: Duration::from_secs(30) };

/// What an authority replied, in DER.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TimeStamp(Vec<u8>);

/// The lines in the file of a seal.
impl fmt::Display for TimeStamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let encoded = BASE64.encode(&self.0);
        writeln!(f, "{BEGIN}")?;
        let mut rest = encoded.as_str();
        while !rest.is_empty() {
            let (line, more) = rest.split_at(WIDTH.min(rest.len()));
            writeln!(f, "{line}")?;
            rest = more;
        }
        writeln!(f, "{END}")
    }
}

impl TimeStamp {
    /// Reads the lines that [`TimeStamp`] is shown as, and nothing else.
    pub(super) fn parse(lines: &str) -> Option<Self> {
        let inner = lines.strip_prefix(BEGIN)?.trim_end().strip_suffix(END)?;
        let encoded: String = inner.split_whitespace().collect();
        BASE64.decode(encoded.as_bytes()).ok().map(TimeStamp)
    }

    /// Asks an authority to sign when a text existed; its reply has to check.
    pub(super) fn ask(
        authority: &PublicUrl,
        certificates: &Path,
        text: &str,
    ) -> Result<(Self, Time), CliError> {
        let folder = StampFolder::make(text)?;
        let asked = folder.openssl(["-query", "-data", TEXT, "-sha256", "-cert", "-out", QUERY])?;
        if !asked.status.success() {
            return Err(CliError::new(
                Status::Io,
                format!("openssl made no request for a time: {}", error_line(&asked)),
            ));
        }
        let query = std::fs::read(folder.path(QUERY)).map_err(folder_error)?;
        let posted = Posted { media_type: "application/timestamp-query", body: query };
        let reply = fetch(authority, Some(posted), LIMITS).map_err(|error| {
            CliError::new(Status::Io, format!("no time from outside: {error}"))
                .hint("nothing was written; without --time, the seal has no time from outside")
        })?;
        let stamp = TimeStamp(reply);
        // The request is compared, too: a reply to another one may be old.
        let time = stamp.verify(&folder, certificates, &["-queryfile", QUERY]);
        let time = time?.map_err(|why| {
            CliError::new(
                Status::Difference,
                format!("what {authority} replied does not hold: {why}"),
            )
            .hint(
                "--authority takes the certificates that vouch for it, in PEM; nothing was written",
            )
        })?;
        Ok((stamp, time))
    }

    /// When a text existed at the latest; what is wrong if the authority did not sign that.
    pub(super) fn check(
        &self,
        certificates: &Path,
        text: &str,
    ) -> Result<Result<Time, String>, CliError> {
        self.verify(&StampFolder::make(text)?, certificates, &["-data", TEXT])
    }

    fn verify(
        &self,
        folder: &StampFolder,
        certificates: &Path,
        against: &[&str],
    ) -> Result<Result<Time, String>, CliError> {
        std::fs::write(folder.path(REPLY), &self.0).map_err(folder_error)?;
        let shown = folder.openssl(["-reply", "-in", REPLY, "-text"])?;
        let text = String::from_utf8_lossy(&shown.stdout).into_owned();
        let Some(time) = text.lines().find_map(stamped_time) else {
            return Ok(Err(match text.lines().find_map(|line| line.strip_prefix("Status: ")) {
                Some(status) => format!("it refused: {}", printable(status, 100)),
                None => "it is not a time-stamp reply".to_owned(),
            }));
        };
        let unreadable = |error: std::io::Error| {
            CliError::new(Status::Io, format!("cannot read {}: {error}", certificates.display()))
        };
        std::fs::File::open(certificates).map_err(unreadable)?;
        let certificates = std::path::absolute(certificates).map_err(unreadable)?;
        let mut command = folder.command();
        command.args(["-verify", "-in", REPLY]).args(against).arg("-CAfile").arg(certificates);
        // The certificate must have been valid at that time; it may have expired since.
        command.args(["-attime", &time.0.div_euclid(1000).to_string()]);
        let checked = run(&mut command)?;
        Ok(match checked.status.success() {
            true => Ok(time),
            false => Err(error_line(&checked)),
        })
    }
}

const TEXT: &str = "text";
const QUERY: &str = "query";
const REPLY: &str = "reply";

/// The folder in which `openssl` reads and writes.
struct StampFolder(ScratchFolder);

impl StampFolder {
    fn make(text: &str) -> Result<Self, CliError> {
        let folder = StampFolder(ScratchFolder::make().map_err(folder_error)?);
        std::fs::write(folder.path(TEXT), text).map_err(folder_error)?;
        Ok(folder)
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn command(&self) -> Command {
        let mut command = Command::new("openssl");
        command.current_dir(self.0.path()).arg("ts");
        command
    }

    fn openssl<const N: usize>(&self, args: [&str; N]) -> Result<Output, CliError> {
        run(self.command().args(args))
    }
}

fn folder_error(error: std::io::Error) -> CliError {
    CliError::new(Status::Io, format!("a temporary folder for openssl: {error}"))
}

fn run(command: &mut Command) -> Result<Output, CliError> {
    command.output().map_err(|error| {
        CliError::new(Status::Io, format!("cannot run openssl: {error}"))
            .hint("it makes and checks times from outside: install OpenSSL 1.1.1 or later")
    })
}

/// The time in a line of `openssl ts -reply -text`, such as `Time stamp: Nov 30 17:13:21 2026 GMT`. Fractions of a second are
/// left out.
fn stamped_time(line: &str) -> Option<Time> {
    let shown = line.strip_prefix("Time stamp: ")?.trim().strip_suffix(" GMT")?;
    let (clock, year) = shown.rsplit_once(' ')?;
    let clock = clock.split_once('.').map_or(clock, |(whole, _)| whole);
    let time =
        jiff::civil::DateTime::strptime("%b %d %H:%M:%S %Y", format!("{clock} {year}")).ok()?;
    let time = time.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(Time(time.timestamp().as_millisecond()))
}

/// The reason in what `openssl` printed.
fn error_line(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let errors = text.lines().filter(|line| line.contains(":error:"));
    // The place in the source of OpenSSL is in between.
    let reason = |line: &str| {
        let parts: Vec<&str> = line.split(':').collect();
        let first = parts.get(5).copied().unwrap_or(line);
        let more = parts.get(8..).map(|rest| rest.join(": ")).unwrap_or_default();
        match more.trim().is_empty() {
            true => first.to_owned(),
            false => format!("{first}: {}", more.trim()),
        }
    };
    let reasons: Vec<String> = errors.map(reason).collect();
    match reasons.is_empty() {
        true => printable(text.lines().last().unwrap_or("openssl did not say why"), 300),
        false => printable(&reasons.join("; "), 300),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_as_openssl_prints_it() {
        let read = |line: &str| stamped_time(line).map(|time| time.to_string());
        let shown = read("Time stamp: Nov 30 17:13:21 2026 GMT");
        assert_eq!(shown.as_deref(), Some("2026-11-30T17:13:21.000Z"));
        let early = read("Time stamp: Jan  2 03:04:05.678 2031 GMT");
        assert_eq!(early.as_deref(), Some("2031-01-02T03:04:05.000Z"));
        assert_eq!(read("Time stamp: unspecified"), None);
        assert_eq!(read("Serial number: 0x02"), None);
    }

    #[test]
    fn a_reply_has_one_spelling() {
        let stamp = TimeStamp((0..200).collect());
        assert_eq!(TimeStamp::parse(&stamp.to_string()), Some(stamp.clone()));
        assert_eq!(TimeStamp::parse(&stamp.to_string().replace("END", "STOP")), None);
        assert_eq!(TimeStamp::parse(&stamp.to_string().replace('A', "!")), None);
    }
}
