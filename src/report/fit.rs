//! Lines that fit into the columns of a terminal.

/// Breaks lines between words. What continues a line is indented by two characters more than the line.
pub fn fitting(lines: impl IntoIterator<Item = String>, width: usize) -> Vec<String> {
    let mut fitted = Vec::new();
    for line in lines {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let mut part = " ".repeat(indent);
        let mut is_first = true;
        for word in line.trim_start_matches(' ').split(' ') {
            let length = part.chars().count();
            if !is_first && length + 1 + word.chars().count() > width {
                fitted.push(std::mem::replace(&mut part, " ".repeat(indent + 2)));
            } else if !is_first {
                part.push(' ');
            }
            is_first = false;
            part.push_str(word);
        }
        fitted.push(part);
    }
    fitted
}
