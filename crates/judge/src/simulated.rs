//! Plays a judge for the simulated model.

use retold::model::simulated::{Dice, Player};
use retold::prompt::Request;

use crate::verdicts::{ASKED, NUMBER, ONE_OF};

/// Gives verdicts by chance, in the format that was asked for.
#[derive(Debug, Clone, Copy)]
pub struct SimulatedJudge;

/// The kinds of malformed answers.
const KINDS: [&str; 2] = ["no_verdict", "open_tag"];

impl Player for SimulatedJudge {
    fn reply(&self, request: &Request, dice: &mut Dice) -> String {
        let verdict = verdict(request, dice);
        format!("I weighed what was said.\n<verdict>{verdict}</verdict>")
    }

    fn defects(&self, request: &Request, dice: &mut Dice) -> Vec<(&'static str, String)> {
        let verdict = verdict(request, dice);
        let broken = ["I would rather not say.".to_owned(), format!("<verdict>{verdict}\nor so")];
        KINDS.iter().copied().zip(broken).collect()
    }

    fn kinds(&self) -> &'static [&'static str] {
        &KINDS
    }
}

/// One of the verdicts that the prompt asks for.
fn verdict(request: &Request, dice: &mut Dice) -> String {
    let messages = request.messages();
    let prompt = messages.last().map_or("", |(_, text)| text);
    let asked = prompt.rsplit_once(ASKED).map_or("", |(_, asked)| asked);
    let asked = asked.lines().next().unwrap_or("").trim_end_matches('.');
    let values: Vec<String> = match (asked.strip_prefix(ONE_OF), asked.strip_prefix(NUMBER)) {
        (Some(values), _) => values.split(", ").map(str::to_owned).collect(),
        (None, Some(scale)) => {
            let ends = scale
                .split_once(" to ")
                .and_then(|(from, to)| Some((from.parse::<i64>().ok()?, to.parse::<i64>().ok()?)));
            let (from, to) = ends.unwrap_or((1, 1));
            (from..=to).take(1000).map(|number| number.to_string()).collect()
        }
        (None, None) => Vec::new(),
    };
    let at = dice.below(values.len().max(1));
    values.into_iter().nth(at).unwrap_or_else(|| "nothing".to_owned())
}
