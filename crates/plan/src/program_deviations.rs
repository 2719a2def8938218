//! How the calls of a program differ from its plan. A program has no settings that could be compared before it runs: what it
//! asked is known from its run alone.

use retold::counted::{count_of, group_digits};
use retold::escaping::printable;
use retold::id::RunId;
use retold::log::{LogError, Reader};
use retold::model::Prices;
use retold::parse::registry::Parsers;
use retold::totals::Totals;

use crate::deviation::{Deviation, DeviationKind};
use crate::registered::RegisteredPlan;

/// How much of a model's name is shown, in characters.
const SHOWN: usize = 80;

/// Models that the plan does not have, and another number of calls.
///
/// # Errors
/// [`LogError`] if the run cannot be read.
pub(crate) fn program_deviations(
    plan: &RegisteredPlan,
    reader: &mut dyn Reader,
    run: RunId,
    parsers: &Parsers,
) -> Result<Vec<Deviation>, LogError> {
    let figures = Totals::read(reader, run, &Prices::default())?.figures(parsers);
    let calls = figures.models.iter().map(|(model, of)| (model, of.counts.calls.asked));
    let mut deviations = Vec::new();
    if !plan.models.is_empty() {
        let planned = printable(&plan.models.join(", "), SHOWN);
        for (model, asked) in calls.filter(|(model, _)| !plan.models.contains(model)) {
            let (model, calls) = (printable(model, SHOWN), count_of(asked, "call"));
            let how = format!("{calls} went to {model}, planned {planned}");
            deviations.push(Deviation::new(DeviationKind::Model, how));
        }
    }
    let asked = figures.all.counts.calls.asked;
    if let Some(planned) = plan.calls.filter(|planned| *planned != asked) {
        let how = format!("{}, planned {}", count_of(asked, "call"), group_digits(planned));
        deviations.push(Deviation::new(DeviationKind::Size, how));
    }
    Ok(deviations)
}
