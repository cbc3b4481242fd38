//! The engine as the command line sees it, until it lands.

use seekless::engine::Config;
use seekless::event::Observer;
use seekless::pipeline::{DuplicateSet, Summary};

#[derive(Debug, Default)]
pub struct Control {}

impl Control {
    pub fn cancel(&self) {}
    pub fn progress(&self) -> Vec<ProgressLine> {
        Vec::new()
    }
}

#[derive(Clone, Debug)]
pub struct ProgressLine {
    pub stage: &'static str,
    pub device: String,
    pub files_done: u64,
    pub files_total: u64,
    pub bytes_done: u64,
    pub bytes_total: u64,
    pub total_is_final: bool,
}

pub enum Delivery {
    AsFinal,
    LargestFirst,
}

#[derive(Debug, thiserror::Error)]
#[error("the engine is not built yet")]
pub struct Error;

pub fn find(
    _: &Config,
    _: Delivery,
    _: &dyn Observer,
    _: &Control,
    _: &mut dyn FnMut(&DuplicateSet) -> std::io::Result<()>,
) -> Result<Summary, Error> {
    Err(Error)
}

pub fn explain(_: &Config) -> Vec<String> {
    Vec::new()
}
