//! Weights and prices of parcels.
//!
//! ```
//! use parcel::Weight;
//! assert_eq!("2kg".parse::<Weight>().unwrap().grams(), 2000);
//! ```

mod price;
mod weight;

pub use price::{price, Zone};
pub use weight::{ParseWeightError, Weight};
