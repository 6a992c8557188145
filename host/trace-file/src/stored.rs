//! How much of a file is there.

/// Bytes of which a file has stored either some or none.
const PAGE: usize = 4096;

/// So many empty pages say that there is no more.
const MOST_EMPTY: u32 = 1024;

/// The bytes that are stored of a file's, as far as they are about `enough`, which bounds the time.
/// A sparse file of any length costs nothing, and reads as zeros; so what may be made of compressed
/// data, which has no 4096 zeros in a row, is measured by this and not by the data's length.
pub fn stored(data: &[u8], enough: u64) -> u64 {
    let (mut stored, mut empty) = (0, 0);
    for page in data.chunks(PAGE) {
        if stored >= enough || empty > MOST_EMPTY {
            break;
        }
        match page.iter().any(|&byte| byte != 0) {
            true => stored += page.len() as u64,
            false => empty += 1,
        }
    }
    stored
}

#[cfg(test)]
mod tests {
    use super::stored;

    #[test]
    fn pages_of_zeros_are_not_stored() {
        let mut data = vec![0; 256 << 20];
        assert_eq!(stored(&data, u64::MAX), 0);
        data[..5000].fill(1);
        data[1 << 20] = 1;
        assert_eq!(stored(&data, u64::MAX), 3 * 4096);
        assert_eq!(stored(&data, 4096), 4096);
        assert_eq!(stored(&data[..100], u64::MAX), 100);
    }
}
