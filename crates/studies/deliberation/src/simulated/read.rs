//! Recognises the question of a prompt by its words, as a model would.

/// The kinds of prompts, with the relevant parts.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum PromptKind<'a> {
    Demographics {
        persona: &'a str,
    },
    Enrich {
        persona: &'a str,
        facts: &'a str,
    },
    Vote {
        persona: &'a str,
        options: Vec<&'a str>,
    },
    Revote {
        persona: &'a str,
        options: Vec<&'a str>,
        before: &'a str,
        challenged: bool,
        text: &'a str,
    },
    Moderator {
        system: &'a str,
        asked: usize,
        opposing: Option<&'a str>,
        choice: &'a str,
    },
    Participant {
        persona: &'a str,
        options: Vec<&'a str>,
        choice: &'a str,
    },
    Summary {
        choice: &'a str,
        dialogue: &'a str,
    },
    Cluster {
        option: &'a str,
        positions: &'a str,
    },
    Judge {
        options: Vec<&'a str>,
        choice: &'a str,
    },
    Unknown,
}

/// The kind of a prompt, given its messages as pairs of role and text.
pub(super) fn kind(messages: &[(String, String)]) -> PromptKind<'_> {
    match messages {
        [(role, text)] if role == "user" => single(text),
        [(role, system), rest @ ..] if role == "system" => kind_with_system(system, rest),
        _ => PromptKind::Unknown,
    }
}

fn single(text: &str) -> PromptKind<'_> {
    if text.starts_with("Given this persona description") {
        return PromptKind::Demographics { persona: between(text, "Persona: ", "\n\nRespond") };
    }
    if text.starts_with("Create a rich, detailed persona") {
        let persona = between(text, "Base persona: ", "\n\nDemographics:");
        return PromptKind::Enrich {
            persona,
            facts: between(text, "Demographics:\n", "\n\nWrite ONLY"),
        };
    }
    if text.starts_with("You are analyzing a dialogue") {
        let choice = between(text, "The participant chose: \"", "\"\n");
        let dialogue = between(text, "clarification dialogue:\n\n", "\n\nSummarize");
        return PromptKind::Summary { choice, dialogue };
    }
    if text.starts_with("You are analyzing a group") {
        let positions = between(text, "individual positions:\n\n", "\n\nThese participants");
        return PromptKind::Cluster { option: between(text, "all chose \"", "\" in a"), positions };
    }
    if text.starts_with("You are analyzing positions") {
        let choice = between(text, "The participant chose: \"", "\"\n");
        // There, the options are all in one line; the others' choices are easier to distinguish.
        let options = text.lines().filter_map(|line| line.strip_prefix("Option: ")).collect();
        return PromptKind::Judge { options, choice };
    }
    PromptKind::Unknown
}

fn kind_with_system<'a>(system: &'a str, rest: &'a [(String, String)]) -> PromptKind<'a> {
    let asked = rest.iter().filter(|(role, _)| role == "assistant").count();
    if system.starts_with("You are a neutral moderator")
        || system.starts_with("You are a moderator")
    {
        let opposing = between(system, "Present the opposing view: \"", "\".");
        let opposing = (!opposing.is_empty()).then_some(opposing);
        let choice = between(system, "The participant chose \"", "\".");
        return PromptKind::Moderator { system, asked, opposing, choice };
    }
    let persona = between(system, "You are ", "\n\nYou are participating");
    let options = between(system, "Available options:\n", "\n\nRespond authentically");
    let options: Vec<&str> = options.lines().filter_map(|line| line.strip_prefix("- ")).collect();
    let before = between(system, "You previously chose \"", "\".");
    let text = rest.last().map_or("", |(_, text)| text.as_str());
    if system.contains("A moderator is ") {
        return PromptKind::Participant { persona, options, choice: before };
    }
    if before.is_empty() {
        return PromptKind::Vote { persona, options };
    }
    let challenged = text.starts_with("You just had the following dialogue");
    PromptKind::Revote { persona, options, before, challenged, text }
}

/// The text between two others; empty if one of them is missing.
fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let rest = text.split_once(start).map(|(_, rest)| rest);
    rest.and_then(|rest| rest.split_once(end)).map_or("", |(inside, _)| inside)
}
