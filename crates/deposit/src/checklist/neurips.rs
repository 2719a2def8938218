//! The paper checklist of NeurIPS.

use super::ChecklistItem;
use crate::facts::DepositFacts;

pub(crate) fn items(facts: &DepositFacts<'_>) -> Vec<ChecklistItem> {
    let planned = facts.page.searches.iter().map(|search| {
        format!(
            "{}: {}",
            crate::markdown::code(&search.figure),
            crate::markdown::code(&search.standing.text())
        )
    });
    vec![
        ChecklistItem::new("1.", "Claims").log_all(planned.collect()).open("whether abstract and introduction say what the figures show"),
        ChecklistItem::new("2.", "Limitations").open("the section"),
        ChecklistItem::new("3.", "Theory, assumptions and proofs").open("yes, no or not applicable"),
        ChecklistItem::new("4.", "Reproducibility of experimental results")
            .log_all(facts.simulated_line())
            .log(facts.replay_line())
            .log("A hosted model that is asked again may answer differently; what was answered is what is deposited."),
        ChecklistItem::new("5.", "Open access to data and code")
            .log("The data is this deposit; `croissant.json` is Croissant 1.1 with fields for responsible AI.")
            .open("its address, and that of the code"),
        ChecklistItem::new("6.", "Experimental setting and details")
            .log_all(facts.parameters())
            .log(facts.prompts_place())
            .open("how parameters and prompts were chosen"),
        ChecklistItem::new("7.", "Statistical significance").log_all(facts.statistics()),
        ChecklistItem::new("8.", "Compute resources").log_all(facts.spending()).open("what else the project needed, failed attempts included"),
        ChecklistItem::new("9.", "Code of ethics").open("the answer"),
        ChecklistItem::new("10.", "Broader impacts").open("the answer"),
        ChecklistItem::new("11.", "Safeguards").open("the answer"),
        ChecklistItem::new("12.", "Licences of existing assets").log(facts.models()).open("licences and terms of models and data"),
        ChecklistItem::new("13.", "New assets").log("`README.md` and `croissant.json` document this deposit.").open("its licence"),
        ChecklistItem::new("14.", "Crowdsourcing and human subjects").open("if people took part"),
        ChecklistItem::new("15.", "Review by an ethics board").open("if people took part"),
        ChecklistItem::new("16.", "Use of LLMs")
            .log(format!("{}; asked {}.", facts.models(), facts.days()))
            .log(format!("{}.", facts.runs()))
            .open("the role of the models in the method"),
    ]
}
