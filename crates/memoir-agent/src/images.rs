//! The images of recent exchanges. The store has only their descriptions, so that memory stays small.

use std::collections::VecDeque;

use memoir_core::{ExchangeId, Image};

/// Maximum size of the images that are kept, in bytes. Providers limit the size of a request.
const MAX_BYTES: usize = 8_000_000;

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
        while self.bytes() > MAX_BYTES {
            self.exchanges.pop_front();
        }
    }

    /// Returns the images of an exchange.
    pub(crate) fn of(&self, exchange: ExchangeId) -> &[Image] {
        let found = self.exchanges.iter().find(|(id, _)| *id == exchange);
        found.map_or(&[], |(_, images)| images)
    }

    fn bytes(&self) -> usize {
        self.exchanges.iter().flat_map(|(_, images)| images).map(|image| image.data().len()).sum()
    }
}
