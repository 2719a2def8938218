//! Which objects of the ledger an object repeats.

/// How many objects pages repeat, the large ones first.
const PAGES: [u64; 3] = [LARGEST_PAGE, 256, 16];

/// How many objects the largest pages repeat.
pub(crate) const LARGEST_PAGE: u64 = 4096;

/// The first object whose lines an object has besides its own: all since the last multiple of 16 or, if it is one itself, since
/// the last multiple of 256, or else of 4096. So each multiple of one of these numbers repeats at least as many objects.
pub(crate) fn first_repeated(number: u64) -> u64 {
    let is_page_of = |page: &&u64| number.is_multiple_of(**page);
    let larger = PAGES.iter().rev().find(|page| !is_page_of(page)).unwrap_or(&LARGEST_PAGE);
    (number - 1) / larger * larger + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The objects that are read up to one, the last one first.
    fn read_up_to(last: u64) -> Vec<u64> {
        let before = |number: &u64| Some(first_repeated(*number) - 1).filter(|before| *before > 0);
        std::iter::successors(Some(last), before).collect()
    }

    #[test]
    fn few_objects_have_the_lines_of_all() {
        assert_eq!(read_up_to(7), [7]);
        assert_eq!(read_up_to(16), [16]);
        assert_eq!(read_up_to(100), [100, 96]);
        assert_eq!(read_up_to(256), [256]);
        assert_eq!(read_up_to(1000), [1000, 992, 768]);
        assert_eq!(read_up_to(4096 + 519), [4615, 4608, 4096]);
        assert!((1..=4096).all(|last| read_up_to(last).len() <= 3));
    }

    #[test]
    fn a_page_repeats_at_least_as_many_objects_as_its_number_is_a_multiple_of() {
        for number in 1..20_000_u64 {
            let repeats = number + 1 - first_repeated(number);
            for page in PAGES.into_iter().chain([8, 64, 512]) {
                assert!(!number.is_multiple_of(page) || repeats >= page, "{number}: {page}");
            }
        }
    }
}
