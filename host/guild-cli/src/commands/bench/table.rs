//! Tables as text, Markdown and comma-separated values.

use crate::args::TableFormat;

/// A column: its name, its width in text, and on which side its cells stand.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    name: &'static str,
    width: usize,
    right: bool,
}

/// A column of words.
pub const fn left(name: &'static str, width: usize) -> Column {
    Column {
        name,
        width,
        right: false,
    }
}

/// A column of numbers.
pub const fn right(name: &'static str, width: usize) -> Column {
    Column {
        name,
        width,
        right: true,
    }
}

/// The first line of a table; two in Markdown.
pub fn header(format: TableFormat, columns: &[Column]) -> String {
    let names: Vec<String> = columns
        .iter()
        .map(|column| column.name.to_owned())
        .collect();
    let names = row(format, columns, &names);
    if format != TableFormat::Markdown {
        return names;
    }
    let rules = columns.iter().map(|column| match column.right {
        true => "---:",
        false => "---",
    });
    format!("{names}\n| {} |", rules.collect::<Vec<_>>().join(" | "))
}

/// One line of a table, a cell for each column.
pub fn row(format: TableFormat, columns: &[Column], cells: &[String]) -> String {
    match format {
        TableFormat::Text => text(columns, cells),
        TableFormat::Markdown => {
            let cells = cells.iter().map(|cell| cell.replace('|', "\\|"));
            format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
        }
        TableFormat::Csv => {
            let cells = cells.iter().map(|cell| quoted(cell));
            cells.collect::<Vec<_>>().join(",")
        }
    }
}

fn text(columns: &[Column], cells: &[String]) -> String {
    let padded = columns.iter().zip(cells).map(|(column, cell)| {
        let width = column.width;
        match column.right {
            true => format!("{cell:>width$}"),
            false => format!("{cell:<width$}"),
        }
    });
    let line = padded.collect::<Vec<_>>().join(" ");
    line.trim_end().to_owned()
}

/// A cell as RFC 4180 has it.
fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 2] = [left("name", 6), right("rate", 5)];

    fn cells(name: &str, rate: &str) -> Vec<String> {
        vec![name.to_owned(), rate.to_owned()]
    }

    #[test]
    fn each_format_has_its_header_and_rows() {
        let table = |format| {
            let row = row(format, &COLUMNS, &cells("a|b", "1.5"));
            format!("{}\n{row}", header(format, &COLUMNS))
        };
        assert_eq!(table(TableFormat::Text), "name    rate\na|b      1.5");
        assert_eq!(
            table(TableFormat::Markdown),
            "| name | rate |\n| --- | ---: |\n| a\\|b | 1.5 |"
        );
        assert_eq!(table(TableFormat::Csv), "name,rate\na|b,1.5");
    }

    #[test]
    fn a_cell_that_would_break_a_line_of_values_is_quoted() {
        let line = row(TableFormat::Csv, &COLUMNS, &cells("a,\"b\"", "2"));
        assert_eq!(line, "\"a,\"\"b\"\"\",2");
    }
}
