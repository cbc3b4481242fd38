//! The terminal: lines on it, progress, colors, signals, and the place of a result.

pub mod color;
pub mod console;
pub mod exit;
pub mod output;
pub mod progress;
pub mod question;
pub mod watch;
