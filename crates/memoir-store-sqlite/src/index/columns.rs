//! Encodes columns of numbers, which make up a segment, as bytes.

/// A number of fixed size.
pub(super) trait Number: Copy {
    fn write(self, bytes: &mut Vec<u8>);
    fn read_all(bytes: &[u8]) -> impl Iterator<Item = Self>;
    const SIZE: usize;
}

macro_rules! number {
    ($($type:ty),*) => {$(
        impl Number for $type {
            const SIZE: usize = size_of::<$type>();

            fn write(self, bytes: &mut Vec<u8>) {
                bytes.extend(self.to_le_bytes());
            }

            fn read_all(bytes: &[u8]) -> impl Iterator<Item = Self> {
                bytes.as_chunks().0.iter().map(|bytes| Self::from_le_bytes(*bytes))
            }
        }
    )*};
}

number!(i64, u16, u8);

/// Appends a column to `bytes`.
pub(super) fn write<N: Number>(bytes: &mut Vec<u8>, column: &[N]) {
    column.iter().for_each(|number| number.write(bytes));
}

/// Reads a column of `count` numbers from the front of `bytes` and advances it. Returns `None` if `bytes` is too short.
pub(super) fn read<'a, N: Number + 'a>(
    bytes: &mut &'a [u8],
    count: usize,
) -> Option<impl Iterator<Item = N> + 'a> {
    let (column, rest) = bytes.split_at_checked(count.checked_mul(N::SIZE)?)?;
    *bytes = rest;
    Some(N::read_all(column))
}
