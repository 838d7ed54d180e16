"""The wire: descriptors, framing, the session of a connection, dispatch. Knows JSON-RPC, not threads or turns."""
