//! Reports: written, read back, damaged, large, shown, for scripts.

mod formats;
mod large_reports;
mod plan_reports;
mod scripts;
mod terminal;
