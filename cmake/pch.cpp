// The precompiled header needs one object of its own.
