//! The ends of runs in a file of which a page is damaged: each run goes as far as it can be read.

use rusqlite::{Connection, OptionalExtension, params};

use super::sqlite_error::is_damage;
use crate::event::chain::Head;
use crate::id::{EventHash, RunId, Seq, Time};
use crate::log::backend::RunHead;

/// All runs, one after the other. `refill` is called before each query.
pub(super) fn runs(db: &Connection, refill: impl Fn()) -> rusqlite::Result<Vec<RunHead>> {
    refill();
    let mut select = db.prepare("SELECT no, id, started FROM run_ids ORDER BY no")?;
    let rows = select.query_map([], |r| {
        let (id, started) = (r.get(1).ok(), r.get(2).unwrap_or(0));
        Ok((r.get::<_, i64>(0)?, id.map(RunId), Time(started)))
    })?;
    let rows: Vec<_> = rows.collect::<rusqlite::Result<_>>()?;
    let mut runs = Vec::new();
    for (no, run, started) in rows {
        // Verification reports what has no valid number or id.
        if let (Some(run), 0..=0x7fff_ffff) = (run, no) {
            runs.push(RunHead { run, started, head: end(db, no, &refill)? });
        }
    }
    Ok(runs)
}

/// The last event of a run, or the last before a damaged page.
fn end(db: &Connection, no: i64, refill: &impl Fn()) -> rusqlite::Result<Head> {
    let (first, last) = ["", "DESC"]
        .map(|order| {
            format!(
                "SELECT id, hash FROM events WHERE id > ?1 AND id < ?2 ORDER BY id {order} LIMIT 1"
            )
        })
        .into();
    let find = |sql: &str, after: i64, before: i64| {
        refill();
        let bounds = params![(no << 32) + after, (no << 32) + before];
        let row = db.prepare_cached(sql).and_then(|mut select| {
            select.query_row(bounds, |r| {
                let seq = Seq((r.get::<_, i64>(0)? & 0xffff_ffff) as u64);
                Ok(Head { seq, hash: EventHash(r.get(1).unwrap_or([0; 32])) })
            })
        });
        match row.optional() {
            Ok(head) => Ok(Some(head.unwrap_or(Head::START))),
            Err(error) if is_damage(&error) => Ok(None),
            Err(error) => Err(error),
        }
    };
    let before = |seq: i64| find(&last, 0, seq);
    if let Some(head) = before(1 << 32)? {
        return Ok(head);
    }
    // Whatever comes before the damaged page can be looked up.
    let (mut readable, mut damaged, mut head) = (1, 1 << 32, Head::START);
    while readable + 1 < damaged {
        let middle = i64::midpoint(readable, damaged);
        match before(middle)? {
            Some(end) => (readable, head) = (middle, end),
            None => damaged = middle,
        }
    }
    // The last row before the page is found from before it alone.
    while let Some(next) =
        find(&first, head.seq.0 as i64, 1 << 32)?.filter(|next| next.seq > head.seq)
    {
        head = next;
    }
    Ok(head)
}
