//! The pages that the navigation lists.

use memoir_core::Right;

/// A page in the navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Search,
    Conversations,
    Documents,
    Facts,
    Activity,
    CoreMemory,
    Chat,
    Import,
    Background,
    Programs,
}

impl Section {
    pub(super) const ALL: [Self; 10] = [
        Self::Search,
        Self::Conversations,
        Self::Documents,
        Self::Facts,
        Self::Chat,
        Self::Activity,
        Self::CoreMemory,
        Self::Import,
        Self::Background,
        Self::Programs,
    ];

    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::Search => "/",
            Self::Conversations => "/conversations",
            Self::Documents => "/documents",
            Self::Facts => "/facts",
            Self::Activity => "/activity",
            Self::CoreMemory => "/core-memory",
            Self::Chat => "/chat",
            Self::Import => "/import",
            Self::Background => "/background",
            Self::Programs => "/programs",
        }
    }

    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Search => "Search",
            Self::Conversations => "Conversations",
            Self::Documents => "Documents",
            Self::Facts => "Changed facts",
            Self::Activity => "Activity",
            Self::CoreMemory => "Core memory",
            Self::Chat => "Chat",
            Self::Import => "Import",
            Self::Background => "Background",
            Self::Programs => "Programs",
        }
    }

    /// Returns the right that the page needs.
    pub(super) const fn right(self) -> Right {
        match self {
            Self::Search | Self::Conversations | Self::Documents | Self::Facts => Right::Read,
            Self::Activity
            | Self::CoreMemory
            | Self::Chat
            | Self::Import
            | Self::Background
            | Self::Programs => Right::Admin,
        }
    }
}
