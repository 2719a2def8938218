//! The texts of a deposit.

use crate::facts::{DepositFacts, TextFile};
use crate::{checklist, citation, plan_file, readme};

impl DepositFacts<'_> {
    /// The texts of the deposit, but for those that are made of its tables.
    pub fn texts(&self) -> Vec<TextFile> {
        let mut files = vec![
            TextFile::new("README.md", readme::text(self)),
            TextFile::new("CITATION.cff", citation::text(self)),
            TextFile::new(crate::MANIFEST, self.manifest.text()),
            TextFile::new("figures.py", include_str!("scripts/figures.py")),
            TextFile::new("figures.R", include_str!("scripts/figures.R")),
            TextFile::new("verify.py", include_str!("../../../scripts/verify.py")),
        ];
        files.extend(checklist::files(self));
        files.extend(self.plan.map(|(run, plan)| {
            TextFile::new("plan.yaml", plan_file::text(run, plan, self.has_texts()))
        }));
        if self.has_texts() {
            for (part, requests) in self.page.runs.iter().zip(self.requests) {
                let run = part.summary.run;
                files.push(TextFile::new(&format!("prompts/{run}.txt"), requests.prompt_text()));
                let templates = crate::templates(&part.summary.started.settings);
                files.extend(
                    templates
                        .into_iter()
                        .map(|(name, text)| TextFile::new(&format!("prompts/{run}/{name}"), text)),
                );
            }
        }
        files
    }
}
