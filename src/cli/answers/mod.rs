//! Questions to the user, and what the answers mean.

pub mod ask;
pub mod question;
