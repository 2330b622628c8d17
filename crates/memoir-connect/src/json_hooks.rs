//! Writes hooks into a JSON file, next to those of the user.

use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject};

use crate::{
    content::Prune,
    error::EditError,
    json_config::{append_object, prune_if_empty},
    jsonc::{array_at, object_at, string_property},
};

/// The key of the object that has an array of hooks for each event.
pub(crate) const HOOKS_KEY: &str = "hooks";

/// The hooks of a host.
#[derive(Debug, Clone)]
pub(crate) struct Hooks {
    pub(crate) shape: HookShape,
    /// A part of the command that only Memoir's hooks contain.
    pub(crate) marker: String,
    pub(crate) items: Vec<Hook>,
}

/// How an event's array contains its hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HookShape {
    /// The array contains groups, each with a `hooks` array of its own.
    Grouped,
    /// Like `Grouped`, and each hook has a name.
    GroupedWithNames,
    /// The array contains the hooks.
    Flat,
}

/// A hook.
#[derive(Debug, Clone)]
pub(crate) struct Hook {
    /// The host's name of the event.
    pub(crate) event: &'static str,
    pub(crate) command: String,
    /// Maximum running time in the host's unit.
    pub(crate) timeout: u32,
}

impl Hooks {
    /// Returns the element that is appended to the event's array.
    fn element(&self, hook: &Hook) -> CstInputValue {
        let text = |text: &str| CstInputValue::from(text);
        let mut fields = Vec::new();
        if self.shape != HookShape::Flat {
            fields.push(("type".to_owned(), text("command")));
        }
        if self.shape == HookShape::GroupedWithNames {
            fields.push(("name".to_owned(), text("memoir")));
        }
        fields.push(("command".to_owned(), text(&hook.command)));
        fields.push(("timeout".to_owned(), CstInputValue::from(hook.timeout)));
        let handler = CstInputValue::Object(fields);
        match self.shape {
            HookShape::Flat => handler,
            HookShape::Grouped | HookShape::GroupedWithNames => {
                let group = vec![(HOOKS_KEY.to_owned(), CstInputValue::Array(vec![handler]))];
                CstInputValue::Object(group)
            }
        }
    }

    /// Returns Memoir's hooks in an event's array.
    fn own_handlers(&self, array: &CstArray) -> Vec<CstObject> {
        let objects = |array: &CstArray| -> Vec<CstObject> {
            array.elements().iter().filter_map(CstNode::as_object).collect()
        };
        let handlers = match self.shape {
            HookShape::Flat => objects(array),
            HookShape::Grouped | HookShape::GroupedWithNames => objects(array)
                .iter()
                .filter_map(|group| group.array_value(HOOKS_KEY))
                .flat_map(|handlers| objects(&handlers))
                .collect(),
        };
        let is_own = |handler: &CstObject| {
            string_property(handler, "command").is_some_and(|command| command.contains(&self.marker))
        };
        handlers.into_iter().filter(is_own).collect()
    }
}

/// Appends the hooks to the arrays of their events. Existing ones of Memoir get the new command.
pub(crate) fn insert(hooks: &Hooks, root: &CstObject) -> Result<(), EditError> {
    let events = match object_at(root, &[HOOKS_KEY])? {
        Some(events) => events,
        None => append_object(root, HOOKS_KEY)?,
    };
    for hook in &hooks.items {
        let array = match array_at(root, &[HOOKS_KEY, hook.event])? {
            Some(array) => array,
            None => events
                .append(hook.event, CstInputValue::Array(Vec::new()))
                .array_value()
                .ok_or(EditError::Layout)?,
        };
        let mut own = hooks.own_handlers(&array).into_iter();
        let Some(first) = own.next() else {
            if !array.elements().is_empty() {
                array.ensure_multiline();
            }
            array.append(hooks.element(hook));
            continue;
        };
        if string_property(&first, "command").as_deref() != Some(&hook.command)
            && let Some(command) = first.get("command")
        {
            command.set_value(CstInputValue::from(hook.command.as_str()));
        }
        // More than one would run Memoir twice.
        own.for_each(remove_handler);
    }
    Ok(())
}

/// Removes Memoir's hooks from all events. Returns whether there were any.
pub(crate) fn remove(hooks: &Hooks, root: &CstObject, prune: Prune<'_>) -> Result<bool, EditError> {
    let Some(events) = object_at(root, &[HOOKS_KEY])? else { return Ok(false) };
    let mut is_changed = false;
    for event in events.properties() {
        let Some((name, array)) = event.decoded_name().zip(event.array_value()) else { continue };
        let own = hooks.own_handlers(&array);
        if !own.is_empty() {
            is_changed = true;
            own.into_iter().for_each(remove_handler);
            prune_if_empty(root, &[HOOKS_KEY, &name], prune)?;
        }
    }
    if is_changed {
        prune_if_empty(root, &[HOOKS_KEY], prune)?;
    }
    Ok(is_changed)
}

/// Removes a hook, and its group if that has no other hooks.
fn remove_handler(handler: CstObject) {
    let group = handler
        .parent()
        .and_then(|array| array.as_array())
        .filter(|array| array.elements().len() == 1)
        .and_then(|array| array.parent())
        .and_then(|property| property.as_object_prop())
        .and_then(|property| property.parent())
        .and_then(|group| group.as_object())
        // The parent of a flat array is the object of all events.
        .filter(|group| group.parent().is_some_and(|parent| parent.is_array()));
    group.unwrap_or(handler).remove();
}
