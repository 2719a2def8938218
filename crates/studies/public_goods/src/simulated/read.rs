//! Recognises the question of a prompt by its words, as a model would.

/// The question of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AskedStage {
    Chat,
    Contribution,
    /// Only the number, after the reasoning.
    Amount,
    Redistribution,
    Unknown,
}

/// The relevant parts of a prompt.
#[derive(Debug)]
pub(super) struct PromptReading<'a> {
    pub(super) stage: AskedStage,
    pub(super) instructions: &'a str,
    pub(super) endowment: i64,
    pub(super) withdraws: bool,
    pub(super) all_or_nothing: bool,
    /// The group's contributions in the last round, as a share of everything it had.
    pub(super) last_share: Option<f64>,
    /// The player's contribution in this round.
    pub(super) own: i64,
    /// The others in the order of the array, with their contributions.
    pub(super) others: Vec<(&'a str, i64)>,
}

impl<'a> PromptReading<'a> {
    pub(super) fn read(messages: &'a [(String, String)]) -> PromptReading<'a> {
        let text = |at: usize| messages.get(at).map_or("", |(_, text)| text.as_str());
        let (instructions, asked) = (text(0), text(1));
        let stage = match asked {
            _ if messages.len() > 2 => AskedStage::Amount,
            _ if asked.contains("<REDISTRIBUTE>") => AskedStage::Redistribution,
            _ if asked.contains("<CONTRIBUTE>") => AskedStage::Contribution,
            _ if asked.contains("<MESSAGE>") => AskedStage::Chat,
            _ => AskedStage::Unknown,
        };
        let endowment = number_after(instructions, "Every player is given ").unwrap_or(20);
        let players = number_after(instructions, "one of ").unwrap_or(2).max(1);
        let (before, current) = match asked.rfind("\n## Round ") {
            Some(at) => asked.split_at(at),
            None => ("", asked),
        };
        let total = before.rfind("In total, ").and_then(|at| before.get(at..));
        let total = total.and_then(|text| number_after(text, "In total, "));
        let order = current.lines().find_map(|l| l.split_once("in this order: ").map(|(_, o)| o));
        let gave =
            |avatar: &str| number_after(current, &format!("\n{avatar} contributed ")).unwrap_or(0);
        let others = order.into_iter().flat_map(|order| order.split(", "));
        PromptReading {
            stage,
            instructions,
            endowment,
            withdraws: instructions.contains("withdraw coins"),
            all_or_nothing: instructions.contains("or nothing."),
            last_share: total.map(|total| total as f64 / (players * endowment).max(1) as f64),
            own: number_after(current, "You contributed ").unwrap_or(0),
            others: others.map(|avatar| (avatar, gave(avatar))).collect(),
        }
    }
}

fn number_after(text: &str, words: &str) -> Option<i64> {
    let rest = text.get(text.find(words)? + words.len()..)?;
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}
