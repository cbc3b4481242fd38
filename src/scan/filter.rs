//! Which names, sizes and times take part.
