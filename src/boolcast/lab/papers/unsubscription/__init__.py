"""unsubscription."""
