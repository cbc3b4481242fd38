//! Writes the part between two markers of a page, and leaves the rest to people.

use std::fs;
use std::io;
use std::path::Path;

const BEGIN: &str = "<!-- peers:begin -->";
const END: &str = "<!-- peers:end -->";

/// Puts `text` between the markers of the page; makes page and markers where they are missing.
pub fn write(page: &Path, text: &str) -> io::Result<()> {
    let old = match fs::read_to_string(page) {
        Ok(old) => old,
        Err(error) if error.kind() == io::ErrorKind::NotFound => "# Benchmarks\n".to_owned(),
        Err(error) => return Err(error),
    };
    let (before, rest) = old.split_once(BEGIN).unwrap_or((&old, ""));
    let after = rest.split_once(END).map_or("\n", |(_, after)| after);
    let before = before.trim_end();
    fs::write(
        page,
        format!("{before}\n\n{BEGIN}\n{}\n{END}{after}", text.trim_end()),
    )
}
