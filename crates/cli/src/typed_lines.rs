//! What a person types, line by line, or what a script writes to standard input.

use std::io::{BufRead, Read};

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// The longest line that is read, in bytes; the rest becomes the next line.
const LONGEST: u64 = 10_000;

/// Reads standard input on a thread of its own, which ends with the program: a pending read must
/// not keep the program from exiting.
pub(crate) fn read_lines() -> UnboundedReceiver<String> {
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
