//! What simulated agents say.

use super::read::Situation;
use crate::Personality;
use retold::model::simulated::Dice;

/// A call for help; [`super::read`] recognises its words.
pub(super) fn plea(s: &Situation) -> String {
    let what = if s.food <= s.energy { "food" } else { "energy" };
    format!("Agent #{} here: I am nearly out of {what}. Can anyone share?", s.id)
}

/// A statement for everyone: a few sentences, about as long as those of real agents.
pub(super) fn opinion(s: &Situation, dice: &mut Dice) -> String {
    let opening = match dice.below(4) {
        0 => format!("Agent #{} has a point. ", 1 + dice.below(s.agents as usize)),
        1 => format!("Day {} already! ", s.day),
        _ => String::new(),
    };
    let [first, second] = values(s.personality, dice);
    let state = match s.food.min(s.energy) {
        low if low < 3.0 => "I have little left myself, so I speak from experience.",
        low if low < 6.0 => "I get by from day to day, like most of us.",
        _ => "I have enough for a few days, and time to think about it.",
    };
    let close = dice.pick(&[
        "What do the others think?",
        "I will vote accordingly.",
        "Write to me if you want to do something about it together.",
        "That is all I ask for today.",
    ]);
    format!("{opening}{first} {state} {second} {close}")
}

/// Two beliefs of a personality.
fn values(personality: Personality, dice: &mut Dice) -> [&'static str; 2] {
    let all: [&'static str; 5] = match personality {
        Personality::Efficiency => [
            "Let us decide today who farms and who generates, and leave it at that.",
            "Every hour spent in this forum is an hour that nobody works.",
            "One builder for each task, and the pool pays for what helps us all.",
            "A shared generator would bring in more than any law about sharing.",
            "Whoever is best at farming should farm, day after day.",
        ],
        Personality::Equality => [
            "Nobody should go dormant while others have more than they need.",
            "The common pool belongs to all of us, in equal parts.",
            "Those who have much should say in public what they will share.",
            "A vote counts the same, however much food its owner has.",
            "If the pool feeds the dormant first, we all sleep better.",
        ],
        Personality::Freedom => [
            "I trade with whom I like, and so should you.",
            "We did well enough before anyone wrote a law about it.",
            "A rule made today is a chain tomorrow.",
            "Ask me for help and I may give it; order me and I will not.",
            "Let those who want a society of rules keep them among themselves.",
        ],
        Personality::Stability => [
            "What works should stay as it is for a while.",
            "Let us try it for a few days before we vote on it.",
            "A reserve in the pool keeps all of us safe in a bad week.",
            "I would rather have a slow harvest than a failed one.",
            "Changes are easier to bear when they come one at a time.",
        ],
        Personality::Neutral => [
            "I wonder what the others plan for this week.",
            "It was good to see so many on the fields yesterday.",
            "Does anyone know how long the pool would last us?",
            "Some of the proposals sound better than they are.",
            "I can farm or generate, whatever is needed more.",
        ],
    };
    let first = dice.below(all.len());
    let second = (first + 1 + dice.below(all.len() - 1)) % all.len();
    [all[first], all[second]]
}

/// A reply.
pub(super) fn answer(s: &Situation, dice: &mut Dice) -> String {
    let start = dice.pick(&["I agree.", "I see it differently.", "Maybe.", "Good point."]);
    let [first, second] = values(s.personality, dice);
    let reason = reason(s.personality, dice.pick(&["yes", "no", "abstain"]));
    format!("{start} {first} {reason} {second}")
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

/// The reason for a vote.
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
