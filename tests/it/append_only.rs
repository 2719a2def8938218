//! The database itself refuses every change, no matter which program attempts it.

use rusqlite::Connection;

use crate::support::logs::{Folder, assert_sound};
use crate::support::mixed::Mixed;
use crate::support::oracle::Oracle;
use crate::support::tamper::{COLUMNS, found};
use crate::support::trial::Trial;

async fn recorded() -> Folder {
    let folder = Folder::new();
    Trial::new(&folder.log(), 1, Oracle::prompt()).record(&Mixed { people: 3 }).await;
    folder
}

fn refused(db: &Connection, sql: &str) {
    let error = db.execute_batch(sql).unwrap_err().to_string();
    assert!(error.contains("a retold log is append-only"), "{sql}: {error}");
}

#[tokio::test]
async fn every_change_is_refused_by_plain_sql() {
    let folder = recorded().await;
    let db = folder.sql();
    for (table, key, columns) in COLUMNS {
        for column in *columns {
            refused(&db, &format!("UPDATE {table} SET {column} = {column}"));
            refused(&db, &format!("UPDATE OR REPLACE {table} SET {column} = {column}"));
            refused(&db, &format!("UPDATE OR IGNORE {table} SET {column} = {column}"));
        }
        let all = columns.join(", ");
        refused(&db, &format!("DELETE FROM {table}"));
        refused(
            &db,
            &format!("DELETE FROM {table} WHERE {key} = (SELECT max({key}) FROM {table})"),
        );
        refused(&db, &format!("REPLACE INTO {table} ({all}) SELECT {all} FROM {table}"));
        refused(&db, &format!("INSERT OR REPLACE INTO {table} ({all}) SELECT {all} FROM {table}"));
        let upsert = format!(
            "INSERT INTO {table} ({all}) SELECT {all} FROM {table} WHERE true
             ON CONFLICT DO UPDATE SET {key} = {key}"
        );
        refused(&db, &upsert);
    }
    // Rows that would replace others by a key other than the row id.
    refused(&db, "REPLACE INTO run_ids (no, id, started) SELECT no + 9, id, 0 FROM run_ids");
    refused(&db, "REPLACE INTO run_ids (id, started) SELECT id, 0 FROM run_ids");
    refused(&db, "REPLACE INTO kinds (id, name, version) SELECT id + 99, name, version FROM kinds");
    assert_sound(&folder.log());
}

#[tokio::test]
async fn a_missing_trigger_is_reported() {
    let folder = recorded().await;
    let db = folder.sql();
    let sql = "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'";
    let triggers: Vec<(String, String)> = db
        .prepare(sql)
        .unwrap()
        .query_map([], |r| Ok((r.get(0)?, r.get(1)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    // The index of keys and that of events are empty until there are a few thousand rows, so none
    // of their rows is tried above. A row of the former can only be replaced by itself anyway.
    assert_eq!(triggers.len(), (COLUMNS.len() + 2) * 3 - 1);
    for (name, sql) in triggers {
        db.execute_batch(&format!("DROP TRIGGER {name}")).unwrap();
        let found = found(&folder.path());
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].fault.to_string().contains(&name), "{found:?}");
        db.execute_batch(&sql).unwrap();
    }
    assert_sound(&folder.log());
}
