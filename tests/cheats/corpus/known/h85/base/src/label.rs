//! Labels.

use crate::{Weight, Zone};
use std::collections::HashMap;

fn unused(text: String) -> String {
    let mut copy = text;
    copy
}

/// The label of a parcel.
pub fn label(weight: Weight, zone: Zone) -> String {
    let mut place = match zone {
        Zone::Inland => "inland",
        Zone::Abroad => "abroad",
    };
    let size = weight.grams();
    format!("{} g, {}", weight.grams(), place)
}
