//! Draws the pictures of the README, in light and dark: `cargo bench --bench pictures`.
//!
//! `terminal-*.svg` shows the first commands in `docs/guide/first-hour.md`, which a test runs. `speed-*.svg` shows the
//! table in `docs/measurements/benchmarks.md`, which `cargo bench --bench peers` writes.

mod chart;
mod svg;
mod terminal;

use std::fs;
use std::io;
use std::path::Path;

use svg::THEMES;

fn main() -> io::Result<()> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = top.join("docs/pictures");
    fs::create_dir_all(&folder)?;
    let page = fs::read_to_string(top.join("docs/measurements/benchmarks.md"))?;
    let hour = fs::read_to_string(top.join("docs/guide/first-hour.md"))?;
    let screen = terminal::screen(&hour);
    for theme in THEMES {
        for (name, picture) in [
            ("terminal", terminal::draw(&screen, theme)),
            ("speed", chart::draw(&page, theme)),
        ] {
            let path = folder.join(format!("{name}-{}.svg", theme.name));
            fs::write(&path, picture)?;
            println!("{}", path.display());
        }
    }
    Ok(())
}
