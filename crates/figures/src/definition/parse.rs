//! Reads figures that were written down.

use std::str::FromStr;

use retold::escaping::printable;

use super::{
    Clustering, CountedUnit, FigureDefinition, Grade, Measure, OptionQuantity, ValueComparison,
};

/// The most characters of a figure that are read.
const LONGEST: usize = 2_000;

/// A figure that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DefinitionError {
    /// Something else should be in its place.
    #[error("figure \"{figure}\", character {at}: expected {expected}, found {found}")]
    Expected {
        /// The figure.
        figure: String,
        /// The character, from 1.
        at: usize,
        /// What should be there.
        expected: &'static str,
        /// The part found there.
        found: String,
    },
    /// A quotation mark opens and nothing closes it.
    #[error("figure \"{figure}\", character {at}: the quotation mark is not closed")]
    Unclosed {
        /// The figure.
        figure: String,
        /// The character, from 1.
        at: usize,
    },
    /// A label is both compared and the cluster, so that each group would be a single cluster.
    #[error(
        "figure \"{figure}\": {label} cannot be both after `by` and after `clustered by`: each group would be one cluster"
    )]
    Compared {
        /// The figure.
        figure: String,
        /// The label.
        label: String,
    },
    /// It is too long to be a figure.
    #[error("a figure has at most {LONGEST} characters, and this one has {length}")]
    Long {
        /// How many it has.
        length: usize,
    },
}

impl DefinitionError {
    /// What figures look like.
    pub const HINT: &str = "figures look like `share of vote = yes by condition against control`, `mean of contribution by round, condition \
        clustered by game` or `changed(before.vote, after.vote) by condition independent`; names with spaces are in \"quotes\"";
}

/// What separates names, besides spaces.
const SYMBOLS: &[char] = &[',', '(', ')', '=', '!', '<', '>'];

/// Words that a name must be quoted to be.
const KEYWORDS: [&str; 6] = ["against", "by", "clustered", "ignoring", "independent", "per"];

/// A name as it has to be written down.
pub(super) fn quote(name: &str) -> String {
    let is_plain = !name.is_empty()
        && !KEYWORDS.contains(&name)
        && !name.contains(|c: char| c.is_whitespace() || c == '"' || SYMBOLS.contains(&c));
    if is_plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

/// A part of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    /// In quotation marks, where a doubled one stands for one.
    Quoted(String),
    Symbol(String),
}

impl FromStr for FigureDefinition {
    type Err = DefinitionError;

    fn from_str(text: &str) -> Result<Self, DefinitionError> {
        let mut reading = Reading::new(text)?;
        let measure = reading.measure()?;
        let mut by = Vec::new();
        if reading.word("by") {
            by.push(reading.name("a label")?);
            while reading.symbol(",") {
                by.push(reading.name("a label")?);
            }
        }
        let against = match !by.is_empty() && reading.word("against") {
            true => Some(reading.name("a value of the last label")?),
            false => None,
        };
        let clustering = if reading.word("clustered") {
            reading.keyword("by", "`by`")?;
            Some(Clustering::By(reading.name("a label")?))
        } else {
            reading.word("independent").then_some(Clustering::Independent)
        };
        let per = reading.counted_unit()?;
        if reading.peek().is_some() {
            let expected = match by.is_empty() {
                true => "`by LABEL`, `clustered by LABEL`, `independent`, `per cluster` or the end",
                false => {
                    "a comma, `against VALUE`, `clustered by LABEL`, `independent`, `per cluster` or the end"
                }
            };
            return Err(reading.syntax_error(expected));
        }
        if let Some(Clustering::By(label)) = &clustering
            && by.contains(label)
        {
            let (figure, label) = (printable(text, 300), printable(label, 60));
            return Err(DefinitionError::Compared { figure, label });
        }
        Ok(FigureDefinition { measure, by, against, clustering, per })
    }
}

struct Reading<'a> {
    text: &'a str,
    /// Each with its character, from 1.
    tokens: Vec<(usize, Token)>,
    next: usize,
}

impl<'a> Reading<'a> {
    fn new(text: &'a str) -> Result<Self, DefinitionError> {
        let length = text.chars().count();
        if length > LONGEST {
            return Err(DefinitionError::Long { length });
        }
        let mut tokens = Vec::new();
        let mut chars = text.chars().enumerate().peekable();
        while let Some((at, c)) = chars.next() {
            let mut token = c.to_string();
            if c.is_whitespace() {
                continue;
            } else if c == '"' {
                token.clear();
                loop {
                    match chars.next() {
                        None => {
                            let figure = printable(text, 300);
                            return Err(DefinitionError::Unclosed { figure, at: at + 1 });
                        }
                        Some((_, '"')) => match chars.next_if(|(_, c)| *c == '"') {
                            Some(_) => token.push('"'),
                            None => break,
                        },
                        Some((_, c)) => token.push(c),
                    }
                }
                tokens.push((at + 1, Token::Quoted(token)));
            } else if SYMBOLS.contains(&c) {
                if ['!', '<', '>'].contains(&c) {
                    token.extend(chars.next_if(|(_, c)| *c == '=').map(|(_, c)| c));
                }
                tokens.push((at + 1, Token::Symbol(token)));
            } else {
                let is_more = |(_, c): &(usize, char)| {
                    !c.is_whitespace() && *c != '"' && !SYMBOLS.contains(c)
                };
                while let Some((_, c)) = chars.next_if(is_more) {
                    token.push(c);
                }
                tokens.push((at + 1, Token::Word(token)));
            }
        }
        Ok(Reading { text, tokens, next: 0 })
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next).map(|(_, token)| token)
    }

    /// Passes a word, if it comes next.
    fn word(&mut self, word: &str) -> bool {
        self.pass(&Token::Word(word.to_owned()))
    }

    /// Passes a symbol, if it comes next.
    fn symbol(&mut self, symbol: &str) -> bool {
        self.pass(&Token::Symbol(symbol.to_owned()))
    }

    fn pass(&mut self, token: &Token) -> bool {
        let is_next = self.peek() == Some(token);
        self.next += usize::from(is_next);
        is_next
    }

    fn keyword(&mut self, word: &str, expected: &'static str) -> Result<(), DefinitionError> {
        if self.word(word) { Ok(()) } else { Err(self.syntax_error(expected)) }
    }

    fn punctuation(&mut self, symbol: &str, expected: &'static str) -> Result<(), DefinitionError> {
        if self.symbol(symbol) { Ok(()) } else { Err(self.syntax_error(expected)) }
    }

    fn name(&mut self, expected: &'static str) -> Result<String, DefinitionError> {
        let name = match self.peek() {
            Some(Token::Word(word)) if !KEYWORDS.contains(&word.as_str()) => word.clone(),
            Some(Token::Quoted(name)) => name.clone(),
            _ => return Err(self.syntax_error(expected)),
        };
        self.next += 1;
        Ok(name)
    }

    fn measure(&mut self) -> Result<Measure, DefinitionError> {
        if self.word("share") {
            self.keyword("of", "`of`")?;
            let of = self.name("the name of a decision or a fact")?;
            let found = match self.peek() {
                Some(Token::Symbol(word) | Token::Word(word)) => {
                    ValueComparison::ALL.iter().find(|(_, text)| text == word)
                }
                _ => None,
            };
            let ends = |word: &Token| matches!(word, Token::Word(word) if KEYWORDS.contains(&word.as_str()));
            let Some((comparison, _)) = found else {
                return match self.peek().is_none_or(ends) {
                    true => Ok(Measure::EachShare { of }),
                    false => Err(self.syntax_error(
                        "`= VALUE`, or another of `!=`, `<`, `<=`, `>`, `>=`, `contains`, or `by LABEL` for the share of each value",
                    )),
                };
            };
            self.next += 1;
            let value_at = self.next;
            let value = self.name("a value")?;
            if !comparison.is_of_names() && !value.parse::<f64>().is_ok_and(f64::is_finite) {
                self.next = value_at;
                return Err(self.syntax_error("a number"));
            }
            return Ok(Measure::Share { of, comparison: *comparison, value });
        }
        if self.word("mean") {
            if let Some(quantity) =
                OptionQuantity::ALL.into_iter().find(|quantity| self.word(quantity.as_str()))
            {
                self.keyword("of", "`of`")?;
                let first = self.name("an option, or the name of a decision")?;
                let (option, of) = match self.word("in") {
                    true => (Some(first), self.name("the name of a decision")?),
                    false => (None, first),
                };
                return Ok(Measure::MeanOf { quantity, option, of });
            }
            self.keyword("of", "`of`, `rank of` or `points of`")?;
            let of = self.name("the name of a decision or a fact")?;
            return Ok(Measure::Mean { of });
        }
        if self.word("changed") {
            self.punctuation("(", "`(`")?;
            let before = self.name("the name of a decision or a fact")?;
            self.punctuation(",", "a comma")?;
            let after = self.name("the name of a decision or a fact")?;
            self.punctuation(")", "`)`")?;
            return Ok(Measure::Changed { before, after });
        }
        if let Some(Token::Word(word)) = self.peek()
            && let Some(grade) = Grade::from_word(word)
        {
            self.next += 1;
            self.keyword("of", "`of`")?;
            let of = self.name("the name of a decision")?;
            self.keyword("against", "`against`")?;
            let against = self.name("the label with the right value")?;
            let ignores_case = self.word("ignoring");
            if ignores_case {
                self.keyword("case", "`case`")?;
            }
            return Ok(Measure::Graded { grade, of, against, ignores_case });
        }
        Err(self.syntax_error(
            "`share of`, `mean of`, `changed(`, `accuracy of`, `majority of` or `pass@5 of`",
        ))
    }

    fn counted_unit(&mut self) -> Result<CountedUnit, DefinitionError> {
        if !self.word("per") || self.word("answer") {
            return Ok(CountedUnit::Answer);
        }
        self.keyword("cluster", "`answer` or `cluster`")?;
        Ok(CountedUnit::Cluster)
    }

    fn syntax_error(&self, expected: &'static str) -> DefinitionError {
        let end = self.text.trim_end().chars().count() + 1;
        let (at, found) = match self.tokens.get(self.next) {
            None => (end, "the end".to_owned()),
            Some((at, Token::Word(text) | Token::Symbol(text))) => (*at, format!("`{text}`")),
            Some((at, Token::Quoted(text))) => (*at, format!("\"{text}\"")),
        };
        let (figure, found) = (printable(self.text, 300), printable(&found, 80));
        DefinitionError::Expected { figure, at, expected, found }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn figures_are_read_as_they_are_written() {
        for (text, same) in [
            ("share of vote = yes by condition", None),
            ("mean of contribution by round, condition clustered by game", None),
            ("changed(before.vote, after.vote) by condition independent", None),
            ("share of score>=0.5 independent", Some("share of score >= 0.5 independent")),
            ("  mean  of \"the sum\" ", Some("mean of \"the sum\"")),
            ("share of vote != \"by\"", None),
            ("share of vote", None),
            ("share of vote = yes by day, condition against \"no talk\" clustered by pair", None),
            ("share of vote by condition against control", None),
            ("share of ballot contains #5 by condition", None),
            ("mean rank of ballot by condition", None),
            ("mean rank of \"bike lanes\" in ballot by day", None),
            ("mean points of #5 in ballot independent", None),
            ("accuracy of answer against gold by model", None),
            ("accuracy of answer against gold ignoring case clustered by item", None),
            ("pass@5 of answer against gold", None),
            ("majority of \"against\" against \"by\" independent", None),
            ("share of vote by condition independent", None),
            ("mean of sum by day clustered by game per cluster", None),
            ("mean of sum per answer", Some("mean of sum")),
            ("mean of \"per\"", None),
            ("share of mood = \"so \"\"la la\"\"\"", None),
        ] {
            let read: FigureDefinition = text.parse().unwrap();
            assert_eq!(read.to_string(), same.unwrap_or(text));
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let wrong = [
            "",
            "median of contribution",
            "share of vote yes",
            "share of score > high",
            "share of vote = by condition",
            "share of vote = yes condition",
            "share of vote = very good",
            "share vote = yes",
            "mean of contribution by round condition",
            "mean of contribution by",
            "mean of contribution clustered game",
            "changed(before.vote) by condition",
            "mean of \"contribution",
            "mean of x \u{1b}[31m",
            "mean of x by day, game clustered by game",
            "mean of x per game",
            "mean of x against control",
            "mean of x by condition against",
            "accuracy of answer",
            "accuracy of answer against gold ignoring spaces",
            "pass@0 of answer against gold",
            "share of ballot contains",
            "mean rank ballot",
            "mean rank of #5 in",
        ];
        let errors: Vec<String> =
            wrong.map(|text| text.parse::<FigureDefinition>().unwrap_err().to_string()).into();
        insta::assert_snapshot!(errors.join("\n"));
        let long = "x".repeat(3_000).parse::<FigureDefinition>().unwrap_err();
        insta::assert_snapshot!(long, @"a figure has at most 2000 characters, and this one has 3000");
    }

    proptest! {
        #[test]
        fn what_is_written_down_is_read_again(
            names in prop::collection::vec("[a-z\" ,=.]{1,8}", 1..4),
            value in "\\PC{1,8}",
            cluster in prop::option::of("[a-z ]{1,5}"),
        ) {
            let of = names[0].clone();
            let comparison = ValueComparison::Unequal;
            let clustering = cluster.filter(|label| !names[1..].contains(label)).map(Clustering::By);
            let measure = Measure::Share { of, comparison, value };
            let (by, per) = (names[1..].to_vec(), CountedUnit::Cluster);
            let against = by.first().cloned();
            let written = FigureDefinition { measure, by, against, clustering, per };
            prop_assert_eq!(written.to_string().parse::<FigureDefinition>(), Ok(written));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,60}") {
            drop(text.parse::<FigureDefinition>());
        }
    }
}
