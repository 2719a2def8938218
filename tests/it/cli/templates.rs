//! A user's templates that name unknown variables are refused before anything is recorded, with the
//! variable, file and line, and the variables that exist.

use std::path::Path;

use crate::support::cli::{Place, assert_said};

/// The built-in text of a template.
fn built_in(experiment: &str, name: &str) -> String {
    let root = Path::new(env!("RETOLD_ROOT"));
    let path = root.join("config/prompts").join(experiment).join(format!("{name}.txt"));
    std::fs::read_to_string(path).unwrap()
}

/// What a run with a user's template prints.
fn said(config: &str, name: &str, text: String) -> String {
    let place = Place::new();
    std::fs::create_dir(place.path("own")).unwrap();
    place.write(&format!("own/{name}.txt"), text);
    let own = match config {
        "game24.yaml" => format!("template=own/{name}.txt"),
        _ => "prompts=own".to_owned(),
    };
    let path = Path::new(env!("RETOLD_ROOT")).join("config").join(config);
    std::fs::copy(path, place.path(config)).unwrap();
    let command = format!("run {config} -q --no-outputs --set {own}");
    let said = place.run(&command);
    assert_eq!(place.path("retold.db").exists(), said.code == 0, "{config}: nothing is recorded");
    place.shown(&command, &said)
}

const DELIBERATION: &str = "deliberation_small.yaml";

#[test]
fn a_variable_that_no_template_has_is_named_with_file_and_line() {
    let typo = |experiment: &str, name: &str| {
        let text = built_in(experiment, name);
        format!("{}\nAnd {{participnt.name}}.\n", text.trim_end())
    };
    let all = [
        said("adventure.yaml", "choice", typo("adventure", "choice")),
        said("deliberation_small.yaml", "initial_vote", typo("deliberation", "initial_vote")),
        said("game24.yaml", "mine", typo("game24", "cot")),
        said("public_goods_small.yaml", "contribution", typo("public_goods", "contribution")),
        said("society_small.yaml", "context_world", typo("society", "context_world")),
    ];
    assert_said!("templates_unknown", all.join("\n"));
}

#[test]
fn an_attribute_that_no_template_has_is_as_unknown() {
    let text = built_in("deliberation", "clarification_moderator");
    let text = text.replace("{participant.initial_choice}", "{participant.first_choice}");
    assert_said!("templates_attribute", said(DELIBERATION, "clarification_moderator", text));
}

#[test]
fn a_variable_of_another_template_is_refused_with_what_is_there() {
    // Every template is tried out, including those of the last phase.
    let names =
        ["base_system", "demographics", "initial_vote", "cross_pollination", "vote_after_dialogue"];
    let all = names.map(|name| {
        let text = format!("{{base_persona}} {{sex}}\n{}", built_in("deliberation", name));
        said(DELIBERATION, name, text)
    });
    assert_said!("templates_other", all.join("\n"));
}

#[test]
fn a_variable_that_the_built_in_template_does_not_name_may_be_there() {
    let text = format!("{{topic.description}}\n{}", built_in("deliberation", "initial_vote"));
    let said = said(DELIBERATION, "initial_vote", text);
    assert!(said.ends_with("[exit 0]\n"), "{said}");
}
