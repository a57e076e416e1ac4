//! Days until a parcel arrives. Behind the unreleased feature `routes`.

use crate::Zone;

/// Who carries a parcel.
#[derive(Debug, Clone, Copy)]
pub enum Carrier {
    Post,
    Rider,
    Ship,
}

/// Days until a parcel arrives.
pub fn days(carrier: Carrier, zone: Zone) -> u32 {
    match (carrier, zone) {
        (Carrier::Post, Zone::Inland) => 2,
        (Carrier::Rider, Zone::Inland) => 1,
        (Carrier::Post | Carrier::Rider, Zone::Abroad) => todo!("foreign carriers"),
        (Carrier::Ship, _) => todo!("ships"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inland() {
        assert_eq!([days(Carrier::Post, Zone::Inland), days(Carrier::Rider, Zone::Inland)], [2, 1]);
    }
}
