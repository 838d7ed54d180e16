"""The wire: file descriptors, framing, the session of the connection, dispatch. Knows JSON-RPC, not threads or turns."""
