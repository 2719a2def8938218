//! Named strategies, which a parser tries in order.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::whole::WholeAnswer;
use crate::prompt::{CanonicalError, canonical};

/// The parser that made a decision: everything that is needed to make it again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ParserSpec {
    /// The parser's name, such as `game24`.
    pub name: Cow<'static, str>,
    /// The settings for this question, such as the numbers of a puzzle.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub params: Value,
    /// Increased whenever a decision about the fixtures changes.
    pub version: u32,
}

impl ParserSpec {
    /// Its settings, typed; the defaults if there are none.
    ///
    /// # Errors
    /// If the settings have a different form.
    pub fn settings<P: DeserializeOwned + Default>(&self) -> Result<P, serde_json::Error> {
        match &self.params {
            Value::Null => Ok(P::default()),
            params => P::deserialize(params),
        }
    }
}

impl fmt::Display for ParserSpec {
    /// `name@version`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.name, self.version)
    }
}

/// A parser's result for a text.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ParsedAnswer<V> {
    /// The strategy that produced the value.
    pub method: &'static str,
    /// The value.
    pub value: V,
    /// The model's reasoning, if the format separates it from the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// Repairs, and anything that looked odd.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A pure, total function from a text, or from a whole answer, to a decision.
pub trait Parser: Send + Sync + 'static {
    /// The type of its decisions.
    type Value: Serialize + DeserializeOwned + Send;

    /// Name, version and settings.
    fn spec(&self) -> &ParserSpec;

    /// The parser and method of a decision: canonical JSON of `{"method":..,"parser":{..}}`, built
    /// once, as the log keeps it.
    fn decided_by(&self, method: &'static str) -> Arc<str>;

    /// The methods that its decisions may have, each once, in the order in which they are tried.
    fn methods(&self) -> Vec<&'static str>;

    /// The decision for a text.
    fn parse(&self, text: &str) -> ParsedAnswer<Self::Value>;

    /// The decision for a whole answer. By default this is the decision for its text. Runs, replays
    /// and checks call this.
    fn parse_whole(&self, answer: WholeAnswer<'_>) -> ParsedAnswer<Self::Value> {
        self.parse(answer.text)
    }

    /// True if a decision can be used; if not, [`ask_valid`](crate::run::Run::ask_valid) asks the
    /// model again. By default everything is accepted; a [`StrategyParser`] accepts the value that
    /// a strategy found and rejects its last resort.
    fn accepts(&self, parsed: &ParsedAnswer<Self::Value>) -> bool {
        let _ = parsed;
        true
    }

    /// The method of a decision for which nothing was found in the answer, if the parser has such a
    /// method. By default it has none; a [`StrategyParser`] has its last resort.
    fn last_resort(&self) -> Option<&'static str> {
        None
    }

    /// A judgement of the value under the parser's settings (`valid`, `math_error`), for parsers
    /// with a validator. The validator sees the value, never the text.
    fn verdict(&self, value: &Self::Value) -> Option<&'static str> {
        let _ = value;
        None
    }
}

/// A [`Parser`] whose value is JSON: used for parsing recorded answers again.
pub trait AnyParser: Send + Sync {
    /// Name, version and settings.
    fn spec(&self) -> &ParserSpec;

    /// The methods that its decisions may have, as [`Parser::methods`] says.
    fn methods(&self) -> Vec<&'static str>;

    /// The method of a decision for which nothing was found, as [`Parser::last_resort`] says.
    fn last_resort(&self) -> Option<&'static str> {
        None
    }

    /// The decision for a text, and its verdict.
    fn parse_any(&self, text: &str) -> (ParsedAnswer<Value>, Option<&'static str>);

    /// The decision for a whole answer, and its verdict.
    fn parse_whole_any(
        &self,
        answer: WholeAnswer<'_>,
    ) -> (ParsedAnswer<Value>, Option<&'static str>) {
        self.parse_any(answer.text)
    }
}

impl<P: Parser> AnyParser for P {
    fn spec(&self) -> &ParserSpec {
        Parser::spec(self)
    }

    fn methods(&self) -> Vec<&'static str> {
        Parser::methods(self)
    }

    fn last_resort(&self) -> Option<&'static str> {
        Parser::last_resort(self)
    }

    fn parse_any(&self, text: &str) -> (ParsedAnswer<Value>, Option<&'static str>) {
        self.parse_whole_any(WholeAnswer::text(text))
    }

    fn parse_whole_any(
        &self,
        answer: WholeAnswer<'_>,
    ) -> (ParsedAnswer<Value>, Option<&'static str>) {
        let ParsedAnswer { method, value, reasoning, warnings } = self.parse_whole(answer);
        let verdict = self.verdict(&value);
        // A parser's value consists of strings, numbers and lists, so it can always be written as
        // JSON.
        let value = serde_json::to_value(&value).unwrap_or(Value::Null);
        (ParsedAnswer { method, value, reasoning, warnings }, verdict)
    }
}

/// A value that a strategy has found.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundValue<V> {
    /// The value.
    pub value: V,
    /// See [`ParsedAnswer::reasoning`].
    pub reasoning: Option<String>,
    /// See [`ParsedAnswer::warnings`].
    pub warnings: Vec<String>,
}

impl<V> FoundValue<V> {
    /// A value without reasoning or warnings.
    pub fn plain(value: V) -> Self {
        FoundValue { value, reasoning: None, warnings: Vec::new() }
    }
}

/// One named way to find a value in a text, given the parser's settings.
pub struct Strategy<P, V> {
    /// The method of decisions made by it.
    pub method: &'static str,
    /// Finds the value, or leaves the text to the next strategy.
    pub find: fn(&str, &P) -> Option<FoundValue<V>>,
}

/// The method and the value when no strategy finds one.
pub type LastResort<P, V> = (&'static str, fn(&str, &P) -> FoundValue<V>);

/// Finds method and value together: for strategies that would each examine the same things.
pub type Decide<P, V> = fn(&str, &P) -> (&'static str, FoundValue<V>);

/// Finds a value in an answer, or leaves the answer to the next strategy, with warnings that say what
/// it could not read. The decision has them, whichever strategy makes it.
pub type FindOwn<V> =
    Box<dyn Fn(WholeAnswer<'_>) -> Result<FoundValue<V>, Vec<String>> + Send + Sync>;

/// One named way to find a value, made while the program runs: for parsers that are written down in
/// a file.
pub struct OwnStrategy<V> {
    /// The method of decisions made by it.
    pub method: String,
    /// Finds the value.
    pub find: FindOwn<V>,
}

/// How a parser finds a value.
enum Find<P: 'static, V: 'static> {
    /// Strategies that are tried in order, and a last resort.
    InOrder(&'static [Strategy<P, V>], LastResort<P, V>),
    /// The same with strategies that were made while the program runs.
    Own(Vec<(&'static str, FindOwn<V>)>, &'static str, Box<dyn Fn() -> V + Send + Sync>),
    /// A single function for all strategies.
    Whole(Decide<P, V>),
}

/// A parser made of strategies, tried in order, and a last resort that always yields.
///
/// ```
/// use retold::parse::{StrategyParser, FoundValue, LastResort, Parser, Strategy};
///
/// const WAYS: &[Strategy<(), u32>] = &[
///     Strategy {
///         method: "number",
///         find: |text, ()| Some(FoundValue::plain(text.trim().parse().ok()?)),
///     },
///     Strategy { method: "last_word", find: |text, ()| {
///         let last = text.split_whitespace().last()?;
///         Some(FoundValue::plain(last.trim_end_matches('.').parse().ok()?))
///     } },
/// ];
/// const NOTHING: LastResort<(), u32> = ("default", |_, ()| FoundValue::plain(0));
///
/// let parser = StrategyParser::new("coins", 1, (), WAYS, NOTHING, None)?;
/// let parsed = parser.parse("I give 7.");
/// // The method says how the value was found.
/// assert_eq!((parsed.value, parsed.method), (7, "last_word"));
/// assert_eq!(parser.parse("None of them").method, "default");
/// # Ok::<(), retold::prompt::CanonicalError>(())
/// ```
pub struct StrategyParser<P: 'static, V: 'static> {
    spec: ParserSpec,
    /// The text of [`Parser::decided_by`] for each method.
    decided_by: Vec<(&'static str, Arc<str>)>,
    params: P,
    find: Find<P, V>,
    judge: Option<fn(&V, &P) -> &'static str>,
}

impl<P: Serialize, V> StrategyParser<P, V> {
    /// Builds a parser from its parts; `last` gives the method and the value if no strategy finds
    /// one.
    ///
    /// # Errors
    /// [`CanonicalError`] if the settings cannot be written as JSON.
    pub fn new(
        name: &'static str,
        version: u32,
        params: P,
        strategies: &'static [Strategy<P, V>],
        last: LastResort<P, V>,
        judge: Option<fn(&V, &P) -> &'static str>,
    ) -> Result<Self, CanonicalError> {
        let methods = strategies.iter().map(|s| s.method).chain([last.0]).collect();
        Self::build(name, version, params, methods, Find::InOrder(strategies, last), judge)
    }

    /// A parser that finds method and value together; `methods` lists all possible methods, the last
    /// resort last.
    ///
    /// # Errors
    /// [`CanonicalError`] if the settings cannot be written as JSON.
    pub fn whole(
        name: &'static str,
        version: u32,
        params: P,
        methods: &[&'static str],
        decide: Decide<P, V>,
        judge: Option<fn(&V, &P) -> &'static str>,
    ) -> Result<Self, CanonicalError> {
        Self::build(name, version, params, methods.to_vec(), Find::Whole(decide), judge)
    }

    fn build(
        name: &'static str,
        version: u32,
        params: P,
        methods: Vec<&'static str>,
        find: Find<P, V>,
        judge: Option<fn(&V, &P) -> &'static str>,
    ) -> Result<Self, CanonicalError> {
        let value = serde_json::to_value(&params);
        let value = value.map_err(CanonicalError::not_json)?;
        let spec = ParserSpec { name: name.into(), params: value, version };
        let decided_by =
            methods.into_iter().map(|method| Ok((method, decided_by(&spec, method)?.into())));
        let decided_by = decided_by.collect::<Result<_, CanonicalError>>()?;
        Ok(StrategyParser { spec, decided_by, params, find, judge })
    }
}

impl<V: Clone + Send + Sync> StrategyParser<(), V> {
    /// Builds a parser whose strategies were made while the program runs, and which is described by
    /// its `spec` in full; `last` is the method and the value if no strategy finds one. The names of
    /// methods are kept for as long as the program runs, so their number must be bounded.
    ///
    /// # Errors
    /// [`CanonicalError`] if the spec cannot be written as JSON.
    pub fn own(
        spec: ParserSpec,
        strategies: Vec<OwnStrategy<V>>,
        last: (&str, V),
    ) -> Result<Self, CanonicalError> {
        let (last, value) = (intern(last.0), last.1);
        let strategies: Vec<_> =
            strategies.into_iter().map(|own| (intern(&own.method), own.find)).collect();
        let methods = strategies.iter().map(|(method, _)| *method).chain([last]);
        let decided_by = methods.map(|method| Ok((method, decided_by(&spec, method)?.into())));
        let decided_by = decided_by.collect::<Result<_, CanonicalError>>()?;
        let find = Find::Own(strategies, last, Box::new(move || value.clone()));
        Ok(StrategyParser { decided_by, spec, params: (), find, judge: None })
    }
}

/// A text that is kept for as long as the program runs, once.
pub(crate) fn intern(text: &str) -> &'static str {
    static KEPT: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    match kept.get(text) {
        Some(known) => known,
        None => {
            let text: &'static str = Box::leak(text.into());
            kept.insert(text);
            text
        }
    }
}

impl<P: Send + Sync, V: Serialize + DeserializeOwned + Send> Parser for StrategyParser<P, V> {
    type Value = V;

    fn spec(&self) -> &ParserSpec {
        &self.spec
    }

    fn decided_by(&self, method: &'static str) -> Arc<str> {
        let known = self.decided_by.iter().find(|(name, _)| *name == method);
        known.map_or_else(|| "{}".into(), |(_, text)| text.clone())
    }

    fn methods(&self) -> Vec<&'static str> {
        let mut methods = Vec::new();
        for (method, _) in &self.decided_by {
            // Two strategies may look for the same thing in different places.
            if !methods.contains(method) {
                methods.push(*method);
            }
        }
        methods
    }

    fn parse(&self, text: &str) -> ParsedAnswer<V> {
        self.parse_whole(WholeAnswer::text(text))
    }

    fn parse_whole(&self, answer: WholeAnswer<'_>) -> ParsedAnswer<V> {
        let (params, text) = (&self.params, answer.text);
        let (method, found) = match &self.find {
            Find::InOrder(strategies, last) => {
                let found =
                    strategies.iter().find_map(|s| Some((s.method, (s.find)(text, params)?)));
                found.unwrap_or_else(|| (last.0, (last.1)(text, params)))
            }
            Find::Own(strategies, last, default) => {
                let mut unread = Vec::new();
                let found = strategies.iter().find_map(|(method, find)| {
                    let found = find(answer).map_err(|warnings| unread.extend(warnings)).ok()?;
                    Some((*method, found))
                });
                let (method, mut found) =
                    found.unwrap_or_else(|| (last, FoundValue::plain(default())));
                unread.append(&mut found.warnings);
                let mut known = BTreeSet::new();
                unread.retain(|warning| known.insert(warning.clone()));
                found.warnings = unread;
                (method, found)
            }
            Find::Whole(decide) => decide(text, params),
        };
        let FoundValue { value, reasoning, warnings } = found;
        ParsedAnswer { method, value, reasoning, warnings }
    }

    fn last_resort(&self) -> Option<&'static str> {
        match &self.find {
            Find::InOrder(strategies, last) => (!strategies.is_empty()).then_some(last.0),
            Find::Own(strategies, last, _) => (!strategies.is_empty()).then_some(*last),
            Find::Whole(_) => self.decided_by.last().map(|(method, _)| *method),
        }
    }

    fn accepts(&self, parsed: &ParsedAnswer<V>) -> bool {
        match &self.find {
            Find::InOrder(strategies, last) => strategies.is_empty() || parsed.method != last.0,
            Find::Own(strategies, last, _) => strategies.is_empty() || parsed.method != *last,
            Find::Whole(_) => true,
        }
    }

    fn verdict(&self, value: &V) -> Option<&'static str> {
        self.judge.map(|judge| judge(value, &self.params))
    }
}

fn decided_by(spec: &ParserSpec, method: &str) -> Result<String, CanonicalError> {
    #[derive(Serialize)]
    struct DecidedByContent<'a> {
        method: &'a str,
        parser: &'a ParserSpec,
    }
    canonical(&DecidedByContent { method, parser: spec })
}
