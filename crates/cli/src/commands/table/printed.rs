//! Standard output for tables: inert where somebody may read it.

use std::io::{self, IsTerminal, Stdout, Write};

use retold::escaping::{inert_json, inert_lines};
use retold_tables::write::TableFormat;

/// Standard output, in whole lines. JSON is always escaped, which changes nothing for a program that reads it; CSV has no
/// escapes, and is changed on a terminal only.
pub(super) struct Printed {
    out: Stdout,
    escape: Option<fn(&str) -> String>,
    line: Vec<u8>,
}

impl Printed {
    pub(super) fn new(format: TableFormat) -> Self {
        let out = io::stdout();
        let escape: Option<fn(&str) -> String> = match format {
            TableFormat::Jsonl => Some(inert_json),
            TableFormat::Csv => out.is_terminal().then_some(inert_lines as fn(&str) -> String),
            TableFormat::Parquet | TableFormat::Arrow => None,
        };
        Printed { out, escape, line: Vec::new() }
    }
}

impl Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(escape) = self.escape else { return self.out.write(bytes) };
        self.line.extend_from_slice(bytes);
        if let Some(end) = self.line.iter().rposition(|byte| *byte == b'\n') {
            let lines: Vec<u8> = self.line.drain(..=end).collect();
            for line in String::from_utf8_lossy(&lines).lines() {
                writeln!(self.out, "{}", escape(line))?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
