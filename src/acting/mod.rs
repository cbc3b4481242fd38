//! From a search or a report to a plan: binds searching, reports and actions together. How it is drawn, and what is
//! asked, is up to the caller.

mod asked;
mod gather;
mod session;

pub use asked::{Asked, BadBound, FoundFolder, NoFolder, UntrustedLink, outermost, own_way};
pub use gather::{ReportAbout, plan_report, plan_search, search_origin, searched_trees};
pub use session::{Host, Session, Stop, Work};
