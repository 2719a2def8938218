//! The compared answers as a file: those of all pages, in the order in which they are shown.

use std::collections::BTreeSet;

use super::{AgreementPage, Compared, MOST_IN_FILE, places};
use crate::decision_columns::plain;
use crate::error::PageError;
use crate::pages::csv_file::CsvFile;
use crate::pages::{PageReply, RunPageRequest};

pub(in crate::pages) fn csv(mut of: RunPageRequest<'_>) -> Result<PageReply, PageError> {
    of.trusted_for_a_file("the page of agreement")?;
    let (rated, agreement) = match of.compare(&mut AgreementPage::default())? {
        Compared::Pending => return Err(PageError::StillRead),
        Compared::None(why) => return Err(PageError::NotFound(why)),
        Compared::Known(rated, agreement) => (rated, agreement),
    };
    let names: BTreeSet<&str> = rated.labels().map(|(name, _)| name).collect();
    let raters: Vec<&str> =
        agreement.found.raters.iter().map(|rater| rater.rater.as_str()).collect();
    let mut headings = vec!["call", "sample", "choice", "answer_seq"];
    headings.extend(&names);
    headings.extend(&raters);
    headings.extend(["differ", "answer"]);
    let mut table = CsvFile::new("agreement", headings);
    for (place, differs) in places(&agreement).take(MOST_IN_FILE) {
        let found = rated.ratings(of.reader.as_mut(), &agreement.choice, place)?;
        let mut row = vec![
            found.call,
            found.sample.to_string(),
            found.choice.to_string(),
            found.seq.to_string(),
        ];
        row.extend(names.iter().map(|name| found.labels.get(*name).cloned().unwrap_or_default()));
        row.extend(
            raters.iter().map(|rater| found.values.get(*rater).map(plain).unwrap_or_default()),
        );
        row.extend([differs.to_string(), found.text]);
        table.row(row.iter().map(String::as_str));
    }
    of.file(table)
}
