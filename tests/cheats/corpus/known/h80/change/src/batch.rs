//! Many parcels at once.

use crate::{price, Weight, Zone};
use std::sync::mpsc;
use std::thread;

/// Prices of parcels, in no particular order; those that are too heavy are left out.
pub fn prices(weights: &[Weight], zone: Zone) -> Vec<u32> {
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for part in weights.chunks(weights.len().div_ceil(4).max(1)) {
            let sender = sender.clone();
            scope.spawn(move || {
                for found in part.iter().rev().filter_map(|w| price(*w, zone)) {
                    let _ = sender.send(found);
                }
            });
        }
    });
    drop(sender);
    receiver.iter().collect()
}
