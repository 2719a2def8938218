//! Standard output for tables: inert where somebody may read it.

use std::io::{self, IsTerminal, Stdout, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use retold::escaping::{inert_json, inert_lines};
use retold_tables::write::TableFormat;

/// Standard output, in whole lines. JSON is always escaped, which changes nothing for a program that reads it; CSV has no
/// escapes, and is changed on a terminal only.
pub(super) struct Printed {
    out: Stdout,
    escape: Option<fn(&str) -> String>,
    line: Vec<u8>,
    /// Whether nobody reads it any more: the formats report that as an error of their own.
    left: Arc<AtomicBool>,
}

impl Printed {
    /// Standard output, and what says that nobody reads it any more.
    pub(super) fn new(format: TableFormat) -> (Self, Arc<AtomicBool>) {
        let out = io::stdout();
        let escape: Option<fn(&str) -> String> = match format {
            TableFormat::Jsonl => Some(inert_json),
            TableFormat::Csv => out.is_terminal().then_some(inert_lines as fn(&str) -> String),
            TableFormat::Parquet | TableFormat::Arrow => None,
        };
        let left = Arc::<AtomicBool>::default();
        (Printed { out, escape, line: Vec::new(), left: left.clone() }, left)
    }

    fn note<T>(&self, written: io::Result<T>) -> io::Result<T> {
        written.inspect_err(|error| {
            let is_left = error.kind() == io::ErrorKind::BrokenPipe;
            self.left.fetch_or(is_left, Ordering::Relaxed);
        })
    }

    /// Prints all lines that are complete.
    fn lines(&mut self, escape: fn(&str) -> String) -> io::Result<()> {
        let Some(end) = self.line.iter().rposition(|byte| *byte == b'\n') else { return Ok(()) };
        let lines: Vec<u8> = self.line.drain(..=end).collect();
        let lines = String::from_utf8_lossy(&lines);
        lines.lines().try_for_each(|line| writeln!(self.out, "{}", escape(line)))
    }
}

impl Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(escape) = self.escape else {
            let written = self.out.write(bytes);
            return self.note(written);
        };
        self.line.extend_from_slice(bytes);
        let written = self.lines(escape);
        self.note(written)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.out.flush();
        self.note(flushed)
    }
}
