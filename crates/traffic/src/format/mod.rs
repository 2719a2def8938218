//! The formats that are read, our cassettes and those of other tools, one file each, and how they are recognised.

pub(crate) mod batch;
pub(crate) mod cassette;
pub(crate) mod har;
pub(crate) mod inspect;
pub(crate) mod llm;
pub(crate) mod nock;
pub(crate) mod otlp;
mod recognised;
pub(crate) mod vcr;

use std::fmt;

use crate::error::FileProblem;

/// Where something is wrong: the path of a field, and its line if that is known.
pub(crate) type Placed<T> = Result<T, (Option<String>, FileProblem)>;

/// A format of another tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Input, output and error files of OpenAI's Batch API.
    Batch,
    /// Cassettes of retold.
    Cassette,
    /// HTTP Archives.
    Har,
    /// Logs of Inspect AI.
    Inspect,
    /// The log of `llm`, an SQLite file.
    Llm,
    /// Recordings of nock, lists of JSON.
    Nock,
    /// Traces of OpenTelemetry, in the JSON of OTLP.
    Otlp,
    /// Cassettes of Ruby's VCR and of Betamax, in YAML or JSON.
    Vcr,
    /// Cassettes of vcrpy, in YAML or JSON.
    Vcrpy,
}

impl Format {
    /// Each of them, in the order in which they are tried.
    pub const ALL: [Format; 9] = [
        Format::Cassette,
        Format::Vcrpy,
        Format::Vcr,
        Format::Har,
        Format::Nock,
        Format::Batch,
        Format::Inspect,
        Format::Otlp,
        Format::Llm,
    ];

    /// Its name, as `--format` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Format::Batch => "batch",
            Format::Cassette => "cassette",
            Format::Har => "har",
            Format::Inspect => "inspect",
            Format::Llm => "llm",
            Format::Nock => "nock",
            Format::Otlp => "otlp",
            Format::Vcr => "vcr",
            Format::Vcrpy => "vcrpy",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
