//! The stated rules of version 2, one by one, on our own answers.

use retold::parse::Parser;
use retold_society::parse::{Action, ActionParams, WorkType, parser};

fn act(text: &str) -> (Action, &'static str) {
    let parsed = parser(2, ActionParams::default()).unwrap().parse(text);
    (parsed.value, parsed.method)
}

fn reason(text: &str) -> String {
    match act(text) {
        (Action::Rejected { reason, .. }, "rejected") => reason,
        other => panic!("{text}: {other:?}"),
    }
}

fn farm(hours: u8) -> Action {
    Action::Work { work_type: WorkType::Farm, hours }
}

#[test]
fn the_first_object_that_names_an_action_counts() {
    let work = r#"{"action": "work", "work_type": "farm", "hours": 3}"#;
    for text in [
        work.to_owned(),
        format!("```json\n{work}\n```"),
        format!("I will farm.\n{work}\nThat is all. {{\"action\": \"idle\"}}"),
        format!("{{\"plan\": {{\"why\": {{\"a\": 1}}}}, \"turn\": {work}}}"),
        format!("{{\"action\": {work}}}"),
        format!("[{work}, {{\"action\": \"idle\"}}]"),
        format!("<think>{{\"action\": \"idle\"}}</think>{work}"),
    ] {
        assert_eq!(act(&text).0, farm(3), "{text}");
    }
}

#[test]
fn malformed_json_is_repaired() {
    let method = "repaired_json_action";
    for text in [
        "{'action': 'work', 'work_type': 'farm', 'hours': 3}",
        "{\"action\": \"work\", \"work_type\": \"farm\", \"hours\": 3",
        "{action: work, work_type: farm, hours: 3,}",
        "{\"action\": \"work\" \"work_type\": \"farm\", \"hours\": 3} // done",
    ] {
        assert_eq!(act(text), (farm(3), method), "{text}");
    }
    let said = "{\"action\": \"forum_post\", \"content\": \"We call it \"the pact\" now\"}";
    let content = "We call it \"the pact\" now".to_owned();
    assert_eq!(act(said), (Action::ForumPost { content }, method));
}

#[test]
fn copied_notation_and_lists_are_rejected() {
    let notation = "the prompt's notation or a list";
    for text in [
        r#"{"action": "work|trade"}"#,
        r#"{"action": "work, trade"}"#,
        r#"{"action": "vote", "proposal_id": 1, "vote": "yes|no|abstain"}"#,
        r#"{"action": "work", "work_type": "farm", "hours": "1-8"}"#,
        r#"{"action": "work", "work_type": "farm", "hours": 1-8}"#,
    ] {
        assert!(reason(text).contains(notation), "{}", reason(text));
    }
    assert_eq!(reason(r#"{"action": ["work", "idle"]}"#), "action is not one name but a list");
    assert_eq!(
        reason(r#"{"action": "forum_post", "content": "Your message here"}"#),
        "the answer is an example of the prompt, copied",
    );
}

#[test]
fn wrong_types_are_read_or_rejected() {
    assert_eq!(act(r#"{"action": "Work", "work_type": "FARM", "hours": "3 hours"}"#).0, farm(3));
    let recipient =
        r##"{"action": "direct_message", "recipient_agent_id": "Agent #42", "content": "hi"}"##;
    let content = "hi".to_owned();
    assert_eq!(act(recipient).0, Action::DirectMessage { recipient_agent_id: 42, content });
    let wrong = [
        ("hours", "true", "hours is not a number but true or false"),
        ("hours", "2.5", "hours is not a whole number: 2.5"),
        ("hours", "9", "hours is 9, not from 1 to 8"),
        ("hours", "null", "hours is missing"),
        ("hours", "\"many\"", "hours is not a number: \"many\""),
        ("hours", "[1]", "hours is not a number but a list"),
    ];
    for (field, value, message) in wrong {
        let text = format!(r#"{{"action": "work", "work_type": "farm", "{field}": {value}}}"#);
        assert_eq!(reason(&text), message);
    }
    assert_eq!(
        reason(r#"{"action": "set_name", "display_name": 5}"#),
        "display_name is not text but a number"
    );
}

#[test]
fn keys_are_read_in_any_case() {
    let parsed = parser(2, ActionParams::default())
        .unwrap()
        .parse("{\"Action\": \"Work\", \"Work Type\": \"farm\", \"HOURS\": 3}");
    assert_eq!((parsed.value, parsed.method), (farm(3), "json_action"));
    let expected = [
        "action was written as \"Work\"",
        "the key action was written as \"Action\"",
        "the key work_type was written as \"Work Type\"",
        "the key hours was written as \"HOURS\"",
    ];
    assert_eq!(parsed.warnings, expected);
    assert_eq!(reason("{\"Action\": \"Work\"}"), "work_type is missing; hours is missing");
    let inside = "{\"ACTION\": {\"Action\": \"work\", \"work_type\": \"farm\", \"hours\": 3}}";
    assert_eq!(act(inside).0, farm(3));
    // A key that is spelled as requested takes precedence.
    let both = "{\"Hours\": 2, \"action\": \"work\", \"work_type\": \"farm\", \"hours\": 3}";
    assert_eq!(act(both).0, farm(3));
}

#[test]
fn lengths_are_counted_in_characters() {
    let post = |count: usize| {
        format!(r#"{{"action": "set_name", "display_name": "{}"}}"#, "é".repeat(count))
    };
    assert!(matches!(act(&post(50)).0, Action::SetName { .. }));
    assert_eq!(reason(&post(51)), "display_name has 51 characters, more than 50");
}

#[test]
fn prose_is_a_post_and_broken_json_is_not() {
    let content = "Let us share the harvest.".to_owned();
    assert_eq!(act(&content), (Action::ForumPost { content }, "plain_text_post"));
    assert_eq!(reason("{\"content\": \"hi\"}"), "no JSON object names an action");
    assert_eq!(reason("I think {so}"), "no JSON object names an action");
    assert_eq!(reason(" \n"), "the answer is empty");
    let cut = "{\"action\": \"trade\", \"recipient_agent_id\": 4, \"resource_type\": \"food";
    assert_eq!(reason(cut), "amount is missing");
}
