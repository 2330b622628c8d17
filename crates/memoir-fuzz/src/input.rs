//! What targets share: bytes as text, small choices that follow from the bytes, and one runtime.

use std::sync::LazyLock;

use tokio::runtime::{Builder, Runtime};

/// The bytes as text; what is none is replaced.
pub(crate) fn text(data: &[u8]) -> String {
    String::from_utf8_lossy(data).into_owned()
}

/// Numbers that follow from the bytes, so that the same input always does the same.
pub(crate) struct Choices(u64);

impl Choices {
    pub(crate) fn from(data: &[u8]) -> Self {
        // FNV-1a; never zero, where the generator would stay.
        let hash = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        Self(data.iter().fold(0xcbf2_9ce4_8422_2325, hash) | 1)
    }

    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        // Xorshift.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or(0) % limit.max(1)
    }

    /// One of several.
    pub(crate) fn one_of<'a, T>(&mut self, several: &'a [T]) -> &'a T {
        &several[self.below(several.len())]
    }
}

/// One for all targets: connections that are kept open belong to the runtime that made them.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "without it no target can run")]
    Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime")
});

/// Waits for something.
pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    RUNTIME.block_on(future)
}
