mod bounds;
mod made;
mod parts;
