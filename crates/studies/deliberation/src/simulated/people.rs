//! What simulated people think and say.

use serde_json::json;

use retold::model::simulated::Dice;

/// Reasons: a name, and three ways to express each, with the words that make it recognisable.
const REASONS: &[(&str, [&str; 3])] = &[
    (
        "safety",
        [
            "It keeps people safe on dark streets",
            "Accidents and crime worry my neighbours, and this makes us safe",
            "Safety on the streets comes before everything, day and night",
        ],
    ),
    (
        "jobs",
        [
            "It brings jobs and steady wages to people who look for work",
            "Work and wages hold a town together, and this means jobs",
            "Young people need jobs and training, or they leave for work elsewhere",
        ],
    ),
    (
        "fairness",
        [
            "It is fair to those who were left out for so long",
            "Poor families get their fair share this way, for once",
            "Fairness means that those with the least gain the most",
        ],
    ),
    (
        "health",
        [
            "It is good for the health of body and mind",
            "Healthy people need fewer doctors, and this is about health",
            "Clean air and exercise keep us healthy",
        ],
    ),
    (
        "community",
        [
            "It gives neighbours a place to meet and trust each other",
            "A community grows where neighbours meet",
            "Loneliness ends where the community has a common place",
        ],
    ),
    (
        "cost",
        [
            "It costs little and pays back the budget within years",
            "Taxpayers get the most for their money with this budget",
            "The money is spent once and the savings stay in the budget",
        ],
    ),
    (
        "future",
        [
            "It lasts for decades and our children will still use it",
            "Children and grandchildren will inherit this, so think long-term",
            "The long-term future matters more than a quick success",
        ],
    ),
    (
        "urgency",
        [
            "It helps right now, and waiting would hurt people",
            "The need is urgent, people suffer today",
            "Other things can wait, this crisis is urgent",
        ],
    ),
];

/// A voter.
pub(super) struct Persona<'a> {
    options: &'a [&'a str],
    leaning: usize,
    reasons: [usize; 2],
}

impl<'a> Persona<'a> {
    /// The nature of a persona, determined by its text.
    pub(super) fn new(persona: &str, options: &'a [&'a str]) -> Self {
        let mut dice = Dice::new(persona);
        // The first options are slightly more popular, so that there is a majority.
        let leaning = dice.below(options.len()).min(dice.below(options.len() + 2));
        Persona {
            options,
            leaning,
            reasons: [dice.below(REASONS.len()), dice.below(REASONS.len())],
        }
    }

    /// The first vote.
    pub(super) fn vote(&self, dice: &mut Dice) -> &'a str {
        let at = if dice.chance(0.8) { self.leaning } else { dice.below(self.options.len()) };
        self.options.get(at).copied().unwrap_or("")
    }

    /// The vote after reading or talking.
    pub(super) fn vote_again(
        &self,
        before: &str,
        challenged: bool,
        text: &str,
        dice: &mut Dice,
    ) -> String {
        if !dice.chance(if challenged { 0.25 } else { 0.1 }) {
            return before.to_owned();
        }
        let named = self.options.iter().filter(|o| **o != before && text.contains(**o));
        let named: Vec<&str> = named.copied().collect();
        let others: Vec<&str> = self.options.iter().copied().filter(|o| *o != before).collect();
        let from = if named.is_empty() { &others } else { &named };
        dice.pick(from).to_owned()
    }

    /// An answer to a moderator.
    pub(super) fn explain(&self, choice: &str, dice: &mut Dice) -> String {
        let reason = |at: usize, way: usize| {
            REASONS.get(at).and_then(|(_, ways)| ways.get(way)).copied().unwrap_or("")
        };
        // Each choice has a character of its own: personas that prefer it share a reason.
        let shared = Dice::new(choice).below(REASONS.len());
        let main = self.reasons[usize::from(dice.chance(0.3))];
        let first = reason(main, dice.below(3));
        match dice.below(3) {
            0 => format!("For me it is {choice}. {first}."),
            1 => format!(
                "{first}. And {choice} does one more thing: {}.",
                lower(reason(shared, dice.below(3)))
            ),
            _ => format!("{first}. That is why I chose {choice}."),
        }
    }
}

fn lower(sentence: &str) -> String {
    let mut chars = sentence.chars();
    chars.next().map_or_else(String::new, |c| c.to_lowercase().chain(chars).collect())
}

/// A moderator's turn: one to five questions, then the word.
pub(super) fn question(
    system: &str,
    asked: usize,
    opposing: Option<&str>,
    choice: &str,
    dice: &mut Dice,
) -> String {
    if asked > Dice::new(system).below(5) {
        return "SATISFIED".to_owned();
    }
    let topic =
        dice.pick(&["costs", "your neighbours", "the next ten years", "those who need it most"]);
    match opposing {
        Some(view) => match dice.below(3) {
            0 => format!("What if {view} would do more for {topic} than {choice}?"),
            1 => format!(
                "Suppose {view} were built next to your house. What would you lose with {choice}?"
            ),
            _ => format!(
                "Which assumption about {topic} would have to be wrong for {view} to be better?"
            ),
        },
        None => match dice.below(3) {
            0 => format!("Why did you choose {choice}?"),
            1 => format!("How did you weigh {topic} when you chose?"),
            _ => "What would the best argument for another option be?".to_owned(),
        },
    }
}

/// A summary with the reasons that the participant gave.
pub(super) fn summary(choice: &str, dialogue: &str) -> String {
    let given = reasons_in(dialogue);
    let said: Vec<&str> = given.iter().take(2).map(|(_, way)| *way).collect();
    match said.as_slice() {
        [] => format!("The participant prefers {choice} without giving a reason."),
        [one] => format!("The participant prefers {choice}. {one}."),
        [one, two, ..] => format!("The participant prefers {choice}. {one}. {two}."),
    }
}

/// The phrases for reasons in a text, each reason once.
fn reasons_in(text: &str) -> Vec<(usize, &'static str)> {
    let text = text.to_lowercase();
    let found = REASONS.iter().enumerate().filter_map(|(number, (_, ways))| {
        let way = ways.iter().find(|way| text.contains(&way.to_lowercase()))?;
        Some((number, *way))
    });
    found.collect()
}

/// The description of a cluster: its most common reasons.
pub(super) fn common(option: &str, positions: &str) -> String {
    let mut counts: Vec<(usize, usize, &str)> = Vec::new();
    for position in positions.split("\n\n") {
        for (number, way) in reasons_in(position) {
            match counts.iter_mut().find(|(_, reason, _)| *reason == number) {
                Some((n, _, _)) => *n += 1,
                None => counts.push((1, number, way)),
            }
        }
    }
    counts.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    let way = |at: usize| counts.get(at).map_or("It seemed right to them", |(_, _, way)| *way);
    let name = |at: usize| {
        let reason = counts.get(at).and_then(|(_, number, _)| REASONS.get(*number));
        reason.map_or("feeling", |(name, _)| *name)
    };
    format!(
        "This group chose {option} for reasons of {}: {}. They also say: {}. What sets them apart \
         from others with this choice is how much they speak of {}.",
        name(0),
        lower(way(0)),
        lower(way(1)),
        name(0)
    )
}

/// Demographics that match a persona.
pub(super) fn demographics(persona: &str, dice: &mut Dice) -> String {
    let mut nature = Dice::new(persona);
    let education = nature.pick(&[
        "High school", "Some college", "Bachelor's degree", "Master's degree", "Doctorate",
    ]);
    let income = nature.pick(&[
        "Low income",
        "Lower-middle income",
        "Middle income",
        "Upper-middle income",
        "High income",
    ]);
    let json = json!({
        "age": 18 + nature.below(48),
        "sex": nature.pick(&["M", "F"]),
        "education": education,
        "income": income,
        "location_type": nature.pick(&["urban", "suburban", "rural"]),
        "political_leaning":
            nature.pick(&["very liberal", "liberal", "moderate", "conservative", "very conservative"]),
    });
    match dice.below(10) {
        0 => format!("```json\n{json:#}\n```"),
        1 => format!("Here you go:\n{json}"),
        _ => json.to_string(),
    }
}

/// A fuller description of a persona.
pub(super) fn description(persona: &str, facts: &str, dice: &mut Dice) -> String {
    let fact = |label: &str| {
        let line = facts.lines().find_map(|line| line.strip_prefix("- ")?.strip_prefix(label));
        line.map_or("", |rest| rest.trim_start_matches(':').trim())
    };
    let habit = dice.pick(&[
        "reads the local paper every morning",
        "knows everyone on the street",
        "argues at the dinner table and forgives quickly",
        "keeps a list of things the city should mend",
    ]);
    format!(
        "{}, {} years old, living in a {} place on a {}. With {} behind them and {} views, this \
         person {habit}.",
        lower(persona),
        fact("Age"),
        fact("Location type"),
        lower(fact("Income level")),
        lower(fact("Education")),
        fact("Political leaning"),
    )
}
