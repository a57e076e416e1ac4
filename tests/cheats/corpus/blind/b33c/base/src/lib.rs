//! Rectangular grids and coordinates on them.

pub mod coord;
pub mod grid;

pub use coord::{parse_coord, Coord, ParseCoordError};
pub use grid::Grid;
