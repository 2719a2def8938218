//! Records and replays the requests to models that any program makes, in any language.
//!
//! A server on loopback stands between a program and its upstreams. It records a run like any
//! other: questions, answers and failed attempts, each on disk before the program sees its end. A
//! replay answers from the run alone.
//!
//! - [`Server`]: serves the [`Runs`] of a [`Front`], each a [`Session`].
//! - [`Reach`], [`Token`], [`Secret`]: whose requests are answered. The page uses the first as well.
//! - [`Session`]: a run as far as it is known, and the events in it so far.
//! - [`Incoming`], [`WireRequest`], [`Rules`]: from a request to its prompt, its call and its key.
//! - [`Samples`]: the samples of a run. [`ReplayQueue`]: which recorded answer a request gets. [`NearestMatch`]: why it gets
//!   none.
//! - [`Transmission`]: how an answer travelled, byte for byte; [`Elsewhere`]: one that another tool recorded.
//! - [`restore`]: the HTTP request that a stored request was.
//!
//! The facts about each API are in [`retold::model::providers`], one file each; everything else is recorded as it is.

mod addresses;
mod answer_registry;
mod answered_by;
mod arriving;
mod batching;
mod body;
mod body_differences;
mod body_leads;
mod chance_look;
mod chance_setting;
mod clients;
mod decode;
mod departure;
mod digest;
mod dispatch;
mod elsewhere;
mod equivalents;
mod event_stream;
mod failures;
#[cfg(test)]
mod faults_tests;
mod field_names;
mod framing;
mod front;
mod handed_urls;
mod heads;
mod here;
mod incoming;
mod intercept;
mod key;
#[cfg(test)]
mod key_forms_tests;
mod limits;
mod listening;
mod live_exchange;
mod locations;
mod lock;
mod long_body;
mod masks;
mod nearest;
mod nearest_match;
mod open_files;
mod open_tools;
mod origins;
mod outlet;
mod play;
mod queued_calls;
mod reach;
mod read;
mod readers;
mod recorded;
mod recorded_prompts;
mod redact;
mod refusal;
mod relay;
mod replacing;
mod replay_queue;
mod reply_reading;
mod report;
mod restored_request;
mod rule_error;
mod rules;
mod rules_added;
mod samples;
mod server;
mod session;
mod session_counts;
mod session_queue;
mod session_recorder;
mod session_work;
mod settings;
mod sharing;
mod stored_answer;
mod stored_fields;
mod summary;
mod token;
mod tool_calls;
mod tool_links;
mod transmission;
mod upstream;
mod upstream_answer;
mod upstream_failures;
mod volatile;
mod websocket;
mod wire_request;

/// The types that [`Incoming`] and [`Elsewhere`] are made of.
pub use hyper::http;

pub use addresses::ORIGIN;
pub use batching::HeldLayer;
pub use body::Bodies;
pub use chance_look::ChanceLook;
pub use chance_setting::RecordedChance;
pub use clients::{NO_KEY, OURS};
pub use decode::{DecodeError, decode, encodings};
pub use departure::{Departure, DepartureSummary};
pub use elsewhere::{AnswerTooLong, Elsewhere, LoggedOutcome, is_counted, is_kept};
pub use failures::FailureReplay;
pub use front::{Front, Later, NoRun, Runs, TOKEN_HEADER};
pub use incoming::{CALL, Incoming};
pub use intercept::{AuthorityError, ConnectionReport, Interception, NamedHosts, not_hiding};
pub use key::{AttemptPlace, Key};
pub use limits::LONGEST_BODY;
pub use listening::{ConnectionSeat, Listening};
pub use locations::translate_urls;
pub use nearest_match::{NearestMatch, Why};
pub use origins::Origins;
pub use reach::{Reach, RefusedRequest};
pub use redact::{KnownKeys, RedactionKey, has_placeholder};
pub use replay_queue::{Attempt, RecordedSample, ReplayQueue, ReplayTurn, Ticket};
pub use restored_request::{RestoredBody, RestoredRequest, restore};
pub use rule_error::RuleError;
pub use rules::{RecordedRedaction, RecordedRules, Rules};
pub use rules_added::rules_added;
pub use samples::{Samples, upstreams_asked};
pub use server::Server;
pub use session::{Pace, Session, SessionSetup};
pub use session_work::SessionWork;
pub use settings::{ImportSource, MASK, PROGRAM, ProgramSettings};
pub use summary::{SessionSummary, ToolSummary};
pub use token::{Secret, Token, TokenError};
pub use transmission::{BodyEnd, Transmission};
pub use upstream::{UpstreamError, Upstreams};
pub use wire_request::{AskedError, WireRequest};
