//! Copies of items of one length: where that is the length of a packed record, the compiler knows it, and a
//! copy is a few instructions and no call.

trait Copying {
    fn copy<const LEN: usize>(&mut self);

    fn copy_any(&mut self, len: usize);
}

fn copy_items(len: usize, copying: &mut impl Copying) {
    match len {
        0 => {}
        16 => copying.copy::<16>(),
        32 => copying.copy::<32>(),
        38 => copying.copy::<38>(),
        40 => copying.copy::<40>(),
        42 => copying.copy::<42>(),
        _ => copying.copy_any(len),
    }
}

/// Copies item `i` of `from` to place `places[i]` of `to`.
pub(super) fn scatter(from: &[u8], len: usize, places: &[u32], to: &mut [u8]) {
    copy_items(len, &mut Scatter { from, places, to });
}

struct Scatter<'a> {
    from: &'a [u8],
    places: &'a [u32],
    to: &'a mut [u8],
}

impl Copying for Scatter<'_> {
    fn copy<const LEN: usize>(&mut self) {
        let (from, _) = self.from.as_chunks::<LEN>();
        let (to, _) = self.to.as_chunks_mut::<LEN>();
        for (item, &place) in from.iter().zip(self.places) {
            to[place as usize] = *item;
        }
    }

    fn copy_any(&mut self, len: usize) {
        for (item, &place) in self.from.chunks_exact(len).zip(self.places) {
            let at = place as usize * len;
            self.to[at..at + len].copy_from_slice(item);
        }
    }
}

/// Returns the items of `from` at `places`, in that order.
pub(super) fn gather(from: &[u8], len: usize, places: &[u32]) -> Vec<u8> {
    let mut to = Vec::with_capacity(places.len() * len);
    copy_items(len, &mut Gather { from, places, to: &mut to });
    to
}

struct Gather<'a> {
    from: &'a [u8],
    places: &'a [u32],
    to: &'a mut Vec<u8>,
}

impl Copying for Gather<'_> {
    fn copy<const LEN: usize>(&mut self) {
        let (from, _) = self.from.as_chunks::<LEN>();
        for &place in self.places {
            self.to.extend_from_slice(&from[place as usize]);
        }
    }

    fn copy_any(&mut self, len: usize) {
        for &place in self.places {
            let at = place as usize * len;
            self.to.extend_from_slice(&self.from[at..at + len]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_of_every_length_come_to_their_places_and_back() {
        let places = [2, 0, 3, 1];
        for len in [0, 1, 16, 17, 32, 38, 40, 42, 100] {
            let row: Vec<u8> = (0..4).flat_map(|number| vec![number; len]).collect();
            let mut scattered = vec![9; row.len()];
            scatter(&row, len, &places, &mut scattered);
            for (number, place) in (0..).zip(places) {
                let at = place as usize * len;
                assert_eq!(scattered[at..at + len], vec![number; len]);
            }
            assert_eq!(gather(&scattered, len, &places), row);
        }
    }
}
