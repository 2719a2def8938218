//! `stats --figure FIGURE -o FILE`: a figure as a picture in a file.

use std::path::PathBuf;

use serde_json::json;

use crate::document_file::{DocumentFile, svg_file};
use crate::error::{CliError, Status};
use crate::gate;
use crate::global::Global;
use crate::output::Output;
use crate::runs::run_figures::FiguresArgs;
use crate::select::{self, RunSelection, RunSource};
use retold_report::{PictureSize, figure_file};

/// The file of a picture.
#[derive(Debug, clap::Args)]
pub(super) struct PictureArgs {
    /// Draw the figure, as wide as a column of a paper (85 mm), in a file that ends with .svg, or `-` for stdout. Its definition,
    /// its notes and its numbers are in it.
    #[arg(short, long, value_name = "FILE", requires = "figure")]
    output: Option<PathBuf>,
    /// Replace the file if it exists.
    #[arg(long, requires = "output")]
    force: bool,
}

/// A picture that is to be drawn.
pub(super) struct FigureDrawing(DocumentFile);

impl PictureArgs {
    /// The picture that is asked for, if one is.
    pub(super) fn drawing(self, output: &Output) -> Result<Option<FigureDrawing>, CliError> {
        let Some(path) = self.output else { return Ok(None) };
        Ok(Some(FigureDrawing(svg_file(path, self.force, output)?)))
    }
}

impl FigureDrawing {
    /// Draws the one figure that is named. A picture is passed on without the log, so that it is only made of sound runs.
    pub(super) fn draw(
        &self,
        sources: &[RunSource],
        figures: &FiguresArgs,
        global: &Global,
        output: &Output,
    ) -> Result<Status, CliError> {
        let mut runs = Vec::new();
        for RunSource { log, run, .. } in sources {
            let view = gate::sound(log, *run, "no picture was drawn", output)?;
            runs.push(RunSelection::up_to_damage(&view));
        }
        let tables = figures.tables(&runs, global)?;
        let [table] = tables.as_slice() else {
            return Err(CliError::usage(format!(
                "a picture is of one figure, and these are {}",
                tables.len()
            ))
            .hint("draw each with a command of its own"));
        };
        let is_simulated = sources.iter().any(|source| source.simulated);
        let picture = figure_file(table, PictureSize::COLUMN, is_simulated);
        let picture = picture.map_err(|e| CliError::usage(format!("it cannot be drawn: {e}")))?;
        let Some(picture) = picture else {
            return Err(CliError::usage("there is nothing to draw: the figure has no values"));
        };
        self.0.write(picture.as_bytes(), output)?;
        match self.0.path() {
            None => {}
            Some(file) if output.is_json() => {
                let file = file.display().to_string();
                output.object(&json!({"file": file, "bytes": picture.len(), "figure": table}))?;
            }
            Some(file) => {
                let simulated = if is_simulated { select::SIMULATED } else { "" };
                let banner = table.banner().map_or_else(String::new, |it| format!("{it}\n"));
                let title = table.title();
                output
                    .text(&format!("{title}: drawn in {}\n{simulated}{banner}", file.display()))?;
            }
        }
        Ok(Status::Fine)
    }
}
