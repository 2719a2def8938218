//! How a decision came about, as JSON.

use serde_json::{Value, json};

use super::answer::{answer_of, choices, details_of, shortcomings};
use retold::audit::{
    Audit, AuditedFact, DeclaredSources, Link, MadeFrom, Match, Origin, PromptRelation,
};
use retold::run::Shortcomings;

pub(super) fn object(audit: &Audit) -> Value {
    let decision = audit.decision.as_ref().map(|Link { seq, hash, event }| {
        json!({"seq": seq, "hash": hash, "parser": event.by.parser, "method": event.by.method,
            "value": event.details.value, "reasoning": event.details.reasoning,
            "warnings": event.details.warnings, "verdict": audit.verdict,
            "choice": event.details.choice})
    });
    let others = audit.others.iter().map(|Link { seq, hash, event }| {
        json!({"seq": seq, "hash": hash, "decides": event.by.decides(), "parser": event.by.parser,
            "method": event.by.method, "value": event.details.value,
            "choice": event.details.choice})
    });
    let answer = audit.answer.as_ref().map(|Link { seq, hash, event }| {
        let Shortcomings { blank, refused, cut_off, not_read, .. } = shortcomings(event);
        let details = details_of(event).map(|(_, details)| details);
        json!({"seq": seq, "hash": hash, "text": answer_of(event).0, "details": details,
            "blank": blank > 0, "refused": refused > 0, "cut_off": cut_off > 0, "choices": choices(audit),
            "not_read": not_read > 0})
    });
    json!({
        "run": audit.run,
        "call": audit.call,
        "sample": audit.sample,
        "decision": decision,
        "other_decisions": others.collect::<Vec<_>>(),
        "answer": answer,
        "failed_attempts": audit.attempts.iter().map(place).collect::<Vec<_>>(),
        "question": place(&audit.question),
        "labels": audit.labels,
        "client_left": audit.left.as_ref().map(|Link { seq, hash, event }| {
            json!({"seq": seq, "hash": hash, "after_ms": event.after_ms, "bytes": event.bytes})
        }),
        "prompt_hash": audit.request.hash(),
        "request": audit.request.body(),
        "declared": declared_object(&audit.declared),
        "same_text": audit.same_text.iter().map(match_object).collect::<Vec<_>>(),
        "facts": audit.facts.iter().map(fact_object).collect::<Vec<_>>(),
    })
}

fn fact_object(AuditedFact { fact, also }: &AuditedFact) -> Value {
    let also: Vec<_> = also.iter().map(origin_object).collect();
    json!({"seq": fact.seq, "hash": fact.hash, "also_rests_on": also})
}

fn declared_object(declared: &DeclaredSources) -> Value {
    let DeclaredSources::Kept { prompts, complete, .. } = declared else { return Value::Null };
    let prompts = prompts.iter().map(|MadeFrom { call, sample, question, part, from }| {
        let part = match part {
            PromptRelation::Itself => "itself",
            PromptRelation::Within => "within",
            PromptRelation::Behind => "behind",
        };
        json!({
            "call": call,
            "sample": sample,
            "question": place(question),
            "part": part,
            "made_from": from.iter().map(origin_object).collect::<Vec<_>>(),
        })
    });
    json!({"prompts": prompts.collect::<Vec<_>>(), "complete": complete})
}

fn origin_object(origin: &Origin) -> Value {
    match origin {
        Origin::Decision { call, sample, answer, content, decision } => json!({
            "call": call,
            "sample": sample,
            "answer": place(answer),
            "content": content,
            "decision": decision.as_ref().map(place),
        }),
        Origin::Fact { fact: Link { seq, hash, event }, causes } => {
            json!({"fact": {"seq": seq, "hash": hash, "body": event, "causes": causes}})
        }
        Origin::Question { call, sample, question: Link { seq, hash, .. } } => {
            json!({"question": {"call": call, "sample": sample, "seq": seq, "hash": hash}})
        }
        Origin::Draws { start } => json!({"draws": place(start)}),
        Origin::Other { event, seq } => {
            json!({"other": {"seq": seq, "kind": event.as_ref().map(|link| &link.event)}})
        }
    }
}

fn match_object(found: &Match) -> Value {
    let Match { message, role, text, origins, declared, of, prompts, looked_at } = found;
    json!({
        "message": message,
        "role": role,
        "text": text,
        "declared": declared,
        "origins": origins.iter().map(origin_object).collect::<Vec<_>>(),
        "rarity": {
            "sources": origins.len(), "of": of, "prompts": prompts, "looked_at": looked_at,
        },
    })
}

fn place<T>(link: &Link<T>) -> Value {
    json!({"seq": link.seq, "hash": link.hash})
}
