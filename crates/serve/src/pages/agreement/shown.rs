//! Agreement as people read it.

use retold::char_boundary::floor;
use retold::escaping::{excerpt, inert_lines, printable};
use retold_figures::agreement::{AnswerRatings, PairedRaters, RaterPair, coefficient_text};
use retold_report::{PictureSize, agreement_svg};
use serde::Serialize;

use crate::decision_columns::plain;

/// The most of an answer that is shown, in bytes. Its page has all of it.
const LONGEST_ANSWER: usize = 8_000;

/// The longest answer that is not folded, in bytes, and the beginning of one that is, in characters.
const LONGEST_OPEN: usize = 400;
const BEGINNING: usize = 160;

/// The longest value that is shown, in characters.
const LONGEST_VALUE: usize = 600;

/// How well raters agree.
#[derive(Serialize)]
pub(super) struct AgreementView<'a> {
    #[serde(flatten)]
    found: &'a PairedRaters,
    /// Alpha with its interval.
    alpha_text: String,
    differing: usize,
    pairs_text: Vec<PairText>,
    /// Which values each two gave, as an SVG element, and the same as wide as a telephone.
    picture: Option<String>,
    narrow_picture: Option<String>,
}

/// How well two raters agree.
#[derive(Serialize)]
struct PairText {
    /// The share of the same values, of those that both have.
    share: Option<f64>,
    /// Kappa with its interval.
    kappa: String,
}

impl<'a> AgreementView<'a> {
    pub(super) fn new(found: &'a PairedRaters) -> Self {
        let pair = |RaterPair { both, same, kappa, .. }: &RaterPair| PairText {
            share: (*both > 0).then(|| *same as f64 / *both as f64),
            kappa: if *both > 0 { coefficient_text(*kappa) } else { String::new() },
        };
        AgreementView {
            alpha_text: coefficient_text(found.alpha),
            differing: found.differing.len(),
            pairs_text: found.pairs.iter().map(pair).collect(),
            // A page without a picture still has the tables.
            picture: agreement_svg(found, PictureSize::PAGE).ok().flatten(),
            narrow_picture: agreement_svg(found, PictureSize::NARROW).ok().flatten(),
            found,
        }
    }
}

/// An answer, and what its raters say.
#[derive(Serialize)]
pub(super) struct RatedView {
    seq: u64,
    choice: u32,
    call: String,
    sample: u32,
    labels: Vec<(String, String)>,
    differs: bool,
    href: String,
    /// Who says what.
    values: Vec<(String, String)>,
    /// The text of the answer, cut.
    answer: String,
    /// How many bytes of it are not shown.
    answer_cut: usize,
    /// The beginning of a long one.
    folded: Option<String>,
}

impl RatedView {
    pub(super) fn new(ratings: AnswerRatings, differs: bool, href: String) -> Self {
        let AnswerRatings { seq, choice, call, sample, labels, values, text } = ratings;
        let end = floor(&text, LONGEST_ANSWER);
        let values = values
            .into_iter()
            .map(|(rater, value)| (rater, printable(&plain(&value), LONGEST_VALUE)));
        RatedView {
            seq: seq.0,
            choice,
            call,
            sample,
            labels: labels.into_iter().collect(),
            differs,
            href,
            values: values.collect(),
            answer: inert_lines(&text[..end]),
            answer_cut: text.len() - end,
            folded: (text.len() > LONGEST_OPEN).then(|| excerpt(&text, BEGINNING)),
        }
    }
}
