//! The kinds of events that a file has, each under a number.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rusqlite::Connection;

use crate::event::KINDS;

/// The name and version of each kind. Other processes may add some.
#[derive(Default)]
pub(super) struct StoredKinds(BTreeMap<i64, (Cow<'static, str>, u32)>);

impl StoredKinds {
    /// The name and version of a kind; `None` if the file does not have it, or not legibly.
    pub(super) fn get(&mut self, db: &Connection, id: i64) -> Option<(Cow<'static, str>, u32)> {
        if !self.0.contains_key(&id) {
            // A table that cannot be read names none: then the events are reported.
            self.0 = read(db).unwrap_or_default();
        }
        self.0.get(&id).cloned()
    }
}

fn read(db: &Connection) -> rusqlite::Result<BTreeMap<i64, (Cow<'static, str>, u32)>> {
    let mut select = db.prepare_cached("SELECT id, name, version FROM kinds")?;
    let mut rows = select.query([])?;
    let mut kinds = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let (Ok(name), Ok(version)) = (row.get::<_, String>(1), row.get(2)) else { continue };
        let known = KINDS.iter().find(|known| **known == name);
        let name = known.map_or(Cow::Owned(name), |known| Cow::Borrowed(*known));
        kinds.insert(row.get(0)?, (name, version));
    }
    Ok(kinds)
}
