//! CRC-64/NVME, which S3 offers for what is sent to it, in the place of a crate that has it among forty others.
//!
//! `object_store` computes it where `AWS_CHECKSUM_ALGORITHM` asks for it. The crate that it depends on takes 0.7 MB of
//! a program for tables that nobody asks for. Parameters and check value: "Catalogue of parametrised CRC algorithms",
//! and the NVM Command Set Specification, 5.2.1.3.4.

/// Which checksum is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CrcAlgorithm {
    /// Reflected, all bits set before and inverted behind.
    Crc64Nvme,
}

/// A checksum on its way.
#[derive(Clone, Copy, Debug)]
pub struct Digest(u64);

/// The polynomial with its bits in the order in which they are shifted out.
const REFLECTED: u64 = 0x9a6c_9329_ac4b_c9b5;

/// Bytes that are taken together.
const STEP: usize = 8;

/// What becomes of a byte with so many behind it ("slicing-by-8", Kounavis and Berry 2005).
static TABLES: [[u64; 256]; STEP] = tables();

const fn tables() -> [[u64; 256]; STEP] {
    let mut tables = [[0; 256]; STEP];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u64;
        let mut bit = 0;
        while bit < 8 {
            crc = crc >> 1 ^ if crc & 1 == 1 { REFLECTED } else { 0 };
            bit += 1;
        }
        tables[0][byte] = crc;
        byte += 1;
    }
    let mut behind = 1;
    while behind < STEP {
        byte = 0;
        while byte < 256 {
            let crc = tables[behind - 1][byte];
            tables[behind][byte] = crc >> 8 ^ tables[0][(crc & 0xff) as usize];
            byte += 1;
        }
        behind += 1;
    }
    tables
}

impl Digest {
    /// That of no bytes.
    pub const fn new(algorithm: CrcAlgorithm) -> Self {
        match algorithm {
            CrcAlgorithm::Crc64Nvme => Self(!0),
        }
    }

    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        let (steps, rest) = bytes.as_chunks::<STEP>();
        for step in steps {
            let mixed = (self.0 ^ u64::from_le_bytes(*step)).to_le_bytes();
            let parts = mixed.iter().zip(TABLES.iter().rev());
            self.0 = parts.fold(0, |crc, (&byte, table)| crc ^ table[usize::from(byte)]);
        }
        for &byte in rest {
            let [low, ..] = self.0.to_le_bytes();
            self.0 = self.0 >> 8 ^ TABLES[0][usize::from(low ^ byte)];
        }
    }

    /// The checksum of all bytes.
    pub const fn finalize(&self) -> u64 {
        !self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checksum(pieces: &[&[u8]]) -> u64 {
        let mut digest = Digest::new(CrcAlgorithm::Crc64Nvme);
        for piece in pieces {
            digest.update(piece);
        }
        digest.finalize()
    }

    /// The check value of the catalogue, and those of 4 KiB of the specification of NVM Express.
    #[test]
    fn published_values() {
        assert_eq!(checksum(&[b"123456789"]), 0xae8b_1486_0a79_9888);
        assert_eq!(checksum(&[&[0; 4096]]), 0x6482_d367_eb22_b64e);
        assert_eq!(checksum(&[&[0xff; 4096]]), 0xc0dd_ba73_02ec_a3ac);
        let mut bytes: Vec<u8> = (0..4096_u16).map(|number| number as u8).collect();
        assert_eq!(checksum(&[&bytes]), 0x3e72_9f5f_6750_449c);
        bytes.reverse();
        assert_eq!(checksum(&[&bytes]), 0x9a2d_f64b_8e9e_517e);
    }

    /// Wherever the bytes are cut.
    #[test]
    fn pieces_make_the_whole() {
        let bytes: Vec<u8> = (0_u8..40).map(|number| number.wrapping_mul(37)).collect();
        for cut in 0..=bytes.len() {
            assert_eq!(checksum(&[&bytes[..cut], &bytes[cut..]]), checksum(&[&bytes]), "{cut}");
        }
    }
}
