"""Streamed text in memory: taken back when refused, given back when writing failed, never lost and never twice."""

from __future__ import annotations

from lockstitch.timeline.segments import Segments


def words(segments: Segments) -> list[tuple[str, str]]:
    return [(segment.item_id, segment.text) for segment in segments.open()]


def test_a_refused_delta_is_taken_back_and_leaves_no_empty_segment() -> None:
    segments = Segments()
    segments.add("message.delta", "t", "a", "kept", "at")
    mine, before = segments.add("message.delta", "t", "A", "x", "at")
    other, _ = segments.add("message.delta", "t", "b", "y", "at")
    assert before == 4
    mine.take_back("x")
    other.take_back("y")
    segments.drop_empty()
    assert words(segments) == [("a", "kept")]
    assert segments.open()[0].size == 4


def test_what_could_not_be_written_comes_before_what_came_later() -> None:
    segments = Segments()
    segments.add("message.delta", "t", "a", "one ", "at")
    taken = segments.take_all()
    segments.add("message.delta", "t", "b", "other", "at")
    segments.add("message.delta", "t", "a", "two", "at")
    segments.give_back(taken)
    assert words(segments) == [("a", "one two"), ("b", "other")]
    assert segments.open()[0].event_id == taken[0].event_id
    assert segments.texts_of("A") == ["one two"]


def test_two_streams_of_one_item_do_not_mix() -> None:
    segments = Segments()
    segments.add("reasoning.delta", "t", "a", "r", "at")
    segments.add("message.delta", "t", "a", "m", "at")
    assert words(segments) == [("a", "r"), ("a", "m")]
