//! The 14 core items of GUIDE-LLM (llm-checklist.com), and the optional ones that a log can answer.

use super::ChecklistItem;
use crate::facts::DepositFacts;
use crate::markdown::codes;

pub(crate) fn items(facts: &DepositFacts<'_>) -> Vec<ChecklistItem> {
    let kinds = facts.requests.iter().flat_map(|of| of.prompts.keys()).map(String::as_str);
    let kinds: std::collections::BTreeSet<&str> = kinds.collect();
    let apis = facts.requests.iter().flat_map(|of| &of.apis).map(String::as_str);
    let apis: std::collections::BTreeSet<&str> = apis.collect();
    let kept = facts.sum(|of| of.kept_elsewhere);
    let state = match kept {
        0 => "No request names earlier turns that the provider keeps.".to_owned(),
        kept => facts.of_calls(
            kept,
            "name earlier turns that the provider keeps, which are not in the request",
        ),
    };
    let validated = match facts.agreement() {
        none if none.is_empty() => {
            vec!["No answer in the log was decided about by two raters.".to_owned()]
        }
        lines => lines,
    };
    vec![
        ChecklistItem::new("A.1", "What LLMs were used for")
            .log_all(facts.simulated_line())
            .log(format!("{}.", facts.runs()))
            .log(format!("Kinds of calls: {}.", codes(kinds)))
            .open("the purpose"),
        ChecklistItem::new("A.2", "Human in the loop or fully automated")
            .log("What decided about the answers:")
            .log_all(facts.deciders())
            .open("whether a person chose, changed or acted on answers"),
        ChecklistItem::new("B.1", "Model, provider, size, version, date of access, source")
            .log(facts.models())
            .log(format!("Asked {}; each event has its time.", facts.days()))
            .open("size and source of the model, and the provider if the name does not say it"),
        ChecklistItem::new("B.2", "Access by API, web or locally; chat or separate calls")
            .log(format!("By these APIs: {}.", codes(apis)))
            .log(facts.of_calls(facts.sum(|of| of.with_answers), "have an earlier answer in their prompt, as in a chat; the others are separate calls")),
        ChecklistItem::new("B.3", "Parameters: temperature, maximum length, seed, runs")
            .log_all(facts.parameters())
            .log(format!("{}.", facts.runs())),
        ChecklistItem::new("B.4", "Fine-tuning or other customisation")
            .log(facts.models())
            .open("whether one of these models was fine-tuned, on what and how"),
        ChecklistItem::new("B.5", "State across interactions")
            .log("Each request is recorded as it was sent: what it does not have, the model was not given with it.")
            .log(facts.of_calls(facts.sum(|of| of.with_answers), "carry earlier answers"))
            .log(state),
        ChecklistItem::new("C.1", "Exact prompts").log(facts.prompts_place()),
        ChecklistItem::new("C.2", "Instructions to the system")
            .log(facts.of_calls(facts.sum(|of| of.with_system), "have instructions to the system")),
        ChecklistItem::new("D.1", "Personal or sensitive data")
            .log(match facts.has_texts() {
                true => "All texts are in this deposit.",
                false => "No text of a prompt or an answer is in this deposit. Names of calls, labels and raters are.",
            })
            .open("whether prompts or answers have personal data, and how it was handled"),
        ChecklistItem::new("E.1", "Validation of answers by people").log_all(validated).open("validation outside of the log"),
        ChecklistItem::new("E.2", "Filtering, reformatting and other processing of answers")
            .log("Decisions by parser, with the strategies that found them. Values that are a parser's last resort do not count in figures:")
            .log_all(facts.deciders()),
        ChecklistItem::new("F.1", "Code")
            .log(format!("Recorded with {}; `figures.py`, `figures.R` and `verify.py` are in this deposit.", facts.manifest.program))
            .open("where the code of the study or program is, with its version"),
        ChecklistItem::new("G.1", "Funding, support and relationships").open("all of it"),
        ChecklistItem::new("Optional", "Transcripts of conversations").log(facts.prompts_place()),
        ChecklistItem::new("Optional", "Computational resources").log_all(facts.spending()),
        ChecklistItem::new("Optional", "Choice of model and prompt, leakage of training data, bias, ethics").open("all of it"),
    ]
}
