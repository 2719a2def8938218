//! A picture in a terminal of 80 columns.

use super::{
    DistributionRow, FigurePicture, PictureAxis, PictureBar, PictureDistribution, PictureFlow,
    PicturePanel, PictureRow,
};

/// The columns of the picture itself.
const PLOT: usize = 34;

/// The heights of bars.
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The most columns of names.
const NAMES: usize = 26;

impl FigurePicture {
    /// Its lines, of at most 78 columns unless a value has many digits. A single group has none: its number says as much.
    pub fn lines(&self) -> Vec<String> {
        if self.values.rows.len() < 2 {
            let names = self.values.rows.first().map_or(0, |row| row.name.chars().count());
            let distribution = self.distribution.iter().flat_map(|all| all.lines(names.min(NAMES)));
            return distribution.chain(self.flow_lines()).collect();
        }
        // The row of a baseline has nothing to show.
        let differences = self.differences.as_ref().map(PicturePanel::without_empty_rows);
        let all = self.values.rows.iter().chain(differences.iter().flat_map(|it| &it.rows));
        let longest = all.map(|row| row.name.chars().count()).max().unwrap_or(0);
        let names = longest.min(NAMES);
        let panels = [Some(&self.values), differences.as_ref()];
        let panels = panels.into_iter().flatten().flat_map(|panel| panel.lines(names));
        let distribution = self.distribution.iter().flat_map(|all| all.lines(names));
        panels.chain(distribution).chain(self.flow_lines()).collect()
    }

    fn flow_lines(&self) -> impl Iterator<Item = String> {
        self.flows.iter().flat_map(PictureFlow::lines)
    }
}

impl PictureDistribution {
    /// A line for each group, and one for the axis.
    fn lines(&self, names: usize) -> Vec<String> {
        let row = |row: &DistributionRow| {
            let name = fitting(&row.name, names);
            format!(
                "{name:<names$}  {} {}",
                self.axis.bars(&row.bars),
                row.text.split(',').next().unwrap_or_default()
            )
        };
        let axis = format!("{:names$}  {}", "", self.axis.numbers());
        self.rows.iter().map(row).chain([axis.trim_end().to_owned()]).collect()
    }
}

impl PicturePanel {
    fn without_empty_rows(&self) -> PicturePanel {
        let rows = self.rows.iter().filter(|row| row.value.is_some()).cloned().collect();
        PicturePanel { rows, axis: self.axis.clone() }
    }

    /// A line for each row, and one for the axis.
    fn lines(&self, names: usize) -> Vec<String> {
        let row = |row: &PictureRow| {
            let name = fitting(&row.name, names);
            format!("{name:<names$}  {} {}", self.axis.line(row), row.value_text)
                .trim_end()
                .to_owned()
        };
        let axis = format!("{:names$}  {}", "", self.axis.numbers());
        self.rows.iter().map(row).chain([axis.trim_end().to_owned()]).collect()
    }
}

impl PictureAxis {
    /// The column of a value.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a column of the plot, of which there are few"
    )]
    fn column(&self, value: f64) -> usize {
        (self.place(value) * (PLOT - 1) as f64).round() as usize
    }

    /// The value in the middle of a column.
    fn value_at(&self, column: usize) -> f64 {
        self.low + (self.high - self.low) * column as f64 / (PLOT - 1) as f64
    }

    /// The picture of a row.
    fn line(&self, row: &PictureRow) -> String {
        let mut cells = [' '; PLOT];
        let mut put = |value: f64, sign: char| {
            if let Some(cell) = cells.get_mut(self.column(value)) {
                *cell = sign;
            }
        };
        if self.is_difference {
            put(0.0, '┊');
        }
        if let Some((low, high)) = row.interval {
            let (first, last) = (self.column(low), self.column(high));
            (first..=last).for_each(|column| put(self.value_at(column), '─'));
            put(low, '├');
            put(high, '┤');
        }
        row.dots.iter().for_each(|dot| put(*dot, '○'));
        row.value.into_iter().for_each(|value| put(value, '●'));
        format!("│{}│", cells.iter().collect::<String>())
    }

    /// The bars of a row, each as high as its block.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "one of eight blocks"
    )]
    fn bars(&self, bars: &[PictureBar]) -> String {
        let mut cells = [' '; PLOT];
        for bar in bars.iter().filter(|bar| bar.count > 0) {
            let block = (bar.height * BLOCKS.len() as f64).ceil().max(1.0) as usize;
            let block = BLOCKS.get(block - 1).copied().unwrap_or('█');
            let (first, last) = (self.column(bar.low), self.column(bar.high));
            // Bars beside each other do not share a column.
            for cell in cells.iter_mut().take(last.max(first + 1)).skip(first) {
                *cell = block;
            }
        }
        format!("│{}│", cells.iter().collect::<String>())
    }

    /// The numbers below the rows, as many as have room.
    fn numbers(&self) -> String {
        let mut line = String::new();
        for (value, text) in &self.ticks {
            let middle = 1 + self.column(*value);
            let begin = middle.saturating_sub(text.chars().count() / 2);
            let end = line.chars().count();
            if end == 0 || begin > end {
                line.extend(std::iter::repeat_n(' ', begin - end.min(begin)));
                line.push_str(text);
            }
        }
        line
    }
}

/// A name of at most so many columns.
pub(super) fn fitting(name: &str, columns: usize) -> String {
    match name.chars().count() <= columns {
        true => name.to_owned(),
        false => name.chars().take(columns.saturating_sub(1)).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::axis::PictureUnit;
    use super::*;

    #[test]
    fn a_picture_has_a_dot_with_its_interval_for_each_group() {
        let row = |name: &str, (low, value, high): (f64, f64, f64), text: &str| PictureRow {
            name: name.to_owned(),
            value: Some(value),
            interval: Some((low, high)),
            value_text: text.to_owned(),
            ..PictureRow::default()
        };
        let rows = vec![
            row("control", (0.3, 0.4, 0.5), "40.00 %"),
            row("a treatment with a long name", (0.65, 0.75, 0.85), "75.00 %"),
        ];
        let few = PictureRow { interval: None, dots: vec![0.2, 0.6], ..rows[0].clone() };
        let values = PicturePanel::new([rows, vec![few]].concat(), PictureUnit::Share);
        let difference = row("treatment minus control", (0.21, 0.35, 0.49), "+35.00");
        let differences = PicturePanel::new(vec![difference], PictureUnit::Points);
        let (distribution, lines, flows) = (None, None, Vec::new());
        let differences = Some(differences);
        let picture = FigurePicture { values, differences, distribution, lines, flows };
        insta::assert_snapshot!(picture.lines().join("\n"));
        assert!(picture.lines().iter().all(|line| line.chars().count() <= 78));
    }
}
