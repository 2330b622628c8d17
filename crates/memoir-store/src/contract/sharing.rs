//! Checks for what a program that works for one project may see.

use std::sync::Arc;

use memoir_core::{ConversationId, DocumentKind};

use super::{
    documents::{document, embed_chunks, lines, search},
    exchange, new_conversation, timestamp,
};
use crate::{ChunkSearch, ConversationList, DocumentFilter, NewDocument, Store};

pub async fn programs_see_their_project_and_what_is_shared(store: Arc<dyn Store>) {
    let mut ids = Vec::new();
    for scope in ["/a", "/b", "/c"] {
        let target = new_conversation(scope, scope);
        ids.push(store.commit_exchange(&target, &exchange("q", "a", 1)).await.unwrap().conversation_id);
    }
    let visible = async |project: &str| -> Vec<String> {
        let list =
            ConversationList { visible_to: Some(project.into()), limit: 10, ..ConversationList::default() };
        let conversations = store.conversations(&list).await.unwrap();
        assert!(conversations.iter().all(|conversation| conversation.is_visible_to(project)));
        let mut titles: Vec<String> =
            conversations.into_iter().map(|conversation| conversation.title).collect();
        titles.sort();
        titles
    };
    assert_eq!(visible("/a").await, ["/a"]);
    assert!(store.set_shared(ids[1], true).await.unwrap());
    assert_eq!(visible("/a").await, ["/a", "/b"]);
    assert_eq!(visible("").await, ["/b"]);
    assert!(store.set_shared(ids[1], false).await.unwrap());
    assert_eq!(visible("/a").await, ["/a"]);
    assert!(!store.set_shared(ConversationId::new(99), true).await.unwrap());
}

pub async fn documents_are_visible_in_their_project_or_if_shared(store: Arc<dyn Store>) {
    let here = store.commit_exchange(&new_conversation("here", "/p"), &exchange("a", "b", 1)).await.unwrap();
    let there =
        store.commit_exchange(&new_conversation("there", "/q"), &exchange("a", "b", 1)).await.unwrap();
    let post = |slug: &str, written_from: Vec<ConversationId>| NewDocument {
        kind: DocumentKind::Post,
        written_from,
        ..document(&format!("/p/{slug}.md"), slug, "the same words")
    };
    for new in [
        document("/p/notes.md", "inside", "the same words"),
        document("/pp/notes.md", "sibling", "the same words"),
        document("/p/nested/notes.md", "nested", "the same words"),
        document("/elsewhere.md", "outside", "the same words"),
        post("own-post", vec![here.conversation_id]),
        post("mixed-post", vec![here.conversation_id, there.conversation_id]),
    ] {
        store.put_document(&new, &lines, timestamp(1)).await.unwrap();
        embed_chunks(store.as_ref(), &new.slug, &[[1.0, 0.0]]).await;
    }
    for (slug, project) in [("inside", "/p"), ("sibling", "/pp"), ("nested", "/p/nested")] {
        let id = store.document(slug).await.unwrap().unwrap().id;
        store.set_document_project(id, project).await.unwrap();
    }
    let filter = DocumentFilter { visible_to: Some("/p".into()), ..DocumentFilter::default() };
    let visible = async || -> Vec<String> {
        let mut slugs = Vec::new();
        for document in store.documents().await.unwrap() {
            if store.is_document_visible(document.id, "/p").await.unwrap() {
                slugs.push(document.slug);
            }
        }
        slugs.sort();
        let by_meaning =
            store.nearest_chunks(&ChunkSearch { filter: &filter, ..search(&[1.0, 0.0], 9) }).await.unwrap();
        assert_eq!(by_meaning.len(), slugs.len());
        let (by_word, _) = store.chunks_with_words(&["same".into()], &filter).await.unwrap();
        assert_eq!(by_word[0].as_ref().map(Vec::len), Some(slugs.len()));
        slugs
    };
    assert_eq!(visible().await, ["inside", "own-post"]);
    let outside = store.document("outside").await.unwrap().unwrap();
    assert!(store.set_document_shared(outside.id, true).await.unwrap());
    assert_eq!(visible().await, ["inside", "outside", "own-post"]);
    let inside = store.document("inside").await.unwrap().unwrap();
    assert_eq!(inside.project.as_deref(), Some("/p"));
    let changed = document("/elsewhere.md", "outside", "changed, but the same words");
    store.put_document(&changed, &lines, timestamp(2)).await.unwrap();
    embed_chunks(store.as_ref(), "outside", &[[1.0, 0.0]]).await;
    assert_eq!(visible().await, ["inside", "outside", "own-post"], "a changed document stays shared");
    store.set_shared(there.conversation_id, true).await.unwrap();
    assert_eq!(visible().await, ["inside", "mixed-post", "outside", "own-post"]);
}
