"""The projection's tables, indexes and migrations.

Invariant: the columns stand in the order of the structs in rows.py (a test compares them). An
incompatible change raises data_root.TIMELINE_VERSION; an addition is a migration of its own.
"""

from __future__ import annotations

import sys

from lockstitch.data_root import TIMELINE_VERSION

APPLICATION_ID = 0x4C53_5448
"""`PRAGMA application_id`: the letters LSTH. A file without it is not ours and is rebuilt beside."""

TABLES = """
CREATE TABLE thread(
  thread_no INTEGER PRIMARY KEY, thread_id TEXT NOT NULL COLLATE NOCASE UNIQUE, path TEXT NOT NULL,
  archived INTEGER NOT NULL, format INTEGER NOT NULL, size INTEGER NOT NULL, last_sum TEXT NOT NULL,
  last_sequence INTEGER NOT NULL, last_at TEXT NOT NULL,
  created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, recency_at INTEGER NOT NULL, archived_at INTEGER,
  preview TEXT NOT NULL, preview_turn INTEGER, name TEXT,
  cwd TEXT NOT NULL, workspace_key TEXT, linked INTEGER NOT NULL,
  model TEXT NOT NULL, provider TEXT NOT NULL, source TEXT NOT NULL, thread_source TEXT, cli_version TEXT NOT NULL,
  git_sha TEXT, git_branch TEXT, git_origin TEXT, extra_at INTEGER, extra_length INTEGER,
  started_length INTEGER NOT NULL,
  forked_from TEXT, fork_root TEXT, parent_thread TEXT COLLATE NOCASE,
  turn_count INTEGER NOT NULL, last_turn_no INTEGER NOT NULL, open_turn_no INTEGER, messages INTEGER NOT NULL,
  items INTEGER NOT NULL, checkpoints INTEGER NOT NULL, last_checkpoint INTEGER, pending TEXT NOT NULL,
  usage_input INTEGER NOT NULL, usage_cached INTEGER NOT NULL, usage_output INTEGER NOT NULL,
  usage_reasoning INTEGER NOT NULL, usage_cost REAL, usage_reported INTEGER NOT NULL,
  damage TEXT, partial INTEGER NOT NULL) STRICT;
CREATE INDEX thread_created ON thread(archived, created_at, thread_id);
CREATE INDEX thread_updated ON thread(archived, updated_at, created_at, thread_id);
CREATE INDEX thread_recency ON thread(archived, recency_at, created_at, thread_id);
CREATE INDEX thread_workspace ON thread(archived, workspace_key, created_at, thread_id);
CREATE INDEX thread_parent ON thread(parent_thread) WHERE parent_thread IS NOT NULL;
CREATE INDEX thread_open ON thread(thread_no) WHERE open_turn_no IS NOT NULL;

CREATE TABLE turn(
  thread_no INTEGER NOT NULL, turn_no INTEGER NOT NULL, turn_id TEXT NOT NULL COLLATE NOCASE,
  status INTEGER NOT NULL, hidden INTEGER NOT NULL, first_sequence INTEGER NOT NULL, last_sequence INTEGER NOT NULL,
  started_at INTEGER NOT NULL, completed_at INTEGER, boot_id TEXT,
  model_at INTEGER, route_at INTEGER, authority_at INTEGER, end_at INTEGER,
  items INTEGER NOT NULL, messages INTEGER NOT NULL,
  usage_input INTEGER NOT NULL, usage_cached INTEGER NOT NULL, usage_output INTEGER NOT NULL,
  usage_reasoning INTEGER NOT NULL, usage_cost REAL, usage_reported INTEGER NOT NULL,
  PRIMARY KEY(thread_no, turn_no)) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX turn_id ON turn(thread_no, turn_id);

CREATE TABLE item(
  thread_no INTEGER NOT NULL, turn_no INTEGER NOT NULL, sequence INTEGER NOT NULL,
  item_id TEXT NOT NULL COLLATE NOCASE, kind INTEGER NOT NULL, status INTEGER NOT NULL, outside INTEGER NOT NULL,
  line_at INTEGER NOT NULL, line_length INTEGER NOT NULL, item_at INTEGER NOT NULL, item_length INTEGER NOT NULL,
  parts BLOB, spilled INTEGER,
  PRIMARY KEY(thread_no, turn_no, sequence)) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX item_id ON item(thread_no, item_id);
CREATE INDEX item_spilled ON item(thread_no, spilled) WHERE spilled IS NOT NULL;

CREATE TABLE file_checkpoint(
  thread_no INTEGER NOT NULL, sequence INTEGER NOT NULL, turn_no INTEGER NOT NULL,
  checkpoint_id TEXT NOT NULL COLLATE NOCASE, path TEXT NOT NULL, version_no INTEGER,
  op TEXT NOT NULL, source TEXT NOT NULL, line_at INTEGER NOT NULL, line_length INTEGER NOT NULL,
  before_sha TEXT, after_sha TEXT, absent INTEGER NOT NULL, confirmed INTEGER NOT NULL,
  PRIMARY KEY(thread_no, sequence)) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX file_checkpoint_id ON file_checkpoint(thread_no, checkpoint_id);
CREATE INDEX file_checkpoint_path ON file_checkpoint(thread_no, path, sequence);

CREATE TABLE event_mark(
  thread_no INTEGER NOT NULL, sequence INTEGER NOT NULL, line_at INTEGER NOT NULL,
  PRIMARY KEY(thread_no, sequence)) STRICT, WITHOUT ROWID;

CREATE TABLE client_event(
  thread_no INTEGER NOT NULL, event_id TEXT NOT NULL COLLATE NOCASE, sequence INTEGER NOT NULL,
  line_at INTEGER NOT NULL, line_length INTEGER NOT NULL, digest BLOB NOT NULL,
  PRIMARY KEY(thread_no, event_id)) STRICT, WITHOUT ROWID;

CREATE TABLE import_source(
  thread_no INTEGER NOT NULL, client TEXT NOT NULL, source_thread_id TEXT NOT NULL, read_bytes INTEGER NOT NULL,
  line_at INTEGER NOT NULL, line_length INTEGER NOT NULL,
  PRIMARY KEY(thread_no)) STRICT, WITHOUT ROWID;
CREATE INDEX import_source_thread ON import_source(client, source_thread_id);

CREATE TABLE worker(
  thread_no INTEGER NOT NULL, worker_id TEXT NOT NULL COLLATE NOCASE, turn_no INTEGER, kind TEXT NOT NULL,
  status INTEGER NOT NULL, attempt INTEGER NOT NULL, max_attempts INTEGER NOT NULL,
  lease_ms INTEGER NOT NULL, lease_until INTEGER NOT NULL, boot_id TEXT,
  started_at INTEGER NOT NULL, finished_at INTEGER,
  PRIMARY KEY(thread_no, worker_id)) STRICT, WITHOUT ROWID;
CREATE INDEX worker_active ON worker(thread_no) WHERE status=0;

CREATE TABLE spilled_output(
  thread_no INTEGER NOT NULL, sha256 TEXT NOT NULL, sequence INTEGER NOT NULL,
  PRIMARY KEY(thread_no, sha256)) STRICT, WITHOUT ROWID;
CREATE INDEX spilled_output_sha256 ON spilled_output(sha256);
"""

_UNREAD = """CREATE TABLE IF NOT EXISTS unread(
  thread_no INTEGER PRIMARY KEY, thread_id TEXT NOT NULL COLLATE NOCASE UNIQUE, path TEXT NOT NULL,
  archived INTEGER NOT NULL, size INTEGER NOT NULL, created_at INTEGER, updated_at INTEGER) STRICT;
"""

MIGRATIONS: tuple[str, ...] = ("ALTER TABLE thread ADD COLUMN stamp INTEGER NOT NULL DEFAULT 0;\n", _UNREAD)
"""Additions within TIMELINE_VERSION, in order; `PRAGMA user_version` counts those that are done."""


WHOLE = TABLES + "".join(MIGRATIONS)
"""What a new projection is made with."""


def script() -> str:
    """The whole schema as one SQL script: schemas/timeline.sql."""
    head = (
        f"-- timeline-v{TIMELINE_VERSION}.sqlite. Generated by `python -m lockstitch.timeline.schema`; do not edit.\n"
        f"PRAGMA application_id={APPLICATION_ID};\nPRAGMA user_version={len(MIGRATIONS)};\n"
    )
    return head + WHOLE


if __name__ == "__main__":
    sys.stdout.write(script())
