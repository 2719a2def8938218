//! Record every LLM call once; replay it forever.
//!
//! An experiment asks models questions, reads decisions out of their answers, and acts on them.
//! `retold` records every request and every answer as an immutable event in an append-only log, and
//! folds all state of the experiment from that log. After a crash, a run therefore continues
//! without paying again for any answer that had arrived. It can be replayed offline with the same
//! outcome, its answers can be parsed again with a better parser, and anyone can see which prompt
//! led to which decision.
//!
//! An experiment is ordinary sequential async code plus a pure fold ([`run::Experiment`]). The one
//! below asks one question. It is recorded with a simulated model, and replayed without any:
//!
//! ```
//! use std::sync::Arc;
//!
//! use retold::id::{CallPath, RunId};
//! use retold::log::Log;
//! use retold::model::simulated::{Dice, Misbehaviour, SimulatedModel};
//! use retold::parse::text::free_text;
//! use retold::prompt::{ChatRequest, Request};
//! use retold::run::{Experiment, Question, Report, Run, Setup, Stop, execute};
//!
//! struct Greeting;
//!
//! impl Experiment for Greeting {
//!     type Event = String;      // its facts: what was said
//!     type State = Vec<String>; // what they fold into
//!
//!     fn apply(said: &mut Vec<String>, fact: &String) {
//!         said.push(fact.clone());
//!     }
//!
//!     async fn run(&self, run: &mut Run<Self>) -> Result<(), Stop> {
//!         let request = ChatRequest::new("gpt-4o", "Say hello.").into_request()?;
//!         let parser = Arc::new(free_text::parser()?);
//!         // A call that failed after all retries is not the end of the run.
//!         let question = Question::new(CallPath::new("hello")?, request, parser);
//!         if let Ok(answer) = run.ask(question).await? {
//!             run.record(answer.value, &[answer.decision])?;
//!         }
//!         Ok(())
//!     }
//!
//!     fn report(&self, said: &Vec<String>) -> Report {
//!         Report { text: said.join("\n"), ..Report::default() }
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let player = |_: &Request, _: &mut Dice| "Hello!".to_owned();
//! let model = Arc::new(SimulatedModel::new(1, Misbehaviour::default(), Box::new(player)));
//! let (log, run) = (Log::in_memory(), RunId::random()?);
//! let recorded = execute(&Greeting, Setup::record(&log, run, "greeting", model)).await?;
//! let replayed = execute(&Greeting, Setup::replay(&log, run)?).await?;
//! assert_eq!(recorded.report.text, "Hello!");
//! assert_eq!(recorded.outcome_digest, replayed.outcome_digest);
//! # Ok(())
//! # }
//! ```
//!
//! # Modules
//!
//! - [`run`]: writing an experiment and executing it: record, replay, resume, fork
//! - [`parse`]: from an answer to a decision: named strategies in order, parsers by name and
//!   version
//! - [`prompt`]: requests, their canonical form and their hash
//! - [`model`]: who answers: servers, files of answers, programs; retries, throttle, prices
//! - [`log`]: where events are kept: SQLite or memory, verification, the ledger
//! - [`event`], [`content`], [`id`]: the recorded events, and the ids and hashes that name them
//! - [`check`], [`decide`], [`snapshot`]: making decisions again, with registered parsers, your
//!   own, or a program
//! - [`compare`]: two runs, call by call and fact by fact
//! - [`totals`]: the totals of a run: calls, tokens, cost, latency, and savings
//! - [`decided`]: the decisions of a run with their questions, and whether they are in force
//! - [`effective`]: which decisions about a run's answers were accepted since
//! - [`audit`]: from a decision back to everything that its prompt was made from
//! - [`exchange`], [`jsonl`]: runs and bare exchanges as files
//! - [`escaping`], [`explain`], [`encoding`], [`unique`], [`draft`], [`sidecar`]: text from elsewhere
//!   read and shown safely, files read and written safely
//! - [`members`]: changing JSON values that may be anything
//! - [`process`]: which process is meant, and whether it is alive
//! - [`patterns`]: patterns from elsewhere, compiled within a budget
//! - [`percentile`], [`counted`]: percentiles of sorted values; numbers as people read them
//!
//! # Features
//!
//! `sqlite` keeps logs in files, `openai` asks any OpenAI-compatible server. Both are on by
//! default; without them logs are in memory, and models are programs or files.
#![cfg_attr(
    not(all(feature = "sqlite", feature = "openai")),
    expect(dead_code, reason = "some of what they share has no other user")
)]

pub mod audit;
#[cfg(feature = "openai")]
pub mod batch;
pub mod char_boundary;
pub mod check;
pub mod compare;
pub mod content;
pub mod counted;
pub mod decide;
pub mod decided;
pub mod draft;
pub mod effective;
pub mod encoding;
pub mod escaping;
pub mod event;
mod exact;
pub mod exchange;
pub mod explain;
#[cfg(feature = "openai")]
pub mod fetch;
pub mod id;
pub mod jsonl;
pub mod leftovers;
pub mod log;
mod lookup;
pub mod members;
pub mod model;
mod open;
pub mod parse;
pub mod patterns;
pub mod percentile;
pub mod process;
pub mod prompt;
pub mod proof;
pub mod run;
pub mod scores;
pub mod scratch_folder;
pub mod sidecar;
pub mod snapshot;
pub mod text_diff;
pub mod totals;
pub mod unique;
mod values;

/// The program and its version, as recorded in every run.
pub const PROGRAM: &str = concat!("retold ", env!("CARGO_PKG_VERSION"));
