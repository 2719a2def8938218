//! Messages for the errors of everything but the log.

use super::{CliError, NOTHING_IMPORTED, Status};
use retold::audit::AuditError;
use retold::check::CheckError;
use retold::decide::{AgainError, DecideError, FilterError, ParamsError};
use retold::exchange::ImportError;
use retold::explain::explain;
use retold::jsonl::{JsonlError, JsonlProblem};
use retold::log::LogError;
use retold::model::openai::OpenAiError;
use retold::parse::registry::RegistryError;
use retold::run::{AbandonError, LookError, OutputError, OverBudget, Stop};
use retold::snapshot::SnapshotError;
use retold_study::config::ConfigError;
use retold_study::original::OriginalError;
use retold_study::phase::PhaseError;
use retold_study::shard::ShardingError;

impl From<OriginalError> for CliError {
    fn from(error: OriginalError) -> Self {
        let status = match error {
            OriginalError::Unreadable { .. } => Status::Io,
            _ => Status::Usage,
        };
        CliError::new(status, error.to_string()).hint(NOTHING_IMPORTED)
    }
}

impl From<OutputError> for CliError {
    fn from(error: OutputError) -> Self {
        match error {
            OutputError::Log(log) => log.into(),
            none @ OutputError::NoPart { .. } => CliError::usage(none.to_string()),
            other => CliError::usage(other.to_string()).hint(
                "the run may be from another release: `retold show RUN` says which one wrote it",
            ),
        }
    }
}

impl From<ConfigError> for CliError {
    fn from(error: ConfigError) -> Self {
        let status = match &error {
            ConfigError::Unreadable { .. } => Status::Io,
            _ => Status::Usage,
        };
        let is_outside = matches!(error, ConfigError::Outside { .. });
        let shown = CliError::new(status, error.to_string());
        match is_outside {
            true => shown
                .hint("nothing was read or asked: the text of such a file would be in prompts, and go to a server")
                .hint("if the config is your own or you have read it, add --trust; or name the file yourself with --set"),
            false => shown,
        }
    }
}

impl From<JsonlError> for CliError {
    fn from(error: JsonlError) -> Self {
        let message = error.to_string();
        match error.problem {
            JsonlProblem::Open(_) | JsonlProblem::Read(_) | JsonlProblem::Write(_) => {
                CliError::new(Status::Io, message)
            }
            // As for any recording that was cut off or changed, packed or not.
            JsonlProblem::Truncated | JsonlProblem::Spoilt { .. } => {
                CliError::new(Status::Difference, message)
            }
            JsonlProblem::Exists => CliError::usage(message)
                .hint("choose another name, or add --force to replace the file"),
            JsonlProblem::OfLog(_) => CliError::usage(message).hint("choose another name"),
            _ => CliError::usage(message),
        }
    }
}

impl From<ImportError> for CliError {
    fn from(error: ImportError) -> Self {
        match error {
            ImportError::File(e) => CliError::from(e).hint(NOTHING_IMPORTED),
            ImportError::Log(e) => e.into(),
            ImportError::NewerFormat { .. } => CliError::usage(error.to_string())
                .hint("install the release of retold that wrote it, or a later one")
                .hint(NOTHING_IMPORTED),
            ImportError::BrokenChain { .. }
            | ImportError::CutOff { .. }
            | ImportError::OtherHead { .. } => {
                CliError::new(Status::Difference, error.to_string()).hint(NOTHING_IMPORTED)
            }
            other => CliError::usage(other.to_string()).hint(NOTHING_IMPORTED),
        }
    }
}

impl From<OpenAiError> for CliError {
    fn from(error: OpenAiError) -> Self {
        CliError::usage(error.to_string())
    }
}

impl From<RegistryError> for CliError {
    fn from(error: RegistryError) -> Self {
        let RegistryError::BadParams { parser, given, source } = &error else {
            return CliError::usage(error.to_string());
        };
        let reason = explain(&source.to_string());
        let wrong =
            CliError::usage(format!("the settings of parser {parser} cannot be used: {reason}"));
        if *given { wrong } else { wrong.hint("give them with --params JSON") }
    }
}

impl From<DecideError> for CliError {
    fn from(error: DecideError) -> Self {
        match error {
            DecideError::Parser(e) => e.into(),
            DecideError::Filter(e) => e.into(),
            other => CliError::usage(other.to_string()),
        }
    }
}

impl From<FilterError> for CliError {
    fn from(error: FilterError) -> Self {
        let status = match error {
            FilterError::Interrupted { .. } => Status::Interrupted,
            FilterError::Unreadable { .. } | FilterError::Start { .. } => Status::Io,
            _ => Status::Usage,
        };
        let message = error.to_string();
        let hint = match error {
            FilterError::TimedOut { .. } => "give it longer with --parser-cmd-seconds N",
            FilterError::Held { .. } => "make it wait for the programs that it starts",
            FilterError::Disagrees { .. } => {
                "the second time, the answers come in the opposite order: each decision may only depend on its own answer"
            }
            FilterError::Output { .. } | FilterError::Count { .. } => {
                "for each line it reads, it writes {\"value\":..,\"method\":..,\"reasoning\":..,\"warnings\":[..]}"
            }
            _ => return CliError::new(status, message),
        };
        CliError::new(status, message).hint(hint)
    }
}

impl From<ParamsError> for CliError {
    fn from(error: ParamsError) -> Self {
        match error {
            ParamsError::File(e) => e.into(),
            other => CliError::usage(other.to_string()),
        }
    }
}

impl From<AgainError> for CliError {
    fn from(error: AgainError) -> Self {
        match error {
            AgainError::Log(e) => e.into(),
            AgainError::Decide(DecideError::Parser(e @ RegistryError::UnknownName { .. })) => {
                CliError::from(e)
                    .hint("if another program recorded the run, name a parser with --parser NAME@VERSION")
            }
            AgainError::Decide(e) => e.into(),
            AgainError::Filter { .. } => CliError::usage(error.to_string())
                .hint("if it is yours, give it with --parser-cmd COMMAND, or a parser with --parser NAME@VERSION"),
            AgainError::ParserFile { .. } => CliError::usage(error.to_string())
                .hint("give the file again: retold check RUN --parsers FILE"),
            other => CliError::usage(other.to_string()),
        }
    }
}

impl From<SnapshotError> for CliError {
    fn from(error: SnapshotError) -> Self {
        match error {
            SnapshotError::Again(e) => e.into(),
            SnapshotError::Import(e) => e.into(),
            SnapshotError::File { .. } => CliError::new(Status::Io, error.to_string()),
            SnapshotError::TooMany => {
                CliError::usage(error.to_string()).hint("choose some of them with --call CALL")
            }
            other => CliError::usage(other.to_string()),
        }
    }
}

impl From<CheckError> for CliError {
    fn from(error: CheckError) -> Self {
        match error {
            CheckError::Again(e) => e.into(),
            other => CliError::usage(other.to_string()),
        }
    }
}

impl From<AuditError> for CliError {
    fn from(error: AuditError) -> Self {
        match error {
            AuditError::Log(e) => e.into(),
            other => CliError::usage(other.to_string())
                .hint("name a decision by its call, CALL#SAMPLE, or its seq"),
        }
    }
}

impl From<AbandonError> for CliError {
    fn from(error: AbandonError) -> Self {
        match error {
            AbandonError::Log(e) => e.into(),
            other => CliError::usage(other.to_string()),
        }
    }
}

impl From<LookError> for CliError {
    fn from(error: LookError) -> Self {
        let message = error.to_string();
        match error {
            LookError::Log(e @ LogError::InUse { .. }) => CliError::from(e)
                .hint("the process that executes a run records each look at it: start it with --so-far")
                .hint("or stop it with Ctrl-C (nothing is lost), look, and continue it with --resume"),
            LookError::Log(e) => e.into(),
            LookError::Ended { run, .. } => CliError::usage(message)
                .hint(format!("`retold stats {}` shows it", run.short(8))),
            _ => CliError::usage(message),
        }
    }
}

impl From<ShardingError> for CliError {
    fn from(error: ShardingError) -> Self {
        let message = error.to_string();
        match error {
            ShardingError::Indivisible { .. } => {
                CliError::usage(message).hint("without --shard, one machine records all of it")
            }
            ShardingError::TooMany { count: 1, .. } => {
                CliError::usage(message).hint("without --shard, one machine records all of it")
            }
            ShardingError::TooMany { count, .. } => {
                CliError::usage(message).hint(format!("use at most {count} shards"))
            }
            ShardingError::DrawnSeed { key } => CliError::usage(message).hint(format!(
                "add it to the config, or give all shards the same one with --set {key}=1"
            )),
            _ => CliError::usage(message),
        }
    }
}

impl From<PhaseError> for CliError {
    fn from(error: PhaseError) -> Self {
        let message = error.to_string();
        match error {
            PhaseError::Unknown { shard: true, .. } => CliError::usage(message).hint(
                "later phases need the answers of all shards: `retold run --merge` makes one run of them, and `retold run \
                 --resume` continues it",
            ),
            _ => CliError::usage(message),
        }
    }
}

impl From<Stop> for CliError {
    fn from(stop: Stop) -> Self {
        let message = stop.to_string();
        match stop {
            Stop::Log(e) => e.into(),
            Stop::Diverged(_) => CliError::new(Status::Difference, message),
            Stop::Interrupted => CliError::new(Status::Interrupted, message),
            Stop::Model { failure, .. } => match failure.kind {
                retold::model::FailureKind::NoAnswer => CliError::usage(message),
                _ => CliError::new(Status::Model, message),
            },
            Stop::OverBudget(OverBudget::NoPrice { .. }) => CliError::usage(message)
                .hint("list it in a file like config/prices.yaml and give that with --prices FILE"),
            Stop::OverBudget(_) => CliError::new(Status::Model, message),
            Stop::Unreachable { .. } | Stop::Refused { .. } | Stop::LimitName { .. } => {
                CliError::new(Status::Model, message)
            }
            Stop::EndOfRecord => CliError::new(Status::Difference, message),
            // The run has ended for good, or the experiment is at fault.
            _ => CliError::usage(message),
        }
    }
}
