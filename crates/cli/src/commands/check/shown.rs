//! Shows what checking runs gave, one run after the other.

use serde_json::{Value, json};

use super::Args;
use super::results::{CheckResults, object, text};
use crate::error::{CliError, Status};
use crate::output::{Output, OutputList, count_of};
use crate::select;

/// The results of checks, as they are shown.
pub(super) struct ShownChecks<'a> {
    args: &'a Args,
    output: &'a Output,
    are_several: bool,
    /// Runs without an answer to decide about. If there are no others, that is an error, so these are shown only when there is one.
    empty: Vec<CheckResults>,
    printed: ShownSoFar<'a>,
    fails: bool,
}

/// The output so far.
enum ShownSoFar<'a> {
    Nothing,
    Text,
    /// The object for one run.
    Object(Value),
    /// The beginning of the object for several.
    List(OutputList<'a>),
}

impl<'a> ShownChecks<'a> {
    pub(super) fn new(args: &'a Args, output: &'a Output, are_several: bool) -> Self {
        let (empty, printed) = (Vec::new(), ShownSoFar::Nothing);
        ShownChecks { args, output, are_several, empty, printed, fails: false }
    }

    /// Shows the results of a run.
    pub(super) fn add(&mut self, checked: CheckResults) -> Result<(), CliError> {
        if checked.is_empty() && matches!(self.printed, ShownSoFar::Nothing) {
            self.empty.push(checked);
            return Ok(());
        }
        for checked in std::mem::take(&mut self.empty).into_iter().chain([checked]) {
            self.fails |= checked.fails(self.args);
            self.print(&checked)?;
        }
        Ok(())
    }

    fn print(&mut self, checked: &CheckResults) -> Result<(), CliError> {
        if !self.output.is_json() {
            let simulated = if checked.source.simulated { select::SIMULATED } else { "" };
            let between = if let ShownSoFar::Text = self.printed { "\n" } else { "" };
            self.printed = ShownSoFar::Text;
            return self
                .output
                .text(&format!("{between}{simulated}{}", text(checked, self.args.most)));
        }
        match &mut self.printed {
            ShownSoFar::List(list) => list.add(&object(checked)),
            _ if self.are_several => {
                let mut list = self.output.list("checks")?;
                list.add(&object(checked))?;
                self.printed = ShownSoFar::List(list);
                Ok(())
            }
            _ => {
                self.printed = ShownSoFar::Object(object(checked));
                Ok(())
            }
        }
    }

    /// Shows the lines of settings that no answer needed, or says why there was nothing to check.
    pub(super) fn end(
        self,
        ended: Result<(), CliError>,
        unused: &[usize],
        nothing: impl Fn(&CheckResults) -> CliError,
    ) -> Result<Status, CliError> {
        let others = match unused {
            [] => json!({}),
            lines => json!({"unused_params": lines}),
        };
        match self.printed {
            ShownSoFar::Nothing => {
                ended?;
                if let Some(first) = self.empty.first() {
                    return Err(nothing(first));
                }
            }
            ShownSoFar::Text => {
                ended?;
                if let Some(first) = unused.first() {
                    let lines = count_of(unused.len() as u64, "line");
                    self.output.text(&format!(
                        "settings that no answer needed: {lines}, first line {first}\n"
                    ))?;
                }
            }
            ShownSoFar::Object(mut object) => {
                ended?;
                if let (Value::Object(fields), Value::Object(others)) = (&mut object, others) {
                    fields.extend(others);
                }
                self.output.object(&object)?;
            }
            ShownSoFar::List(list) => match ended {
                Ok(()) => list.end(others)?,
                Err(error) => {
                    list.end(error.as_json())?;
                    return Err(error);
                }
            },
        }
        Ok(if self.fails { Status::Difference } else { Status::Fine })
    }
}
