//! How a participant's opposing view was chosen among the options.

use std::fmt::Write;

use retold::escaping::printable;
use retold::run::{OutputError, Report, RunRecord};
use serde_json::json;

use super::{SHOWN_POSSIBILITIES, agrees, before, facts, vector_of};
use crate::experiment::Deliberation;
use crate::facts::Fact;
use crate::opposition::{COSINE, OpposingView, method};

/// See the module.
pub(super) fn opposing(
    study: &Deliberation,
    participant: &str,
    record: &RunRecord<'_>,
) -> Result<Option<Report>, OutputError> {
    let facts = facts(record)?;
    let chosen = facts.iter().find_map(|(seq, fact)| match fact {
        Fact::OppositionChosen { participant_id, opposition_view, method }
            if participant_id == participant =>
        {
            Some((*seq, opposition_view, method))
        }
        _ => None,
    });
    let Some((seq, view, by)) = chosen else { return Ok(None) };
    // All are chosen from the state at the end of phase 4, or from the data taken over from an original run.
    let state = before(&facts, &record.facts, |fact| match fact {
        Fact::OppositionChosen { .. } => true,
        Fact::TakenOver { phases } => phases.contains(&5),
        _ => false,
    })?;
    let scene = study.scene(&state);
    let who = scene.positions.iter().find(|position| position.participant_id == participant);
    let used = method(by);
    let mut considered = match (used, who) {
        (Some(used), Some(who)) => used.candidates(who, &scene),
        _ => Vec::new(),
    };
    considered.sort_by(|one, other| other.value.total_cmp(&one.value));
    let again = used.zip(who).and_then(|(used, who)| used.choose(who, &scene));
    let agreement = match &again {
        Some(OpposingView::Option(option)) => Some(option == view),
        Some(OpposingView::Ask(_)) | None => None,
    };
    let own = who.map(|who| who.choice.as_str());
    let measure = used.and_then(|used| used.measure());
    let vector = vector_of(&facts, participant).filter(|_| measure == Some(COSINE));
    let shown = |text: &str| printable(text, 80);
    let mut text = format!("derived decision {participant}/opposing\n");
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(text, "opposing view  {}  seq {seq}", shown(view));
    let _ = writeln!(text, "own choice     {}", shown(own.unwrap_or("unknown")));
    let _ = writeln!(text, "method         {}", shown(by));
    if let Some(vector) = vector {
        let _ =
            writeln!(text, "made from      the vector of the participant's summary, seq {vector}");
    }
    match (agreement, &again) {
        (Some(is_same), _) => {
            let _ = writeln!(text, "{}", agrees(is_same));
        }
        (None, Some(_)) => {
            let _ = writeln!(text, "a model judged: audit opposition/{participant}");
        }
        (None, None) => text.push_str("taken over from the original run: it has no rule here\n"),
    }
    if let Some(measure) = measure.filter(|_| !considered.is_empty()) {
        let _ = writeln!(text, "\n{measure} of each possibility, the greatest first:");
        for it in considered.iter().take(SHOWN_POSSIBILITIES) {
            let of = it.participant.as_deref().map_or_else(String::new, |id| format!("  ({id})"));
            let mark = if it.option == *view { "  chosen" } else { "" };
            let value = match it.value.fract() == 0.0 {
                true => format!("{}", it.value),
                false => format!("{:.4}", it.value),
            };
            let _ = writeln!(text, "  {value:>9}  {}{of}{mark}", shown(&it.option));
        }
        let more = considered.len().saturating_sub(SHOWN_POSSIBILITIES);
        if more > 0 {
            let _ = writeln!(text, "  and {more} more");
        }
    }
    let json = json!({
        "derived": format!("{participant}/opposing"),
        "seq": seq,
        "value": view,
        "method": by,
        "own_choice": own,
        "computed_again": agreement.map(|is_same| if is_same { "same" } else { "different" }),
        "measure": measure,
        "possibilities": considered.iter().map(|it| {
            json!({"option": it.option, "participant": it.participant, "value": it.value})
        }).collect::<Vec<_>>(),
        "made_from": vector,
    });
    Ok(Some(Report { json, text, ..Report::default() }))
}
