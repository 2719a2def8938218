//! The decisions about an answer that were accepted since its run, and are in force.

use retold::decided::accepted_decisions;
use retold::id::{CallPath, Sample};
use serde::Serialize;

use super::RunPageRequest;
use crate::error::PageError;
use retold::escaping::excerpt;

/// How much of a value is shown.
const SHOWN: usize = 300;

/// A decision that was accepted since, as pages show it.
#[derive(Serialize)]
pub(super) struct AcceptedView {
    name: String,
    value: String,
    method: String,
    run: String,
    href: String,
}

impl RunPageRequest<'_> {
    /// Those about the answer to a call.
    pub(super) fn accepted(
        &mut self,
        call: &CallPath,
        sample: Sample,
    ) -> Result<Vec<AcceptedView>, PageError> {
        let run = self.head.run;
        let all = accepted_decisions(self.reader.as_mut(), run, (call, sample))?;
        let in_force = all.into_iter().filter(|decision| decision.in_force);
        let shown = in_force.map(|decision| AcceptedView {
            name: excerpt(decision.made.by.decides(), SHOWN),
            value: excerpt(&decision.made.details.value.to_string(), SHOWN),
            method: excerpt(&decision.made.by.method, SHOWN),
            run: decision.run.short(8),
            href: format!("/run/{}/event/{}", decision.run, decision.seq),
        });
        Ok(shown.collect())
    }
}
