//! Tables of pages as files for other programs.

use std::borrow::Cow;

use retold::escaping::spreadsheet_cell;
use retold_archive::Damage;
use retold_study::table::Table;

use super::{PageReply, RunPageRequest};
use crate::error::PageError;
use crate::query::part;

/// A table on its way to a file that people open in a spreadsheet.
pub(super) struct CsvFile(Table);

impl CsvFile {
    pub(super) fn new<'a>(name: &str, headings: impl IntoIterator<Item = &'a str>) -> Self {
        let headings: Vec<Cow<'a, str>> = headings.into_iter().map(spreadsheet_cell).collect();
        let headings: Vec<&str> = headings.iter().map(AsRef::as_ref).collect();
        CsvFile(Table::new(name, &headings))
    }

    pub(super) fn row<'a>(&mut self, cells: impl IntoIterator<Item = &'a str>) {
        self.0.row(cells.into_iter().map(spreadsheet_cell));
    }
}

impl RunPageRequest<'_> {
    /// Refuses a file about a damaged run: a file has no banner.
    ///
    /// # Errors
    /// [`PageError::Untrusted`], which names the page that shows it.
    pub(super) fn trusted_for_a_file(&self, page: &str) -> Result<(), PageError> {
        let Some(Damage { seq: from, fault }) = self.asked.site.damage(&self.head) else {
            return Ok(());
        };
        let message = format!(
            "this table is only shown on {page}: from event {from} on, the run cannot be trusted: {fault}"
        );
        Err(PageError::Untrusted { message, last_good: None })
    }

    /// A table as a file.
    pub(super) fn file(&self, CsvFile(table): CsvFile) -> Result<PageReply, PageError> {
        let name = format!("{}-{}.csv", table.name(), part(&self.info.short));
        let bytes = table.csv().bytes().map_err(|error| PageError::NotFound(error.to_string()))?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(PageReply::Text { name, text })
    }
}
