//! Tests of df-pn on graphs and positions with known values, and of the mate solver.

mod alternatives;
mod exhaustive;
mod futile;
mod graphs;
mod mate_lines;
mod small_positions;
mod solver;
mod traps;
mod whole_graphs;
