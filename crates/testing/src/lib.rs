//! What the tests of several crates need: positions and games of our own making, records as literal bytes, an
//! independent rules engine, and properties that must hold of any bytes, which the fuzz targets check as well.

pub mod game_properties;
pub mod games;
pub mod literals;
pub mod oracle;
pub mod positions;
pub mod record_properties;
