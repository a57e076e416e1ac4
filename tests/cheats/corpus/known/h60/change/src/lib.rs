//! Weights and prices of parcels.
//!
//! ```
//! use parcel::Weight;
//! assert_eq!("2kg".parse::<Weight>().unwrap().grams(), 2000);
//! ```

mod parcel;
mod price;
mod weight;

pub use parcel::Parcel;
pub use price::{price, Zone};
pub use weight::{ParseWeightError, Weight};
