//! Being asked to stop from outside.

/// Waits for Ctrl-C, or for the SIGTERM with which a system ends programs. False if neither can be
/// waited for.
pub(super) async fn interrupted() -> bool {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminated) = signal(SignalKind::terminate()) {
            return tokio::select! {
                pressed = tokio::signal::ctrl_c() => pressed.is_ok(),
                sent = terminated.recv() => sent.is_some(),
            };
        }
    }
    tokio::signal::ctrl_c().await.is_ok()
}
