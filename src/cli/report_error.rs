//! Errors of reports, with what to type.

use seekless::report::read::ReadError;

/// The error, and the command that avoids it.
pub fn with_command(error: &ReadError) -> String {
    let command = match error {
        ReadError::OtherFormat => ": create one with -f text, -f json or -f ndjson",
        ReadError::FoldersNotText => ": create it again with -f text",
        ReadError::OfFolders => {
            return "this is a report of folders, and only remove and move can use it: \
                create a report of files with 'seekless find'"
                .to_owned();
        }
        _ => "",
    };
    format!("{error}{command}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_follows_where_one_helps() {
        let said = with_command(&ReadError::FoldersNotText);
        let wanted = "seekless reads reports of folders as text only: create it again with -f text";
        assert_eq!(said, wanted);
        let empty = ReadError::Empty;
        assert_eq!(with_command(&empty), empty.to_string());
    }
}
