//! Reports: written, read back, damaged, large.

mod formats;
mod large_reports;
mod plan_reports;
