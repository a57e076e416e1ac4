use std::fmt;

/// A cell such as `B3`: column letter first, rows count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Coord {
    pub column: usize,
    pub row: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseCoordError(pub String);

impl fmt::Display for ParseCoordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a coordinate: {:?}", self.0)
    }
}

impl std::error::Error for ParseCoordError {}

/// Reads `A1` to `Z999`.
pub fn parse_coord(text: &str) -> Result<Coord, ParseCoordError> {
    let bad = || ParseCoordError(text.to_string());
    let mut chars = text.chars();
    let letter = chars.next().filter(|c| c.is_ascii_uppercase()).ok_or_else(bad)?;
    let digits = chars.as_str();
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(bad());
    }
    let row: usize = digits.parse().map_err(|_| bad())?;
    if row == 0 || row > 999 {
        return Err(bad());
    }
    Ok(Coord { column: (letter as u8 - b'A') as usize, row: row - 1 })
}

impl fmt::Display for Coord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", (b'A' + self.column as u8) as char, self.row + 1)
    }
}
