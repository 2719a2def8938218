//! The responsible NLP research checklist of ACL Rolling Review.

use super::ChecklistItem;
use crate::facts::DepositFacts;

pub(crate) fn items(facts: &DepositFacts<'_>) -> Vec<ChecklistItem> {
    let people = match facts.agreement() {
        none if none.is_empty() => {
            "No answer in the log was decided about by two raters.".to_owned()
        }
        lines => lines.join("; "),
    };
    vec![
        ChecklistItem::new("A1", "Limitations of the work").open("the section"),
        ChecklistItem::new("A2", "Potential risks of the work").open("the section"),
        ChecklistItem::new("B1", "Creators of the artifacts that were used")
            .log(facts.models())
            .log(format!("Recorded with {}.", facts.manifest.program))
            .open("citations of models, data and code"),
        ChecklistItem::new("B2", "Licences and terms of use").open(
            "those of the models and data, and the licence of this deposit (`croissant.json`)",
        ),
        ChecklistItem::new("B3", "Use as intended")
            .open("whether models and data were used as their terms intend"),
        ChecklistItem::new("B4", "Personal information and offensive content")
            .log(match facts.has_texts() {
                true => "All texts are in this deposit.",
                false => "No text of a prompt or an answer is in this deposit.",
            })
            .open("how it was looked for, and what was done"),
        ChecklistItem::new("B5", "Documentation of the artifacts")
            .log("`README.md`, `croissant.json` and the columns of `tables` describe this deposit.")
            .open("languages and groups that are represented"),
        ChecklistItem::new("B6", "Statistics of the data").log(format!("{}.", facts.runs())),
        ChecklistItem::new("C1", "Size of models, budget, infrastructure")
            .log_all(facts.spending())
            .open(
                "the number of parameters, and the infrastructure of models that you ran yourself",
            ),
        ChecklistItem::new("C2", "Setup of experiments and hyperparameters")
            .log_all(facts.simulated_line())
            .log_all(facts.parameters())
            .log(facts.prompts_place())
            .open("how parameters and prompts were chosen"),
        ChecklistItem::new("C3", "Descriptive statistics").log_all(facts.statistics()),
        ChecklistItem::new("C4", "Packages and their settings")
            .log("Parsers with their versions:")
            .log_all(facts.deciders())
            .log(facts.replay_line()),
        ChecklistItem::new("D1", "Instructions to human annotators")
            .log(people)
            .open("the instructions, if people annotated"),
        ChecklistItem::new("D2", "Recruitment and payment")
            .open("if people annotated or took part"),
        ChecklistItem::new("D3", "Consent").open("if people annotated or took part"),
        ChecklistItem::new("D4", "Review by an ethics board")
            .open("if people annotated or took part"),
        ChecklistItem::new("D5", "Characteristics of annotators")
            .open("if people annotated or took part"),
        ChecklistItem::new("E1", "Use of AI assistants")
            .log("Models as subjects or instruments of the study are under B1 and C2.")
            .open("assistants in writing and coding"),
    ]
}
