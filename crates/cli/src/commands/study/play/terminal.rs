//! A person at the terminal, acting as a model.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::sync::Mutex;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::signal::interrupted;
use crate::typed_lines::read_lines;
use retold::escaping::inert_lines;
use retold::model::{Ask, Failure, FailureKind, Model, ModelInfo, Response};

/// Shows questions and reads answers, one per line. An empty line is not an answer; `q`, the end of
/// the input and Ctrl-C leave the game.
pub(super) struct Terminal {
    /// Standard output is reserved for one JSON object, so questions go to standard error.
    json: bool,
    lines: Mutex<Option<UnboundedReceiver<String>>>,
    interrupted: AtomicBool,
}

impl Terminal {
    pub(super) fn new(json: bool) -> Self {
        Terminal { json, lines: Mutex::new(None), interrupted: AtomicBool::new(false) }
    }

    /// Whether the person left with Ctrl-C.
    pub(super) fn was_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }

    /// Shows text that a model wrote.
    fn show(&self, text: &str) {
        let text = inert_lines(text);
        // If the output is closed, nobody would see it; reading the next line fails as well.
        let _ = if self.json {
            std::io::stderr().write_all(text.as_bytes())
        } else {
            let mut out = std::io::stdout().lock();
            out.write_all(text.as_bytes()).and_then(|()| out.flush())
        };
    }

    async fn ask(&self, ask: Ask<'_>) -> Result<Response, Failure> {
        let mut lines = self.lines.lock().await;
        let lines = lines.get_or_insert_with(read_lines);
        if ask.sample > 0 {
            self.show("That is not one of the options.\n");
        } else {
            for (_, text) in ask.request.messages() {
                self.show(&format!("\n{text}\n"));
            }
        }
        loop {
            self.show("(number, or q to leave) > ");
            let line = tokio::select! {
                line = lines.recv() => line,
                true = interrupted() => {
                    self.interrupted.store(true, Ordering::SeqCst);
                    None
                }
            };
            match line.as_deref().map(str::trim) {
                None | Some("q" | "Q" | "quit") => {
                    self.show("\n");
                    return Err(Failure::new(FailureKind::Left, "the player has left"));
                }
                Some("") => {}
                Some(answer) => return Ok(Response::text(answer)),
            }
        }
    }
}

impl Model for Terminal {
    fn info(&self) -> ModelInfo {
        ModelInfo { kind: "human".to_owned(), source: None, simulated: false }
    }

    fn answer<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Response, Failure>> {
        self.ask(ask).boxed()
    }
}
