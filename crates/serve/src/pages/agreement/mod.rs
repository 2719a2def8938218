//! How well those agree who decided about the answers of a run, and the answers about which they do not.

mod asked;
mod csv;
mod shown;

use std::sync::Arc;

use retold::counted::group_digits;
use retold::exchange::decides_about;
use retold::id::RunId;
use retold::log::LogError;
use retold_figures::SIMULATED_VERDICTS;
use retold_figures::agreement::{RatedAnswers, RatedPlace, RaterError};
use serde::Serialize;

use self::asked::{AskedAgreement, LabelChoices, LevelChoice, NameChoice};
use self::shown::{AgreementView, RatedView};
use super::outcome::MOST_IN_FILE;
use super::{PageReply, RunPageRequest};
use crate::agreement::RunAgreement;
use crate::error::PageError;
use crate::job::JobState;
use crate::job_error::JobError;
use crate::runs::Notice;

pub(super) use csv::csv;

/// Answers on one page.
const MOST: usize = 25;

/// The keys of its query.
pub(super) const KEYS: &[&str] = &["name", "label", "level", "skip"];

#[derive(Serialize, Default)]
struct AgreementPage<'a> {
    /// The names of decisions to choose from.
    names: Vec<NameChoice>,
    /// The labels of calls to choose from.
    labels: Vec<LabelChoices>,
    levels: Vec<LevelChoice>,
    /// `None` while it is computed, and if there is none.
    agreement: Option<AgreementView<'a>>,
    /// Why there is none.
    none: Option<String>,
    /// A part of the answers with two values or more: those about which raters disagree come first.
    rated: Vec<RatedView>,
    /// From which of them on they are shown.
    from: usize,
    first: Option<String>,
    previous: Option<String>,
    next: Option<String>,
    /// The address of them as a file, and how many it has.
    csv: String,
    in_file: usize,
    /// Up to which event the run is read for it, if that is not the last.
    end: Option<u64>,
}

/// How far the comparison has come.
enum Compared {
    Pending,
    /// There is nothing to compare, or what there is cannot be read.
    None(String),
    Known(Arc<RatedAnswers>, Arc<RunAgreement>),
}

impl RunPageRequest<'_> {
    /// The run whose answers a run of accepted decisions is about, if the log has it.
    fn decides_about(&mut self) -> Result<Option<RunId>, LogError> {
        let started = retold::run::run_start(self.reader.as_mut(), self.head.run)?;
        let Some(of) = decides_about(&started) else { return Ok(None) };
        Ok(self.reader.runs()?.iter().any(|head| head.run == of).then_some(of))
    }

    /// The comparison that a query asks for. What there is to choose from is filled in as soon as it is known.
    fn compare(&self, data: &mut AgreementPage<'_>) -> Result<Compared, PageError> {
        let site = &self.asked.site;
        let end = site.computed_end(&self.head, !self.info.can_grow());
        data.end = (end < self.head.head.seq).then_some(end.0);
        let rated = match site.rated_answers(&self.head, end, self.runs) {
            JobState::Running(_) => return Ok(Compared::Pending),
            JobState::Failed(why) => return Ok(Compared::None(unread(&why))),
            JobState::Done(rated) => rated,
        };
        let asked = AskedAgreement::new(&self.asked.query, &rated)?;
        (data.names, data.labels, data.levels) = (asked.names, asked.labels, asked.levels);
        let key = (self.head.run, end, self.runs, asked.of);
        match site.agreement(&rated, key) {
            Ok(JobState::Running(_)) => Ok(Compared::Pending),
            Ok(JobState::Failed(why)) => Ok(Compared::None(unread(&why))),
            Ok(JobState::Done(found)) => Ok(Compared::Known(rated, found)),
            Err(error @ (RaterError::NoDecisions { .. } | RaterError::NothingInCommon { .. })) => {
                Ok(Compared::None(error.to_string()))
            }
            Err(error) => Err(PageError::BadRequest(error.to_string())),
        }
    }
}

fn unread(why: &JobError) -> String {
    format!("the decisions cannot be compared: {why}")
}

/// The answers with two values or more, those about which raters disagree first.
fn places(agreement: &RunAgreement) -> impl Iterator<Item = (RatedPlace, bool)> {
    let differing = agreement.found.differing.iter().map(|place| (*place, true));
    differing.chain(agreement.found.agreed.iter().map(|place| (*place, false)))
}

pub(super) fn page(mut of: RunPageRequest<'_>) -> Result<PageReply, PageError> {
    let query = &of.asked.query.clone();
    let from = query.parse::<usize>("skip")?.unwrap_or(0);
    // If the beginning cannot be read, the notices say so.
    if let Ok(Some(about)) = of.decides_about() {
        return Ok(PageReply::Elsewhere(format!("/run/{about}/agreement{}", query.with(&[]))));
    }
    let mut data = AgreementPage { from, ..AgreementPage::default() };
    let title = "Agreement".to_owned();
    let (rated, agreement) = match of.compare(&mut data)? {
        Compared::Pending => return of.page("agreement", title, true, data),
        Compared::None(why) => {
            data.none = Some(why);
            return of.page("agreement", title, false, data);
        }
        Compared::Known(rated, agreement) => (rated, agreement),
    };
    let all = agreement.found.differing.len() + agreement.found.agreed.len();
    for (place, differs) in places(&agreement).skip(from).take(MOST) {
        let ratings = rated.ratings(of.reader.as_mut(), &agreement.choice, place)?;
        let href = of.href(&format!("/exchange/{}", place.0));
        data.rated.push(RatedView::new(ratings, differs, href));
    }
    let to = |at: usize| query.with(&[("skip", Some(&at.to_string()))]);
    data.first = (from > 0).then(|| query.with(&[("skip", None)]));
    data.previous = (from > 0).then(|| to(from.saturating_sub(MOST)));
    data.next = (from + MOST < all).then(|| to(from + MOST));
    data.csv =
        of.href(&format!("/agreement.csv{}", query.with(&[("skip", None), ("format", None)])));
    data.in_file = all.min(MOST_IN_FILE);
    data.agreement = Some(AgreementView::new(&agreement.found));
    let mut notices = Vec::new();
    if agreement.found.simulated {
        notices.push(Notice::warning(SIMULATED_VERDICTS.to_owned()));
    }
    if agreement.found.not_numbers > 0 {
        let text = match agreement.found.not_numbers {
            1 => "1 value is not a number, and is left out of alpha.".to_owned(),
            many => {
                format!("{} values are not numbers, and are left out of alpha.", group_digits(many))
            }
        };
        notices.push(Notice::warning(text));
    }
    of.page_with("agreement", title, false, notices, data)
}
