//! Helpers for targets: input as text, random choices derived from the input, and a shared runtime.

use std::sync::LazyLock;

use tokio::runtime::{Builder, Runtime};

/// Returns the input as text, with invalid UTF-8 replaced.
pub(crate) fn text(data: &[u8]) -> String {
    String::from_utf8_lossy(data).into_owned()
}

/// Random choices seeded by the input, so that the same input always takes the same path.
pub(crate) struct Choices(fastrand::Rng);

impl Choices {
    /// Seeds the choices with a hash of the input (FNV-1a).
    pub(crate) fn from(data: &[u8]) -> Self {
        let hash = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        Self(fastrand::Rng::with_seed(data.iter().fold(0xcbf2_9ce4_8422_2325, hash)))
    }

    /// Returns a number below `limit`, or 0 if `limit` is 0.
    pub(crate) fn draw_below(&mut self, limit: usize) -> usize {
        self.0.usize(..limit.max(1))
    }

    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.draw_below(items.len())]
    }
}

/// Shared by all targets, because pooled connections belong to the runtime that opened them.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "no target can run without a runtime")]
    Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("build a runtime")
});

pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    RUNTIME.block_on(future)
}
