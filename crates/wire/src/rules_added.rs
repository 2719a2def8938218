//! The rules that were added to a run whenever it was continued.

use retold::id::RunId;
use retold::log::{LogError, Reader};
use retold::run::resumptions;

use crate::rules::RecordedRules;

/// The rules that were added whenever a run was continued.
///
/// # Errors
/// [`LogError`] if the run cannot be read, or is damaged.
pub fn rules_added(reader: &mut dyn Reader, run: RunId) -> Result<RecordedRules, LogError> {
    let mut all = RecordedRules::default();
    for (_, resumed) in resumptions(reader, run)? {
        // Settings that a later release has written there are for that release.
        let added: RecordedRules = serde_json::from_value(resumed.settings).unwrap_or_default();
        all.ignore.extend(added.ignore);
        all.replace.extend(added.replace);
    }
    Ok(all)
}
