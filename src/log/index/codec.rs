//! Numbers as bytes: seven bits each, the lowest first, the eighth bit set if more follow (LEB128).

/// Adds a number.
pub(super) fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes numbers off the front of some bytes.
pub(super) struct Numbers<'a>(pub(super) &'a [u8]);

/// Bytes that end within a number, or a number that is too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MalformedNumber;

impl Numbers<'_> {
    /// Whether there are no more numbers.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next number.
    pub(super) fn take(&mut self) -> Result<u64, MalformedNumber> {
        // Most numbers are small.
        if let Some((&byte, rest)) = self.0.split_first()
            && byte < 0x80
        {
            self.0 = rest;
            return Ok(byte.into());
        }
        let mut number = 0;
        for (i, byte) in self.0.iter().enumerate().take(10) {
            let bits = u64::from(byte & 0x7f);
            let shifted = bits << (7 * i as u32);
            if shifted >> (7 * i as u32) != bits {
                return Err(MalformedNumber);
            }
            number |= shifted;
            if byte & 0x80 == 0 {
                self.0 = self.0.get(i + 1..).unwrap_or(&[]);
                return Ok(number);
            }
        }
        Err(MalformedNumber)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        let numbers = [0, 1, 127, 128, 300, 1 << 32, u64::MAX];
        let mut bytes = Vec::new();
        numbers.iter().for_each(|n| put(&mut bytes, *n));
        let mut back = Numbers(&bytes);
        assert_eq!(numbers.map(|_| back.take().unwrap()), numbers);
        assert!(back.is_empty());
        assert_eq!(Numbers(&[0x80]).take(), Err(MalformedNumber));
        assert_eq!(Numbers(&[0xff; 12]).take(), Err(MalformedNumber));
    }
}
