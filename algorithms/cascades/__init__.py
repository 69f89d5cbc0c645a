"""What cascades share: any fitted additive model, and a walk that rows may leave early."""
