"""The report in a browser: nothing fails to load, nothing is fetched, anybody can read it.

Each property is a function that returns what is wrong, so that the same ones are shown to fire.
"""

from __future__ import annotations

import itertools
import json
import shutil
from pathlib import Path

import pytest

from experiments import registry
from experiments.registry import short_name

pytestmark = pytest.mark.slow

RESULTS = Path(__file__).resolve().parents[3] / "results"
CEGB = RESULTS / "cegb.html"
PAPERS = [f"{short_name(paper)}.html" for paper in registry.PAPERS]
PAGES = ["index.html", *PAPERS, "speed.html", "own-data.html", "glossary.html"]
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    "--disable-dev-shm-usage",  # which may be small, as in containers
)
NARROW, TELEPHONE, TABLET, DESK = 360, 390, 768, 1280  # CSS pixels
HEIGHT = 800


def found(*names):
    """Path of the first program of these, or None."""
    return next(filter(None, map(shutil.which, names)), None)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    chromium = found("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    driver = found("chromedriver")
    if not (chromium and driver):
        pytest.skip(
            "no chromium and chromedriver on the PATH; on Debian: "
            "apt-get install chromium chromium-driver"
        )
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(executable_path=driver)
    chrome = webdriver.Chrome(options=options, service=service)
    chrome.set_script_timeout(100)  # all pictures of the page are drawn within one of them
    yield chrome
    chrome.quit()


def visit(browser, path, *, width=DESK, dark=False, fragment="", scripts=True, media="screen"):
    """Open a file in a window of a given width, with nothing in the logs from before."""
    browser.get("about:blank")  # the browser's own start page is still loading
    for log in ("browser", "performance"):
        browser.get_log(log)
    look(browser, width=width, dark=dark, media=media)
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not scripts})
    browser.get(path.as_uri() + fragment)
    arrive(browser)


def arrive(browser, where="file:"):
    """Wait until a page is there whole whose address contains some words."""
    from selenium.webdriver.support.ui import WebDriverWait

    there = "return document.readyState === 'complete' && location.href.includes(arguments[0])"
    WebDriverWait(browser, 60).until(lambda one: one.execute_script(there, where))


def console_errors(browser):
    return [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]


def requests_to_the_network(browser):
    urls = []
    for entry in browser.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            urls.append(message["params"]["request"]["url"])
    assert any(url.startswith("file:") for url in urls), "the log of requests is empty"
    return [url for url in urls if not url.startswith(("file:", "data:", "chrome:"))]


def missing_pictures(browser):
    """Pictures that cannot be shown, those included that load when they come into sight."""
    browser.execute_async_script(
        "const pictures = [...document.images], done = arguments[0];"
        "pictures.forEach(i => { i.loading = 'eager'; });"
        "Promise.allSettled(pictures.map(i => i.complete || new Promise("
        "end => { i.onload = i.onerror = end; }))).then(() => done())"
    )
    return browser.execute_script(
        "return [...document.images].filter(i => !(i.complete && i.naturalWidth > 0))"
        ".map(i => i.getAttribute('src'))"
    )


def pictures_without_words(browser):
    return browser.execute_script(
        "return [...document.querySelectorAll('img, svg[role=img]')]"
        ".filter(i => !(i.getAttribute('alt') || i.getAttribute('aria-label') || '').trim())"
        ".map(i => i.outerHTML.slice(0, 80))"
    )


def overflow(browser):
    """By how many pixels the page is wider than the window."""
    return browser.execute_script(
        "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )


def faults_of_the_outline(browser):
    levels = browser.execute_script(
        "return [...document.querySelectorAll('h1, h2, h3, h4, h5, h6')].map(h => +h.tagName[1])"
    )
    faults = [] if levels.count(1) == 1 and levels[0] == 1 else [f"{levels.count(1)} h1"]
    for before, after in itertools.pairwise(levels):
        if after > before + 1:
            faults.append(f"h{before} is followed by h{after}")
    return faults


def ids_used_twice(browser):
    ids = browser.execute_script("return [...document.querySelectorAll('[id]')].map(e => e.id)")
    return sorted({name for name in ids if ids.count(name) > 1})


def boxes_out_of_reach(browser):
    """Boxes that scroll sideways but cannot be reached by keyboard, or have no name."""
    return browser.execute_script(
        "return [...document.querySelectorAll('main *')]"
        ".filter(e => e.scrollWidth > e.clientWidth"
        " && ['auto', 'scroll'].includes(getComputedStyle(e).overflowX))"
        ".filter(e => e.tabIndex < 0 || !e.getAttribute('aria-label') || !e.getAttribute('role'))"
        ".map(e => e.outerHTML.slice(0, 80))"
    )


def broken_words(browser, selector):
    """Words in the elements of a selector that stand on two lines."""
    return browser.execute_script(
        "const broken = new Set(), range = document.createRange();"
        "for (const element of document.querySelectorAll(arguments[0])) {"
        "  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);"
        "  while (texts.nextNode()) for (const word of texts.currentNode.data.matchAll(/\\S+/g)) {"
        "    range.setStart(texts.currentNode, word.index);"
        "    range.setEnd(texts.currentNode, word.index + word[0].length);"
        "    if (new Set([...range.getClientRects()].map(box => box.top)).size > 1)"
        "      broken.add(word[0]);"
        "  }"
        "}"
        "return [...broken].sort();",
        selector,
    )


def first_stop_of_tab(browser):
    """What the first Tab lands on: class, target, and whether it can be seen then."""
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    browser.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    return browser.execute_script(
        "const e = document.activeElement, box = e.getBoundingClientRect();"
        "return [e.className, e.getAttribute('href'), box.left >= 0 && box.width > 0]"
    )


# --- every page -------------------------------------------------------------------------------


def look(browser, *, width=DESK, dark=False, media="screen"):
    """Show the page that is open in a window of a given width, light or dark, or as printed."""
    metrics = {"width": width, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme], "media": media})


@pytest.mark.parametrize("name", PAGES)
def test_everything_loads_and_nothing_comes_from_the_network(browser, name):
    visit(browser, RESULTS / name)
    assert missing_pictures(browser) == []
    assert console_errors(browser) == []
    assert requests_to_the_network(browser) == []


@pytest.mark.parametrize("name", PAGES)
def test_anybody_can_read_it_at_any_width(browser, name):
    visit(browser, RESULTS / name)
    assert first_stop_of_tab(browser) == ["skip", "#content", True]
    outline = "return getComputedStyle(document.activeElement).outlineStyle"
    assert browser.execute_script(outline) != "none"
    assert faults_of_the_outline(browser) == []
    assert ids_used_twice(browser) == []
    assert pictures_without_words(browser) == []
    assert browser.execute_script("return document.documentElement.lang") == "en"
    for landmark in ("main", "nav", "header", "footer"):
        assert browser.execute_script(f"return document.querySelectorAll('{landmark}').length") == 1
    unnamed = (
        "return [...document.querySelectorAll('th:not([scope]), table:not(:has(caption))')].length"
    )
    assert browser.execute_script(unnamed) == 0
    for width in (NARROW, TELEPHONE, TABLET, DESK):
        look(browser, width=width)
        assert overflow(browser) <= 0
        assert boxes_out_of_reach(browser) == []
        assert broken_words(browser, ".verdict, .counts, nav") == []
    look(browser, media="print")
    assert broken_words(browser, ".verdict") == []
    look(browser, dark=True)
    colour = "return getComputedStyle(document.querySelector(arguments[0])).backgroundColor"
    assert browser.execute_script(colour, "body") != "rgb(255, 255, 255)"
    if browser.execute_script("return document.querySelector('.picture')"):
        assert browser.execute_script(colour, ".picture") == "rgb(255, 255, 255)"
    look(browser)


# --- the answer -------------------------------------------------------------------------------


ALPHABET = 203.6
"""Width of the small letters in 16 CSS pixels of Arial, and of fonts made to its measure."""


def stretch(browser):
    """By how much the page's font is wider: which one it is depends on the machine."""
    wide = browser.execute_script(
        "const context = document.createElement('canvas').getContext('2d');"
        "context.font = '16px ' + getComputedStyle(document.body).fontFamily;"
        "return context.measureText('abcdefghijklmnopqrstuvwxyz').width"
    )
    return max(wide / ALPHABET, 1)


def screens(browser, selector):
    """How many screens down the elements of a selector end, in Arial's width; none is never."""
    bottoms = browser.execute_script(
        "return [...document.querySelectorAll(arguments[0])]"
        ".map(e => e.getBoundingClientRect()).filter(box => box.height)"
        ".map(box => box.bottom + scrollY)",
        selector,
    )
    return max(bottoms) / HEIGHT / stretch(browser) if bottoms else float("inf")


@pytest.mark.parametrize("width", [TELEPHONE, TABLET, DESK])
@pytest.mark.parametrize("name", PAPERS)
def test_the_answer_is_on_the_first_screen(browser, name, width):
    """The sentences and the counts; the first claim with its verdict is near."""
    visit(browser, RESULTS / name, width=width)
    assert screens(browser, ".answer") <= 1
    assert screens(browser, "header .counts") <= 1
    assert screens(browser, ".board tbody tr:first-child") <= 1.5


@pytest.mark.parametrize(("width", "most"), [(DESK, 1.5), (TABLET, 2.5), (TELEPHONE, 4.5)])
def test_the_overview_is_short(browser, width, most):
    visit(browser, RESULTS / "index.html", width=width)
    assert screens(browser, "footer") <= most


@pytest.mark.parametrize(("name", "most"), [*((name, 10) for name in PAPERS), ("glossary.html", 1)])
def test_a_page_is_short(browser, name, most):
    """Ten screens for a paper, what is folded not counted."""
    visit(browser, RESULTS / name)
    assert screens(browser, "footer") <= most


@pytest.mark.parametrize("scripts", [True, False])
def test_on_paper_nothing_is_folded(browser, scripts):
    visit(browser, CEGB, media="print", scripts=scripts)
    assert 0 < screens(browser, "#cegb-figure2-data") < float("inf")
    assert screens(browser, "details .fold, .fold table") > 5


def click(browser, selector):
    browser.execute_script("document.querySelector(arguments[0]).click()", selector)


# --- pictures ---------------------------------------------------------------------------------


def test_a_picture_is_enlarged(browser):
    visit(browser, CEGB, width=TELEPHONE)
    state = (
        "const dialog = document.querySelector('dialog');"
        "return [dialog?.open ?? false, dialog?.querySelector('img').getAttribute('width')]"
    )
    click(browser, "a.enlarge img")
    is_open, width = browser.execute_script(state)
    assert is_open
    assert int(width) >= TELEPHONE
    assert pictures_without_words(browser) == []
    click(browser, "dialog button")
    assert not browser.execute_script(state)[0]


def test_a_fold_opens_where_an_address_points_into_it(browser):
    visit(browser, CEGB, fragment="#cegb-figure2-data")
    assert 0 < screens(browser, "#cegb-figure2-data") < float("inf")


# --- the checks fire --------------------------------------------------------------------------


def page(tmp_path, body):
    path = tmp_path / "page.html"
    path.write_text(f"<!DOCTYPE html><html lang=en><title>x</title><body>{body}</body></html>")
    return path


def test_a_missing_picture_is_noticed(browser, tmp_path):
    visit(browser, page(tmp_path, "<img src='nowhere.svg' alt='x'>"))
    assert missing_pictures(browser) == ["nowhere.svg"]
    assert "nowhere.svg" in console_errors(browser)[0]


def test_a_damaged_picture_is_noticed(browser, tmp_path):
    (tmp_path / "bad.svg").write_text("<svg")
    visit(browser, page(tmp_path, "<img src='bad.svg' alt='x'>"))
    assert missing_pictures(browser) == ["bad.svg"]


def test_a_console_error_is_noticed(browser, tmp_path):
    visit(browser, page(tmp_path, "<script>console.error('broken')</script>"))
    assert "broken" in console_errors(browser)[0]


def test_a_request_to_the_network_is_noticed(browser, tmp_path):
    address = "http://127.0.0.1:9/picture.png"  # nobody listens there
    visit(browser, page(tmp_path, f"<img src='{address}' alt='x'>"))
    assert requests_to_the_network(browser) == [address]


def test_a_late_answer_is_noticed(browser, tmp_path):
    visit(browser, page(tmp_path, "<p style='height: 900px'>x</p><p class='answer'>y</p>"))
    assert screens(browser, ".answer") > 1
    assert screens(browser, ".counts") == float("inf")


def test_width_outline_and_words_are_noticed(browser, tmp_path):
    body = (
        "<h1>a</h1><h3 id=a>b</h3><h1 id=a>c</h1><img>"
        "<main><div style='overflow-x: auto'><div style='width: 9000px'>x</div></div></main>"
        "<div style='width: 500px'>x</div>"
        "<p class='verdict' style='width: 3em; overflow-wrap: anywhere'>not inconclusive</p>"
    )
    visit(browser, page(tmp_path, body), width=TELEPHONE)
    assert faults_of_the_outline(browser) == ["2 h1", "h1 is followed by h3"]
    assert ids_used_twice(browser) == ["a"]
    assert len(pictures_without_words(browser)) == 1
    assert len(boxes_out_of_reach(browser)) == 1
    assert overflow(browser) > 100
    assert broken_words(browser, ".verdict") == ["inconclusive"]
    assert first_stop_of_tab(browser)[0] != "skip"
