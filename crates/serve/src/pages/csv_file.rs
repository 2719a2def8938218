//! Tables of pages as files for other programs.

use retold_archive::Damage;
use retold_study::table::Table;

use super::{PageReply, RunPageRequest};
use crate::error::PageError;
use crate::query::part;

impl RunPageRequest<'_> {
    /// Refuses a file about a damaged run: a file has no banner.
    ///
    /// # Errors
    /// [`PageError::Untrusted`], which names the page that shows it.
    pub(super) fn trusted_for_a_file(&self, page: &str) -> Result<(), PageError> {
        let Some(Damage { seq: from, fault }) = self.asked.site.checked(&self.head).from else {
            return Ok(());
        };
        let message = format!(
            "this table is only shown on {page}: from event {from} on, the run cannot be trusted: {fault}"
        );
        Err(PageError::Untrusted { message, last_good: None })
    }

    /// A table as a file.
    pub(super) fn file(&self, table: Table) -> Result<PageReply, PageError> {
        let name = format!("{}-{}.csv", table.name(), part(&self.info.short));
        let bytes = table.csv().bytes().map_err(|error| PageError::NotFound(error.to_string()))?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(PageReply::Text { name, text })
    }
}
