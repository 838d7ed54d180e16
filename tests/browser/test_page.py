"""The exported page in a browser: it opens, filters, searches, prints, and asks nobody for anything."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from tests.browser.driver import CHROMIUM, DRIVER, Browser, browser
from tests.wire.host import Host
from tests.wire.test_exports import lively
from tests.wire.test_exports_page import hostile

pytestmark = pytest.mark.skipif(
    not (CHROMIUM and DRIVER), reason="no chromium and chromedriver on the path (Debian: chromium chromium-driver)"
)


@pytest.fixture(scope="module")
def window() -> Iterator[Browser]:
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("browser").resolve()


@pytest.fixture(scope="module")
def host(place: Path) -> Iterator[Host]:
    with Host(place / "root") as found:
        yield found


def exported(host: Host, thread: str, place: Path) -> Path:
    page = place / f"{thread}.html"
    host.call("thread/export", threadId=thread, format="html", path=str(page))
    return page


@pytest.fixture(scope="module")
def page(host: Host, place: Path) -> Path:
    workspace = place / "workspace"
    workspace.mkdir()
    thread = lively(host, workspace)
    turn = host.read(thread, turns=True)["turns"][-1]["id"]
    old, new = ("".join(f"line {n}{end if n % 9 == 0 else ''}\n" for n in range(30)) for end in ("", " changed"))
    host.append(
        thread,
        turn,
        ("artifact.snapshot", {"path": "src/long.py", "content": new, "previousContent": old}),
        ("item.completed", {"item": {"type": "agentMessage", "id": "w", "text": "The word is zaffre, in `code`."}}),
        ("turn.completed", {}),
    )
    hostile(host, thread)
    return exported(host, thread, place)


def quiet(window: Browser, page: Path) -> None:
    """No complaint, and no request but for the page itself and the pictures that it holds."""
    assert window.complaints() == []
    asked = [url for url in window.requests() if not url.startswith("data:image/")]
    assert {url.partition("#")[0] for url in asked} <= {page.as_uri()}


def test_items_open_and_differences_are_drawn_both_ways(window: Browser, page: Path) -> None:
    window.media(1280)
    window.open(page)
    opened = (
        "const d = [...document.querySelectorAll('.item.change details')].find(d => /long.py/.test(d.textContent));"
    )
    window.run(f"{opened} d.querySelector('summary').click();")
    drawn = window.run(
        f"{opened} return [d.open, d.querySelectorAll('td.a').length, d.querySelectorAll('td.r').length];"
    )
    assert drawn == [True, 4, 4]
    assert window.run(f"{opened} return d.querySelector('td.a mark').textContent;") == " changed"
    window.run("document.querySelector('#split').click();")
    columns = window.run(f"{opened} return [...d.querySelectorAll('tr')].map(r => r.cells.length);")
    assert set(columns) == {1, 4}
    rows = f"{opened} return [...d.querySelectorAll('tr')].map(r => [...r.cells].map(c => c.textContent));"
    assert ["1", "line 0", "1", "line 0 changed"] in window.run(rows)
    assert window.run("return document.querySelector('#split').getAttribute('aria-pressed');") == "true"
    listed = "const f = document.querySelector('#file-3'); f.querySelector('summary').click();"
    window.run(listed)
    assert window.run("return document.querySelectorAll('#file-3 td.a').length;") == 4, (
        "what changed is shown there too"
    )
    window.run("document.querySelector('#split').click(); document.querySelector('#unfold').click();")
    assert window.run("return [...document.querySelectorAll('main details.row')].every(d => d.open);")
    assert window.run("return document.querySelectorAll('script').length;") == 1
    assert window.run("return window.pwned === undefined && document.title !== 'pwned';")
    quiet(window, page)


def test_files_are_filtered_and_texts_searched(window: Browser, page: Path) -> None:
    window.open(page)
    filtered = """
      const filter = document.querySelector('#filter');
      filter.value = 'LONG'; filter.dispatchEvent(new Event('input'));
      return [...document.querySelectorAll('nav [data-path]')].filter(f => !f.hidden).map(f => f.dataset.path);
    """
    assert window.run(filtered) == ["src/long.py"]
    window.keys("/")
    assert window.run("return document.activeElement.id;") == "find"
    window.keys("zaffre\n")
    told = "return new Promise(done => setTimeout(() => done(document.querySelector('#found').textContent), 400));"
    assert window.run(told).startswith("1 of ")
    seen = "return [...document.querySelectorAll('main .item')].filter(i => !i.hidden).map(i => i.innerText);"
    (only,) = window.run(seen)
    assert "The word is zaffre, in code." in only
    marked = "return [...CSS.highlights.get('found')].map(range => range.toString());"
    assert window.run(marked) == ["zaffre"]
    window.run(
        "const f = document.querySelector('#find'); f.value = 'nowhere at all'; f.dispatchEvent(new Event('input'));"
    )
    window.run(told)
    assert window.run("return document.querySelector('#nothing').checkVisibility();")
    quiet(window, page)


def test_it_fits_a_narrow_window_and_paper_in_both_colours(window: Browser, page: Path) -> None:
    for width in (360, 1280):
        for dark in (False, True):
            window.media(width, dark=dark)
            window.open(page)
            window.run("document.querySelector('#unfold').click();")
            assert window.run("return document.documentElement.scrollWidth;") <= width
            contrast = """
              const of = e => getComputedStyle(e), light = c => {
                const [r, g, b] = c.match(/[\\d.]+/g).map(Number).map(v => v / 255)
                  .map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
                return .2126 * r + .7152 * g + .0722 * b;
              };
              const behind = e => { while (e && /, 0\\)$|transparent/.test(of(e).backgroundColor)) e = e.parentElement;
                return e ? of(e).backgroundColor : 'rgb(255, 255, 255)'; };
              const low = [];
              for (const e of document.querySelectorAll('h1,h2,p,a,dt,dd,code,pre,td,li,span,b,i,button,summary')) {
                if (!e.textContent.trim() || !e.checkVisibility() || e.matches('.vh, .dot')) continue;
                const [a, b] = [light(of(e).color), light(behind(e))].sort((x, y) => y - x);
                const ratio = (a + .05) / (b + .05);
                if (ratio < 4.5) low.push(e.className + ' ' + e.textContent.slice(0, 20) + ' ' + ratio.toFixed(2));
              }
              return low;
            """
            assert window.run(contrast) == []
    assert window.pdf().startswith(b"%PDF-")
    quiet(window, page)


def test_a_reader_that_cannot_see_finds_its_way(window: Browser, page: Path) -> None:
    """Landmarks, one first heading, no step left out, names for everything that can be focused."""
    window.media(1280)
    window.open(page)
    window.run("document.querySelector('#unfold').click();")
    levels = window.run("return [...document.querySelectorAll('h1,h2,h3,h4')].map(h => +h.tagName[1]);")
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert (
        window.run("return document.querySelectorAll('main').length + document.querySelectorAll('header').length;") > 1
    )
    unnamed = """
      return [...document.querySelectorAll('button,input,[tabindex],nav,section,table,img')].filter(e =>
        !e.getAttribute('aria-label') && !e.getAttribute('aria-labelledby') && !e.textContent.trim() &&
        !(e.labels && e.labels.length) && !e.alt).map(e => e.outerHTML.slice(0, 80));
    """
    assert window.run(unnamed) == []
    ids = "const all = [...document.querySelectorAll('[id]')].map(e => e.id); return all.length - new Set(all).size;"
    assert window.run(ids) == 0
    assert window.run("document.querySelector('.skip').focus(); return document.activeElement.className;") == "skip"


def test_ten_thousand_items_are_laid_out_as_they_come_into_view(
    window: Browser, host: Host, place: Path, record_property: pytest.RecordProperty
) -> None:
    thread = host.thread(name="long")
    for number in range(20):
        turn = host.turn(thread, f"step {number}")
        for part in range(5):
            first = number * 500 + part * 100
            items = [
                ("item.completed", {"item": {"type": "agentMessage", "id": f"m{n}", "text": f"said {n} " * 12}})
                if n % 2
                else (
                    "command.exited",
                    {"itemId": f"c{n}", "command": f"run {n}", "exitCode": 0, "aggregatedOutput": "x\n" * 9},
                )
                for n in range(first, first + 100)
            ]
            host.append(thread, turn, *items)
        host.append(thread, turn, ("turn.completed", {}))
    page = exported(host, thread, place)
    window.open(page)
    assert window.run("return document.querySelectorAll('main .item').length;") == 10_020
    skipped = """
      return [...document.querySelectorAll('.item')]
        .filter(i => !i.firstChild.checkVisibility({contentVisibilityAuto: true})).length;
    """
    assert window.run(skipped) > 9_000
    frames = """
      return new Promise(done => { const times = []; let at = 0, last = performance.now();
        const next = now => { times.push(now - last); last = now; at += 900; scrollTo({top: at, behavior: 'instant'});
          times.length < 60 ? requestAnimationFrame(next) : done(times.sort((a, b) => a - b)[30]); };
        requestAnimationFrame(next); });
    """
    record_property("median frame while scrolling, ms", round(window.run(frames), 1))
    load = "const t = performance.timing; return t.domContentLoadedEventEnd - t.responseEnd;"
    record_property("load, ms", window.run(load))
    print("bytes", page.stat().st_size, "load ms", window.run(load), "frame ms", round(window.run(frames), 1))
    quiet(window, page)
