mod bounds;
mod made;
mod parts;
mod tags;
