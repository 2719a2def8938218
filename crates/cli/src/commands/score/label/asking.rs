//! Asks a person about one answer after the other.

use std::fmt::Write as _;
use std::io::IsTerminal;

use retold::escaping::printable;
use retold::event::Event;
use retold::id::{RunId, Seq};
use retold::log::{LogError, Reader};
use retold::scores::{AnswerName, Score, Scores};
use serde_json::Value;
use tokio::runtime::Builder;

use super::chosen::LabelledAnswer;
use crate::console::{Console, ConsoleInput};
use crate::error::{CliError, Status};
use crate::score_rows::{typed_value, value_list};

/// How much of a label's value is shown.
const LABEL_SHOWN: usize = 60;

/// The parts that are shown, and the values that may be given.
pub(super) struct Asking {
    pub(super) run: RunId,
    pub(super) person: String,
    pub(super) values: Vec<Value>,
    /// Whether the last message of the request is shown.
    pub(super) question: bool,
    /// Standard output is reserved for one JSON object, so answers go to standard error.
    pub(super) json: bool,
}

/// The result of a person's labelling.
#[derive(Default)]
pub(super) struct LabelSession {
    pub(super) scores: Scores,
    pub(super) skipped: u64,
    /// How many answers are not labelled yet, if that was counted.
    pub(super) left: Option<u64>,
}

/// The meaning of a typed line.
enum TypedLine {
    Value(Value),
    Skip,
    Undo,
    Quit,
    Unknown(String),
}

impl Asking {
    /// Asks about answers until they end or the person leaves.
    pub(super) fn all(
        &self,
        reader: &mut dyn Reader,
        answers: &[LabelledAnswer],
    ) -> Result<LabelSession, CliError> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| {
            CliError::new(Status::Io, format!("cannot wait for input: {error}"))
        })?;
        let mut console = Console::new(self.json);
        let is_person = std::io::stdin().is_terminal();
        let mut session = LabelSession::default();
        let (mut at, mut number, mut is_shown) = (0, 0, false);
        while let Some(answer) = answers.get(at) {
            if !is_shown {
                console.show(&self.answer_text(reader, answer, at + 1, answers.len())?);
                is_shown = true;
            }
            console.show(&self.prompt());
            let typed = match runtime.block_on(console.next()) {
                ConsoleInput::Line(line) => self.meant(line.trim()),
                ConsoleInput::End | ConsoleInput::Interrupt => TypedLine::Quit,
            };
            number += 1;
            let name = AnswerName::Seq(answer.seq);
            match typed {
                TypedLine::Value(value) => {
                    let score = Score {
                        call: None,
                        line: number,
                        answer: name,
                        choice: 0,
                        value,
                        method: None,
                        reasoning: None,
                        warnings: Vec::new(),
                    };
                    session
                        .scores
                        .add(score)
                        .map_err(|error| CliError::usage(error.to_string()))?;
                    (at, is_shown) = (at + 1, false);
                }
                TypedLine::Skip => {
                    session.skipped += 1;
                    (at, is_shown) = (at + 1, false);
                }
                TypedLine::Undo if at == 0 => console.show("There is nothing to take back.\n"),
                TypedLine::Undo => {
                    (at, is_shown) = (at - 1, false);
                    if session.scores.remove(&AnswerName::Seq(answers[at].seq), 0).is_none() {
                        session.skipped -= 1;
                    }
                }
                TypedLine::Quit => {
                    console.show("\n");
                    break;
                }
                // A script would go on with the value of the next answer.
                TypedLine::Unknown(text) if !is_person => {
                    let text = printable(&text, LABEL_SHOWN);
                    let values = value_list(&self.values);
                    let message = format!(
                        "standard input: line {number}: {text:?} is not one of the values {values}"
                    );
                    return Err(CliError::usage(message).hint("nothing was recorded"));
                }
                TypedLine::Unknown(_) => {
                    console.show(&format!("That is not one of {}.\n", value_list(&self.values)));
                }
            }
        }
        Ok(session)
    }

    fn meant(&self, line: &str) -> TypedLine {
        match line {
            "" => TypedLine::Skip,
            ":undo" | ":u" => TypedLine::Undo,
            ":quit" | ":q" => TypedLine::Quit,
            text => {
                let value = typed_value(text);
                match self.values.is_empty() || self.values.contains(&value) {
                    true => TypedLine::Value(value),
                    false => TypedLine::Unknown(text.to_owned()),
                }
            }
        }
    }

    fn prompt(&self) -> String {
        let values = match self.values.is_empty() {
            true => "value".to_owned(),
            false => value_list(&self.values),
        };
        format!("{} ({values}; Enter skips, :undo, :quit) > ", printable(&self.person, LABEL_SHOWN))
    }

    /// An answer, for the person who decides about it.
    fn answer_text(
        &self,
        reader: &mut dyn Reader,
        answer: &LabelledAnswer,
        number: usize,
        of: usize,
    ) -> Result<String, LogError> {
        let LabelledAnswer { seq, call, sample, labels } = answer;
        let mut out = format!("\n{number} of {of}  {call}#{sample}");
        for (label, value) in labels {
            // Writing to a string cannot fail, here and below.
            let _ = write!(
                out,
                "  {}={}",
                printable(label, LABEL_SHOWN),
                printable(value, LABEL_SHOWN)
            );
        }
        out.push('\n');
        let (question, text) = self.texts(reader, *seq)?;
        if let Some(question) = question {
            let _ = write!(out, "\n{}\n\n---\n", question.trim_end());
        }
        let _ = write!(out, "\n{}\n\n", text.trim_end());
        Ok(out)
    }

    /// The last message of the request, if it is to be shown, and the answer.
    fn texts(
        &self,
        reader: &mut dyn Reader,
        seq: Seq,
    ) -> Result<(Option<String>, String), LogError> {
        let mut event_at = |seq: Seq| -> Result<Option<Event>, LogError> {
            let found = reader.events(self.run, Seq(seq.0 - 1), 1)?.pop();
            found.map(|stored| stored.event().map_err(LogError::from)).transpose()
        };
        let (text, asked) = match event_at(seq)? {
            Some(Event::ResponseReceived(received)) => {
                (received.content.text().to_owned(), received.request)
            }
            Some(Event::AnswerReused(reused)) => (reused.content.text().to_owned(), reused.request),
            _ => return Ok((None, String::new())),
        };
        if !self.question {
            return Ok((None, text));
        }
        let Some(Event::RequestSent(sent)) = event_at(asked)? else { return Ok((None, text)) };
        let request = reader.request(sent.prompt)?;
        let last = request.as_ref().and_then(|request| request.messages().pop());
        Ok((last.map(|(_, text)| text), text))
    }
}
