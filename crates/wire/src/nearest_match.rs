//! Why a request has no recorded answer, in words.

use std::fmt;

use retold::escaping::printable;
use retold::id::{CallPath, Seq};

use crate::chance_look::ChanceLook;

/// The longest name of a call or a field, in characters.
const LONGEST: usize = 100;

/// The longest options that are shown, in characters.
const LONGEST_OPTIONS: usize = 1000;

/// The longest stack that is shown, in characters.
const LONGEST_STACK: usize = 500;

/// A request that is not recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearestMatch {
    /// The call that it would have been.
    pub call: CallPath,
    /// Method, upstream and path, as in `POST openai/v1/chat/completions`.
    pub asked: String,
    /// Why there is nothing for it.
    pub why: Why,
    /// What the difference looks like, where it looks like chance.
    pub look: Option<ChanceLook>,
    /// Whether the draws of the run are recorded.
    pub is_chance_recorded: bool,
    /// Where in the program it was made, if the program says so: the innermost place first.
    pub stack: Option<String>,
    /// The rules under which it was compared, if there are any.
    pub rules: String,
    /// If the key of the run's redactions is not known: where it was looked for.
    pub lacks_key: Option<String>,
}

/// Why there is no recorded answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// It was asked more often than it is recorded.
    Exhausted {
        /// How often it is recorded.
        samples: usize,
    },
    /// It is recorded without an answer.
    Unanswered {
        /// Whether failures are recorded, which are left out.
        failed: bool,
    },
    /// It differs from the recorded requests.
    Differs {
        /// The nearest recorded question.
        nearest: Seq,
        /// Its call.
        call: CallPath,
        /// The first field that differs, as a path.
        field: String,
        /// How many fields differ.
        fields: usize,
        /// Its recorded value; `None` if it had none.
        recorded: Option<String>,
        /// Its value now; `None` if it has none.
        now: Option<String>,
        /// Options under which the two are equal, if what differs looks like ids, times or paths.
        options: Vec<String>,
    },
    /// Nothing is recorded that it could be compared with.
    Nothing,
    /// It is a call of a tool, and no call of any is recorded.
    NoTools,
    /// There were too many misses to compare them all.
    NotCompared,
    /// It cannot be asked, for this reason, and is not recorded as refused, either.
    Refused(String),
}

impl fmt::Display for NearestMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let call = printable(self.call.as_str(), LONGEST);
        match &self.why {
            Why::Exhausted { samples: 1 } => {
                write!(f, "{call} is recorded once, and was asked again")?
            }
            Why::Exhausted { samples } => {
                write!(f, "{call} is recorded {samples} times, and was asked once more")?;
            }
            Why::Unanswered { failed: true } => {
                write!(f, "of {call} only failures are recorded, which were skipped")?;
            }
            Why::Unanswered { failed: false } => write!(f, "{call} is recorded without an answer")?,
            Why::Nothing => write!(f, "{call} is not recorded, and neither is any other request")?,
            Why::NoTools => write!(
                f,
                "{call} is not recorded, and neither is any other call of a tool: record the run again, with its tools"
            )?,
            Why::NotCompared => write!(f, "{call} is not recorded")?,
            Why::Refused(why) => write!(f, "{call} is not recorded: {}", printable(why, 300))?,
            Why::Differs {
                nearest,
                call: recorded_call,
                field,
                fields,
                recorded,
                now,
                options,
            } => {
                let (field, recorded_call) =
                    (printable(field, LONGEST), printable(recorded_call.as_str(), LONGEST));
                let more = match fields - 1 {
                    0 => String::new(),
                    1 => " (and 1 more field)".to_owned(),
                    n => format!(" (and {n} more fields)"),
                };
                writeln!(
                    f,
                    "{call} is not recorded; the nearest recorded request is seq {nearest} ({recorded_call})"
                )?;
                writeln!(f, "first difference at {field}{more}")?;
                let absent = "(not given)".to_owned();
                writeln!(f, "  recorded  {}", recorded.as_ref().unwrap_or(&absent))?;
                write!(f, "  asked now {}", now.as_ref().unwrap_or(&absent))?;
                if !options.is_empty() {
                    let options = printable(&options.join(" "), LONGEST_OPTIONS);
                    write!(
                        f,
                        "\nwhat differs looks like ids, times or paths; with these options it does not count:\n  {options}"
                    )?;
                }
            }
        }
        if let Some(look) = self.look {
            write!(f, "\n{}", look.advice(self.is_chance_recorded))?;
        }
        if let Some(stack) = &self.stack {
            write!(f, "\nasked at {}", printable(stack, LONGEST_STACK))?;
        }
        if !self.rules.is_empty() {
            write!(f, "\ncompared under the run's rules: {}", printable(&self.rules, 500))?;
        }
        if let Some(place) = &self.lacks_key {
            write!(
                f,
                "\nthe run was recorded with --redact, and its key is not in {}: a request with a redacted value is \
                 not found without it",
                printable(place, 500)
            )?;
        }
        Ok(())
    }
}
