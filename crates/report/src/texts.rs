//! The prompts and answers of a report, with a search: the only part of the page that has a script.

use std::collections::BTreeMap;
use std::fmt::Write;

use retold::decided::{DecisionAbout, JoinedDecision, decisions_about};
use retold::escaping::{inert_lines, printable};
use retold::event::Event;
use retold::id::{RunId, Seq};
use retold::log::{LogError, Reader, RunEvents};
use serde::Serialize;

use crate::draw_error::DrawError;

/// The script, and its SHA-256, by which the page allows it and no other.
const SCRIPT: &str = include_str!("texts.js");
pub(crate) const SCRIPT_HASH: &str = "sha256-UegdXl0xgqy+G5jDPz0v24i4elCgBrjYC9k1Vq19cjI=";

/// The longest value or label in a row, in characters.
const LONGEST: usize = 120;

/// The prompts and answers of runs, each different text once.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ReportTexts {
    texts: Vec<String>,
    rows: Vec<TextRow>,
    #[serde(skip)]
    numbers: BTreeMap<String, usize>,
    #[serde(skip)]
    bytes: usize,
}

/// A call, with the numbers of its texts.
#[derive(Debug, Clone, Serialize)]
struct TextRow {
    call: String,
    labels: String,
    decided: String,
    /// The messages of its prompt: roles and texts.
    asked: Vec<(String, usize)>,
    answer: Option<usize>,
}

impl ReportTexts {
    /// Adds the texts of a run. Where there are several, `name` tells its calls from those of the others.
    ///
    /// # Errors
    /// [`LogError`] if the run cannot be read.
    pub fn read(
        &mut self,
        reader: &mut dyn Reader,
        run: RunId,
        name: Option<&str>,
    ) -> Result<(), LogError> {
        let (mut events, mut rows) = (RunEvents::new(run), BTreeMap::new());
        while let Some(stored) = events.next(reader)? {
            match stored.event().map_err(LogError::from)? {
                Event::RequestSent(sent) => {
                    let request = reader.request(sent.prompt)?;
                    let messages = request.map(|request| request.messages()).unwrap_or_default();
                    let number = |(role, text): (String, String)| {
                        (printable(&role, LONGEST), self.number(&text))
                    };
                    let asked = messages.into_iter().map(number).collect();
                    let labels = stored.labels().unwrap_or_default();
                    let labels = labels.iter().map(|(label, value)| format!("{label}={value}"));
                    let run = name.map(|name| format!("run={name}"));
                    let labels = labels.chain(run).map(|label| printable(&label, LONGEST));
                    let row = TextRow {
                        call: printable(&format!("{}#{}", sent.call, sent.sample), LONGEST),
                        labels: labels.collect::<Vec<_>>().join(" "),
                        decided: String::new(),
                        asked,
                        answer: None,
                    };
                    rows.insert(stored.seq, row);
                }
                Event::ResponseReceived(_) | Event::AnswerReused(_) => {
                    let text = stored.content.as_ref().map_or("", |content| content.text());
                    let number = self.number(text);
                    if let Some(row) = stored.cause.and_then(|cause| rows.get_mut(&cause)) {
                        row.answer = Some(number);
                    }
                }
                _ => {}
            }
        }
        decisions_about(reader, run, |DecisionAbout { joined, .. }| {
            add_decision(&mut rows, &joined)
        })?;
        self.rows.extend(rows.into_values());
        Ok(())
    }

    /// How long its texts are together, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The number of a text, which is added if it is new.
    fn number(&mut self, text: &str) -> usize {
        let text = inert_lines(text);
        if let Some(number) = self.numbers.get(&text) {
            return *number;
        }
        self.bytes += text.len();
        self.texts.push(text.clone());
        self.numbers.insert(text, self.texts.len() - 1);
        self.texts.len() - 1
    }

    pub(crate) fn html(&self, page: &mut String) -> Result<(), DrawError> {
        // A script ends where its element does, whatever is within.
        let data = serde_json::to_string(self)?.replace('<', "\\u003c");
        // Writing to a string cannot fail.
        let _ = write!(
            page,
            "<h2>Prompts and answers</h2>\n             <p><label for=texts-find>Words in prompts, answers, labels and decisions</label>              <input id=texts-find type=search autocomplete=off> <span id=texts-count role=status></span></p>\n             <noscript><p>Prompts and answers are shown by a script, which this browser does not run.</p></noscript>\n             <div class=wide tabindex=0>\n<table class=texts>\n<thead>\n<tr><th scope=col>Call</th><th scope=col>Labels</th>             <th scope=col>Decided</th><th scope=col>Answer</th></tr>\n</thead>\n<tbody id=texts-rows></tbody>\n</table>\n</div>\n             <p><button type=button id=texts-more hidden>More</button></p>\n             <script type=\"application/json\" id=texts-data>{data}</script>\n<script>{SCRIPT}</script>\n"
        );
        Ok(())
    }
}

/// Adds a decision that is in force to the row of its question.
fn add_decision(rows: &mut BTreeMap<Seq, TextRow>, joined: &JoinedDecision) {
    let Some(row) = rows.get_mut(&joined.question.seq).filter(|_| joined.in_force) else { return };
    let (name, value) = (joined.made.by.decides(), &joined.made.details.value);
    let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let before = if row.decided.is_empty() { "" } else { ", " };
    // Writing to a string cannot fail.
    let _ = write!(row.decided, "{before}{}", printable(&format!("{name}={value}"), LONGEST));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_stored_once_and_ends_no_script() {
        let mut texts = ReportTexts::default();
        let text = "</script><script>alert(1)</script>\u{202e}";
        assert_eq!([texts.number(text), texts.number("b"), texts.number(text)], [0, 1, 0]);
        let mut page = String::new();
        texts.html(&mut page).unwrap();
        assert_eq!(page.matches("</script>").count(), 2, "{page}");
        assert!(!page.contains('\u{202e}') && texts.bytes() > text.len(), "{page}");
    }
}
