//! Aligned columns of text.

use std::collections::VecDeque;
use std::io::{self, Write};

/// A table that is printed block by block; a later block is at least as wide as those before it.
pub(crate) struct Table {
    prefix: String,
    columns: Vec<Column>,
    rows: VecDeque<Vec<String>>,
    leave_out_empty: bool,
    header_printed: bool,
}

struct Column {
    header: String,
    align: Align,
    width: usize,
    is_left_out: bool,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Align {
    Left,
    Right,
}

impl Table {
    /// A table with `prefix` before each line. Headers that are all empty are not printed.
    pub(crate) fn new<S: Into<String>>(
        prefix: impl Into<String>,
        columns: impl IntoIterator<Item = (S, Align)>,
    ) -> Self {
        let column = |(header, align): (S, Align)| {
            let header = header.into();
            Column { width: width(&header), header, align, is_left_out: false }
        };
        Table {
            prefix: prefix.into(),
            columns: columns.into_iter().map(column).collect(),
            rows: VecDeque::new(),
            leave_out_empty: false,
            header_printed: false,
        }
    }

    /// Leaves out columns that have a header and nothing else when the table is first printed.
    pub(crate) fn leave_out_empty(self) -> Self {
        Table { leave_out_empty: true, ..self }
    }

    /// Adds a row. Cells that are missing are empty, cells past the last column are left out.
    pub(crate) fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let cells: Vec<String> = cells.into_iter().map(Into::into).collect();
        for (column, cell) in self.columns.iter_mut().zip(&cells) {
            column.width = column.width.max(width(cell));
        }
        self.rows.push_back(cells);
    }

    /// How wide the table is by now.
    pub(crate) fn width(&self) -> usize {
        let gaps = GAP.len() * self.columns.len().saturating_sub(1);
        width(&self.prefix) + gaps + self.columns.iter().map(|column| column.width).sum::<usize>()
    }

    /// Prints the rows added and not printed yet.
    pub(crate) fn print(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.print_some(self.rows.len(), out)
    }

    /// Prints the first `n` of them.
    pub(crate) fn print_some(&mut self, n: usize, out: &mut dyn Write) -> io::Result<()> {
        if !self.header_printed {
            self.print_header(out)?;
        }
        let n = n.min(self.rows.len());
        let rows: Vec<_> = self.rows.drain(..n).collect();
        rows.iter().try_for_each(|row| self.print_row(out, row))
    }

    fn print_header(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.header_printed = true;
        for (i, column) in self.columns.iter_mut().enumerate().filter(|_| self.leave_out_empty) {
            column.is_left_out = self.rows.iter().all(|row| row.get(i).is_none_or(String::is_empty));
        }
        let header: Vec<String> = self.columns.iter().map(|column| column.header.clone()).collect();
        if header.iter().all(String::is_empty) { Ok(()) } else { self.print_row(out, &header) }
    }

    fn print_row(&self, out: &mut dyn Write, cells: &[String]) -> io::Result<()> {
        let mut line = self.prefix.clone();
        let shown = self.columns.iter().zip(cells).filter(|(column, _)| !column.is_left_out);
        for (i, (column, cell)) in shown.enumerate() {
            if i > 0 {
                line.push_str(GAP);
            }
            let pad = " ".repeat(column.width.saturating_sub(width(cell)));
            match column.align {
                Align::Left => line.extend([cell.as_str(), &pad]),
                Align::Right => line.extend([&pad, cell.as_str()]),
            }
        }
        writeln!(out, "{}", line.trim_end())
    }
}

/// How many places a text takes in a terminal, near enough: East Asian characters and pictures take two.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

fn char_width(c: char) -> usize {
    match c {
        '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200f}' | '\u{fe00}'..='\u{fe0f}' => 0,
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{ffe0}'..='\u{ffe6}'
        | '\u{1f300}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}

const GAP: &str = "  ";
