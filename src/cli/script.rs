//! A plan as a shell script that can be read before it is run.

use std::io::{self, Write};

use seekless::action::ActionKind;
use seekless::action::plan::{self, Plan, SetPlan};
use seekless::report::printable::is_printable;
use seekless::units::{Bytes, plural};

use super::plan_summary;
use super::plan_text;
use super::resolve_act::ActRun;
use super::script_functions::{
    CHECK, COMMON, END, HARDLINK, MOVE, PRIVATE, REFLINK, REMOVE, REMOVE_FOLDER, SYMLINK, TRAITS,
};
use super::shell_word::quoted;

/// Writes a plan as a script for the shells that Linux has as `sh`: dash, bash, busybox.
pub struct Script {
    action: ActionKind,
    destination: Vec<u8>,
    absolute_links: bool,
    steps: u64,
    frees: u64,
    removes_folders: bool,
    links: Vec<String>,
}

impl Script {
    /// For this run and plan.
    pub fn new(run: &ActRun, plan: &Plan) -> Self {
        Self {
            action: plan.action(),
            destination: run.acting.destination.clone().unwrap_or_default(),
            absolute_links: run.acting.absolute_links,
            steps: plan.totals().steps,
            frees: plan.totals().frees,
            removes_folders: plan.removes_empty_folders(),
            links: run.links.lines(),
        }
    }

    /// Writes what comes before the first step.
    pub fn begin(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "#!/bin/sh\n\
             # Written by seekless {version} for you to read; nothing has been done yet.\n\
             # {name}: {steps} {what}; frees {frees} of disk space.\n\
             #\n\
             # Each line below the functions is one step. Delete the lines of steps that you do not want, then\n\
             # run sh with this file. Unprintable bytes of names are written as octal numbers.\n\
             #\n\
             # Before each step, the script compares both files byte by byte and checks them again. It follows\n\
             # no symbolic link to a folder. It identifies files by their names and bytes only: other users\n\
             # with write permission for these folders can replace a file with another one that has the same\n\
             # bytes, or make the script wait. The script writes no journal, so its steps cannot be undone. It\n\
             # does not sync the kept file before it removes a copy. seekless itself checks inodes, writes a\n\
             # journal and syncs. If other users can write to these folders, use seekless itself, especially\n\
             # as root.",
            version = env!("CARGO_PKG_VERSION"),
            name = self.action.name(),
            steps = self.steps,
            what = plural(self.steps, "step", "steps"),
            frees = Bytes(self.frees),
        )?;
        for line in &self.links {
            writeln!(out, "#\n# {line}")?;
        }
        let of_folders = self.removes_folders.then_some(REMOVE_FOLDER);
        let mut functions = self.functions().iter().copied().chain(of_folders);
        functions.try_for_each(|text| out.write_all(text.as_bytes()))
    }

    fn functions(&self) -> &'static [&'static str] {
        match self.action {
            ActionKind::Remove | ActionKind::Trash => &[COMMON, REMOVE, CHECK],
            ActionKind::Hardlink => &[COMMON, PRIVATE, HARDLINK, CHECK],
            ActionKind::Symlink => &[COMMON, PRIVATE, SYMLINK, CHECK],
            ActionKind::Reflink => &[COMMON, PRIVATE, TRAITS, REFLINK, CHECK],
            ActionKind::Move => &[COMMON, PRIVATE, TRAITS, MOVE, CHECK],
        }
    }

    /// Writes the steps of one set.
    pub fn set(&self, out: &mut dyn Write, set: &SetPlan) -> io::Result<()> {
        let mut steps = plan::steps(set, self.action).peekable();
        if steps.peek().is_none() {
            return Ok(());
        }
        let digest = plan_text::digest(set);
        writeln!(out, "\n# {} ({} bytes){digest}", Bytes(set.size), set.size)?;
        for step in steps {
            let Some(keeper) = &step.keeper else { continue };
            let (victim, keeper) = (&step.victim.path[..], &keeper.path[..]);
            let mut words = Words::default();
            words.bare(self.action.name());
            words.name(victim);
            if self.action == ActionKind::Move {
                words.bare("to");
                words.name(&[&self.destination[..], victim].concat());
            }
            words.bare("keeping");
            words.name(keeper);
            if self.action == ActionKind::Symlink {
                words.bare("as");
                words.name(&match self.absolute_links {
                    true => keeper.to_vec(),
                    false => relative(victim, keeper),
                });
            }
            out.write_all(&words.line)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }

    /// Writes the folders that go, and what comes after the last step.
    pub fn end(&self, out: &mut dyn Write, plan: &Plan) -> io::Result<()> {
        if let Some(line) = plan_summary::empty_folders(plan) {
            writeln!(out, "\n# {line}")?;
        }
        for folder in plan.empty_folders() {
            let mut words = Words::default();
            words.bare("remove_folder");
            words.name(&folder.path);
            out.write_all(&words.line)?;
            out.write_all(b"\n")?;
        }
        out.write_all(END.as_bytes())
    }
}

/// The way from a link's folder to its target; both are real absolute paths.
fn relative(link: &[u8], target: &[u8]) -> Vec<u8> {
    let parts = |path: &[u8]| -> Vec<Vec<u8>> {
        let parts = path.split(|&byte| byte == b'/').skip(1);
        parts.map(<[u8]>::to_vec).collect()
    };
    let (link, target) = (parts(link), parts(target));
    let common = link.iter().zip(&target).take_while(|(a, b)| a == b).count();
    let common = common.min(link.len() - 1).min(target.len() - 1);
    let up = std::iter::repeat_n(b"..".to_vec(), link.len() - 1 - common);
    let way: Vec<Vec<u8>> = up.chain(target[common..].iter().cloned()).collect();
    way.join(&b'/')
}

/// One line of words; names that must not stand there as they are go into variables first.
#[derive(Default)]
struct Words {
    line: Vec<u8>,
    variables: u32,
}

impl Words {
    fn bare(&mut self, word: &str) {
        self.space();
        self.line.extend_from_slice(word.as_bytes());
    }

    fn name(&mut self, name: &[u8]) {
        if str::from_utf8(name).is_ok_and(is_printable) {
            self.space();
            self.line.extend_from_slice(&quoted(name));
            return;
        }
        self.variables += 1;
        let variable = format!("n{}", self.variables);
        // The shell takes line feeds from the end of what a command prints, so a dot stands there.
        let mut first = format!("{variable}=$(printf '%b.' ").into_bytes();
        first.extend_from_slice(&quoted(&octal(name)));
        first.extend_from_slice(format!("); {variable}=${{{variable}%.}}; ").as_bytes());
        self.line.splice(..0, first);
        self.space();
        self.line
            .extend_from_slice(format!("\"${variable}\"").as_bytes());
    }

    fn space(&mut self) {
        if !self.line.is_empty() && !self.line.ends_with(b"; ") {
            self.line.push(b' ');
        }
    }
}

/// As `printf %b` reads it.
fn octal(name: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(name.len() + 16);
    for &byte in name {
        match byte {
            b'\\' => text.extend_from_slice(b"\\\\"),
            b' '..=b'~' => text.push(byte),
            byte => text.extend_from_slice(format!("\\0{byte:03o}").as_bytes()),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(names: &[&[u8]]) -> String {
        let mut words = Words::default();
        words.bare("do");
        names.iter().for_each(|name| words.name(name));
        String::from_utf8(words.line).expect("always printable")
    }

    #[test]
    fn names_stay_one_word_on_one_printable_line() {
        for (names, expected) in [
            (&[&b"/a b"[..]][..], "do '/a b'"),
            (&[b"/it's"], "do '/it'\\''s'"),
            (&[b"/$(x)`y`\"\\"], "do '/$(x)`y`\"\\'"),
            (&["/é".as_bytes()], "do '/é'"),
            (
                &[b"/a\nb"],
                "n1=$(printf '%b.' '/a\\0012b'); n1=${n1%.}; do \"$n1\"",
            ),
            (
                &[b"/\xff'\\"],
                "n1=$(printf '%b.' '/\\0377'\\''\\\\'); n1=${n1%.}; do \"$n1\"",
            ),
        ] {
            assert_eq!(line(names), expected);
        }
        assert!(line(&[b"/a\n", b"/b\n"]).ends_with("do \"$n1\" \"$n2\""));
    }

    #[test]
    fn links_lead_from_their_folder() {
        for (link, target, expected) in [
            ("/a/b", "/a/c", "c"),
            ("/a/x/b", "/a/c", "../c"),
            ("/a/b", "/a/x/c", "x/c"),
            ("/a/b", "/c/d", "../c/d"),
            ("/b", "/c", "c"),
            ("/a", "/a/b", "a/b"),
            ("/a/b/c", "/a/b", "../b"),
        ] {
            let text = relative(link.as_bytes(), target.as_bytes());
            assert_eq!(text, expected.as_bytes(), "{link} {target}");
        }
    }
}
