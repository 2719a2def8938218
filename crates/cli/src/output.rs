//! Prints results on stdout, with all foreign text made inert.

use std::cell::{Cell, RefCell};
use std::io::{IsTerminal as _, Write as _};
use std::process::Command;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::colours;
use crate::error::{CliError, Status, write_err};
use crate::pager::{Pager, PagerArg};
use retold::escaping::{inert_json, inert_lines};
use retold::log::{Fault, Finding};
use retold_archive::{Damage, Verdict};

pub(crate) use retold::counted::{count_of, group_digits};

/// Where results go.
pub(crate) struct Output {
    json: bool,
    /// Whether progress is shown.
    quiet: bool,
    /// Whether stdout is a page or a recording, which nothing else may be written into.
    document: Cell<bool>,
    /// Whether anything was printed.
    begun: Cell<bool>,
    /// Whether the reader of stdout has left.
    left: Cell<bool>,
    /// The damage that was reported, if any.
    damage: RefCell<Option<Value>>,
    /// The line about it, until something is printed.
    banner: RefCell<String>,
    /// What stdout goes through.
    paging: RefCell<Paging>,
}

/// What stdout goes through.
enum Paging {
    /// Nothing.
    Direct,
    /// A pager, from the first text on.
    Wanted(Command),
    /// A pager that runs.
    Running(Pager),
}

impl Output {
    pub(crate) fn new(json: bool, quiet: bool) -> Self {
        Output {
            json,
            quiet,
            document: Cell::new(false),
            begun: Cell::new(false),
            left: Cell::new(false),
            damage: RefCell::default(),
            banner: RefCell::default(),
            paging: RefCell::new(Paging::Direct),
        }
    }

    /// Whether damage was reported.
    pub(crate) fn has_damage(&self) -> bool {
        self.damage.borrow().is_some()
    }

    /// Whether one JSON object is asked for.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Whether progress is not to be shown.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Whether anything was printed.
    pub(crate) fn has_begun(&self) -> bool {
        self.begun.get()
    }

    /// Stdout is a page or a recording: damage is reported only on stderr, by the error that the command ends with.
    pub(crate) fn is_a_document(&self) {
        self.document.set(true);
    }

    /// What follows goes through a pager, if it is for people.
    pub(crate) fn use_pager(&self, pager: PagerArg) {
        if let Some(command) = pager.command().filter(|_| !self.json) {
            *self.paging.borrow_mut() = Paging::Wanted(command);
        }
    }

    /// Prints what is due, and waits until the user has left the pager, if there is one.
    pub(crate) fn end(&self) {
        if !self.banner.borrow().is_empty() {
            // If this fails, the error still goes to stderr.
            let _ = self.write(b"");
        }
        if let Paging::Running(pager) = self.paging.replace(Paging::Direct) {
            pager.end();
        }
    }

    /// With `--json`: prints an error as the single object, unless something has already been
    /// printed. A program that reads the output therefore always finds one object.
    pub(crate) fn error(&self, error: &CliError) {
        if let Some(Finding { seq: Some(seq), fault, .. }) = error.damage.as_deref() {
            let from = Some(Damage { seq: *seq, fault: fault.clone() });
            let verdict = Verdict { from, whole: None };
            if self.damage.borrow().is_none() {
                self.damage(&verdict, THIS_RUN);
            }
            if self.document.get() {
                write_err(&banner(&verdict, THIS_RUN, false));
            }
        }
        if self.json && !self.begun.get() {
            // If this fails, the error still goes to stderr.
            let _ = self.object(&error.as_json());
        }
    }

    /// Prints text. Models and files cannot control the terminal.
    pub(crate) fn text(&self, text: &str) -> Result<(), CliError> {
        self.write(inert_lines(text).as_bytes())
    }

    /// Prints a line about damage, in a list.
    pub(crate) fn print_damage(&self, what: &str) -> Result<(), CliError> {
        self.write(damaged_line(what, colours::on_stdout()).as_bytes())
    }

    /// Prints text unchanged, for output that other programs read; on a terminal, somebody reads it.
    pub(crate) fn raw(&self, text: &str) -> Result<(), CliError> {
        match std::io::stdout().is_terminal() {
            true => self.write(inert_lines(text).as_bytes()),
            false => self.write(text.as_bytes()),
        }
    }

    /// The damage of a run, which is said before anything else that is printed: as the first line, or as `damaged` in the
    /// object. Of several that are met before that, it is the last. `subject` is the name of the run in the message.
    pub(crate) fn damage(&self, verdict: &Verdict, subject: &str) {
        let (seq, fault) = match (&verdict.from, &verdict.whole) {
            (Some(Damage { seq, fault }), _) => (Some(*seq), fault),
            (None, Some(fault)) => (None, fault),
            (None, None) => return,
        };
        if self.damage.borrow().is_some() && self.begun.get() {
            return;
        }
        *self.damage.borrow_mut() = Some(json!({"from": seq, "why": fault.to_string()}));
        if !self.json && !self.document.get() {
            *self.banner.borrow_mut() = banner(verdict, subject, colours::on_stdout());
        }
    }

    /// Prints one JSON object.
    pub(crate) fn object(&self, value: &impl Serialize) -> Result<(), CliError> {
        let text = match self.damage.borrow().clone() {
            None => json_text(value)?,
            Some(damage) => {
                let mut value = serde_json::to_value(value).map_err(not_json)?;
                if let Value::Object(fields) = &mut value {
                    fields.insert("damaged".to_owned(), damage);
                }
                value.to_string()
            }
        };
        self.write(format!("{}\n", inert_json(&text)).as_bytes())
    }

    /// Prints one JSON object, of which `key` is a list that is printed as it comes.
    pub(crate) fn list(&self, key: &str) -> Result<OutputList<'_>, CliError> {
        self.write(format!("{{{}:[", json_text(&key)?).as_bytes())?;
        Ok(OutputList { output: self, is_empty: true })
    }

    fn write(&self, bytes: &[u8]) -> Result<(), CliError> {
        self.begun.set(true);
        let bytes = [self.banner.take().as_bytes(), bytes].concat();
        let mut paging = self.paging.borrow_mut();
        if let Paging::Wanted(_) = &*paging
            && let Paging::Wanted(command) = std::mem::replace(&mut *paging, Paging::Direct)
            && let Some(pager) = Pager::start(command)
        {
            *paging = Paging::Running(pager);
        }
        let written = match &mut *paging {
            Paging::Running(pager) => pager.write_all(&bytes).and_then(|()| pager.flush()),
            _ => {
                let mut out = std::io::stdout().lock();
                out.write_all(&bytes).and_then(|()| out.flush())
            }
        };
        match written {
            // `retold log | head` is not an error, and neither is leaving a pager.
            Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => {
                self.left.set(true);
                Ok(())
            }
            Err(e) => Err(CliError::new(Status::Io, format!("cannot write to stdout: {e}"))),
            Ok(()) => Ok(()),
        }
    }

    /// Notes that nobody reads the output any more, which is not an error: `retold log | head`.
    pub(crate) fn mark_unread(&self) {
        self.left.set(true);
    }

    /// Whether anything that is printed from now on may be read.
    pub(crate) fn is_read(&self) -> bool {
        !self.left.get()
    }
}

/// A JSON object that is being printed.
#[must_use = "an object has an end"]
pub(crate) struct OutputList<'a> {
    output: &'a Output,
    is_empty: bool,
}

impl OutputList<'_> {
    /// Prints one more item.
    pub(crate) fn add(&mut self, item: &impl Serialize) -> Result<(), CliError> {
        let between = if std::mem::take(&mut self.is_empty) { "" } else { "," };
        self.output.write(format!("{between}{}", inert_json(&json_text(item)?)).as_bytes())
    }

    /// Prints the other fields, and the end.
    pub(crate) fn end(self, others: Value) -> Result<(), CliError> {
        let damaged = self.output.damage.borrow().clone();
        let damaged = damaged.map(|damage| ("damaged".to_owned(), damage));
        let mut fields: Map<String, Value> = damaged.into_iter().collect();
        if let Value::Object(others) = others {
            fields.extend(others);
        }
        let fields = fields.iter().map(|(key, value)| Ok(format!(",{}:{value}", json_text(key)?)));
        let fields = fields.collect::<Result<String, CliError>>()?;
        self.output.write(format!("]{}}}\n", inert_json(&fields)).as_bytes())
    }
}

fn json_text(value: &impl Serialize) -> Result<String, CliError> {
    serde_json::to_string(value).map_err(not_json)
}

fn not_json(error: serde_json::Error) -> CliError {
    CliError::new(Status::Io, format!("the result cannot be written as JSON: {error}"))
}

/// The name of a run where no other can be meant.
pub(crate) const THIS_RUN: &str = "this run";

fn banner(Verdict { from, whole }: &Verdict, subject: &str, has_colours: bool) -> String {
    let damage = from.as_ref().map(|damage| damage.distrust(subject));
    let what = damage.or_else(|| whole.as_ref().map(Fault::to_string)).unwrap_or_default();
    damaged_line(&what, has_colours)
}

fn damaged_line(what: &str, has_colours: bool) -> String {
    format!("{} {}\n", colours::alarm("DAMAGED:", has_colours), inert_lines(what))
}

/// With `--json` and an invalid command: prints the error as the single object.
pub(crate) fn usage_error(message: &str) {
    let output = Output::new(true, true);
    output.error(&CliError::usage(message.trim()));
}
