"""Writers of what is handed on: evidence packs, replay cases, transcripts; one module a format.

Invariant: they see the read model only: values that operations read are handed in. Nothing here parses a rollout by
itself or looks around in a workspace.
"""
