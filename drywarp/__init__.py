"""drywarp: the simulator as a command, for programs anywhere (docs/drywarp.md)."""

VERSION = "1.0.0"
