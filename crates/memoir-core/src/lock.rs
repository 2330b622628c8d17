//! Locking a mutex whose data stays valid when a holder panics.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks `mutex` even if a previous holder panicked.
///
/// Use it only where a panic under the lock cannot leave the data half changed.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_poisoned_mutex_can_still_be_locked() {
        let mutex = Mutex::new(1);
        let panicked = std::thread::scope(|scope| {
            let holder = scope.spawn(|| {
                let _guard = lock(&mutex);
                panic!("while holding the lock");
            });
            holder.join().is_err()
        });
        assert!(panicked && mutex.is_poisoned());
        *lock(&mutex) += 1;
        assert_eq!(*lock(&mutex), 2);
    }
}
