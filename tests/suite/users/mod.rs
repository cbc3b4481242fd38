//! Other users: what they own, write or swap decides nothing for those who run the program.

mod neighbours;
mod new_links;
mod own_state;
mod owners;
mod reports_of_others;
mod root_links;
mod set_id;
mod trash_of_others;
