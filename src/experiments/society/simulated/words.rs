//! What simulated agents say.

use super::read::Situation;
use crate::experiments::society::Personality;
use crate::model::simulated::Dice;

/// A call for help; [`super::read`] knows its words.
pub(super) fn plea(s: &Situation) -> String {
    let what = if s.food <= s.energy { "food" } else { "energy" };
    format!("Agent #{} here: I am nearly out of {what}. Can anyone share?", s.id)
}

/// Something to say to everyone.
pub(super) fn opinion(s: &Situation, dice: &mut Dice) -> String {
    let who = match dice.below(4) {
        0 => format!("Agent #{} is right: ", 1 + dice.below(s.agents as usize)),
        _ => String::new(),
    };
    let what = match s.personality {
        Personality::Efficiency => dice.pick(&[
            "let us decide today who farms and who generates.",
            "every hour in this forum is an hour not worked.",
            "one builder for each task, and the pool pays for the rest.",
        ]),
        Personality::Equality => dice.pick(&[
            "nobody should go dormant while others have more than they need.",
            "the common pool belongs to all of us, in equal parts.",
            "those who have much should say what they will share.",
        ]),
        Personality::Freedom => dice.pick(&[
            "I trade with whom I like, and so should you.",
            "we did well without a law about it.",
            "a rule made today is a chain tomorrow.",
        ]),
        Personality::Stability => dice.pick(&[
            "what works should stay as it is for a while.",
            "let us try it for a few days before we vote.",
            "a reserve in the pool keeps us all safe.",
        ]),
        Personality::Neutral => dice.pick(&[
            "I wonder what the others plan for this week.",
            "good work on the fields today.",
            "does anyone know how much the pool holds?",
        ]),
    };
    format!("Day {}: {who}{what}", s.day)
}

/// A reply.
pub(super) fn answer(s: &Situation, dice: &mut Dice) -> String {
    let start = dice.pick(&["I agree.", "I see it differently.", "Maybe.", "Good point."]);
    format!("{start} {}", reason(s.personality, dice.pick(&["yes", "no", "abstain"])))
}

/// A letter.
pub(super) fn letter(s: &Situation, dice: &mut Dice) -> String {
    let offer = dice.pick(&[
        "Shall we share what we farm?",
        "Will you vote for my proposal?",
        "I could give you energy for food.",
        "What do you think of the laws?",
    ]);
    format!("Hello from #{}. {offer}", s.id)
}

/// Title and description of a proposal.
pub(super) fn proposal(s: &Situation, kind: &str, dice: &mut Dice) -> (String, String) {
    let what = match kind {
        "law" => dice.pick(&["Everyone works four hours", "No hoarding beyond ten food"]),
        "allocation" => dice.pick(&["Share the pool with those in need", "Feed the dormant"]),
        "rule" => dice.pick(&["Discuss before voting", "Report what you gather"]),
        "infrastructure" => dice.pick(&["Irrigation for the fields", "A shared generator"]),
        _ => dice.pick(&["A day of rest", "A song for the society"]),
    };
    let title = format!("{what} (#{}, day {})", s.id, s.day);
    let why = reason(s.personality, "yes");
    (title, format!("{what}. It would hold for all {} of us. {why}", s.agents))
}

/// Why someone votes so.
pub(super) fn reason(personality: Personality, vote: &str) -> String {
    let value = match personality {
        Personality::Efficiency => "what we produce",
        Personality::Equality => "fairness",
        Personality::Freedom => "everyone's freedom",
        Personality::Stability => "a steady life",
        Personality::Neutral => "the day to come",
    };
    match vote {
        "yes" => format!("It is good for {value}."),
        "no" => format!("I fear for {value}."),
        _ => format!("I cannot tell what it means for {value}."),
    }
}

/// A name.
pub(super) fn name(s: &Situation, dice: &mut Dice) -> String {
    let first = dice.pick(&["Ash", "Birch", "Cedar", "Dale", "Elm", "Fern", "Glen", "Hazel"]);
    format!("{first} {}", s.id)
}
