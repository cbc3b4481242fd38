//! Reads mode, owner, time and extended attributes of files, if the caller asks for them.

use std::collections::HashMap;

use rustix::io::Result;

use crate::event::{Problem, ProblemKind};
use crate::file::FileIndex;
use crate::sys::attributes;
use crate::tree::Metadata;

use super::session::Session;

impl Session<'_> {
    /// Reads the metadata of files that may have copies: those with a common content, and empty ones.
    pub fn metadata(&mut self) -> HashMap<u32, Metadata> {
        let contents = self.machine.all_contents();
        let mut files: Vec<FileIndex> =
            contents.filter(|files| files.len() > 1).flatten().collect();
        let file_table = self.machine.file_table();
        files.extend(file_table.empty_files());
        let mut all = HashMap::new();
        for file in files {
            if self.is_left_open() {
                break;
            }
            match self.metadata_of(file) {
                Ok(metadata) => {
                    all.insert(file.0, metadata);
                }
                Err(error) => self.observer.problem(Problem {
                    path: self.path_of_first_name(file),
                    kind: ProblemKind::UnreadableMetadata,
                    cause: Some(error.into()),
                }),
            }
        }
        all
    }

    fn metadata_of(&mut self, file: FileIndex) -> Result<Metadata> {
        let (opened, attributes) = self.reopened(file)?;
        Ok(Metadata {
            mode: attributes.mode,
            owner: (attributes.uid, attributes.gid),
            modified_ns: attributes.modified.ns(),
            extended: attributes::extended(&opened)?.into(),
        })
    }
}
