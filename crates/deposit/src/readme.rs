//! The page that a reader begins with.

use std::fmt::Write;

use retold::counted::count_of;

use crate::facts::DepositFacts;
use crate::manifest::RunPlace;
use crate::markdown::code;

pub(crate) fn text(facts: &DepositFacts<'_>) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(text, "# Recorded answers: {}\n", escape(&facts.title()));
    if facts.is_simulated() {
        text.push_str("**SIMULATED: a program made these answers up; they are not data.**\n\n");
    }
    let _ = writeln!(
        text,
        "Recorded {} with {}: {}. Asked: {}. `deposit.json` lists the runs, `SHA256SUMS` all files.\n",
        facts.days(),
        facts.manifest.program,
        facts.runs(),
        facts.models()
    );
    figures(facts, &mut text);
    match facts.has_texts() {
        true => with_texts(facts, &mut text),
        false => without_texts(&mut text),
    }
    text.push_str("## What is in it\n\n| | |\n|---|---|\n");
    for (name, about) in contents(facts) {
        let _ = writeln!(text, "| `{name}` | {about} |");
    }
    text.push_str("\n## Runs\n\n");
    for run in &facts.manifest.runs {
        let place = match run.place {
            RunPlace::Figures => "the figures are of it",
            RunPlace::Plan => "the plan by which it was recorded",
            RunPlace::Decisions => "decisions that were accepted about its answers",
            RunPlace::Judge => "a judge whose verdicts were accepted",
        };
        let head = run.head.map_or_else(String::new, |head| format!(", head `{head}`"));
        let events = count_of(run.events.0, "event");
        let _ =
            writeln!(text, "- `{}` ({}): {place}; {events}{head}", run.run, code(&run.experiment));
    }
    text.push_str(
        "\n## To be added by the authors\n\n\
         Search for these words in `CITATION.cff`, `croissant.json` (whose `datePublished` is the day of the last answer until you \
         change it, and whose addresses are placeholders) and `checklists`. After a change, \
         `find . -type f ! -name SHA256SUMS ! -path './drawn/*' | sed 's|^./||' | LC_ALL=C sort | xargs sha256sum > SHA256SUMS` makes the list of \
         files again.\n",
    );
    text
}

/// The figures in a line each, with how they stand to a plan.
fn figures(facts: &DepositFacts<'_>, text: &mut String) {
    if facts.page.tables.is_empty() {
        return;
    }
    text.push_str("## Figures\n\n");
    let searches = facts.page.searches.iter().map(Some).chain(std::iter::repeat(None));
    for (table, search) in facts.page.tables.iter().zip(searches) {
        let standing = search.map(|search| format!("; {}", code(&search.standing.text())));
        let values = code(&table.values_line());
        let standing = standing.unwrap_or_default();
        let _ = writeln!(text, "- {}: {values}{standing}", code(&table.figure));
    }
    text.push('\n');
}

fn with_texts(facts: &DepositFacts<'_>, text: &mut String) {
    text.push_str(
        "## How to check it\n\n\
         With retold, without a network and without a key, in this folder:\n\n\
         ```sh\nretold --log reader.db import .\n```\n\n\
         This compares every file with its hash and brings the recordings into a log. It replays each run of a study, parses \
         its answers again, and compares each figure with `figures.csv`. The exit code is 1 if anything differs.\n\n",
    );
    if facts.summaries().any(|of| of.started.experiment == retold::event::PROGRAM) {
        text.push_str(
            "The runs are those of a program, which is not in the deposit unless its authors added it. With the program, \
             `retold --log reader.db replay RUN -- COMMAND` replays it from the recorded answers.\n\n",
        );
    }
    text.push_str(
        "Without retold: `sha256sum --check SHA256SUMS` compares the files, `python3 verify.py recordings/RUN.jsonl` (`pip install \
         blake3`) recomputes the hashes of a run, and `python3 figures.py` or `Rscript figures.R` computes the values of the \
         figures from `clusters.csv`, compares them and draws them.\n\n",
    );
}

fn without_texts(text: &mut String) {
    text.push_str(
        "## How to check it\n\n\
         The texts of prompts and answers are not in this deposit, and neither is anything by which a guess at one could be \
         tested. Names of calls, labels and raters are in it, and what the figures name. `python3 figures.py` or `Rscript figures.R` computes the values of the figures from `clusters.csv`, compares them \
         with `figures.csv` and draws them. `sha256sum --check SHA256SUMS` compares the files.\n\n\
         `commitments.csv` has the SHA-256 of 16 random bytes, the nonce, and the text, for each request (in the canonical \
         form of RFC 8785), each answer and the head of each run. The authors keep the nonces. They open a commitment by showing its \
         nonce and its text:\n\n\
         ```sh\npython3 verify.py commitments.csv NONCE FILE-WITH-THE-TEXT\n```\n\n",
    );
}

fn contents(facts: &DepositFacts<'_>) -> Vec<(&'static str, &'static str)> {
    let mut all = vec![
        (
            "figures.csv",
            "each figure with its 95 % intervals; `figures.yaml` has the figures as retold reads them",
        ),
        (
            "clusters.csv",
            "the number of values and their sum for each row of `figures.csv`, by cluster",
        ),
        ("figures.py, figures.R", "compute and draw the figures; neither needs a package"),
        ("tables", "the runs as tables, in Parquet and CSV; `croissant.json` describes them"),
        ("checklists", "GUIDE-LLM and the checklists of ACL and NeurIPS, filled from the log"),
        ("CITATION.cff", "how to cite it"),
    ];
    if facts.has_texts() {
        all.extend([
            ("recordings", "everything that was asked and answered, event by event, hash-chained"),
            ("report.html", "the figures with their plots, and every prompt and answer"),
            ("prompts", "the templates, and the first prompt of each kind of call"),
        ]);
    } else {
        all.push(("commitments.csv", "commitments to the texts"));
    }
    if facts.plan.is_some() {
        all.push(("plan.yaml", "what was expected, registered before the run"));
    }
    if facts.is_sealed {
        all.push(("seals", "signatures over the heads of the runs: `retold verify RUN --seal FILE --signer KEY.pub`"));
    }
    all.push(("verify.py", "checks recordings and opens commitments without retold"));
    all
}

/// A heading's text: nothing in it is read as Markdown.
fn escape(title: &str) -> String {
    title.replace(['<', '>', '`', '[', ']', '*', '_', '#'], " ")
}
