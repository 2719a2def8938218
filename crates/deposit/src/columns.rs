//! The columns of tables without texts.

use retold_tables::{LabelColumns, Table};

/// The columns that say nothing of a text and are no hash that could be tested with a guess at one.
const KEPT: &[(Table, &[&str])] = &[
    (
        Table::Runs,
        &[
            "run", "name", "experiment", "simulated", "seed", "forked_from", "started", "finished",
            "outcome", "events",
        ],
    ),
    (
        Table::Exchanges,
        &[
            "call", "status", "sample", "provider", "operation", "request_model", "response_model",
            "attempts", "http_status", "latency_ms", "first_chunk_ms", "finish_reason", "blank",
            "refused", "cut_off", "prompt_tokens", "completion_tokens", "cached_tokens",
            "reasoning_tokens", "cost", "reused_from", "answer_seq", "run", "seq", "time",
        ],
    ),
    (
        Table::Decisions,
        &[
            "name", "call", "sample", "choice", "number", "method", "parser", "parser_version",
            "answer_seq", "refused", "in_force", "accepted_in", "run", "seq", "time",
        ],
    ),
    (Table::Facts, &["name", "number", "because", "run", "seq", "time"]),
    (
        Table::Attempts,
        &[
            "call", "sample", "question_seq", "attempt", "failure", "http_status",
            "retry_after_ms", "last", "reused_from", "run", "seq", "time",
        ],
    ),
];

/// Whether a column is in tables without texts: labels, and those of which it is known that they have none.
pub fn is_without_texts(table: Table, column: &str, labels: &LabelColumns) -> bool {
    let Some((_, kept)) = KEPT.iter().find(|(of, _)| *of == table) else { return false };
    let is_own = |column: &str| {
        let own = table.columns(&LabelColumns::default(), true);
        own.iter().any(|own| own.name == column)
    };
    let is_label = || {
        let all = table.columns(labels, true);
        all.iter().any(|of| of.name == column) && !is_own(column)
    };
    kept.contains(&column) || is_label()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_there_and_no_text_or_hash_is_kept() {
        let labels = LabelColumns::default();
        for (table, kept) in KEPT {
            let columns = table.columns(&labels, true);
            for name in *kept {
                assert!(columns.iter().any(|column| column.name == *name), "{name}");
            }
        }
        for (table, column) in [
            (Table::Exchanges, "answer"),
            (Table::Exchanges, "prompt"),
            (Table::Exchanges, "event_hash"),
            (Table::Exchanges, "error"),
            (Table::Decisions, "reasoning"),
            (Table::Decisions, "value"),
            (Table::Facts, "value"),
            (Table::Runs, "settings"),
            (Table::Runs, "head"),
            (Table::Contents, "text"),
            (Table::Messages, "content"),
        ] {
            assert!(!is_without_texts(table, column, &labels), "{column}");
        }
    }
}
