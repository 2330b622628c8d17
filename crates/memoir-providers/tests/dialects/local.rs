//! Tests of local server detection.

use memoir_models::Provider;
use memoir_providers::{LocalSearch, LocalServer, find_local_server};
use memoir_testkit::ScriptedProvider;

use crate::name;

#[tokio::test]
async fn the_first_server_with_a_model_is_chosen() {
    let provider = ScriptedProvider::start([]);
    let closed_port =
        format!("http://{}", std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap());
    let (ollama, compatible) = (Provider::Ollama, Provider::OpenAiCompatible);

    let server =
        find_local_server(&[(ollama, closed_port.clone()), (compatible, provider.base_url())], None).await;
    let found = |model: &str, base_url| LocalSearch::Found(LocalServer { model: name(model), base_url });
    let expected = found("openai-compatible/test-model", provider.base_url());
    assert_eq!(server, expected, "embedding models are skipped");

    let both = [(ollama, provider.root_url()), (compatible, provider.base_url())];
    assert_eq!(find_local_server(&both, None).await, found("ollama/test-model", provider.root_url()));
    assert_eq!(find_local_server(&[(ollama, closed_port)], None).await, LocalSearch::NotFound);
    assert_eq!(find_local_server(&both, Some("another-model")).await, LocalSearch::NotFound);
}

#[tokio::test]
async fn the_context_size_is_asked_of_the_server_until_it_is_known() {
    let provider = ScriptedProvider::start([]);
    for (each, expected) in
        [("openai-compatible/small-model", Some(2048)), ("openai-compatible/test-model", None)]
    {
        let model = crate::model(each, &provider);
        let before = provider.other_requests().len();
        assert_eq!(model.limits().await.context, expected, "{each}");
        let after = provider.other_requests().len();
        model.limits().await;
        let is_asked_again = provider.other_requests().len() > after;
        assert_eq!((after > before, is_asked_again), (true, expected.is_none()), "{each}");
    }
}

#[tokio::test]
async fn a_server_that_never_answers_is_skipped() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    assert_eq!(find_local_server(&[(Provider::Ollama, url)], None).await, LocalSearch::NotFound);
}
