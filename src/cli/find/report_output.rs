//! The report of a search on its way to its place, and what is said after it.

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;

use seekless::decide::{AlikeTally, DuplicateSet, LeftOut, ProbableTally, Summary, Unread};
use seekless::engine::Copies;
use seekless::report::{Header, Report};
use seekless::units::{Bytes, count, counted, files, plural};

use super::resolve::FindRun;
use crate::cli::resolve::catalog_roots;
use crate::cli::terminal::console;
use crate::cli::terminal::exit::Exit;
use crate::cli::terminal::output::{NotWritten, OutputStream};

/// A report on its way.
pub struct ReportOutput {
    report: Box<dyn Report>,
    header: Header,
    begun: bool,
    place: OutputStream,
    /// Sets that are still to be written.
    left: u64,
}

impl ReportOutput {
    /// Makes sure that the place can be written to, before any work is done.
    pub fn open(run: &FindRun) -> Result<Self, NotWritten> {
        Ok(Self {
            report: (run.args.format.make)(&run.style),
            header: run.header.clone(),
            begun: false,
            place: OutputStream::open(run.args.output.as_deref())?,
            left: run.args.top.unwrap_or(u64::MAX),
        })
    }

    /// Writes one set.
    pub fn set(&mut self, set: &DuplicateSet) -> Result<(), NotWritten> {
        if self.left == 0 {
            return Ok(());
        }
        self.left -= 1;
        self.begin()?;
        self.write(|report, out| report.set(out, set))
    }

    /// Writes the end and puts a file in its place.
    pub fn finish(mut self, summary: &Summary) -> Result<(), NotWritten> {
        self.begin()?;
        self.write(|report, out| report.end(out, summary))?;
        self.place.finish()
    }

    /// Lets a reader who watches have what was written so far.
    pub fn flush(&mut self) -> Result<(), NotWritten> {
        self.place.flush()
    }

    /// Writes what comes first, once there is something to follow: a run that fails at once
    /// leaves no beginning without an end.
    fn begin(&mut self) -> Result<(), NotWritten> {
        if !self.begun {
            self.begun = true;
            let header = std::mem::take(&mut self.header);
            self.write(|report, out| report.begin(out, &header))?;
        }
        Ok(())
    }

    fn write(
        &mut self,
        write: impl FnOnce(&mut dyn Report, &mut dyn Write) -> io::Result<()>,
    ) -> Result<(), NotWritten> {
        self.place.write(|out| write(self.report.as_mut(), out))
    }
}

/// Says how a search went; `notes` are behind its summary. Decides on the exit status.
pub fn told(run: &FindRun, summary: &Summary, notes: impl FnOnce(), exit: Exit) -> Exit {
    if !run.args.talk.quiet {
        let (copies, isolate) = (run.config.copies, run.config.isolate);
        console::lines(incomplete(summary, copies).map(|why| format!("INCOMPLETE: {why}.")));
        console::line(&found(summary, copies, isolate));
        if run.args.talk.verbose > 0 {
            console::lines(work(summary));
        }
        console::lines(skipped(&summary.left_out));
        notes();
        console::lines(reported(run, summary));
        console::lines(next_command(run, summary));
        let is_open = |probable: ProbableTally| probable.sets + probable.only_size > 0;
        if summary.probable.is_some_and(is_open) && !summary.interrupted {
            console::line(&catalog_roots::next_command(run.args.wanted.as_deref()));
        }
    }
    if run.args.exit_code {
        let has_alike = summary.alike.is_some_and(|alike| alike.sets > 0);
        let has_probable = summary.probable.is_some_and(|probable| probable.sets > 0);
        exit.of_question(summary.sets > 0 || has_alike || has_probable)
    } else {
        exit
    }
}

/// The number of sets that were reported, if there are more.
fn reported(run: &FindRun, summary: &Summary) -> Option<String> {
    let most = run.args.top.filter(|&most| most < summary.sets)?;
    Some(format!(
        "Reported {} of {} sets (--top {most}).",
        count(most),
        count(summary.sets)
    ))
}

/// The command that shows what an action would do with a report that was written to a file.
fn next_command(run: &FindRun, summary: &Summary) -> Option<String> {
    let file = run.args.output.as_deref()?;
    let is_about_duplicates = run.config.copies.least > 1 && run.config.copies.most.is_none();
    if !file.is_file()
        || !run.args.format.readable_back
        || !is_about_duplicates
        || summary.sets == 0
        || run.style.color
    {
        return None;
    }
    let file = file.as_os_str().as_bytes();
    // A path that is no option for the program.
    let dash = if file.starts_with(b"-") { "./" } else { "" };
    Some(format!(
        "To see what would be removed: seekless remove --dry-run --from {dash}{}",
        console::shell_word(file)
    ))
}

/// Why there may be more duplicates, or why an answer that depends on every file (`--unique`, `--copies ..3`) is not
/// complete.
fn incomplete(summary: &Summary, copies: Copies) -> Option<&'static str> {
    let left_out = &summary.left_out;
    let unread = left_out.unsettled + left_out.unreadable + left_out.changed;
    let is_of_all = copies.most.is_some();
    if is_of_all && left_out.unanswered > 0 {
        Some("some file systems did not answer and may hold more copies, so nothing is reported")
    } else if summary.interrupted {
        Some("the search was ended early; there may be more duplicates")
    } else if left_out.memory_short > 0 {
        Some(
            "memory ran short, so files were left out: search fewer at a time, or allow more memory",
        )
    } else if is_of_all && unread > 0 {
        Some("folders or files that could not be listed or read may hold more copies")
    } else {
        None
    }
}

fn found(summary: &Summary, copies: Copies, isolate: bool) -> String {
    let (one, more, range) = if copies == Copies::default() {
        ("set of duplicates", "sets of duplicates", String::new())
    } else if copies == Copies::UNIQUE && !isolate {
        ("unique file", "unique files", String::new())
    } else if isolate && copies == Copies::UNIQUE {
        (
            "content",
            "contents",
            " in only one of the paths".to_owned(),
        )
    } else if isolate {
        ("content", "contents", format!(" in {copies} of the paths"))
    } else {
        ("content", "contents", format!(" with {copies} copies"))
    };
    let what = format!("{}{range}", plural(summary.sets, one, more));
    if summary.sets == 0 {
        let files = files(summary.files);
        let others = alike(summary) + &probable(summary);
        return format!("Found no {what} in {files}{others}.");
    }
    let mut found = format!("Found {} {what}", count(summary.sets));
    if summary.redundant_files > 0 {
        found.push_str(&format!(
            ": {} ({}), {} of disk space can be freed",
            counted(summary.redundant_files, "redundant file", "redundant files"),
            Bytes(summary.redundant_bytes),
            Bytes(summary.reclaimable),
        ));
    }
    if summary.managed > 0 {
        found.push_str(&format!(
            ", {} of it in hidden folders and folders that programs manage, which actions leave alone",
            Bytes(summary.managed)
        ));
    }
    found + &alike(summary) + &probable(summary) + "."
}

/// The number of sets of files that are the same but for their tags.
fn alike(summary: &Summary) -> String {
    let AlikeTally {
        sets, reclaimable, ..
    } = summary.alike.unwrap_or_default();
    if sets == 0 {
        return String::new();
    }
    format!(
        "; {} files that are the same but for their tags, and {} of them can be freed",
        counted(sets, "set holds", "sets hold"),
        Bytes(reclaimable)
    )
}

/// The number of sets of files that catalogs do not know well enough.
fn probable(summary: &Summary) -> String {
    let ProbableTally { sets, only_size } = summary.probable.unwrap_or_default();
    let mut words = String::new();
    if sets > 0 {
        words.push_str(&format!(
            "; {} files that are probably equal, since a catalog knows only their first and last bytes",
            counted(sets, "set holds", "sets hold"),
        ));
    }
    if only_size > 0 {
        words.push_str(&format!(
            "; {} of catalogs may be equal to others, since only their sizes are known",
            files(only_size),
        ));
    }
    words
}

/// Why files of an earlier run are not read again.
pub const UNCHANGED: &str = "an earlier run read, and whose sizes and times are unchanged";

/// The files whose reads were skipped.
pub fn not_read(skipped: Unread, why: &str) -> Option<String> {
    let (number, bytes) = (files(skipped.files), Bytes(skipped.bytes));
    (skipped.files > 0).then(|| format!("Skipped reading {number} ({bytes}) that {why}."))
}

/// What was read, and what each stage and each disk did.
fn work(summary: &Summary) -> Vec<String> {
    let mut lines = vec![format!(
        "Searched {} ({} names), {}, {}; read {} in {}.",
        files(summary.files),
        count(summary.files + summary.extra_names),
        counted(summary.folders, "folder", "folders"),
        Bytes(summary.bytes_present),
        Bytes(summary.bytes_read()),
        format!("{:.1?}", summary.total_time)
    )];
    lines.extend(not_read(summary.unread, "share their blocks with others"));
    lines.extend(not_read(summary.cached, UNCHANGED));
    if let Some(AlikeTally {
        refused: refused @ 1..,
        ..
    }) = summary.alike
    {
        let files = counted(
            refused,
            "picture, film or sound",
            "pictures, films or sounds",
        );
        lines.push(format!(
            "Could not tell the tags of {files} from the rest (named above)."
        ));
    }
    lines.push(format!("Listed them in {:.1?}.", summary.scan_time));
    for stage in summary.stages.iter().filter(|stage| stage.files > 0) {
        let (files, read) = (files(stage.files), Bytes(stage.bytes_read));
        lines.push(format!("  {}: {files}, {read}", stage.name));
    }
    for device in summary.devices.iter().filter(|it| it.bytes_read > 0) {
        let read = Bytes(device.bytes_read);
        lines.push(format!("  {} ({}): {read}", device.name, device.class));
    }
    lines
}

/// Everything that took no part, with the option that would change it: silence would look like completeness.
fn skipped(left_out: &LeftOut) -> Option<String> {
    const NAMED: &str = " (named above)";
    let it = left_out;
    let links = plural(it.symlinks, "symbolic link", "symbolic links");
    let reasons = [
        (it.hidden, "hidden", " (without --no-hidden)"),
        (
            it.ignored,
            "listed in ignore files",
            " (without --ignore-file)",
        ),
        (it.filtered, "excluded by filters", ""),
        (it.empty, "empty", " (--empty)"),
        (it.symlinks, links, " (--follow-links)"),
        (it.special, "pipes, sockets or devices", ""),
        (
            it.other_file_system,
            "on other file systems",
            " (without --one-file-system)",
        ),
        (it.pseudo_file_system, "pseudo file systems", ""),
        (it.listed_before, "folders reached a second time", ""),
        (it.vanished, "removed meanwhile", ""),
        (it.unsettled, "folders that changed", NAMED),
        (it.unreadable, "unreadable", NAMED),
        (it.unanswered, "without an answer", NAMED),
        (it.memory_short, "or more for want of memory", NAMED),
        (it.changed, "changed meanwhile", NAMED),
    ];
    let met = reasons.iter().filter(|(number, ..)| *number > 0);
    let parts = met.map(|(number, what, way_out)| format!("{} {what}{way_out}", count(*number)));
    let parts: Vec<String> = parts.collect();
    (!parts.is_empty()).then(|| format!("Skipped: {}.", parts.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_is_named() {
        for (copies, isolate, sets, said) in [
            ("2..", false, 1, "Found 1 set of duplicates."),
            ("2..", true, 5, "Found 5 sets of duplicates."),
            ("1", false, 1, "Found 1 unique file."),
            ("1", false, 5, "Found 5 unique files."),
            ("1..", false, 5, "Found 5 contents with 1.. copies."),
            ("..3", false, 5, "Found 5 contents with ..3 copies."),
            ("5..", false, 1, "Found 1 content with 5.. copies."),
            ("3", false, 5, "Found 5 contents with 3 copies."),
            ("3..5", false, 5, "Found 5 contents with 3..5 copies."),
            ("1", true, 1, "Found 1 content in only one of the paths."),
            (
                "1",
                true,
                0,
                "Found no contents in only one of the paths in 0 files.",
            ),
            ("3..", true, 5, "Found 5 contents in 3.. of the paths."),
        ] {
            let summary = Summary {
                sets,
                ..Summary::default()
            };
            let copies = copies.parse().expect("a range");
            assert_eq!(found(&summary, copies, isolate), said);
        }
    }
}
