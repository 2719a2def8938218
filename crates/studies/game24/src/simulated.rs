//! Plays the Game of 24 for the simulated model.

use super::puzzles::numbers_in;
use retold::model::simulated::{Dice, Player};
use retold::prompt::Request;

/// Occasionally solves a puzzle, and writes the answer in one of the ways that models do.
#[derive(Debug, Clone, Copy)]
pub struct SimulatedSolver;

/// The share of correct answers: about what real models reach with one prompt.
const SKILL: f64 = 0.3;

impl Player for SimulatedSolver {
    fn reply(&self, request: &Request, dice: &mut Dice) -> String {
        let Some(numbers) = numbers_of(request) else {
            return "I do not see four numbers in this.".to_owned();
        };
        let expression = expression(&numbers, dice);
        if asks_for_a_tag(request) {
            let ways = [
                format!("<answer>{expression} = 24</answer>"),
                format!("Let me think.\n\n<answer>\n{expression} = 24\n</answer>"),
            ];
            return ways.into_iter().nth(dice.below(2)).unwrap_or_default();
        }
        let latex = expression.replace('*', "\\times").replace('/', "\\div");
        let ways = [
            format!("Answer: {expression} = 24"),
            format!("Steps:\nI look for a product.\nAnswer: {expression} = 24"),
            format!("<answer>{expression} = 24</answer>"),
            format!("Let me think.\n\n<answer>\n{expression}\n</answer>"),
            format!("Output: {expression} = 24"),
            format!("The solution is:\n\n\\({latex} = 24\\)"),
            format!("**Answer:** {} = 24", expression.replace('*', "×")),
        ];
        ways.into_iter().nth(dice.below(7)).unwrap_or_default()
    }

    fn defects(&self, request: &Request, dice: &mut Dice) -> Vec<(&'static str, String)> {
        let Some(numbers) = numbers_of(request) else { return Vec::new() };
        let expression = expression(&numbers, dice);
        let broken = [
            format!("I tried many ways with {numbers:?} and found none that reaches 24."),
            format!("<answer>{expression}"),
            format!("The answer is {expression} I think"),
            String::new(),
        ];
        KINDS.iter().copied().zip(broken).collect()
    }

    fn kinds(&self) -> &'static [&'static str] {
        &KINDS
    }
}

/// The kinds of malformed answers.
const KINDS: [&str; 4] = ["gives_up", "open_tag", "no_tag", "empty"];

/// Whether the prompt wants the expression in `<answer>` tags.
fn asks_for_a_tag(request: &Request) -> bool {
    request.messages().iter().any(|(_, text)| text.contains("<answer>"))
}

/// The numbers of the puzzle that a request asks about.
fn numbers_of(request: &Request) -> Option<Vec<i64>> {
    let messages = request.messages();
    last_numbers(messages.last().map_or("", |(_, text)| text))
}

/// The proposed expression, which is sometimes correct.
fn expression(numbers: &[i64], dice: &mut Dice) -> String {
    match dice.chance(SKILL).then(|| solve(numbers)).flatten() {
        Some(right) => right,
        None => guess(numbers, dice),
    }
}

/// The numbers of the last line with exactly four and nothing else but a label; otherwise the last
/// four numbers of the last line that has at least four among other words.
fn last_numbers(prompt: &str) -> Option<Vec<i64>> {
    let alone = prompt.lines().rev().find_map(|line| {
        let line = line.rsplit(':').next().unwrap_or(line);
        let numbers: Result<Vec<i64>, _> = line.split_whitespace().map(str::parse).collect();
        numbers.ok().filter(|n| n.len() == 4)
    });
    let four = |line: &str| numbers_in(line).last_chunk::<4>().map(|numbers| numbers.to_vec());
    alone.or_else(|| prompt.lines().rev().find_map(four))
}

/// A wrong answer with the right numbers: random operators.
fn guess(numbers: &[i64], dice: &mut Dice) -> String {
    let mut expression = numbers.first().map_or_else(String::new, i64::to_string);
    for number in numbers.iter().skip(1) {
        let operator = dice.pick(&["+", "-", "*", "/"]);
        expression = format!("({expression} {operator} {number})");
    }
    let bare = expression.strip_prefix('(').and_then(|e| e.strip_suffix(')'));
    bare.unwrap_or(&expression).to_owned()
}

/// A correct answer, found by combining two numbers at a time. Uses doubles, which is precise
/// enough for simulated answers but never used for grading.
fn solve(numbers: &[i64]) -> Option<String> {
    let terms = numbers.iter().map(|n| (*n as f64, n.to_string())).collect();
    join(terms)
        .map(|e| e.strip_prefix('(').and_then(|e| e.strip_suffix(')')).unwrap_or(&e).to_owned())
}

fn join(terms: Vec<(f64, String)>) -> Option<String> {
    if let [(value, text)] = terms.as_slice() {
        return ((value - 24.0).abs() < 1e-9).then(|| text.clone());
    }
    for i in 0..terms.len() {
        for j in (0..terms.len()).filter(|j| *j != i) {
            let (a, b) = (&terms[i], &terms[j]);
            let results = [('+', a.0 + b.0), ('-', a.0 - b.0), ('*', a.0 * b.0), ('/', a.0 / b.0)];
            for (operator, value) in results.into_iter().filter(|(_, v)| v.is_finite()) {
                let rest = (0..terms.len()).filter(|k| *k != i && *k != j);
                let mut next: Vec<_> = rest.map(|k| terms[k].clone()).collect();
                next.push((value, format!("({} {operator} {})", a.1, b.1)));
                if let Some(found) = join(next) {
                    return Some(found);
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use retold::model::simulated::{Dice, Player};
    use retold::parse::Parser;
    use retold::prompt::Request;
    use serde_json::json;

    use super::SimulatedSolver;
    use crate::parse::{PuzzleParams, parser};

    /// Read by the specification's own rule: the tag is its first marker.
    #[test]
    fn an_answer_has_the_tag_if_the_prompt_asks_for_it() {
        let template = include_str!("../../../../config/prompts/game24/answer_tag.txt");
        let prompt = template.replace("{input}", "4 5 6 10");
        let body = json!({"model": "gpt-4", "messages": [{"role": "user", "content": prompt}]});
        let request = Request::from_body(body).unwrap();
        let numbers = vec![4, 5, 6, 10];
        let parser = parser(1, PuzzleParams { numbers }).unwrap();
        for seed in 0..50 {
            let reply = SimulatedSolver.reply(&request, &mut Dice::new(&seed.to_string()));
            let parsed = parser.parse(&reply);
            assert_eq!(parsed.method, "answer_block", "{reply}");
            assert_ne!(parser.verdict(&parsed.value), Some("wrong_numbers"), "{reply}");
        }
    }
}
