//! The formats of commands whose result is a text or one document.

use clap::{Args, ValueEnum};

/// In which format a command prints its result.
#[derive(Args, Clone, Copy, Debug)]
pub struct DocumentArgs {
    /// Set the format of the result
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t = DocumentFormat::Text, help_heading = "Output")]
    pub format: DocumentFormat,
}

/// A text or one document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DocumentFormat {
    /// For people to read
    Text,
    /// One JSON document for scripts
    Json,
}
