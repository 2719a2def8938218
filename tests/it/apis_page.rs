//! `docs/apis.md` says what is read of each API. It is made from the replies in `fixtures/apis`, which are ours and have
//! all that their APIs can say; `UPDATE_APIS=1` writes it again.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use retold::model::providers::{self, DIALECTS, Dialect, Ending, OTHER};
use retold::model::{Content, Response};
use retold::parse::WholeAnswer;
use serde::Deserialize;
use serde_json::Value;

use crate::support::cases::fixtures;

/// What an API sends.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Api {
    title: String,
    path: String,
    /// What it can say.
    has: BTreeSet<String>,
    whole: Option<Value>,
    /// A whole reply that is not JSON.
    bytes: Option<String>,
    #[serde(default)]
    events: Vec<Value>,
    /// The event that ends a stream, or its place among the events.
    last: Option<Value>,
    /// How many events had come when a stream was closed too early.
    cut: Option<usize>,
    /// An error under a good status.
    error: Option<Value>,
    error_event: Option<Value>,
}

const COLUMNS: [&str; 7] =
    ["text", "tool calls", "reasoning", "usage", "finish reason", "error", "cut"];

/// What the answer is, where it is not a text.
const INSTEAD: [&str; 4] = ["vectors", "images", "sound", "results"];

impl Api {
    fn dialect(&self) -> &'static dyn Dialect {
        providers::at(&self.path)
    }

    /// What is in the columns up to the finish reason, of an answer that has all that the API can say.
    fn read(&self, reply: Value) -> Vec<String> {
        let Response { content, usage, finish_reason, extra, .. } =
            self.dialect().answer(reply).unwrap_or_else(|error| panic!("{}: {error}", self.title));
        let answer = WholeAnswer { extra: Some(&extra), ..WholeAnswer::text(content.text()) };
        let is_called = answer.tool_calls().any(|call| {
            let arguments = call.arguments.as_str().map(str::to_owned);
            let arguments = arguments.unwrap_or_else(|| call.arguments.to_string());
            call.name == Some("f") && arguments == "{\"x\":1}"
        });
        let is_counted = usage.is_some_and(|usage| usage.prompt_tokens == Some(3));
        let is_said = match self.instead() {
            Some("vectors") => {
                matches!(&content, Content::Vector(numbers) if numbers.len() % 2 == 0)
            }
            Some("images") => extra["images"][0]["bytes"].is_u64(),
            Some("sound") => extra["audio"]["bytes"].is_u64(),
            Some(_) => content.text().starts_with("[{\"index\":0"),
            None => content.text() == "One two",
        };
        let is_reasoned = Value::Object(extra.clone()).to_string().contains("\"hm\"");
        let cell = |name: &str, is_read: bool| match (self.has.contains(name), is_read) {
            (false, _) => "–".to_owned(),
            (true, true) => "read".to_owned(),
            (true, false) => "not read".to_owned(),
        };
        let said = self.instead().unwrap_or("text");
        let said = match (cell(said, is_said), self.instead()) {
            (read, Some(what)) => format!("{what} {read}"),
            (read, None) => read,
        };
        vec![
            said,
            cell("tool_calls", is_called),
            cell("reasoning", is_reasoned),
            cell("usage", is_counted),
            cell("finish_reason", finish_reason.is_some()),
        ]
    }

    fn instead(&self) -> Option<&'static str> {
        INSTEAD.into_iter().find(|what| self.has.contains(*what))
    }

    fn is_failed(&self, reply: &Value) -> bool {
        let ending = self.dialect().ending(reply, true);
        matches!(ending, Ending::Failed(failure) if failure.message == "slow down")
    }

    /// The row of a reply that is not streamed.
    fn whole(&self) -> Option<Vec<String>> {
        let bytes = || self.dialect().of_bytes(self.bytes.as_ref()?.as_bytes());
        let reply = self.whole.clone().or_else(bytes)?;
        assert_eq!(self.dialect().ending(&reply, true), Ending::Answered, "{}", self.title);
        let is_sound = self.bytes.is_some();
        let mut row = self.read(reply);
        // Bytes of sound say nothing of tokens.
        if is_sound {
            row[3] = "–".to_owned();
        }
        row.push(match &self.error {
            Some(error) if self.is_failed(error) => "read".to_owned(),
            Some(_) => "not read".to_owned(),
            None => "by status".to_owned(),
        });
        row.push("–".to_owned());
        Some(row)
    }

    /// The row of a reply that is streamed.
    fn streamed(&self) -> Option<Vec<String>> {
        let (dialect, last) = (self.dialect(), self.last.as_ref()?);
        let is_last = |at: usize| dialect.is_last(&self.events[at].to_string());
        match last.as_u64() {
            Some(last) => {
                let last = usize::try_from(last).unwrap();
                let all: Vec<usize> = (0..self.events.len()).filter(|at| is_last(*at)).collect();
                assert_eq!(all, [last], "{}", self.title);
            }
            None => assert!(dialect.is_last(last.as_str().unwrap()), "{}", self.title),
        }
        let mut row = self.read(dialect.assemble(&self.events));
        let failed = [&self.events[..1], &[self.error_event.clone()?]].concat();
        let cell = |is_read| if is_read { "read" } else { "not read" }.to_owned();
        row.push(cell(self.is_failed(&dialect.assemble(&failed))));
        let begun = dialect.assemble(&self.events[..self.cut?]);
        row.push(cell(matches!(dialect.ending(&begun, false), Ending::CutOff(_))));
        Some(row)
    }
}

/// All of them, by the names of their files.
fn apis() -> BTreeMap<String, Api> {
    let files = std::fs::read_dir(fixtures("apis")).unwrap().map(|file| file.unwrap().path());
    let read = |file: std::path::PathBuf| {
        let api: Api = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        (file.file_stem().unwrap().to_string_lossy().into_owned(), api)
    };
    files.map(read).collect()
}

/// The whole page.
fn page() -> String {
    let mut text = "# What is read of each API\n\n\
        Every request and every answer is recorded and replayed byte for byte, whatever its API. This table says what is \
        also read out of an answer, so that parsers, tables and figures have it. `read` is shown by a test, with a reply \
        that has all that the API can say; `–` means that the API has no such thing. An error is read where it is inside \
        an answer with a good status; `by status` means that the API only has errors with an HTTP status of 400 or more, \
        which are read of every API. `cut` means that a stream without its end is called so; a reply that is not streamed \
        is cut if it is not whole JSON, and is then called unreadable.\n\n\
        What is in no row is `not read`: its whole body is shown in place of a text, under that name, and \
        `check --parsers` leaves it alone.\n\n\
        This page is made by a test: `UPDATE_APIS=1 cargo test -p retold-cli --test it apis_page` writes it again from \
        `fixtures/apis`.\n"
        .to_owned();
    for (heading, row) in [
        ("Not streamed", Api::whole as fn(&Api) -> Option<Vec<String>>),
        ("Streamed", Api::streamed),
    ] {
        write!(text, "\n## {heading}\n\n| API | path | {} |\n", COLUMNS.join(" | ")).unwrap();
        writeln!(text, "|---|---|{}", "---|".repeat(COLUMNS.len())).unwrap();
        for api in apis().values() {
            if let Some(cells) = row(api) {
                writeln!(text, "| {} | `{}` | {} |", api.title, api.path, cells.join(" | "))
                    .unwrap();
            }
        }
    }
    text.push_str(
        "\n## Hosts\n\nThe hosts that `--intercept` opens, and that are caught in Python, at whatever path:\n\n",
    );
    let hosts: BTreeSet<&str> = providers::hosts().collect();
    hosts.iter().for_each(|host| writeln!(text, "- `{host}`").unwrap());
    text
}

#[test]
#[expect(clippy::disallowed_methods, reason = "writes the page if that is asked for")]
fn the_page_of_apis_is_what_is_read() {
    let path = Path::new(env!("RETOLD_ROOT")).join("docs/apis.md");
    let due = page();
    if std::env::var_os("UPDATE_APIS").is_some() {
        std::fs::write(&path, &due).unwrap();
    }
    let page = std::fs::read_to_string(&path).unwrap();
    let differing = page.lines().zip(due.lines()).find(|(page, due)| page != due);
    assert!(page == due, "UPDATE_APIS=1 writes docs/apis.md again: {differing:?}");
    assert!(!due.contains("| not read"), "something that an API says is not read: {due}");
}

#[test]
fn every_api_is_in_the_page() {
    let read: BTreeSet<&str> = apis().values().map(|api| api.dialect().name()).collect();
    let known = DIALECTS.iter().map(|dialect| dialect.name()).filter(|name| *name != OTHER.name());
    // Tools are not models.
    let known = known.filter(|name| !["tool", "mcp.tool"].contains(name));
    assert_eq!(read, known.collect());
}
