//! The tables, and their columns.

use crate::column::Column;
use crate::column::ColumnKind::{self, Integer, Json, Real, Text, Time, Truth};
use crate::labels::LabelColumns;

/// A table of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Table {
    /// A row for each run.
    Runs,
    /// A row for each question, with its answer.
    Exchanges,
    /// A row for each message that continues a conversation in a new way.
    Messages,
    /// A row for each text of a message.
    Contents,
    /// A row for each decision.
    Decisions,
    /// A row for each fact.
    Facts,
    /// A row for each attempt that failed.
    Attempts,
}

/// A column as the tables below list it.
type Listed = (&'static str, ColumnKind, &'static str);

const RUNS: &[Listed] = &[
    ("run", Text, "the run's id"),
    ("name", Text, "the name that it was given"),
    ("experiment", Text, "the study, or `program`"),
    ("settings", Json, "all settings, with what continuations of the run have changed in them"),
    ("model", Json, "who answers"),
    ("simulated", Truth, "whether the answers are made up by a program"),
    ("seed", Integer, "the seed of the random choices, if there are any"),
    ("forked_from", Text, "the run that it shares its beginning with"),
    ("started", Time, "when it began"),
    ("finished", Time, "when it ended"),
    ("outcome", Text, "how it ended; missing if it has not"),
    ("outcome_digest", Text, "the digest of its outcome"),
    ("events", Integer, "how many events it has"),
    ("head", Text, "the hash of its last event"),
];

/// Where an event is: what tables of events end with.
const PLACE: &[Listed] = &[
    ("run", Text, "the run's id"),
    ("seq", Integer, "the position of the event in the run"),
    ("time", Time, "when it happened"),
];

/// What tables of calls begin with, before the labels.
const CALL: &[Listed] = &[("call", Text, "where in the experiment the question was asked")];

/// What decisions begin with, before the labels.
const DECIDED: &[Listed] = &[
    ("name", Text, "what was decided: the name that the decision was given, or else its parser's"),
    ("value", Json, "the value"),
];

/// Which answer of a call it is.
const SAMPLE: Listed = ("sample", Integer, "the n-th answer of this call, from 0");

const EXCHANGES: &[Listed] = &[
    ("answer", Text, "the answer"),
    ("status", Text, "`answered`, `failed` or `unanswered`"),
    SAMPLE,
    ("prompt", Text, "the hash of the request"),
    ("provider", Text, "who was asked: the upstream's name, or the kind of a study's model"),
    ("operation", Text, "the API, as docs/apis.md names it"),
    ("request_model", Text, "the model that was asked for"),
    ("response_model", Text, "the model that the answer names"),
    (
        "parameters",
        Json,
        "the request but for its messages and its model; a long text is the hash of a content",
    ),
    ("attempts", Integer, "how often it was asked"),
    (
        "http_status",
        Integer,
        "the HTTP status of the answer, or of the last failure if there is none; missing if it is 200",
    ),
    ("error", Text, "the last failure"),
    ("latency_ms", Integer, "milliseconds from asking to the last byte"),
    (
        "first_chunk_ms",
        Integer,
        "milliseconds from the head of a streamed answer to its first chunk",
    ),
    ("finish_reason", Text, "why the answer ended"),
    ("blank", Truth, "whether the answer has neither a text nor a tool call nor a refusal"),
    ("refused", Truth, "whether the model, or a filter of its provider, refused"),
    ("cut_off", Truth, "whether the answer ended at the limit of tokens"),
    ("prompt_tokens", Integer, "tokens of the request"),
    ("completion_tokens", Integer, "tokens of the answer"),
    ("cached_tokens", Integer, "tokens of the request that were in the provider's cache"),
    ("reasoning_tokens", Integer, "tokens of the answer that are reasoning"),
    ("cost", Real, "what the provider said that it charged, in its unit"),
    ("response_id", Text, "the provider's id of the answer"),
    ("reused_from", Text, "the answer that was used again, as RUN/SEQ"),
    ("reasoning", Text, "the reasoning, where the API keeps it apart"),
    ("tool_calls", Json, "the tools that the model calls"),
    ("other_choices", Json, "the other choices of the answer, if several were asked for"),
    ("answer_seq", Integer, "the position of the answer's event"),
    ("event_hash", Text, "the hash of the answer's event, which seals all events up to it"),
    (
        "earlier_messages",
        Integer,
        "how many messages of the request earlier requests of the run have as well",
    ),
    ("new_messages", Json, "the hashes of the contents of its other messages"),
    ("last_message", Text, "its last message in the table `messages`"),
];

/// The columns that are left out unless they are asked for: a dialogue repeats its beginning in each request.
const PROMPT: &[Listed] =
    &[("question", Text, "the text of the last message"), ("request", Json, "the whole request")];

const MESSAGES: &[Listed] = &[
    ("run", Text, "the run's id"),
    (
        "message",
        Text,
        "the message, as the end of its conversation: a hash of all messages up to it",
    ),
    ("after", Text, "the message before it; missing for the first"),
    ("position", Integer, "its position in the conversation, from 0"),
    ("role", Text, "who says it"),
    ("content", Text, "the hash of what is said: a text, or the JSON of its parts"),
    ("fields", Json, "the other fields of the message"),
];

const CONTENTS: &[Listed] = &[
    ("run", Text, "the run's id"),
    ("content", Text, "the BLAKE3 of the text"),
    ("text", Text, "the text"),
];

const DECISIONS: &[Listed] = &[
    CALL[0],
    SAMPLE,
    ("choice", Integer, "the choice of the answer that it is about, from 0, if it has several"),
    ("number", Real, "the value, if it is a number"),
    ("text", Text, "the value, if it is a text"),
    ("method", Text, "how the value was found"),
    ("reasoning", Text, "the reasoning in the answer, if its format has one"),
    ("warnings", Json, "what was repaired or looked odd"),
    ("parser", Text, "the parser"),
    ("parser_version", Text, "its version"),
    ("answer_seq", Integer, "the position of the answer's event"),
    ("refused", Truth, "whether the answer was refused"),
    (
        "in_force",
        Truth,
        "whether no later decision has taken its place: one that was accepted since, or that the program reported with the same name about the same answer",
    ),
    (
        "accepted_in",
        Text,
        "the id of the run of accepted decisions in which its event is, if it was accepted since",
    ),
];

const FACTS: &[Listed] = &[
    ("name", Text, "the kind of fact, or the name that a program gave"),
    ("value", Json, "a program's value, or the whole fact of a study"),
    ("number", Real, "the value, if it is a number"),
    ("text", Text, "the value, if it is a text"),
    ("lane", Text, "the part of a program in whose order it stands"),
    ("because", Json, "the positions of the events that caused it"),
];

const ATTEMPTS: &[Listed] = &[
    SAMPLE,
    ("question_seq", Integer, "the position of the question's event"),
    ("attempt", Integer, "the n-th attempt, from 0"),
    ("failure", Text, "the kind of failure"),
    ("http_status", Integer, "the HTTP status"),
    ("error", Text, "what happened"),
    ("retry_after_ms", Integer, "how long the provider asked to wait, in milliseconds"),
    ("last", Truth, "whether the call was given up"),
    ("reused_from", Text, "where a fork took the failure over from, as RUN/SEQ"),
];

impl Table {
    /// All tables.
    pub const ALL: [Table; 7] = [
        Table::Runs,
        Table::Exchanges,
        Table::Messages,
        Table::Contents,
        Table::Decisions,
        Table::Facts,
        Table::Attempts,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Table::Runs => "runs",
            Table::Exchanges => "exchanges",
            Table::Messages => "messages",
            Table::Contents => "contents",
            Table::Decisions => "decisions",
            Table::Facts => "facts",
            Table::Attempts => "attempts",
        }
    }

    /// The table of a name.
    pub fn by_name(name: &str) -> Option<Self> {
        Table::ALL.into_iter().find(|table| table.name() == name)
    }

    /// Whether its rows belong to questions, so that it has the labels of their calls.
    pub fn has_labels(self) -> bool {
        matches!(self, Table::Exchanges | Table::Decisions | Table::Attempts)
    }

    /// Its columns, with one for each label; `prompts`: whether exchanges have their whole prompts.
    pub fn columns(self, labels: &LabelColumns, prompts: bool) -> Vec<Column> {
        let listed = |listed: &[Listed]| -> Vec<Column> {
            let column = |&(name, kind, about): &Listed| Column { name: name.into(), kind, about };
            listed.iter().map(column).collect()
        };
        let mut columns = listed(self.before_labels());
        if self.has_labels() {
            columns.extend(labels.columns());
        }
        columns.extend(listed(self.own()));
        if self == Table::Exchanges && prompts {
            columns.extend(listed(PROMPT));
        }
        if self.is_of_events() {
            columns.extend(listed(PLACE));
        }
        columns
    }

    /// The columns before the labels, which a reader looks for first.
    fn before_labels(self) -> &'static [Listed] {
        match self {
            Table::Exchanges | Table::Attempts => CALL,
            Table::Decisions => DECIDED,
            Table::Runs | Table::Messages | Table::Contents | Table::Facts => &[],
        }
    }

    /// True if each row is that of an event and says where it is.
    fn is_of_events(self) -> bool {
        matches!(self, Table::Exchanges | Table::Decisions | Table::Facts | Table::Attempts)
    }

    /// Whether a column of a table about questions has this name, so that a label cannot have it.
    pub(crate) fn has(name: &str) -> bool {
        let tables = [PLACE, CALL, DECIDED, EXCHANGES, DECISIONS, ATTEMPTS, PROMPT];
        tables.iter().any(|table| table.iter().any(|column| column.0.eq_ignore_ascii_case(name)))
    }

    /// The columns that come after the labels.
    fn own(self) -> &'static [Listed] {
        match self {
            Table::Runs => RUNS,
            Table::Exchanges => EXCHANGES,
            Table::Messages => MESSAGES,
            Table::Contents => CONTENTS,
            Table::Decisions => DECISIONS,
            Table::Facts => FACTS,
            Table::Attempts => ATTEMPTS,
        }
    }
}
