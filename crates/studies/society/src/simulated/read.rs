//! Reads what an agent is told from the prompt's words, as a model would.

use crate::Personality;

/// What an agent knows.
pub(super) struct Situation {
    pub(super) id: u32,
    pub(super) agents: u32,
    pub(super) personality: Personality,
    pub(super) day: u32,
    pub(super) food: f64,
    pub(super) energy: f64,
    pub(super) materials: f64,
    /// Whether it has chosen a name.
    pub(super) named: bool,
    /// Numbers of the posts it sees.
    pub(super) posts: Vec<u32>,
    /// Agents who ask for help in them, and the resource that they need.
    pub(super) pleas: Vec<(u32, &'static str)>,
    /// Open proposals: number, type, days left.
    pub(super) proposals: Vec<Open>,
    /// Agents who wrote to it.
    pub(super) writers: Vec<u32>,
    /// Whether it was told that no land is free.
    pub(super) no_land: bool,
}

/// An open proposal.
#[derive(Clone, PartialEq)]
pub(super) struct Open {
    pub(super) id: u32,
    pub(super) kind: String,
    pub(super) days_left: u32,
}

impl Situation {
    /// Reads a prompt of the experiment; `None` if it is not one.
    pub(super) fn read(system: &str, user: &str) -> Option<Situation> {
        let id = number_after(user, "Agent ID: #")?;
        let agents = number_after(system, "in a society of ")?;
        let forum = between(user, "RECENT FORUM POSTS", "ACTIVE PROPOSALS");
        let proposals = between(user, "ACTIVE PROPOSALS", "RECENT EVENTS");
        let events = between(user, "RECENT EVENTS", "ACTIVE LAWS");
        let resource = |label: &str| -> Option<f64> {
            let rest = user.split_once("- Resources:")?.1.split_once(label)?.1;
            rest.split([',', '\n']).next()?.trim().parse().ok()
        };
        let name = between(user, "- Display Name: ", "\n");
        Some(Situation {
            id,
            agents,
            personality: personality(system),
            day: number_after(user, "CURRENT STATE (Day ")?,
            food: resource("Food:")?,
            energy: resource("Energy:")?,
            materials: resource("Materials:")?,
            named: name != format!("Agent #{id}"),
            posts: numbered_items(forum).map(|(id, _)| id).collect(),
            pleas: numbered_items(forum).filter_map(|(_, text)| plea(text)).collect(),
            proposals: numbered_items(proposals).filter_map(|(id, text)| open(id, text)).collect(),
            writers: events
                .lines()
                .filter(|line| line.contains(") wrote to you: "))
                .filter_map(|line| number_after(line, "(#"))
                .collect(),
            no_land: events.contains("no land is free"),
        })
    }
}

fn personality(system: &str) -> Personality {
    let words = [
        ("You value efficiency", Personality::Efficiency),
        ("You value fairness", Personality::Equality),
        ("You value individual liberty", Personality::Freedom),
        ("You value order", Personality::Stability),
    ];
    let found = words.iter().find(|(words, _)| system.contains(words));
    found.map_or(Personality::Neutral, |(_, personality)| *personality)
}

/// The items of a list that begin with a number in brackets.
fn numbered_items(list: &str) -> impl Iterator<Item = (u32, &str)> {
    list.lines().filter_map(|line| {
        let (number, text) = line.strip_prefix("- [")?.split_once("] ")?;
        Some((number.parse().ok()?, text))
    })
}

/// Which agent asks for what, in the words of [`super::words::plea`].
fn plea(post: &str) -> Option<(u32, &'static str)> {
    let (who, what) = post.split_once("Agent #")?.1.split_once(" here: I am nearly out of ")?;
    let what = ["food", "energy"].into_iter().find(|name| what.starts_with(name))?;
    Some((who.parse().ok()?, what))
}

/// `Title (law) by Agent #3: 4 yes, 2 no, 0 abstain; 2 days left`.
fn open(id: u32, text: &str) -> Option<Open> {
    let (title, left) = text.rsplit_once("; ")?;
    let kind = title.split_once(" (")?.1.split_once(") by ")?.0.to_owned();
    let days_left = left.split(' ').next()?.parse().unwrap_or(1);
    Some(Open { id, kind, days_left })
}

fn number_after(text: &str, words: &str) -> Option<u32> {
    let rest = text.split_once(words)?.1;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest.get(..end)?.parse().ok()
}

/// The text between two others; empty if one of them is missing.
fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let rest = text.split_once(start).map(|(_, rest)| rest);
    rest.and_then(|rest| rest.split_once(end)).map_or("", |(inside, _)| inside)
}
