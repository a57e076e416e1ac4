use std::fmt;

/// There is no such cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfGrid {
    pub x: usize,
    pub y: usize,
}

impl fmt::Display for OutOfGrid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {}) is outside the grid", self.x, self.y)
    }
}

impl std::error::Error for OutOfGrid {}

/// A grid of values, stored row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid<T> {
    width: usize,
    cells: Vec<T>,
}

impl<T: Clone> Grid<T> {
    pub fn new(width: usize, height: usize, value: T) -> Self {
        Grid { width, cells: vec![value; width * height] }
    }

    pub fn width(&self) -> usize {
        self.width
    }

    pub fn height(&self) -> usize {
        if self.width == 0 {
            0
        } else {
            self.cells.len() / self.width
        }
    }

    pub fn get(&self, x: usize, y: usize) -> Option<&T> {
        if x >= self.width {
            return None;
        }
        self.cells.get(y * self.width + x)
    }

    pub fn set(&mut self, x: usize, y: usize, value: T) -> Result<(), OutOfGrid> {
        if x >= self.width || y >= self.height() {
            return Err(OutOfGrid { x, y });
        }
        self.cells[y * self.width + x] = value;
        Ok(())
    }

    pub fn transpose(&self) -> Self {
        let mut cells = Vec::with_capacity(self.cells.len());
        for x in 0..self.width {
            for y in 0..self.height() {
                cells.push(self.cells[y * self.width + x].clone());
            }
        }
        Grid { width: self.height(), cells }
    }
}
