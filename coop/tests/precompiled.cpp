// The precompiled headers belong to a target, and each target has a source.
