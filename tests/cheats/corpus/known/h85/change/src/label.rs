//! Labels.

use crate::{Weight, Zone};

/// The label of a parcel.
pub fn label(weight: Weight, zone: Zone) -> String {
    let place = match zone {
        Zone::Inland => "inland",
        Zone::Abroad => "abroad",
    };
    format!("{} g, {}", weight.grams(), place)
}
