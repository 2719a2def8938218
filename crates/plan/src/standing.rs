//! How a figure stands to the plans in a log.

use retold::id::RunId;
use serde::Serialize;

/// How a figure of a run stands to a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "standing", rename_all = "snake_case")]
pub enum Standing {
    /// The run names the plan, the plan has the figure, and nothing deviates.
    ByPlan {
        /// The plan.
        plan: RunId,
    },
    /// The same, but for what deviates.
    Deviation {
        /// The plan.
        plan: RunId,
    },
    /// The run began before the only plan that has the figure was registered.
    BeforePlan {
        /// The plan.
        plan: RunId,
    },
    /// No plan has it.
    Exploratory {
        /// Why, in words.
        because: String,
    },
}

impl Standing {
    /// It in words.
    pub fn text(&self) -> String {
        match self {
            Standing::ByPlan { plan } => {
                format!("by plan {}, which was registered before the run began", plan.short(8))
            }
            Standing::Deviation { plan } => format!("a deviation from plan {}", plan.short(8)),
            Standing::BeforePlan { plan } => {
                format!(
                    "before the plan: the run had begun when plan {} was registered",
                    plan.short(8)
                )
            }
            Standing::Exploratory { because } => format!("exploratory: {because}"),
        }
    }
}
