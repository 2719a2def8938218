//! The places in a picture of a figure, and its axes.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use retold::escaping::printable;
use retold_figures::{FigurePicture, PictureAxis, PicturePanel};

use super::{Area, Drawn};

/// The size of a picture, in pixels. A browser has 96 of them to the inch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PictureSize {
    /// How wide it is.
    pub(super) width: u32,
    /// The size of its letters.
    pub(super) font: u32,
}

impl PictureSize {
    /// As wide as a page.
    pub const PAGE: Self = PictureSize { width: 900, font: 15 };

    /// As wide as a telephone.
    pub const NARROW: Self = PictureSize { width: 330, font: 12 };

    /// As wide as a column of a paper with two: 85 mm.
    pub const COLUMN: Self = PictureSize { width: 321, font: 8 };
}

/// The places in a picture, in pixels.
pub(super) struct ForestLayout {
    pub(super) font: i32,
    pub(super) width: i32,
    /// The height of a row: a line for the dot, and one for its numbers.
    pub(super) row: i32,
    /// Where names end.
    pub(super) names: i32,
    /// Where the first panel begins: below the notes.
    pub(super) top: i32,
}

impl ForestLayout {
    pub(super) fn new(
        picture: &FigurePicture,
        PictureSize { width, font }: PictureSize,
        notes: &[String],
    ) -> Self {
        let (width, font) = (signed(width), signed(font));
        let lines = i32::try_from(notes.len()).unwrap_or(0);
        let top = font / 2 + lines * font * 3 / 2;
        let texts = picture.values.rows.iter();
        let texts = texts.flat_map(|row| [row.name.chars().count(), row.counts.chars().count()]);
        let longest = signed(u32::try_from(texts.max().unwrap_or(0)).unwrap_or(u32::MAX));
        // A letter is about 0.55 of its size wide.
        let names = (longest.saturating_mul(font) * 55 / 100 + font).min(width * 36 / 100);
        ForestLayout { font, width, row: font * 11 / 4, names, top }
    }

    /// The height of a panel with its axis.
    pub(super) fn height(&self, panel: &PicturePanel) -> i32 {
        let rows = i32::try_from(panel.rows.len()).unwrap_or(i32::MAX / 1000);
        rows.saturating_mul(self.row) + 3 * self.font
    }

    pub(super) fn is_narrow(&self) -> bool {
        self.width < 36 * self.font
    }

    /// The height of the dots, and of the differences where these are below.
    pub(super) fn forest_height(&self, picture: &FigurePicture) -> i32 {
        let below = picture.differences.iter().filter(|_| self.is_narrow());
        let below: i32 = below.map(|panel| self.height(panel)).sum();
        self.height(&picture.values) + below
    }

    pub(super) fn text(&self, root: &Area<'_>, text: &str, at: (i32, i32), across: HPos) -> Drawn {
        let font = ("sans-serif", self.font).into_font().color(&BLACK);
        let style = font.pos(Pos::new(across, VPos::Center));
        let text = Text::new(printable(text, 60), at, style);
        Ok(root.draw(&text).map_err(|e| e.to_string())?)
    }

    pub(super) fn small(&self, root: &Area<'_>, text: &str, at: (i32, i32), across: HPos) -> Drawn {
        let font = ("sans-serif", self.font * 5 / 6).into_font().color(&SMALL);
        let style = font.pos(Pos::new(across, VPos::Center));
        let text = Text::new(printable(text, 60), at, style);
        Ok(root.draw(&text).map_err(|e| e.to_string())?)
    }
}

/// Small type, on paper and in the dark.
const SMALL: RGBColor = RGBColor(110, 110, 110);

pub(super) fn draw_axis(
    root: &Area<'_>,
    layout: &ForestLayout,
    (axis, title): (&PictureAxis, &str),
    (left, right, below): (i32, i32, i32),
    x: &dyn Fn(f64) -> i32,
) -> Drawn {
    let line = PathElement::new(vec![(left, below), (right, below)], BLACK);
    root.draw(&line).map_err(|e| e.to_string())?;
    for (value, text) in &axis.ticks {
        layout.small(root, text, (x(*value), below + layout.font), HPos::Center)?;
    }
    let middle = (left + right) / 2;
    layout.small(root, title, (middle, below + layout.font * 9 / 4), HPos::Center)
}

pub(super) fn signed(value: u32) -> i32 {
    i32::try_from(value).unwrap_or(i32::MAX)
}
