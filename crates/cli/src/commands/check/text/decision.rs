//! The decision about an answer, and how it is shown.

use serde_json::{Value, json};

use super::line::AnswerLine;
use crate::error::CliError;
use crate::parser::ParserArgs;
use retold::decide::{AnswerDecision, ChoiceNumber, Decider, ParserParams, UndecidedAnswer};
use retold::escaping::{inert_lines, printable};
use retold::members::Members;
use retold::parse::{AnyParser, Parsers};
use retold_study::parser_file::ParserFile;

/// A decision about an answer.
pub(super) struct LineDecision {
    /// The name of the decision, if a file gives it.
    name: Option<String>,
    parser: String,
    /// The settings of the parser; `None` for one of a file, which has them.
    params: Option<Value>,
    decided: AnswerDecision,
}

/// What becomes of a line.
pub(super) enum LineOutcome {
    Decided(Vec<LineDecision>),
    Left(SkipReason),
}

/// Why a line has no decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SkipReason {
    /// Its call failed.
    NoAnswer,
    /// It has no text.
    Embedding,
    /// No parser of the file is for it.
    NoParser,
}

/// What decides: a parser with settings, a program, or a parser file.
pub(super) enum Deciding<'a> {
    Parser(Box<dyn Decider + Send>, Value),
    File(&'a ParserFile),
}

impl<'a> Deciding<'a> {
    /// Decides with the parser or the program that is named.
    ///
    /// # Errors
    /// [`CliError`]: there is none, or its settings cannot be read.
    pub(super) fn parser(args: &ParserArgs, parsers: &Parsers) -> Result<Self, CliError> {
        let decider = args.decider(parsers)?.ok_or_else(|| {
            CliError::usage(
                "which parser? Give --parser NAME@VERSION, --parsers FILE, or --parser-cmd COMMAND",
            )
            .hint(crate::parser::parser_list(parsers))
        })?;
        Ok(Deciding::Parser(
            decider,
            match args.params()? {
                ParserParams::Same(params) => params,
                _ => Value::Null,
            },
        ))
    }

    /// Decides with the parsers of a file.
    pub(super) fn file(file: &'a ParserFile) -> Self {
        Deciding::File(file)
    }

    /// Decides about one line.
    ///
    /// # Errors
    /// [`CliError`], from the parser.
    pub(super) fn one(&mut self, line: &AnswerLine) -> Result<LineOutcome, CliError> {
        let outcome = self.all(std::slice::from_ref(line))?.pop();
        Ok(outcome.unwrap_or(LineOutcome::Left(SkipReason::NoAnswer)))
    }

    /// Decides about some lines; a program decides about them together.
    ///
    /// # Errors
    /// [`CliError`], from the parser or the program.
    pub(super) fn all(&mut self, lines: &[AnswerLine]) -> Result<Vec<LineOutcome>, CliError> {
        let (decider, same) = match self {
            Deciding::File(file) => {
                return Ok(lines.iter().map(|line| of_file(file, line)).collect());
            }
            Deciding::Parser(decider, same) => (decider, &*same),
        };
        let asked: Vec<UndecidedAnswer<'_>> = lines
            .iter()
            .filter_map(|line| {
                Some(UndecidedAnswer {
                    call: line.call.as_ref(),
                    sample: line.sample,
                    choice: ChoiceNumber { at: 0, of: line.choices() },
                    answer: line.whole()?,
                    params: line.params.as_ref().unwrap_or(same),
                })
            })
            .collect();
        let decided = match asked.is_empty() {
            true => Vec::new(),
            false => decider.decide(&asked)?,
        };
        let mut made = asked.iter().zip(decided).map(|(asked, decided)| {
            let spec = decider.spec(asked.params);
            let (parser, params) = (spec.to_string(), Some(spec.params));
            LineDecision { name: None, parser, params, decided }
        });
        let outcomes = lines.iter().map(|line| match skip_reason(line) {
            Some(left) => LineOutcome::Left(left),
            None => LineOutcome::Decided(made.next().into_iter().collect()),
        });
        Ok(outcomes.collect())
    }
}

fn skip_reason(line: &AnswerLine) -> Option<SkipReason> {
    match line.whole() {
        Some(_) => None,
        None if line.is_embedding() => Some(SkipReason::Embedding),
        None => Some(SkipReason::NoAnswer),
    }
}

fn of_file(file: &ParserFile, line: &AnswerLine) -> LineOutcome {
    let Some(answer) = line.whole() else {
        return LineOutcome::Left(skip_reason(line).unwrap_or(SkipReason::NoAnswer));
    };
    let fitting = file.decisions().iter().flat_map(|decision| {
        let fitting: Vec<&dyn AnyParser> = match line.number {
            // The request that it answers is not known.
            0 => decision.parsers().collect(),
            _ => decision.fitting(line.call.as_ref(), line.request.as_ref()).into_iter().collect(),
        };
        fitting.into_iter().map(|parser| (decision.name(), parser))
    });
    let fitting: Vec<(Option<&str>, &dyn AnyParser)> = fitting.collect();
    if fitting.is_empty() {
        return LineOutcome::Left(SkipReason::NoParser);
    }
    let decide = |(name, parser): (Option<&str>, &dyn AnyParser)| LineDecision {
        name: name.map(str::to_owned),
        parser: parser.spec().to_string(),
        params: None,
        decided: AnswerDecision::from(parser.parse_whole_any(answer)),
    };
    LineOutcome::Decided(fitting.into_iter().map(decide).collect())
}

impl SkipReason {
    fn as_str(self) -> &'static str {
        match self {
            SkipReason::NoAnswer => "no answer",
            SkipReason::Embedding => "an embedding",
            SkipReason::NoParser => "no parser is for it",
        }
    }
}

impl LineDecision {
    /// It, as JSON.
    pub(super) fn object(&self) -> Value {
        let mut object = json!({"parser": self.parser});
        if let Some(name) = &self.name {
            object.set("name", json!(name));
        }
        if let Some(params) = &self.params {
            object.set("params", params.clone());
        }
        if let (Value::Object(object), Ok(Value::Object(decided))) =
            (&mut object, serde_json::to_value(&self.decided))
        {
            object.extend(decided);
        }
        object
    }

    /// It, for people.
    pub(super) fn text(&self) -> String {
        let LineDecision { name, parser, params: _, decided } = self;
        let AnswerDecision { method, value, reasoning, warnings, verdict, found: _ } = decided;
        let name = name.as_ref().map(|name| format!("name       {name}\n")).unwrap_or_default();
        let mut text =
            format!("{name}parser     {parser}\nvalue      {value}\nmethod     {method}\n");
        if let Some(verdict) = verdict {
            text.push_str(&format!("verdict    {verdict}\n"));
        }
        if let Some(reasoning) = reasoning {
            let lines: Vec<&str> = reasoning.lines().collect();
            text.push_str(&format!("reasoning  {}\n", inert_lines(&lines.join("\n           "))));
        }
        for warning in warnings {
            text.push_str(&format!("warning    {}\n", printable(warning, 1000)));
        }
        text
    }
}

impl LineOutcome {
    /// The objects that are printed for a line as JSON.
    pub(super) fn objects(&self, line: &AnswerLine) -> Vec<Value> {
        let mut objects = match self {
            LineOutcome::Decided(decisions) => decisions.iter().map(LineDecision::object).collect(),
            LineOutcome::Left(left) => vec![json!({"left": left.as_str()})],
        };
        for object in &mut objects {
            object.set("line", line.number.into());
            if let Some(call) = &line.call {
                object.set("call", json!(call));
            }
            if let Some(sample) = line.sample {
                object.set("sample", json!(sample));
            }
            if line.choices() > 1 {
                object.set("choice", json!(0));
                object.set("choices", json!(line.choices()));
            }
        }
        objects
    }

    /// The texts that are printed for a line, for people; none if it is left.
    pub(super) fn texts(&self, line: &AnswerLine) -> Vec<String> {
        let LineOutcome::Decided(decisions) = self else { return Vec::new() };
        let choice = match line.choices() {
            1 => String::new(),
            several => format!(", the first of {several} choices"),
        };
        decisions.iter().map(|it| format!("line {}{choice}\n{}", line.number, it.text())).collect()
    }
}
