//! The numbers of a run as people read them, in the terminal and in reports.

use std::fmt::Write;

use super::{Calls, Cost, Tokens};
use crate::counted::{count_of, group_digits};
use crate::escaping::printable;
use crate::model::NOT_READ;
use crate::run::Shortcomings;

impl Calls {
    /// How many calls there are, and how they ended.
    pub fn text(&self) -> String {
        let Calls { asked, answered, reused, failed, open, lacking } = *self;
        let Shortcomings { blank, refused, cut_off, unended, unreadable, not_read } = lacking;
        let mut said = format!("{}: {} answered", group_digits(asked), group_digits(answered));
        let these = [
            (reused, "reused"),
            (blank, "blank"),
            (refused, "refused"),
            (cut_off, "cut off"),
            (unended, "without its end"),
            (unreadable, "unreadable"),
            (not_read, NOT_READ),
        ];
        let these = these.iter().filter(|(n, _)| *n > 0);
        let these: Vec<String> =
            these.map(|(n, what)| format!("{} {what}", group_digits(*n))).collect();
        // Writing to a string cannot fail, here and below.
        if !these.is_empty() {
            let _ = write!(said, " (of these {})", these.join(", "));
        }
        for (n, what) in [(failed, "failed"), (open, "not answered yet")] {
            if n > 0 {
                let _ = write!(said, ", {} {what}", group_digits(n));
            }
        }
        said
    }
}

impl Tokens {
    /// The tokens of requests and answers, and of how many answers they are unknown.
    pub fn text(&self) -> String {
        let Tokens { prompt, cached, completion, reasoning, counted: known, uncounted } = *self;
        if known == 0 {
            return "no counts were read in the answers".to_owned();
        }
        let within = |n: Option<u64>, what: &str| match n {
            None | Some(0) => String::new(),
            Some(n) => format!(" ({} {what})", group_digits(n)),
        };
        let mut said = format!(
            "{} in{}, {} out{}",
            token_count(prompt),
            within(cached, "in the provider's cache"),
            token_count(completion),
            within(reasoning, "of reasoning")
        );
        if uncounted > 0 {
            let _ = write!(said, "; no counts were read in {}", count_of(uncounted, "answer"));
        }
        said
    }
}

impl Cost {
    /// The cost at list prices, with the answers that it leaves out; and, in a second line, what providers reported.
    pub fn lines(&self) -> Vec<String> {
        let Cost {
            dollars: at_list_prices, prices_taken, without_price, uncounted, reported, ..
        } = self;
        let mut said = match at_list_prices {
            Some(_) => {
                format!("{} {}", dollars(*at_list_prices), at_prices(prices_taken.as_deref()))
            }
            None => "unknown".to_owned(),
        };
        if !without_price.is_empty() {
            let models: Vec<String> = without_price
                .iter()
                .map(|(model, n)| format!("{} ({})", printable(model, 60), count_of(*n, "answer")))
                .collect();
            let _ = write!(said, "; no price for {}: --prices FILE", models.join(", "));
        }
        if *uncounted > 0 {
            let _ = write!(
                said,
                "; without {} whose tokens are unknown",
                count_of(*uncounted, "answer")
            );
        }
        let mut lines = vec![said];
        if let Some(reported) = reported {
            let answers = count_of(self.reported_answers, "answer");
            lines.push(format!(
                "{reported:.6} as the provider reports it, in its own unit ({answers})"
            ));
        }
        lines
    }
}

/// The prices that something cost at, with the day on which they were taken, if that is known.
pub fn at_prices(taken: Option<&str>) -> String {
    match taken {
        Some(day) => format!("at list prices of {}", printable(day, 20)),
        None => "at list prices".to_owned(),
    }
}

/// A number of tokens, which is unknown if nobody counted them.
pub fn token_count(tokens: Option<u64>) -> String {
    tokens.map_or_else(|| "unknown".to_owned(), group_digits)
}

/// US dollars: `$1.20`, and of less than a cent `$0.000042`.
pub fn dollars(dollars: Option<f64>) -> String {
    match dollars {
        Some(dollars) if dollars > 0.0 && dollars < 0.01 => format!("${dollars:.6}"),
        Some(dollars) => format!("${dollars:.2}"),
        None => "cost unknown".to_owned(),
    }
}
