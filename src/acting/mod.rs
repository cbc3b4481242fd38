//! From a search or a report to a plan, and from a report to the sets that it still has: binds searching, reports and
//! actions together. How it is drawn, and what is asked, is up to the caller.

mod asked;
mod gather;
mod listed_sets;
mod reported;
mod session;

pub use asked::{Asked, BadBound, FoundFolder, NoFolder, UntrustedLink, outermost, own_way};
pub use gather::{ReportAbout, plan_report, plan_search, search_origin, searched_trees};
pub use listed_sets::{Selection, rest_below};
pub use reported::{Absent, Reported, reported};
pub use session::{Host, Session, Stop, Work};
