//! Prices in cents.

use crate::Weight;

/// Where a parcel goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Zone {
    Inland,
    Abroad,
}

/// The price of a parcel, None when it is too heavy.
pub fn price(weight: Weight, zone: Zone) -> Option<u32> {
    let base = match weight.grams() {
        0..=1000 => 399,
        1001..=5000 => 699,
        5001..=10_000 => 999,
        _ => return None,
    };
    Some(match zone {
        Zone::Inland => base,
        Zone::Abroad => base * 2 + 100,
    })
}
