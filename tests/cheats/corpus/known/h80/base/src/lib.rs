//! Weights and prices of parcels.
//!
//! ```
//! use parcel::Weight;
//! assert_eq!("2kg".parse::<Weight>().unwrap().grams(), 2000);
//! ```

mod batch;
mod price;
mod weight;

pub use batch::prices;
pub use price::{price, Zone};
pub use weight::{ParseWeightError, Weight};
