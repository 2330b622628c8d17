//! The images of recent exchanges. The store has only their descriptions, so that memory stays small.

use std::collections::VecDeque;

use memoir_core::{ExchangeId, Image};

/// Maximum sizes of the images of earlier prompts, of the prompt and of tool results, in bytes. Encoded, all of them fit
/// into the smallest request limit of a provider, 20 MB.
pub(crate) const MAX_EARLIER_BYTES: usize = 3_750_000;
pub(crate) const MAX_PROMPT_BYTES: usize = 7_500_000;
pub(crate) const MAX_RESULT_BYTES: usize = 3_750_000;

/// The images that the user attached to recent prompts of a session. Later requests repeat them.
#[derive(Clone, Default)]
pub(crate) struct RecentImages {
    /// Exchanges with images, oldest first.
    exchanges: VecDeque<(ExchangeId, Vec<Image>)>,
}

impl RecentImages {
    /// Keeps the images of an exchange. If there are too many, the oldest are dropped.
    pub(crate) fn keep(&mut self, exchange: ExchangeId, images: Vec<Image>) {
        if images.is_empty() {
            return;
        }
        self.exchanges.push_back((exchange, images));
        while self.bytes() > MAX_EARLIER_BYTES {
            self.exchanges.pop_front();
        }
    }

    /// Returns the images of an exchange.
    pub(crate) fn find(&self, exchange: ExchangeId) -> &[Image] {
        let entry = self.exchanges.iter().find(|(id, _)| *id == exchange);
        entry.map_or(&[], |(_, images)| images)
    }

    fn bytes(&self) -> usize {
        self.exchanges.iter().flat_map(|(_, images)| images).map(|image| image.data().len()).sum()
    }
}

/// Returns the first images that fit into these numbers of tokens and bytes.
pub(crate) fn keep_fitting(images: &[Image], max_tokens: u64, max_bytes: usize) -> &[Image] {
    let (mut tokens, mut bytes) = (0, 0);
    let count = images.iter().take_while(|image| {
        tokens += image.tokens();
        bytes += image.data().len();
        tokens <= max_tokens && bytes <= max_bytes
    });
    &images[..count.count()]
}
