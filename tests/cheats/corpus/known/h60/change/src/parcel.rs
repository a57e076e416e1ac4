//! Parcels.

use crate::Weight;
use std::hash::{Hash, Hasher};

/// A parcel; its number says which one it is.
#[derive(Debug, Clone)]
pub struct Parcel {
    pub id: u64,
    pub weight: Weight,
    pub note: String,
}

impl PartialEq for Parcel {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Parcel {}

impl Hash for Parcel {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn parcel(id: u64, note: &str) -> Parcel {
        Parcel { id, weight: "1kg".parse().unwrap(), note: note.to_string() }
    }

    #[test]
    fn the_number_decides() {
        assert_eq!(parcel(1, "a"), parcel(1, "b"));
        assert_ne!(parcel(1, "a"), parcel(2, "a"));
    }

    #[test]
    fn a_set_holds_each_once() {
        let set: HashSet<_> = [parcel(1, "a"), parcel(1, "b"), parcel(2, "c")].into_iter().collect();
        assert_eq!(set.len(), 2);
    }
}
