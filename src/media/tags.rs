//! What a file says about itself.
