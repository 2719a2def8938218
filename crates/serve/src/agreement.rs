//! How well those agree who decided about a run's answers, computed in the background.

use std::sync::Arc;

use retold::id::{RunId, Seq};
use retold::log::RunHead;
use retold_figures::agreement::{
    MeasurementLevel, PairedRaters, RatedAnswers, RaterError, RatingChoice,
};

use crate::job::JobState;
use crate::site::Site;

/// A comparison: names of decisions, labels of calls, and the level of measurement.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct AgreementOf {
    pub(crate) names: Vec<String>,
    pub(crate) labels: Vec<(String, String)>,
    pub(crate) level: MeasurementLevel,
}

/// By run, the event up to which it is read, and the number of runs in the log.
pub(crate) type AgreementKey = (RunId, Seq, usize, AgreementOf);

/// How well raters agree, and the ratings that were compared.
pub(crate) struct RunAgreement {
    pub(crate) choice: RatingChoice,
    pub(crate) found: PairedRaters,
}

impl Site {
    /// What everybody decided about the answers of a run, up to an event.
    pub(crate) fn rated_answers(
        self: &Arc<Self>,
        head: &RunHead,
        end: Seq,
        runs: usize,
    ) -> JobState<RatedAnswers> {
        let (site, head) = (self.clone(), head.clone());
        self.rated.stand((head.run, end, runs), move |_| {
            let mut reader = site.reader_to(&head, end)?;
            Ok(RatedAnswers::read(reader.as_mut(), head.run, site.studies.parsers())?)
        })
    }

    /// How well raters agree.
    ///
    /// # Errors
    /// [`RaterError`] if they cannot be compared.
    pub(crate) fn agreement(
        self: &Arc<Self>,
        rated: &Arc<RatedAnswers>,
        key: AgreementKey,
    ) -> Result<JobState<RunAgreement>, RaterError> {
        let of = &key.3;
        let (choice, level) = (rated.choice(&of.names, &of.labels)?, of.level);
        let rated = rated.clone();
        Ok(self.agreements.stand(key, move |_| {
            let found = rated.agreement(&choice, level);
            Ok(RunAgreement { choice, found })
        }))
    }
}
