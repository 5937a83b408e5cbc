//! Copies items of fixed length. The lengths of packed records are compile-time constants, so each copy is a few
//! instructions instead of a call.

/// Copies item `i` of `from` to place `places[i]` of `to`.
pub(super) fn scatter(from: &[u8], len: usize, places: &[u32], to: &mut [u8]) {
    fn scatter<const LEN: usize>(from: &[u8], places: &[u32], to: &mut [u8]) {
        let (to, _) = to.as_chunks_mut::<LEN>();
        for (item, &place) in from.as_chunks().0.iter().zip(places) {
            to[place as usize] = *item;
        }
    }
    match len {
        0 => {}
        16 => scatter::<16>(from, places, to),
        32 => scatter::<32>(from, places, to),
        38 => scatter::<38>(from, places, to),
        40 => scatter::<40>(from, places, to),
        42 => scatter::<42>(from, places, to),
        _ => {
            for (item, &place) in from.chunks_exact(len).zip(places) {
                to[place as usize * len..][..len].copy_from_slice(item);
            }
        }
    }
}

/// Returns the items of `from` at `places`, in that order.
pub(super) fn gather(from: &[u8], len: usize, places: &[u32]) -> Vec<u8> {
    fn gather<const LEN: usize>(from: &[u8], places: &[u32], to: &mut Vec<u8>) {
        let (from, _) = from.as_chunks::<LEN>();
        for &place in places {
            to.extend_from_slice(&from[place as usize]);
        }
    }
    let mut to = Vec::with_capacity(places.len() * len);
    match len {
        0 => {}
        16 => gather::<16>(from, places, &mut to),
        32 => gather::<32>(from, places, &mut to),
        38 => gather::<38>(from, places, &mut to),
        40 => gather::<40>(from, places, &mut to),
        42 => gather::<42>(from, places, &mut to),
        _ => {
            for &place in places {
                to.extend_from_slice(&from[place as usize * len..][..len]);
            }
        }
    }
    to
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gather_is_the_inverse_of_scatter_for_every_length() {
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
