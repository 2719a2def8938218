//! The journal that SQLite keeps.

use rusqlite::Connection;

/// Switches a file to a WAL and returns the mode that it has afterwards. Where a file system cannot
/// share memory between processes, SQLite keeps another kind of journal without raising an error.
pub(super) fn to_wal(db: &Connection) -> rusqlite::Result<String> {
    db.pragma_update_and_check(None, "journal_mode", "WAL", |r| r.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_switch_is_noticed() {
        let db = Connection::open_in_memory().unwrap();
        assert_eq!(to_wal(&db).unwrap(), "memory");
        let folder = tempfile::tempdir().unwrap();
        let db = Connection::open(folder.path().join("log")).unwrap();
        assert_eq!(to_wal(&db).unwrap(), "wal");
    }
}
