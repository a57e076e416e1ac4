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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds() {
        let inland = |grams| price(Weight::of(grams), Zone::Inland);
        assert_eq!([inland(1000), inland(1001), inland(5000), inland(5001)], [Some(399), Some(699), Some(699), Some(999)]);
        assert_eq!([inland(10_000), inland(10_001)], [Some(999), None]);
    }
}
