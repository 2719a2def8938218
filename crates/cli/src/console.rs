//! The console on which a person is asked: shows texts, and reads the lines that the person types, or that a script
//! writes to standard input.

use std::io::{BufRead, Read, Write};

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::signal::wait_for_interrupt;
use retold::escaping::inert_lines;

/// The longest line that is read, in bytes; the rest becomes the next line.
const LONGEST: u64 = 10_000;

/// Where a person is asked.
pub(crate) struct Console {
    /// Standard output is reserved for one JSON object, so texts go to standard error.
    json: bool,
    /// The lines of the input, once a line was waited for.
    lines: Option<UnboundedReceiver<String>>,
}

/// An input from a person.
pub(crate) enum ConsoleInput {
    /// Typed a line.
    Line(String),
    /// Ended the input.
    End,
    /// Pressed Ctrl-C.
    Interrupt,
}

impl Console {
    pub(crate) fn new(json: bool) -> Self {
        Console { json, lines: None }
    }

    /// Shows text that a model may have written.
    pub(crate) fn show(&self, text: &str) {
        let text = inert_lines(text);
        // If the output is closed, nobody would see it; reading the next line fails as well.
        let _ = if self.json {
            std::io::stderr().write_all(text.as_bytes())
        } else {
            let mut out = std::io::stdout().lock();
            out.write_all(text.as_bytes()).and_then(|()| out.flush())
        };
    }

    /// Waits for the person's next input.
    pub(crate) async fn next(&mut self) -> ConsoleInput {
        let lines = self.lines.get_or_insert_with(read_lines);
        tokio::select! {
            line = lines.recv() => line.map_or(ConsoleInput::End, ConsoleInput::Line),
            true = wait_for_interrupt() => ConsoleInput::Interrupt,
        }
    }
}

/// Reads standard input on a thread of its own, which ends with the program: a pending read must
/// not keep the program from exiting.
fn read_lines() -> UnboundedReceiver<String> {
    let (sender, lines) = unbounded_channel();
    std::thread::spawn(move || {
        let mut input = std::io::stdin().lock();
        loop {
            let mut line = Vec::new();
            match input.by_ref().take(LONGEST).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                return;
            }
        }
    });
    lines
}
