//! `retold parse`.

use std::io::Read;
use std::path::PathBuf;

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::{Output, counted};
use crate::parser::{ParserArgs, parser_file};
use retold::decide::{Decided, Params, Undecided};
use retold::encoding::decode;
use retold::explain::explain;
use retold::id::{CallPath, Sample};
use retold::inert::{inert, inert_lines};
use retold::jsonl::JsonlReader;
use retold::model::{
    Content, ExchangeResponse, ExchangeResponseError, ReplyOf, Response, UNREADABLE,
};
use retold::parse::{AnyParser, WholeAnswer};
use retold::prompt::Request;
use retold::unique::Unique;
use retold_study::parser_file::ParserFile;

/// The longest answer that is read, in bytes.
const LONGEST: u64 = 64 << 20;

/// Parse an answer from standard input: show the value, the method that found it, the reasoning and
/// the warnings.
///
/// Nothing is recorded, and no log is needed.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    parser: ParserArgs,
    /// Parse with the parsers of this YAML file: one answer with each of them, or with --jsonl each line
    /// with the first parser that fits its "call" and its "request". docs/parsers.md describes the file.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["parser", "parser_cmd", "params"])]
    parsers: Option<PathBuf>,
    /// Parse one answer per line: a JSON text, or an object with "text", "content" or "response"
    /// (with "content", as in an exchanges file; embeddings are left alone). "params" in the object
    /// has the settings for that line and overrides --params; "call", "sample", "request", "label",
    /// "simulated" and "error" are also allowed, but no other key.
    #[arg(long)]
    jsonl: bool,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let parsers = global.studies.parsers();
    if let Some(path) = &args.parsers {
        let file = parser_file(path, parsers)?;
        return with_file(&file, args.jsonl, output);
    }
    let decider = args.parser.decider(parsers)?;
    let mut decider = decider.ok_or_else(|| {
        CliError::usage(
            "which parser? Give --parser NAME@VERSION, --parsers FILE, or --parser-cmd COMMAND",
        )
        .hint(crate::parser::known(parsers))
    })?;
    let same = match args.parser.params(None)? {
        Params::Same(params) => params,
        _ => Value::Null,
    };
    let lines = if args.jsonl {
        lines(JsonlReader::open("-")?)?
    } else {
        let answer = Some(Response::text(whole(std::io::stdin().lock())?));
        vec![Line { answer, ..Line::default() }]
    };
    let answered = lines.iter().filter_map(|line| Some((line, line.whole()?)));
    let asked: Vec<Undecided<'_>> = answered
        .clone()
        .map(|(line, answer)| Undecided {
            call: line.call.as_ref(),
            sample: line.sample,
            answer,
            params: line.params.as_ref().unwrap_or(&same),
        })
        .collect();
    let embeddings = lines.iter().filter(|line| line.is_embedding()).count();
    if asked.is_empty() {
        let what = if embeddings > 0 { "only embeddings" } else { "no answers" };
        return Err(CliError::usage(format!(
            "standard input has {what}: there is nothing to parse"
        )));
    }
    let without_answer = lines.iter().filter(|line| line.answer.is_none()).count();
    let decided = decider.decide(&asked)?;
    let decisions = answered.zip(&asked).zip(&decided).map(|(((line, _), asked), decided)| {
        let spec = decider.spec(asked.params);
        let mut object = json!({"parser": spec.to_string(), "params": spec.params});
        if let (Value::Object(object), Ok(Value::Object(decided))) =
            (&mut object, serde_json::to_value(decided))
        {
            let place = [("call", json!(line.call)), ("sample", json!(line.sample))];
            let place = place.into_iter().filter(|(_, value)| !value.is_null());
            object.extend(place.map(|(key, value)| (key.to_owned(), value)));
            if args.jsonl {
                object.insert("line".to_owned(), json!(line.number));
            }
            object.extend(decided);
        }
        object
    });
    match (output.is_json(), args.jsonl) {
        (true, false) => output.object(&decisions.last())?,
        (true, true) => {
            let decisions = decisions.collect::<Vec<_>>();
            output.object(&json!({
                "decisions": decisions, "without_answer": without_answer, "embeddings": embeddings,
            }))?;
        }
        (false, jsonl) => {
            let parsed = lines.iter().filter(|line| line.whole().is_some());
            let texts = asked.iter().zip(&decided).zip(parsed);
            let texts = texts.map(|((asked, decided), line)| {
                let place = if jsonl { format!("line {}\n", line.number) } else { String::new() };
                format!("{place}{}", text(&decider.spec(asked.params).to_string(), decided))
            });
            let mut text = texts.collect::<Vec<_>>().join("\n");
            if embeddings > 0 {
                text.push_str(&format!(
                    "\nleft alone: {}\n",
                    counted(embeddings as u64, "embedding")
                ));
            }
            match without_answer {
                0 => {}
                1 => text.push_str("\n1 line has an error and no answer\n"),
                n => text.push_str(&format!("\n{n} lines have an error and no answer\n")),
            }
            output.text(&text)?;
        }
    }
    Ok(Status::Fine)
}

/// Parses with the parsers of a file.
fn with_file(file: &ParserFile, jsonl: bool, output: &Output) -> Result<Status, CliError> {
    let lines = match jsonl {
        true => lines(JsonlReader::open("-")?)?,
        false => {
            let answer = Some(Response::text(whole(std::io::stdin().lock())?));
            vec![Line { answer, ..Line::default() }]
        }
    };
    let (mut decisions, mut texts, mut left) = (Vec::new(), Vec::new(), 0_u64);
    for line in &lines {
        let Some(answer) = line.whole() else { continue };
        let request = line.request.as_ref();
        let fitting: Vec<&dyn AnyParser> = match jsonl {
            true => file.fitting(line.call.as_ref(), request).into_iter().collect(),
            // Nothing is known of what it answers.
            false => file.names().filter_map(|name| file.get(name)).collect(),
        };
        left += u64::from(fitting.is_empty());
        for parser in fitting {
            let decided = Decided::from(parser.parse_whole_any(answer));
            let mut object = json!({"parser": parser.spec().to_string()});
            if jsonl {
                object["line"] = line.number.into();
                object["call"] = json!(line.call);
                object["sample"] = json!(line.sample);
            }
            if let (Value::Object(object), Ok(Value::Object(decided))) =
                (&mut object, serde_json::to_value(&decided))
            {
                object.extend(decided);
                object.retain(|name, value| {
                    !value.is_null() || !matches!(name.as_str(), "call" | "sample")
                });
            }
            decisions.push(object);
            let place = if jsonl { format!("line {}\n", line.number) } else { String::new() };
            texts.push(format!("{place}{}", text(&parser.spec().to_string(), &decided)));
        }
    }
    let without_answer = lines.iter().filter(|line| line.whole().is_none()).count();
    if decisions.is_empty() && left == 0 {
        return Err(CliError::usage("standard input has no answers: there is nothing to parse"));
    }
    if output.is_json() {
        output.object(&json!({
            "decisions": decisions, "left": left, "without_answer": without_answer,
        }))?;
        return Ok(Status::Fine);
    }
    let mut text = texts.join("\n");
    if left > 0 {
        let answers = counted(left, "answer");
        text.push_str(&format!("\nleft alone: {answers} that no parser is for\n"));
    }
    if without_answer > 0 {
        let count = counted(without_answer as u64, "line");
        text.push_str(&format!("\nleft alone: {count} without a text\n"));
    }
    output.text(text.trim_start_matches('\n'))?;
    Ok(Status::Fine)
}

/// A decision for people.
fn text(parser: &str, decided: &Decided) -> String {
    let Decided { method, value, reasoning, warnings, verdict, found: _ } = decided;
    let mut text = format!("parser     {parser}\nvalue      {value}\nmethod     {method}\n");
    if let Some(verdict) = verdict {
        text.push_str(&format!("verdict    {verdict}\n"));
    }
    if let Some(reasoning) = reasoning {
        let lines: Vec<&str> = reasoning.lines().collect();
        text.push_str(&format!("reasoning  {}\n", inert_lines(&lines.join("\n           "))));
    }
    for warning in warnings {
        text.push_str(&format!("warning    {}\n", inert(warning, 1000)));
    }
    text
}

/// Reads the whole input as one answer.
fn whole(input: impl Read) -> Result<String, CliError> {
    let mut bytes = Vec::new();
    let read = input.take(LONGEST + 1).read_to_end(&mut bytes);
    read.map_err(|e| CliError::new(Status::Io, format!("cannot read standard input: {e}")))?;
    if bytes.len() as u64 > LONGEST {
        let most = LONGEST >> 20;
        return Err(CliError::usage(format!("standard input is longer than {most} MB"))
            .hint("--jsonl reads one answer per line"));
    }
    decode(bytes).map_err(|e| CliError::usage(e.of("standard input")))
}

/// The answer on a line.
#[derive(Debug, Default)]
struct Line {
    number: usize,
    call: Option<CallPath>,
    sample: Option<Sample>,
    params: Option<Value>,
    /// What it answers, if the line says so.
    request: Option<Request>,
    /// `None` for a call that failed.
    answer: Option<Response>,
}

impl Line {
    /// The answer as a parser sees it; `None` for an embedding, which has no text.
    fn whole(&self) -> Option<WholeAnswer<'_>> {
        let answer = self.answer.as_ref().filter(|_| !self.is_embedding())?;
        let Response { content, finish_reason, extra, .. } = answer;
        let (text, finish_reason) = (content.text(), finish_reason.as_deref());
        Some(WholeAnswer { text, finish_reason, extra: Some(extra) })
    }

    fn is_embedding(&self) -> bool {
        self.answer.as_ref().is_some_and(|answer| matches!(answer.content, Content::Vector(_)))
    }
}

/// The keys allowed in an object on a line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Object {
    text: Option<String>,
    /// A text, null or a list of parts, as in the `response` of an exchanges file.
    #[serde(default, deserialize_with = "present")]
    content: Option<Value>,
    response: Option<ExchangeResponse>,
    params: Option<Unique>,
    call: Option<CallPath>,
    sample: Option<Sample>,
    error: Option<Value>,
    request: Option<Value>,
    #[serde(rename = "label")]
    _label: Option<Value>,
    #[serde(rename = "simulated")]
    _simulated: Option<bool>,
}

/// A field that is present, even if it is null.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

fn lines(lines: JsonlReader) -> Result<Vec<Line>, CliError> {
    let read = lines.map(|line| {
        let (number, text) = line?;
        let line = self::line(&text);
        let line = line.map_err(|e| CliError::usage(format!("standard input, line {number}: {e}")));
        Ok(Line { number, ..line? })
    });
    read.collect()
}

/// Why a line has no answer to parse.
#[derive(Debug, thiserror::Error)]
enum LineError {
    #[error("write a JSON text, or an object with \"text\"")]
    NeitherTextNorObject,
    #[error("{}", explained(.0))]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Response(#[from] ExchangeResponseError),
    #[error(
        "it has neither \"text\" nor \"content\" nor \"response\": write the answer as {{\"text\": ..}}"
    )]
    Nothing,
    #[error(
        "the object has {}, but neither \"text\" nor \"content\" nor \"response\": write the answer as {{\"text\": ..}}",
        listed(.0)
    )]
    OtherKeys(Vec<String>),
    #[error(
        "this is a whole reply of {0}: write it as {{\"response\": ..}}, with the reply in place of the dots"
    )]
    Reply(&'static str),
    #[error(
        "this is a whole reply of {0}, which cannot be read: write its text as {{\"text\": ..}}"
    )]
    UnreadReply(&'static str),
    #[error("\"params\" is not a group of keys: write a JSON object")]
    Params,
    #[error("it has more than one of \"text\", \"content\", \"response\" and \"error\"")]
    Several,
}

/// A JSON error for people. Its line and column are relative to the line.
fn explained(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let reason = text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason);
    inert(&explain(reason), 400)
}

fn line(text: &str) -> Result<Line, LineError> {
    match text.trim_start().chars().next() {
        Some('"') => {
            let text: String = serde_json::from_str(text)?;
            Ok(Line { answer: Some(Response::text(text)), ..Line::default() })
        }
        Some('{') => {
            let read = serde_json::from_str(text).map_err(LineError::from).and_then(object);
            read.map_err(|error| match error {
                LineError::Json(_) | LineError::Nothing => foreign(text).unwrap_or(error),
                error => error,
            })
        }
        _ => Err(LineError::NeitherTextNorObject),
    }
}

/// The keys of an object that hold its answer, or say that there is none.
const ANSWERS: [&str; 4] = ["text", "content", "response", "error"];

/// What an object is instead of a line of ours, if it can be said.
fn foreign(text: &str) -> Option<LineError> {
    let fields: Map<String, Value> = serde_json::from_str(text).ok()?;
    match ReplyOf::recognised(&fields) {
        Some(ReplyOf { api, is_read: true }) => Some(LineError::Reply(api)),
        Some(ReplyOf { api, is_read: false }) => Some(LineError::UnreadReply(api)),
        None if fields.is_empty() || ANSWERS.iter().any(|key| fields.contains_key(*key)) => None,
        None => Some(LineError::OtherKeys(fields.into_iter().map(|(key, _)| key).collect())),
    }
}

/// The most keys of an object that a message names.
const MOST_KEYS: usize = 5;

/// Some keys, for people.
fn listed(keys: &[String]) -> String {
    let mut named: Vec<String> =
        keys.iter().take(MOST_KEYS).map(|key| format!("\"{}\"", inert(key, 40))).collect();
    if keys.len() > MOST_KEYS {
        named.push(format!("{} more", keys.len() - MOST_KEYS));
    }
    match named.as_slice() {
        [first @ .., last] if !first.is_empty() => {
            format!("the keys {} and {last}", first.join(", "))
        }
        keys => format!("the key {}", keys.join("")),
    }
}

fn object(object: Object) -> Result<Line, LineError> {
    let Object { text, content, response, params, call, sample, error, request, .. } = object;
    // One that is not a request of ours is left aside: only a parser file asks for it.
    let request = request.and_then(|body| Request::from_body(body).ok());
    let response = response.map(Response::try_from).transpose()?;
    let answer = match (text, content, response, error) {
        (Some(text), None, None, None) => Some(Response::text(text)),
        (None, content @ Some(_), None, None) => {
            Some(Response::try_from(ExchangeResponse { content, ..ExchangeResponse::default() })?)
        }
        (None, None, Some(mut response), None) => {
            response.extra.remove(UNREADABLE);
            Some(response)
        }
        (None, None, None, Some(_)) => None,
        (None, None, None, None) => {
            return Err(LineError::Nothing);
        }
        _ => {
            return Err(LineError::Several);
        }
    };
    let params = match params {
        None => None,
        Some(Unique(params @ Value::Object(_))) => Some(params),
        Some(_) => return Err(LineError::Params),
    };
    Ok(Line { number: 0, call, sample, params, request, answer })
}
