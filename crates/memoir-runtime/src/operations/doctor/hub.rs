//! Checks the memory of another machine, and what waits for one.

use super::DoctorReport;
use crate::{
    environment::Environment,
    failure::Failure,
    home::Home,
    hub::{Hub, HubAddress, Waiting},
};

const NAME: &str = "hub";

pub(super) async fn check(home: &Home, environment: &Environment, report: &mut DoctorReport) {
    if let Some(url) = environment.hub_url() {
        match try_hub(url, home, environment).await {
            Ok(()) => report.add_good(NAME, format!("{url} is reachable and accepts the token")),
            Err(failure) => report.add_failure(NAME, &failure),
        }
    }
    match Waiting::count(home) {
        Ok(Waiting { requests: 0, refused: 0 }) => {}
        Ok(Waiting { requests, refused: 0 }) => report.add_note(
            NAME,
            format!("entries that wait to be sent to another machine: {requests}"),
            "They are sent by the next session that uses it, as `MEMOIR_URL` or with `memoir mcp serve --url`.",
        ),
        Ok(Waiting { refused, .. }) => report.add_note(
            NAME,
            format!("entries that another machine refused: {refused}"),
            format!("Read and delete the files in {}.", home.hub_queues().join("*/refused").display()),
        ),
        Err(failure) => report.add_failure(NAME, &failure),
    }
}

async fn try_hub(url: &str, home: &Home, environment: &Environment) -> Result<(), Failure> {
    let address = HubAddress::with_token_of(environment, url, None)?;
    match (Hub::new(address, home)?).check(None).await {
        // The token covers several projects, so it is valid.
        Err(crate::hub::HubError::Refused(_)) => Ok(()),
        result => Ok(result?),
    }
}
