//! From a search or a report to a plan: binds searching, reports and actions together. How it is drawn, and what is
//! asked, is up to the caller.

mod from_report;
mod from_search;
mod given_path;

pub use from_report::{PlannedReport, ReportAbout, plan_report};
pub use from_search::{plan_search, search_origin, searched_trees};
pub use given_path::{FoundFolder, NoFolder, StrangersLink, outermost, own_way};
