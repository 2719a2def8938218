//! A person at the terminal, acting as a model.

use std::sync::atomic::{AtomicBool, Ordering};

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::sync::Mutex;

use crate::console::{Console, ConsoleInput};
use retold::model::{Ask, Failure, FailureKind, Model, ModelInfo, Response};

/// Shows questions and reads answers, one per line. An empty line is not an answer; `q`, the end of
/// the input and Ctrl-C leave the game.
pub(super) struct Terminal {
    console: Mutex<Console>,
    interrupted: AtomicBool,
}

impl Terminal {
    pub(super) fn new(json: bool) -> Self {
        Terminal { console: Mutex::new(Console::new(json)), interrupted: AtomicBool::new(false) }
    }

    /// Whether the person left with Ctrl-C.
    pub(super) fn was_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }

    async fn ask(&self, ask: Ask<'_>) -> Result<Response, Failure> {
        let mut console = self.console.lock().await;
        if ask.sample > 0 {
            console.show("That is not one of the options.\n");
        } else {
            for (_, text) in ask.request.messages() {
                console.show(&format!("\n{text}\n"));
            }
        }
        loop {
            console.show("(number, or q to leave) > ");
            let line = match console.next().await {
                ConsoleInput::Line(line) => Some(line),
                ConsoleInput::End => None,
                ConsoleInput::Interrupt => {
                    self.interrupted.store(true, Ordering::SeqCst);
                    None
                }
            };
            match line.as_deref().map(str::trim) {
                None | Some("q" | "Q" | "quit") => {
                    console.show("\n");
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
