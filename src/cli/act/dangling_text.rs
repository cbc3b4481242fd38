//! Symbolic links that a plan breaks: named before, in the plan, and after.

use std::fs;
use std::io::{self, Write};

use seekless::action::plan::{BrokenLink, Plan};
use seekless::units::plural;

use crate::cli::terminal::progress_text::count;
use crate::cli::terminal::sanitize::path;

/// Links that are named on the terminal; the plan names more.
const SHOWN: usize = 20;

/// Names the links that will be broken.
pub fn before(plan: &Plan) -> Vec<String> {
    let links = plan.dangling();
    let will = plural(
        links.number,
        "symbolic link will break because its target is removed:",
        "symbolic links will break because their targets are removed:",
    );
    lines(links.named.iter(), links.number, will)
}

/// Names all known links in a plan.
pub fn in_plan(out: &mut dyn Write, plan: &Plan) -> io::Result<()> {
    let links = plan.dangling();
    if links.number == 0 {
        return Ok(());
    }
    writeln!(out, "\n# Symbolic links that will break")?;
    for link in &links.named {
        writeln!(out, "  {}", path(&link.link))?;
        writeln!(out, "    leads to {}", path(&link.leads_to))?;
    }
    let more = links.number - links.named.len() as u64;
    match more {
        0 => Ok(()),
        more => writeln!(out, "  … and {} more", count(more)),
    }
}

/// Names the links that are broken now. A file that was left alone keeps its links.
pub fn after(plan: &Plan) -> Vec<String> {
    let is_broken = |BrokenLink { link, .. }: &&BrokenLink| {
        fs::metadata(link).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
            && fs::symlink_metadata(link).is_ok()
    };
    let broken: Vec<_> = plan.dangling().named.iter().filter(is_broken).collect();
    let number = broken.len() as u64;
    let now = plural(
        number,
        "symbolic link is broken now:",
        "symbolic links are broken now:",
    );
    lines(broken.into_iter(), number, now)
}

fn lines<'a>(links: impl Iterator<Item = &'a BrokenLink>, number: u64, what: &str) -> Vec<String> {
    if number == 0 {
        return Vec::new();
    }
    let mut lines = vec![format!("{} {what}", count(number))];
    let named = links.take(SHOWN);
    lines.extend(named.map(|l| format!("  {} (to {})", path(&l.link), path(&l.leads_to))));
    let more = (number + 1).saturating_sub(lines.len() as u64);
    if more > 0 {
        lines.push(format!("  … and {} more", count(more)));
    }
    lines
}
