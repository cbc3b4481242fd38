//! The summary of a run.

use seekless::decide::{LeftOut, Summary, Unread};
use seekless::engine::Copies;
use seekless::units::{Bytes, count, counted, plural};

/// The run that a summary is of.
#[derive(Clone, Copy, Debug)]
pub struct SummaryOf {
    /// How many copies were asked for.
    pub copies: Copies,
    /// Copies under one path counted as one.
    pub isolate: bool,
    /// What was read, and what each stage and each disk did, is asked for.
    pub verbose: bool,
}

/// The lines of the summary.
pub fn lines(summary: &Summary, of: SummaryOf) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(incomplete(summary, of).map(|why| format!("INCOMPLETE: {why}.")));
    lines.push(found(summary, of));
    if of.verbose {
        lines.extend(work(summary));
    }
    lines.extend(skipped(&summary.left_out));
    lines
}

/// Why there may be more duplicates, or why an answer that depends on every file (`--unique`, `--copies ..3`) is not
/// complete.
fn incomplete(summary: &Summary, of: SummaryOf) -> Option<&'static str> {
    let left_out = &summary.left_out;
    let unread = left_out.unsettled + left_out.unreadable + left_out.changed;
    let is_of_all = of.copies.most.is_some();
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

fn found(summary: &Summary, of: SummaryOf) -> String {
    let one_or_more = |one, more| plural(summary.sets, one, more);
    let range = match (of.copies.least, of.copies.most) {
        (1, Some(1)) if of.isolate => "only one".to_owned(),
        (least, None) => format!("at least {}", count(least)),
        (1, Some(most)) => format!("at most {}", count(most)),
        (least, Some(most)) if least == most => count(least),
        (least, Some(most)) => format!("{} to {}", count(least), count(most)),
    };
    let what = match (of.copies.least, of.copies.most) {
        (2, None) => one_or_more("set of duplicates", "sets of duplicates").to_owned(),
        (1, Some(1)) if !of.isolate => one_or_more("unique file", "unique files").to_owned(),
        (1, None) => one_or_more("content", "contents").to_owned(),
        _ if of.isolate => {
            let contents = one_or_more("content that is", "contents that are");
            format!("{contents} under {range} of the paths")
        }
        _ => format!("{} with {range} copies", one_or_more("content", "contents")),
    };
    if summary.sets == 0 {
        let files = counted(summary.files, "file", "files");
        return format!("Found no {what} in {files}.");
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
    found + "."
}

/// What was read, and what each stage and each disk did.
fn work(summary: &Summary) -> Vec<String> {
    let read = summary.stages.iter().map(|stage| stage.bytes_read);
    let mut lines = vec![format!(
        "Searched {} ({} names), {}, {}; read {} in {}.",
        counted(summary.files, "file", "files"),
        count(summary.files + summary.extra_names),
        counted(summary.folders, "folder", "folders"),
        Bytes(summary.bytes_present),
        Bytes(read.fold(0, u64::saturating_add)),
        format!("{:.1?}", summary.total_time)
    )];
    let skipped = |Unread { files, bytes }, why| {
        let files_of = format!("{} ({})", counted(files, "file", "files"), Bytes(bytes));
        (files > 0).then(|| format!("Skipped reading {files_of} {why}."))
    };
    lines.extend(skipped(
        summary.unread,
        "that share their blocks with others",
    ));
    lines.extend(skipped(
        summary.cached,
        "that an earlier run read, and whose sizes and times are unchanged",
    ));
    let row = |[name, files, read, time]: [&str; 4]| {
        format!("  {name:<20} {files:>12} {read:>9}  {time}")
    };
    lines.push(row(["stage", "candidates", "read", "time"]));
    let scan = format!("{:.1?}", summary.scan_time);
    lines.push(row(["scan", &count(summary.files), "", &scan]));
    for stage in summary.stages.iter().filter(|stage| stage.files > 0) {
        let read = Bytes(stage.bytes_read).to_string();
        lines.push(row([
            stage.name,
            &count(stage.files),
            &read,
            &format!("{:.1?}", stage.time),
        ]));
    }
    let devices = summary.devices.iter().filter(|it| it.bytes_read > 0);
    for (number, device) in devices.enumerate() {
        if number == 0 {
            lines.push(row(["device", "rate", "read", "busy"]));
        }
        let name = format!("{} ({})", device.name, device.class);
        let rate = device.bytes_read as f64 / device.busy.as_secs_f64().max(1e-9);
        let rate = format!("{}/s", Bytes(rate as u64));
        let read = Bytes(device.bytes_read).to_string();
        lines.push(row([&name, &rate, &read, &format!("{:.1?}", device.busy)]));
    }
    lines
}

/// Everything that took no part, with the option that would change it: silence would look like completeness.
fn skipped(left_out: &LeftOut) -> Option<String> {
    const NAMED: &str = " (named above)";
    let it = left_out;
    let reasons = [
        (it.hidden, "hidden", " (without --no-hidden)"),
        (
            it.ignored,
            "listed in ignore files",
            " (without --ignore-file)",
        ),
        (it.filtered, "excluded by filters", ""),
        (it.empty, "empty", " (--empty)"),
        (it.symlinks, "symbolic links", " (--follow-links)"),
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

    fn first_line(copies: &str, isolate: bool, summary: &Summary) -> String {
        let of = SummaryOf {
            copies: copies.parse().expect("a range"),
            isolate,
            verbose: false,
        };
        lines(summary, of)[0].clone()
    }

    #[test]
    fn what_was_asked_for_is_named() {
        for (copies, isolate, sets, said) in [
            ("2..", false, 1, "Found 1 set of duplicates."),
            ("2..", true, 5, "Found 5 sets of duplicates."),
            ("1", false, 1, "Found 1 unique file."),
            ("1", false, 5, "Found 5 unique files."),
            ("1..", false, 5, "Found 5 contents."),
            ("..3", false, 5, "Found 5 contents with at most 3 copies."),
            ("5..", false, 1, "Found 1 content with at least 5 copies."),
            ("3", false, 5, "Found 5 contents with 3 copies."),
            ("3..5", false, 5, "Found 5 contents with 3 to 5 copies."),
            (
                "1",
                true,
                1,
                "Found 1 content that is under only one of the paths.",
            ),
            (
                "1",
                true,
                0,
                "Found no contents that are under only one of the paths in 0 files.",
            ),
            (
                "3..",
                true,
                5,
                "Found 5 contents that are under at least 3 of the paths.",
            ),
        ] {
            let summary = Summary {
                sets,
                ..Summary::default()
            };
            assert_eq!(first_line(copies, isolate, &summary), said);
        }
    }
}
