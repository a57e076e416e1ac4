//! Weights as people write them.

use std::fmt;
use std::str::FromStr;

/// A weight in grams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Weight(u32);

/// A text that is no weight.
#[derive(Debug, PartialEq, Eq)]
pub enum ParseWeightError {
    /// There is no unit that is known.
    Unit,
    /// There is no number, or it is too large.
    Number,
}

impl fmt::Display for ParseWeightError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseWeightError::Unit => write!(f, "a weight ends in g or kg"),
            ParseWeightError::Number => write!(f, "a weight begins with a number"),
        }
    }
}

impl std::error::Error for ParseWeightError {}

impl Weight {
    /// The weight in grams.
    pub fn grams(self) -> u32 {
        self.0
    }
}

impl FromStr for Weight {
    type Err = ParseWeightError;

    /// Reads "250g", "2kg" and "2.5kg" (at most three digits after the point).
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        if let Some(number) = text.strip_suffix("kg") {
            let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
            let kilos: u32 = whole.parse().map_err(|_| ParseWeightError::Number)?;
            if part.is_empty() || part.len() > 3 {
                return Err(ParseWeightError::Number);
            }
            let digits: u32 = part.parse().map_err(|_| ParseWeightError::Number)?;
            let scale = 10u32.pow(3 - part.len() as u32);
            return Ok(Weight(kilos * 1000 + digits * scale));
        }
        let number = text.strip_suffix('g').ok_or(ParseWeightError::Unit)?;
        number.parse().map(Weight).map_err(|_| ParseWeightError::Number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grams(text: &str) -> u32 {
        text.parse::<Weight>().unwrap().grams()
    }

    #[test]
    fn reads_grams() {
        assert_eq!(grams("250g"), 250);
    }

    #[test]
    fn reads_kilograms() {
        assert_eq!(grams("2kg"), 2000);
        assert_eq!(grams(" 2.5kg "), 2500);
    }

    #[test]
    fn zeros_after_the_point_count() {
        assert_eq!(grams("2.05kg"), 2050);
        assert_eq!(grams("1.007kg"), 1007);
    }

    #[test]
    fn refuses_other_units() {
        assert_eq!("3lb".parse::<Weight>(), Err(ParseWeightError::Unit));
    }

    #[test]
    fn refuses_no_number() {
        assert_eq!("kg".parse::<Weight>(), Err(ParseWeightError::Number));
    }
}
