//! The decisions about an answer that were accepted since its run, and are in force.

use retold::decided::CallDecisions;
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
    /// Finds the decisions about the answers of the run.
    pub(super) fn call_decisions(&mut self) -> Result<CallDecisions, PageError> {
        Ok(CallDecisions::open(self.reader.as_mut(), self.head.run)?)
    }

    /// Those about the answer to a call.
    pub(super) fn accepted(
        &mut self,
        decisions: &CallDecisions,
        call: &CallPath,
        sample: Sample,
    ) -> Result<Vec<AcceptedView>, PageError> {
        let all = decisions.about(self.reader.as_mut(), (call, sample))?;
        let run = self.head.run;
        let accepted = all.into_iter().filter(|decision| decision.in_force && decision.run != run);
        let shown = accepted.map(|decision| AcceptedView {
            name: excerpt(decision.made.by.decides(), SHOWN),
            value: excerpt(&decision.made.details.value.to_string(), SHOWN),
            method: excerpt(&decision.made.by.method, SHOWN),
            run: decision.run.short(8),
            href: format!("/run/{}/event/{}", decision.run, decision.seq),
        });
        Ok(shown.collect())
    }
}
