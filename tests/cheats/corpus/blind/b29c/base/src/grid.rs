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

    pub fn set(&mut self, x: usize, y: usize, value: T) {
        assert!(x < self.width && y < self.height(), "outside the grid");
        self.cells[y * self.width + x] = value;
    }

    pub fn transpose(&self) -> Self {
        let mut cells = Vec::with_capacity(self.cells.len());
        for x in 0..self.width {
            for y in 0..self.height() {
                cells.push(self.cells[y * self.width + x].clone());
            }
        }
        Grid { width: self.width, cells }
    }
}
