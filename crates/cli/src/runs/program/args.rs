//! The options of the commands that run a program.

use std::ffi::OsString;
use std::path::Path;

use super::child;
use crate::again::words;
use crate::error::CliError;
use crate::redaction;
use retold_wire::{FailureReplay, Pace, RecordedRules, RedactionKey, Rules};

/// How a program's run is replayed.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct PlayingArgs {
    /// For a program's run: leave out failed attempts, so that the program gets only answers.
    #[arg(long, requires = "command")]
    skip_errors: bool,
    /// For a program's run: how fast streams are sent.
    #[arg(long, value_enum, default_value = "at-once", requires = "command")]
    pace: PaceArg,
    #[command(flatten)]
    pub(super) matching: MatchingArgs,
}

impl PlayingArgs {
    pub(super) fn playing(&self) -> Playing {
        Playing::new(self.skip_errors, self.pace)
    }
}

/// The program that is recorded or replayed.
#[derive(Debug, Clone)]
pub(crate) struct ProgramCommand {
    /// Its words, to be started or shown.
    pub(crate) words: Vec<OsString>,
    /// Whose process it is.
    pub(crate) process: ProgramProcess,
    /// Whether a line on the terminal shows the progress.
    pub(crate) has_progress: bool,
    /// Whether only the program's name is recorded.
    pub(crate) is_hidden: bool,
}

impl ProgramCommand {
    /// Refuses a program that cannot be started.
    pub(super) fn require_program(&self) -> Result<(), CliError> {
        match self.process {
            ProgramProcess::Child => child::require_program(&self.words),
            ProgramProcess::Parent => Ok(()),
        }
    }
}

/// Whose process a program is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProgramProcess {
    /// Ours: we start it.
    Child,
    /// It has started us, and speaks to us through our standard input and output.
    Parent,
}

/// Who starts whom.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct ProcessArgs {
    /// For libraries: CMD is running already, and has started retold. It gets our address as a line of
    /// JSON from our stdout, and sends {"exit_code": 0} to our stdin at its end; if stdin ends without
    /// that, the program has died. With VERSION, retold refuses a library of another version.
    #[arg(long, requires = "command", value_name = "VERSION", value_parser = same_version)]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = OWN_VERSION)]
    stdio: Option<LibraryVersion>,
}

const OWN_VERSION: &str = env!("CARGO_PKG_VERSION");

/// The version of a library that has started us: ours.
#[derive(Debug, Clone, Copy)]
struct LibraryVersion;

/// Refuses a library of another version, before anything is written: what it says and hears may be different.
fn same_version(library: &str) -> Result<LibraryVersion, OtherVersion> {
    match library == OWN_VERSION {
        true => Ok(LibraryVersion),
        false => Err(OtherVersion { library: library.to_owned() }),
    }
}

/// The library that has started us is of another release.
#[derive(Debug, thiserror::Error)]
#[error(
    "the library has version {library}, and this program has version {OWN_VERSION}: install both from one release, and let \
     RETOLD_PROGRAM name no other program"
)]
struct OtherVersion {
    library: String,
}

impl ProcessArgs {
    /// The program with these words.
    pub(crate) fn program(self, words: Vec<OsString>) -> ProgramCommand {
        let process = match self.stdio {
            Some(LibraryVersion) => ProgramProcess::Parent,
            None => ProgramProcess::Child,
        };
        ProgramCommand { words, process, has_progress: false, is_hidden: false }
    }
}

/// How recorded answers are looked for, besides what the run says about it.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct MatchingArgs {
    /// For a program's run: let a recorded answer serve all requests that are equal, as in `record`.
    #[arg(long, requires = "command")]
    pub(crate) shared: bool,
    /// For a program's run: one more field that does not count when a recorded answer is looked for, as in `record`. Can be repeated.
    #[arg(long, requires = "command", value_name = "FIELD")]
    pub(crate) ignore: Vec<String>,
    /// For a program's run: one more pattern, as in `record`: what matches in any text of a request counts as TEXT. Can be repeated.
    #[arg(long, requires = "command", value_name = "REGEX=TEXT")]
    pub(crate) replace: Vec<String>,
}

impl MatchingArgs {
    /// The rules that are added to those of the run.
    ///
    /// # Errors
    /// A rule that cannot be used.
    pub(super) fn added_rules(&self) -> Result<RecordedRules, CliError> {
        Ok(RecordedRules::parse(&self.ignore, &self.replace)?)
    }
}

#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
pub(crate) enum PaceArg {
    /// As fast as the program reads.
    #[default]
    AtOnce,
    /// As they arrived when they were recorded.
    Recorded,
}

impl From<PaceArg> for Pace {
    fn from(pace: PaceArg) -> Self {
        match pace {
            PaceArg::AtOnce => Pace::AtOnce,
            PaceArg::Recorded => Pace::Recorded,
        }
    }
}

/// How recorded answers are sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Playing {
    /// What becomes of failed attempts.
    pub(crate) failures: FailureReplay,
    /// How fast streams are sent.
    pub(crate) pace: Pace,
}

impl Playing {
    pub(crate) fn new(skip_errors: bool, pace: PaceArg) -> Self {
        let failures = if skip_errors { FailureReplay::LeftOut } else { FailureReplay::Sent };
        Playing { failures, pace: pace.into() }
    }
}

/// The options that are given, to be typed again.
pub(super) fn flags(matching: &MatchingArgs, retry_failed: bool, watch: bool) -> Vec<String> {
    let MatchingArgs { shared, ignore, replace } = matching;
    let all = [("--shared", *shared), ("--retry-failed", retry_failed), ("--watch", watch)];
    let all = all.into_iter().filter(|(_, is_given)| *is_given).map(|(name, _)| name.to_owned());
    let rules = |flag: &'static str, all: &[String]| {
        all.iter().flat_map(move |rule| [flag.to_owned(), rule.clone()]).collect::<Vec<_>>()
    };
    // A rule that cannot be typed is left to the user, who has just typed it.
    let rules = words(&[rules("--ignore", ignore), rules("--replace", replace)].concat());
    all.chain(rules.filter(|it| !it.is_empty())).collect()
}

/// Programs whose host is written into them, and what goes past retold.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct InterceptArgs {
    /// For a program whose host is written into it: set HTTPS_PROXY for it, and open its connections
    /// to known providers with a certificate that only it trusts. Other hosts are reached as they
    /// are, and refused in a replay; both are named at the end.
    #[arg(long, requires = "command")]
    pub(super) intercept: bool,
    /// With --intercept: also open connections to this host, and send its requests to URL if one is
    /// given. Can be repeated.
    #[arg(long = "host", value_name = "NAME[=URL]", requires = "intercept")]
    pub(super) hosts: Vec<String>,
    /// Count what the program asks past retold: set HTTPS_PROXY and HTTP_PROXY for it, and pass all
    /// connections on as they are, through your own proxy if you have one. In a replay, those to
    /// known providers are refused, and so are requests without TLS that look like requests to
    /// models.
    #[arg(long, requires = "command")]
    pub(super) watch: bool,
}

/// What of a request counts.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct RulesArgs {
    /// A field of requests that changes from run to run and does not count when a recorded answer is
    /// looked for, such as metadata.sent_at or messages.*.id. Can be repeated.
    #[arg(long, value_name = "FIELD")]
    pub(crate) ignore: Vec<String>,
    /// What matches in any text of a request counts as TEXT, such as a time or a temporary path. Can
    /// be repeated.
    #[arg(long, value_name = "REGEX=TEXT")]
    pub(crate) replace: Vec<String>,
    /// Take what matches out of everything that is stored (requests, answers, reports), such as
    /// names and addresses. The model and the program get it. Equal values get equal placeholders,
    /// made with a key that is kept in LOG-key beside the log; only with that file can a replay
    /// match requests that have such a value. Can be repeated.
    #[arg(long, value_name = "REGEX")]
    pub(crate) redact: Vec<String>,
    /// Ask equal requests only once, and let them share the answer: for embeddings, or at
    /// temperature 0.
    #[arg(long)]
    pub(crate) shared: bool,
}

impl RulesArgs {
    /// Whether something is taken out of what is stored.
    pub(super) fn redacts(&self) -> bool {
        !self.redact.is_empty()
    }

    /// Refuses rules that cannot be used.
    pub(super) fn check(&self) -> Result<(), CliError> {
        self.with(&RedactionKey::new([0; 32])).map(drop)
    }

    /// The rules, with the key of this log if they take anything out.
    pub(super) fn rules(&self, log: &Path) -> Result<Rules, CliError> {
        match self.redact.is_empty() {
            true => Ok(Rules::parse(&self.ignore, &self.replace)?),
            false => self.with(&redaction::own(log)?),
        }
    }

    fn with(&self, key: &RedactionKey) -> Result<Rules, CliError> {
        Ok(Rules::parse(&self.ignore, &self.replace)?.redacting(&self.redact, key)?)
    }
}
