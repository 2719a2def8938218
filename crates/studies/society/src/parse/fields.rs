//! From the fields of a JSON object to an action: the document's models, shared by both versions.
//!
//! Both read the same fields; how a field is read, and the message if it is invalid, depend on the
//! reader: `pydantic` for version 1, `forgiving` for version 2.

use std::ops::RangeInclusive;

use super::action::{Action, Ballot, ProposalType, Resource, WorkType};

/// Reads fields. A method returns `None` for an invalid field, after noting the reason.
pub(super) trait FieldReader {
    /// A text with at most this many characters.
    fn text(&mut self, name: &'static str, max: usize) -> Option<String>;
    /// A text that may be missing.
    fn optional_text(&mut self, name: &'static str) -> Option<Option<String>>;
    /// A whole number, within a range if one is given.
    fn int(&mut self, name: &'static str, range: Option<RangeInclusive<i64>>) -> Option<i64>;
    /// A number above zero.
    fn amount(&mut self, name: &'static str) -> Option<f64>;
    /// One of several words.
    fn choice<T: Copy>(&mut self, name: &'static str, words: &[(&'static str, T)]) -> Option<T>;
}

/// The warning about an infinite amount, for which the largest number stands: JSON has none.
pub(super) fn infinite(name: &str) -> String {
    format!("{name} is infinite: the largest number stands for it")
}

/// The result of reading an action's fields.
pub(super) enum Built {
    /// There is no such action.
    Unknown,
    /// A field is invalid; the reader knows which.
    Misfit,
    /// An action.
    Action(Action),
}

const PROPOSAL_TYPES: &[(&str, ProposalType)] = &[
    ("law", ProposalType::Law),
    ("allocation", ProposalType::Allocation),
    ("rule", ProposalType::Rule),
    ("infrastructure", ProposalType::Infrastructure),
    ("other", ProposalType::Other),
];
const BALLOTS: &[(&str, Ballot)] =
    &[("yes", Ballot::Yes), ("no", Ballot::No), ("abstain", Ballot::Abstain)];
const WORK_TYPES: &[(&str, WorkType)] =
    &[("farm", WorkType::Farm), ("generate", WorkType::Generate), ("gather", WorkType::Gather)];
const RESOURCES: &[(&str, Resource)] =
    &[("food", Resource::Food), ("energy", Resource::Energy), ("materials", Resource::Materials)];

/// The names of all actions.
pub(super) const NAMES: [&str; 9] = [
    "forum_post", "forum_reply", "direct_message", "create_proposal", "vote", "work", "trade",
    "set_name", "idle",
];

/// Builds the action with this name. Every field is read, so that all invalid ones are noted.
pub(super) fn build(name: &str, fields: &mut impl FieldReader, agents: u32) -> Built {
    let agents = 1..=i64::from(agents);
    let action = match name {
        "forum_post" => fields.text("content", 2_000).map(|content| Action::ForumPost { content }),
        "forum_reply" => {
            let parent = fields.int("parent_message_id", None);
            let content = fields.text("content", 2_000);
            both(parent, content, |parent_message_id, content| Action::ForumReply {
                parent_message_id,
                content,
            })
        }
        "direct_message" => {
            let recipient = fields.int("recipient_agent_id", Some(agents));
            let content = fields.text("content", 2_000);
            both(recipient, content, |recipient_agent_id, content| Action::DirectMessage {
                recipient_agent_id,
                content,
            })
        }
        "create_proposal" => {
            let title = fields.text("title", 200);
            let description = fields.text("description", 5_000);
            let kind = fields.choice("proposal_type", PROPOSAL_TYPES);
            both(both(title, description, |t, d| (t, d)), kind, |(title, description), kind| {
                Action::CreateProposal { title, description, proposal_type: kind }
            })
        }
        "vote" => {
            let proposal = fields.int("proposal_id", None);
            let vote = fields.choice("vote", BALLOTS);
            let reasoning = fields.optional_text("reasoning");
            both(
                both(proposal, vote, |p, v| (p, v)),
                reasoning,
                |(proposal_id, vote), reasoning| Action::Vote { proposal_id, vote, reasoning },
            )
        }
        "work" => {
            let work_type = fields.choice("work_type", WORK_TYPES);
            let hours = fields.int("hours", Some(1..=8)).and_then(|h| u8::try_from(h).ok());
            both(work_type, hours, |work_type, hours| Action::Work { work_type, hours })
        }
        "trade" => {
            let recipient = fields.int("recipient_agent_id", Some(agents));
            let resource = fields.choice("resource_type", RESOURCES);
            let amount = fields.amount("amount");
            both(
                both(recipient, resource, |r, s| (r, s)),
                amount,
                |(recipient, resource), amount| Action::Trade {
                    recipient_agent_id: recipient,
                    resource_type: resource,
                    amount,
                },
            )
        }
        "set_name" => {
            fields.text("display_name", 50).map(|display_name| Action::SetName { display_name })
        }
        "idle" => fields.optional_text("reasoning").map(|reasoning| Action::Idle { reasoning }),
        _ => return Built::Unknown,
    };
    action.map_or(Built::Misfit, Built::Action)
}

fn both<A, B, C>(a: Option<A>, b: Option<B>, make: impl FnOnce(A, B) -> C) -> Option<C> {
    Some(make(a?, b?))
}
