//! How far the verdicts of judges that a figure counts agree with what people say.

use std::fmt;

use retold::escaping::printable;
use retold::id::RunId;
use retold::log::{LogError, Reader};
use retold::parse::Parsers;
use serde::Serialize;

use crate::agreement::{Agreement, MeasurementLevel, RatedAnswers, coefficient_text};

/// The longest name that is shown.
const LONGEST: usize = 60;

/// The agreement of judges with people, about the answers of one run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgeAgreement {
    /// The run, if the figure has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The name of the decisions.
    pub name: String,
    /// Krippendorff's alpha of judges and people, if it can be given.
    pub alpha: Option<Agreement>,
    /// How many answers have both a verdict and a label.
    pub answers: u64,
}

impl JudgeAgreement {
    /// That of a run.
    ///
    /// # Errors
    /// [`LogError`] if the run cannot be read.
    pub(super) fn read(
        reader: &mut dyn Reader,
        (run, shown): (RunId, Option<&str>),
        name: &str,
        parsers: &Parsers,
    ) -> Result<Self, LogError> {
        let rated = RatedAnswers::read(reader, run, parsers)?;
        let found = rated.judges_and_people(name).map(|choice| {
            let of = |level| rated.agreement(&choice, level);
            let found = of(MeasurementLevel::Interval);
            // Verdicts that are no numbers are the same or not.
            if found.not_numbers > 0 { of(MeasurementLevel::Nominal) } else { found }
        });
        let (alpha, answers) = found.map_or((None, 0), |found| (found.alpha, found.rated));
        let (run, name) = (shown.map(str::to_owned), name.to_owned());
        Ok(JudgeAgreement { run, name, alpha, answers })
    }
}

impl fmt::Display for JudgeAgreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let JudgeAgreement { run, name, alpha, answers } = self;
        if let Some(run) = run {
            write!(f, "{}: ", printable(run, LONGEST))?;
        }
        write!(f, "{} is a judge's verdict and ", printable(name, LONGEST))?;
        match answers {
            0 => {
                f.write_str("was compared with nobody's label: `retold score label` asks a person")
            }
            n => write!(f, "agrees with people: alpha {}, n = {n}", coefficient_text(*alpha)),
        }
    }
}
