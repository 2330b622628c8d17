//! What Memoir tells servers about itself, and how it answers their requests.

use std::{path::PathBuf, sync::Arc};

#[expect(deprecated, reason = "servers of the older revisions ask for roots")]
use rmcp::model::{ListRootsResult, Root, RootsCapabilities};
use rmcp::{
    ClientHandler, RoleClient,
    model::{
        ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
        ElicitationCapability, ErrorData, FormElicitationCapability, Implementation,
        ProgressNotificationParam, ProtocolVersion,
    },
    service::{NotificationContext, RequestContext},
};
use tokio::sync::Notify;

use crate::{
    progress::Progress,
    question::{Questions, ServerQuestion, read_fields},
};

/// The client's side of a connection.
#[derive(Clone)]
pub(crate) struct Client {
    /// The project, which servers of the older revisions ask for.
    pub(crate) workspace: PathBuf,
    /// Name of the server.
    pub(crate) server: String,
    /// Asks the user what the server wants to know.
    pub(crate) questions: Questions,
    /// Notified when the server's tools, prompts or resources have changed.
    pub(crate) changed: Arc<Notify>,
    pub(crate) progress: Progress,
}

#[expect(deprecated, reason = "servers of the older revisions ask for roots")]
impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.roots = Some(RootsCapabilities::default());
        let mut elicitation = ElicitationCapability::new();
        elicitation.form = Some(FormElicitationCapability::default());
        capabilities.elicitation = Some(elicitation);
        let program = Implementation::new("memoir", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(capabilities, program)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        let root = reqwest::Url::from_directory_path(&self.workspace).ok();
        Ok(ListRootsResult::new(root.into_iter().map(Root::new).collect()))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } = request else {
            return Ok(ElicitResult::new(ElicitationAction::Decline));
        };
        let schema = serde_json::to_value(&requested_schema).unwrap_or_default();
        let question = ServerQuestion { server: self.server.clone(), message, fields: read_fields(&schema) };
        Ok(match self.questions.ask(&question).await {
            Some(answer) => ElicitResult::new(ElicitationAction::Accept).with_content(answer.into()),
            None => ElicitResult::new(ElicitationAction::Decline),
        })
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }

    async fn on_progress(&self, report: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.progress.report(&report);
    }
}
