//! SQL for scheduled tasks and their runs.

use async_trait::async_trait;
use memoir_core::{NewTask, Run, RunId, RunOutcome, RunState, Schedule, Task, TaskId, Timestamp, Usd};
use memoir_store::{NewRun, Result, RunningRun, Schedules};
use sqlx::{AssertSqlSafe, Row as _, sqlite::SqliteRow};

use super::{
    SqliteStore,
    error::SqlResultExt as _,
    rows::{to_json_list, to_signed},
};

const RUNS: &str = "SELECT runs.*, tasks.name AS task FROM runs JOIN tasks ON tasks.id = task_id";

#[async_trait]
impl Schedules for SqliteStore {
    async fn add_task(&self, new: &NewTask, next_due: Option<Timestamp>, now: Timestamp) -> Result<bool> {
        let (cron, zone, once) = match &new.schedule {
            Schedule::Cron { line, zone } => (Some(line), Some(zone), None),
            Schedule::Once(moment) => (None, None, Some(moment.as_millis())),
        };
        let result = sqlx::query(
            "INSERT INTO tasks (name, prompt, cron, zone, once, model, scope, approval, allow, timeout_seconds, history,
                                budget, next_due, created)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING",
        )
        .bind(&new.name)
        .bind(&new.prompt)
        .bind(cron)
        .bind(zone)
        .bind(once)
        .bind(&new.model)
        .bind(&new.scope)
        .bind(&new.approval)
        .bind(serde_json::Value::from(new.allow.clone()).to_string())
        .bind(to_signed(new.timeout_seconds))
        .bind(new.history)
        .bind(new.budget.map(Usd::as_nanos))
        .bind(next_due.map(Timestamp::as_millis))
        .bind(now.as_millis())
        .execute(self.writer().await?)
        .await
        .or_store_error()?;
        Ok(result.rows_affected() == 1)
    }

    async fn tasks(&self) -> Result<Vec<Task>> {
        sqlx::query("SELECT * FROM tasks ORDER BY name")
            .try_map(read_task)
            .fetch_all(&self.readers)
            .await
            .or_store_error()
    }

    async fn task(&self, name: &str) -> Result<Option<Task>> {
        sqlx::query("SELECT * FROM tasks WHERE name = ?")
            .bind(name)
            .try_map(read_task)
            .fetch_optional(&self.readers)
            .await
            .or_store_error()
    }

    async fn set_task_paused(&self, id: TaskId, paused: bool, next_due: Option<Timestamp>) -> Result<()> {
        sqlx::query("UPDATE tasks SET paused = ?, next_due = ? WHERE id = ?")
            .bind(paused)
            .bind(next_due.map(Timestamp::as_millis))
            .bind(id.get())
            .execute(self.writer().await?)
            .await
            .map(drop)
            .or_store_error()
    }

    async fn set_due(&self, id: TaskId, current_due: Timestamp, due: Timestamp) -> Result<()> {
        sqlx::query("UPDATE tasks SET next_due = ? WHERE id = ? AND next_due = ? AND paused = 0")
            .bind(due.as_millis())
            .bind(id.get())
            .bind(current_due.as_millis())
            .execute(self.writer().await?)
            .await
            .map(drop)
            .or_store_error()
    }

    async fn remove_task(&self, id: TaskId) -> Result<bool> {
        let result = sqlx::query("DELETE FROM tasks WHERE id = ?")
            .bind(id.get())
            .execute(self.writer().await?)
            .await
            .or_store_error()?;
        Ok(result.rows_affected() == 1)
    }

    async fn due_tasks(&self, now: Timestamp) -> Result<Vec<Task>> {
        sqlx::query(
            "SELECT * FROM tasks WHERE paused = 0 AND next_due IS NOT NULL AND next_due <= ?
               AND NOT EXISTS (SELECT 1 FROM runs WHERE task_id = tasks.id AND state = 'running')
             ORDER BY next_due, id",
        )
        .bind(now.as_millis())
        .try_map(read_task)
        .fetch_all(&self.readers)
        .await
        .or_store_error()
    }

    async fn next_task_due(&self) -> Result<Option<Timestamp>> {
        let due: Option<i64> = sqlx::query_scalar(
            "SELECT min(next_due) FROM tasks WHERE paused = 0 AND next_due IS NOT NULL
                   AND NOT EXISTS (SELECT 1 FROM runs WHERE task_id = tasks.id AND state = 'running')",
        )
        .fetch_one(&self.readers)
        .await
        .or_store_error()?;
        Ok(due.map(Timestamp::from_millis))
    }

    async fn start_run(&self, new: &NewRun<'_>) -> Result<Option<RunId>> {
        let mut transaction = self.begin_write().await?;
        if let Some(moment) = new.scheduled_for {
            let result = sqlx::query(
                "UPDATE tasks SET next_due = ?1 WHERE id = ?2 AND next_due = ?3 AND paused = 0
                   AND NOT EXISTS (SELECT 1 FROM runs WHERE task_id = ?2 AND state = 'running')",
            )
            .bind(new.next_due.map(Timestamp::as_millis))
            .bind(new.task.get())
            .bind(moment.as_millis())
            .execute(&mut *transaction)
            .await
            .or_store_error()?;
            if result.rows_affected() == 0 {
                return Ok(None);
            }
        }
        let run: Option<i64> = sqlx::query_scalar(
            "INSERT INTO runs (task_id, scheduled_for, started, state, owner, leased_till)
             SELECT id, ?2, ?3, 'running', ?4, ?5 FROM tasks WHERE id = ?1
             ON CONFLICT DO NOTHING RETURNING id",
        )
        .bind(new.task.get())
        .bind(new.scheduled_for.map(Timestamp::as_millis))
        .bind(new.now.as_millis())
        .bind(new.owner)
        .bind(new.until.as_millis())
        .fetch_optional(&mut *transaction)
        .await
        .or_store_error()?;
        // Commit even without a new run: if this scheduled time already had one, the task must still move on.
        transaction.commit().await.or_store_error()?;
        Ok(run.map(RunId::new))
    }

    async fn renew_run(&self, id: RunId, until: Timestamp) -> Result<bool> {
        let result = sqlx::query("UPDATE runs SET leased_till = ? WHERE id = ? AND state = 'running'")
            .bind(until.as_millis())
            .bind(id.get())
            .execute(self.writer().await?)
            .await
            .or_store_error()?;
        Ok(result.rows_affected() == 1)
    }

    async fn end_run(&self, id: RunId, outcome: &RunOutcome, now: Timestamp) -> Result<bool> {
        let mut transaction = self.begin_write().await?;
        if outcome.state == RunState::Stopped {
            sqlx::query(
                "UPDATE tasks SET next_due = (SELECT scheduled_for FROM runs WHERE id = ?1)
                 WHERE id = (SELECT task_id FROM runs
                             WHERE id = ?1 AND state = 'running' AND scheduled_for IS NOT NULL)",
            )
            .bind(id.get())
            .execute(&mut *transaction)
            .await
            .or_store_error()?;
        }
        let result = sqlx::query(
            "UPDATE runs SET state = ?1, report = ?2, error = ?3, cost = ?4, ended = ?5,
                             scheduled_for = iif(?1 = 'stopped', NULL, scheduled_for)
             WHERE id = ?6 AND state = 'running'",
        )
        .bind(outcome.state.as_str())
        .bind(&outcome.report)
        .bind(&outcome.error)
        .bind(outcome.cost.map(Usd::as_nanos))
        .bind(now.as_millis())
        .bind(id.get())
        .execute(&mut *transaction)
        .await
        .or_store_error()?;
        transaction.commit().await.or_store_error()?;
        Ok(result.rows_affected() == 1)
    }

    async fn running_runs(&self) -> Result<Vec<RunningRun>> {
        sqlx::query("SELECT id, owner, leased_till FROM runs WHERE state = 'running' ORDER BY id")
            .try_map(|row: SqliteRow| {
                Ok(RunningRun {
                    id: RunId::new(row.try_get("id")?),
                    owner: row.try_get("owner")?,
                    until: Timestamp::from_millis(row.try_get("leased_till")?),
                })
            })
            .fetch_all(&self.readers)
            .await
            .or_store_error()
    }

    async fn runs(&self, task: Option<TaskId>, limit: u32) -> Result<Vec<Run>> {
        sqlx::query(AssertSqlSafe(format!(
            "{RUNS} WHERE ?1 IS NULL OR task_id = ?1 ORDER BY runs.id DESC LIMIT ?2"
        )))
        .bind(task.map(TaskId::get))
        .bind(limit)
        .try_map(read_run)
        .fetch_all(&self.readers)
        .await
        .or_store_error()
    }

    async fn unread_runs(&self) -> Result<Vec<Run>> {
        sqlx::query(AssertSqlSafe(format!("{RUNS} WHERE seen = 0 AND state <> 'running' ORDER BY runs.id")))
            .try_map(read_run)
            .fetch_all(&self.readers)
            .await
            .or_store_error()
    }

    async fn count_unread_runs(&self) -> Result<(u64, Option<RunId>)> {
        let (count, last): (i64, Option<i64>) =
            sqlx::query_as("SELECT count(*), max(id) FROM runs WHERE seen = 0 AND state <> 'running'")
                .fetch_one(&self.readers)
                .await
                .or_store_error()?;
        Ok((u64::try_from(count).unwrap_or(0), last.map(RunId::new)))
    }

    async fn mark_read(&self, runs: &[RunId]) -> Result<()> {
        sqlx::query("UPDATE runs SET seen = 1 WHERE id IN (SELECT value FROM json_each(?))")
            .bind(to_json_list(runs.iter().map(|id| id.get())))
            .execute(self.writer().await?)
            .await
            .map(drop)
            .or_store_error()
    }
}

fn read_task(row: SqliteRow) -> Result<Task, sqlx::Error> {
    let schedule = match row.try_get::<Option<i64>, _>("once")? {
        Some(moment) => Schedule::Once(Timestamp::from_millis(moment)),
        None => Schedule::Cron { line: row.try_get("cron")?, zone: row.try_get("zone")? },
    };
    Ok(Task {
        id: TaskId::new(row.try_get("id")?),
        definition: NewTask {
            name: row.try_get("name")?,
            prompt: row.try_get("prompt")?,
            schedule,
            model: row.try_get("model")?,
            scope: row.try_get("scope")?,
            approval: row.try_get("approval")?,
            allow: serde_json::from_str(row.try_get("allow")?)
                .map_err(|error| sqlx::Error::Decode(Box::new(error)))?,
            timeout_seconds: row.try_get("timeout_seconds")?,
            history: row.try_get("history")?,
            budget: row.try_get::<Option<i64>, _>("budget")?.map(Usd::from_nanos),
        },
        paused: row.try_get("paused")?,
        next_due: row.try_get::<Option<i64>, _>("next_due")?.map(Timestamp::from_millis),
    })
}

fn read_run(row: SqliteRow) -> Result<Run, sqlx::Error> {
    let state: &str = row.try_get("state")?;
    Ok(Run {
        id: RunId::new(row.try_get("id")?),
        task_id: TaskId::new(row.try_get("task_id")?),
        task: row.try_get("task")?,
        scheduled_for: row.try_get::<Option<i64>, _>("scheduled_for")?.map(Timestamp::from_millis),
        started: Timestamp::from_millis(row.try_get("started")?),
        ended: row.try_get::<Option<i64>, _>("ended")?.map(Timestamp::from_millis),
        outcome: RunOutcome {
            state: RunState::parse(state).unwrap_or(RunState::Failed),
            report: row.try_get("report")?,
            error: row.try_get("error")?,
            cost: row.try_get::<Option<i64>, _>("cost")?.map(Usd::from_nanos),
        },
        is_read: row.try_get("seen")?,
    })
}
