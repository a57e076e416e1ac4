//! Many parcels at once.

use crate::{price, Weight, Zone};

/// Prices of parcels, in their order; those that are too heavy are left out.
pub fn prices(weights: &[Weight], zone: Zone) -> Vec<u32> {
    weights.iter().filter_map(|w| price(*w, zone)).collect()
}
