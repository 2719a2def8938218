//! Every prompt of the source document, word for word.
//!
//! Where the document enumerates (`- {option_1}`, `- {option_2}`, `- ...`), a template has a loop.
//! A template equals the document if the result is the document's text to the byte when it is
//! filled in with the document's own placeholders as values and its own symbolic items
//! (`{option_1}`, `{option_2}`) as lists. The only exception is the line of the ellipsis, which
//! stands for the loop.

use std::collections::BTreeMap;

use retold_deliberation::prompts::{NAMES, built_in};
use retold_study::template::Templates;
use serde_json::{Value, json};

/// The prompts of the document, in its order.
fn document() -> Vec<String> {
    let path = concat!(env!("RETOLD_ROOT"), "/../shared/sources/002_deliberation.md");
    let text = std::fs::read_to_string(path)
        .unwrap_or_else(|e| panic!("needs ../shared/sources/002_deliberation.md: {e}"));
    let (_, section) = text.split_once("## System and Moderator Prompts").unwrap();
    section.split("\n```\n").skip(1).step_by(2).map(str::to_owned).collect()
}

/// The document's placeholder names, in its order.
const IN_ORDER: [&str; 16] = [
    "base_system",
    "initial_vote",
    "clarification_moderator",
    "clarification_participant",
    "individual_summary",
    "cluster_description",
    "llm_judge",
    "cross_pollination",
    "vote_after_summary_system",
    "vote_after_summary",
    "adversarial_moderator",
    "adversarial_participant",
    "vote_after_dialogue_system",
    "vote_after_dialogue",
    "demographics",
    "enrich_persona",
];

/// Removes the lines that mean "and so on". If such a line is the last, the line break before it
/// stays, because the prompts of a real pilot end that way.
fn without_ellipsis(text: &str) -> String {
    let kept: Vec<&str> = text.split('\n').filter(|l| !matches!(*l, "..." | "- ...")).collect();
    kept.join("\n")
}

/// A value for each name: the name itself in braces.
fn symbolic(name: &str) -> Value {
    let turns: Value = match name {
        "vote_after_dialogue" => json!([
            {"speaker": "Moderator", "content": "{moderator_message_1}"},
            {"speaker": "You", "content": "{participant_response_1}"},
            {"speaker": "Moderator", "content": "{moderator_message_2}"},
            {"speaker": "You", "content": "{participant_response_2}"},
        ]),
        _ => json!([
            {"speaker": "Moderator", "content": "{moderator_message_1}"},
            {"speaker": "Participant", "content": "{participant_message_1}"},
            {"speaker": "Moderator", "content": "{moderator_message_2}"},
            {"speaker": "Participant", "content": "{participant_message_2}"},
        ]),
    };
    let clusters = ["{cluster_1_description}", "{cluster_2_description}"];
    let mut values = json!({
        "topic": {"description": "{topic['description']}", "options": ["{option_1}", "{option_2}"]},
        "participant": {},
        "dialogue": turns,
        "individual_summaries":
            ["{individual_summary_1}", "{individual_summary_2}", "{individual_summary_3}"],
        "others": [
            {"choice": "{other_choice_1}", "reasoning": "{other_reasoning_1}"},
            {"choice": "{other_choice_2}", "reasoning": "{other_reasoning_2}"},
        ],
        "groups": [
            {"option": "{option_1}", "descriptions": clusters},
            {"option": "{option_2}", "descriptions": clusters},
        ],
    });
    for field in ["enriched_persona", "initial_choice", "initial_explanation"] {
        values["participant"][field] = format!("{{participant.{field}}}").into();
    }
    for variable in [
        "options_comma_separated",
        "base_system_prompt",
        "cross_pollination_content",
        "opposition_view",
        "option",
        "base_persona",
        "age",
        "sex",
        "education",
        "income",
        "location_type",
        "political_leaning",
    ] {
        values[variable] = format!("{{{variable}}}").into();
    }
    values
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn every_template_equals_the_documents_prompt() {
    let document = document();
    assert_eq!(document.len(), IN_ORDER.len(), "the prompts of the document");
    let mut names = NAMES.to_vec();
    names.sort_unstable();
    let mut expected = IN_ORDER.to_vec();
    expected.sort_unstable();
    assert_eq!(names, expected);
    let templates = Templates::all_of(&[], &built_in()).unwrap();
    for (name, text) in IN_ORDER.iter().zip(&document) {
        let rendered = templates.render(name, symbolic(name)).unwrap();
        assert_eq!(rendered, without_ellipsis(text), "{name}");
    }
}

/// The prompts without a list are the document's text unchanged, braces included.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn templates_without_a_loop_are_the_documents_text_byte_for_byte() {
    let built_in: BTreeMap<String, String> =
        built_in().into_iter().map(|t| (t.name, t.text)).collect();
    let mut compared = 0;
    for (name, text) in IN_ORDER.iter().zip(document()) {
        if !built_in[*name].contains("{%") {
            assert_eq!(built_in[*name], text, "{name}");
            compared += 1;
        }
    }
    assert_eq!(compared, 9);
}

#[test]
fn every_prompt_filled_in() {
    let turns = |you: &str| {
        json!([
            {"speaker": "Moderator", "content": "Why night buses?"},
            {"speaker": you, "content": "I get off work at two.\nThere is no train then."},
        ])
    };
    let values = |name: &str| {
        json!({
            "topic": {"description": "Your town has a little money.\nSpend it.\n",
                      "options": ["Night buses", "Bike lanes", "Street trees"]},
            "participant": {"enriched_persona": "a baker of 41 who gets up at two.",
                            "initial_choice": "Night buses",
                            "initial_explanation": "Shift workers need them."},
            "dialogue": turns(if name == "vote_after_dialogue" { "You" } else { "Participant" }),
            "individual_summaries": ["Shift workers need them.", "They are safer."],
            "others": [{"choice": "Bike lanes", "reasoning": "Cheap and healthy."},
                       {"choice": "Street trees", "reasoning": "Shade."}],
            "groups": [{"option": "Night buses", "descriptions": ["For shifts.", "For safety."]},
                       {"option": "Street trees", "descriptions": ["For shade."]}],
            "options_comma_separated": "Night buses, Bike lanes, Street trees",
            "base_system_prompt": "(the base system prompt)",
            "cross_pollination_content": "(the summary of all positions)",
            "opposition_view": "Street trees", "option": "Night buses",
            "base_persona": "A baker", "age": 41, "sex": "F", "education": "High school",
            "income": "Lower-middle income", "location_type": "urban",
            "political_leaning": "moderate",
        })
    };
    let templates = Templates::all_of(&[], &built_in()).unwrap();
    for name in NAMES {
        let text = templates.render(name, values(name)).unwrap();
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true,
            snapshot_path => "snapshots/deliberation_prompts" }, {
            insta::assert_snapshot!(*name, text);
        });
    }
}
