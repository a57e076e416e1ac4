//! For callers in C.

use crate::{price, Weight, Zone};

/// The price inland in cents, -1 for a parcel that is too heavy.
// The attribute counts as unsafe since another symbol of that name would be undefined behaviour.
#[allow(unsafe_code)]
#[no_mangle]
pub extern "C" fn parcel_price_inland(grams: u32) -> i64 {
    let weight: Result<Weight, _> = format!("{grams}g").parse();
    weight.ok().and_then(|w| price(w, Zone::Inland)).map_or(-1, i64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_and_refusals() {
        assert_eq!([parcel_price_inland(800), parcel_price_inland(12_000)], [399, -1]);
    }
}
