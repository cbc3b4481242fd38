//! From a search or a report to a plan, and from a report to the sets that it still has: binds searching, reports and
//! actions together. How it is drawn, and what is asked, is up to the caller.

mod asked;
mod from_report;
mod from_search;
mod given_path;
mod listed_names;
mod listed_sets;
mod reported;
mod session;

pub use asked::{Asked, BadBound};
pub use from_report::{ReportAbout, plan_report};
pub use from_search::{plan_search, search_origin, searched_trees};
pub use given_path::{FoundFolder, NoFolder, UntrustedLink, outermost, own_way};
pub use listed_names::rest_below;
pub use listed_sets::Selection;
pub use reported::{Absent, Reported, reported};
pub use session::{Host, Session, Stop, Work, unfinished};
