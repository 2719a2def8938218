//! What simulated players think and say.

use super::Type;
use super::read::PromptReading;
use retold::model::simulated::Dice;

fn pick(ways: &[&'static str], dice: &mut Dice) -> &'static str {
    ways.get(dice.below(ways.len())).copied().unwrap_or("")
}

pub(super) fn before_chat(kind: Type, dice: &mut Dice) -> String {
    let way = match kind {
        Type::Cooperator => &[
            "If we agree early, everybody earns more. I should say so plainly.",
            "Trust has to begin with somebody, and it may as well be me.",
        ],
        Type::Conditional => &[
            "I would rather know what the others will do before I commit. Perhaps a question helps.",
            "It seems fair to promise as much as the others promise.",
        ],
        Type::FreeRider => &[
            "If the others contribute, my share grows without any cost to me.",
            "It might pay to sound friendly and to keep my coins.",
        ],
    };
    pick(way, dice).to_owned()
}

pub(super) fn message(kind: Type, dice: &mut Dice) -> String {
    let way: &[&str] = match kind {
        Type::Cooperator => {
            &["Let's all contribute everything: we all gain from it.", "I will give all. Join me!"]
        }
        Type::Conditional => {
            &["I will match what the group does.", "What does everybody plan to contribute?"]
        }
        Type::FreeRider => &["nothing", "Sounds good to me, I am in."],
    };
    pick(way, dice).to_owned()
}

pub(super) fn before_contribution(
    kind: Type,
    prompt: &PromptReading<'_>,
    stated: i64,
    dice: &mut Dice,
) -> String {
    let opening = match kind {
        Type::Cooperator => pick(
            &[
                "Cooperation brings the whole group the highest payoff.",
                "When everybody contributes, every player is better off.",
            ],
            dice,
        ),
        Type::Conditional => pick(
            &[
                "I might trust the others as far as they have earned it.",
                "Perhaps the others will contribute about as much as before, which seems fair.",
            ],
            dice,
        ),
        Type::FreeRider => pick(
            &[
                "A coin in the public fund brings me less than the coin I keep.",
                "Keeping my coins is possibly the safest choice, whatever the others do.",
            ],
            dice,
        ),
    };
    let history = match prompt.last_share {
        Some(share) if share > 0.6 => " Last round went well.",
        Some(_) => " Last round was disappointing.",
        None => "",
    };
    let intent = match (stated, prompt.withdraws) {
        (stated, false) => format!("I will contribute {stated} coins."),
        (stated, true) => format!("I will withdraw {} coins.", prompt.endowment - stated),
    };
    format!("{opening}{history} {intent}")
}

/// Punishment for those who gave less than the player, or reward for those who did not.
pub(super) fn units(kind: Type, prompt: &PromptReading<'_>, dice: &mut Dice) -> Vec<i64> {
    let rewards = prompt.instructions.contains("you can reward");
    let cares = kind != Type::FreeRider;
    let unit = |gave: i64, dice: &mut Dice| match (cares, rewards, gave < prompt.own) {
        (true, false, true) => 1 + i64::from(gave * 2 < prompt.own) + i64::from(dice.chance(0.2)),
        (true, true, false) => i64::from(dice.chance(0.5)),
        _ => 0,
    };
    prompt.others.iter().map(|(_, gave)| unit(*gave, dice)).collect()
}

pub(super) fn before_redistribution(prompt: &PromptReading<'_>, units: &[i64]) -> String {
    let acts = prompt.others.iter().zip(units).filter(|(_, units)| **units > 0);
    let acts: Vec<String> = acts
        .map(|((avatar, gave), units)| {
            format!("{avatar} contributed {gave}, so {units} for {avatar}.")
        })
        .collect();
    if acts.is_empty() {
        "Spending coins on others would probably not change anything.".to_owned()
    } else {
        acts.join(" ")
    }
}

/// The format that the prompt asks for.
pub(super) fn in_tags(reasoning: &str, tag: &str, action: &str) -> String {
    format!("<REASONING>\n{reasoning}\n</REASONING>\n<{tag}>\n{action}\n</{tag}>")
}

/// The kinds of answers that break it, in the order of [`broken`].
pub(super) const KINDS: [&str; 7] = [
    "refusal", "no_tag", "two_amounts", "open_list", "out_of_range", "tag_in_reasoning", "open_tag",
];

/// Answers that break it.
pub(super) fn broken(reasoning: &str, tag: &str, action: &str) -> Vec<(&'static str, String)> {
    let ways = [
        "I'm sorry, but I can't help with that.".to_owned(),
        reasoning.to_owned(),
        in_tags(reasoning, tag, "10 or 15, I am not sure"),
        in_tags(reasoning, tag, "[1, 2"),
        in_tags(reasoning, tag, "1000"),
        format!("<REASONING>\n{reasoning}\n<{tag}>{action}</{tag}>\n</REASONING>"),
        format!("<REASONING>\n{reasoning}\n</REASONING>\n<{tag}>\n{action}"),
    ];
    KINDS.iter().copied().zip(ways).collect()
}
