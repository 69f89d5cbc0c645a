"""The report in a browser: nothing fails to load, nothing is fetched, anybody can read it.

Each property is a function that returns what is wrong, so that the same ones are shown to fire.
"""

from __future__ import annotations

import itertools
import json
import shutil
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[3] / "results" / "index.html"
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
TELEPHONE, DESK = 360, 1200  # CSS pixels


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
    yield chrome
    chrome.quit()


def visit(browser, path, *, width=DESK, dark=False):
    """Open a file in a window of a given width, with nothing in the logs from before."""
    browser.get("about:blank")  # the browser's own start page is still loading
    for log in ("browser", "performance"):
        browser.get_log(log)
    metrics = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    browser.get(path.as_uri())


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


def dead_links_within(browser):
    return browser.execute_script(
        "return [...document.querySelectorAll('a[href^=\"#\"]')].map(a => a.getAttribute('href'))"
        ".filter(h => !document.getElementById(decodeURIComponent(h.slice(1))))"
    )


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


def first_stop_of_tab(browser):
    """What the first Tab lands on: class, target, and whether it can be seen then."""
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    browser.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    return browser.execute_script(
        "const e = document.activeElement, box = e.getBoundingClientRect();"
        "return [e.className, e.getAttribute('href'), box.left >= 0 && box.width > 0]"
    )


# --- the page ---------------------------------------------------------------------------------


def test_everything_loads_and_nothing_comes_from_the_network(browser):
    assert PAGE.exists(), "results/index.html is missing: make report"
    visit(browser, PAGE)
    assert missing_pictures(browser) == []
    assert console_errors(browser) == []
    assert requests_to_the_network(browser) == []


@pytest.mark.parametrize("width", [TELEPHONE, DESK])
def test_no_sideways_scrolling(browser, width):
    visit(browser, PAGE, width=width)
    assert overflow(browser) <= 0
    assert boxes_out_of_reach(browser) == []


def test_outline_and_links_and_words(browser):
    visit(browser, PAGE)
    assert faults_of_the_outline(browser) == []
    assert dead_links_within(browser) == []
    assert ids_used_twice(browser) == []
    assert pictures_without_words(browser) == []
    assert browser.execute_script("return document.documentElement.lang") == "en"
    for landmark in ("main", "nav", "header", "footer"):
        assert browser.execute_script(f"return document.querySelectorAll('{landmark}').length") >= 1
    unnamed = (
        "return [...document.querySelectorAll('th:not([scope]), table:not(:has(caption))')].length"
    )
    assert browser.execute_script(unnamed) == 0


def test_by_keyboard(browser):
    visit(browser, PAGE)
    assert first_stop_of_tab(browser) == ["skip", "#content", True]
    outline = "return getComputedStyle(document.activeElement).outlineStyle"
    assert browser.execute_script(outline) != "none"


def test_pictures_are_on_white_in_the_dark(browser):
    visit(browser, PAGE, dark=True)
    colour = "return getComputedStyle(document.querySelector(arguments[0])).backgroundColor"
    assert browser.execute_script(colour, "body") != "rgb(255, 255, 255)"
    if browser.execute_script("return document.images.length"):
        assert browser.execute_script(colour, ".picture") == "rgb(255, 255, 255)"


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


def test_width_outline_links_and_words_are_noticed(browser, tmp_path):
    body = (
        "<h1>a</h1><h3 id=a>b</h3><h1 id=a>c</h1><a href='#b'>b</a><img>"
        "<main><div style='overflow-x: auto'><div style='width: 9000px'>x</div></div></main>"
        "<div style='width: 500px'>x</div>"
    )
    visit(browser, page(tmp_path, body), width=TELEPHONE)
    assert faults_of_the_outline(browser) == ["2 h1", "h1 is followed by h3"]
    assert dead_links_within(browser) == ["#b"]
    assert ids_used_twice(browser) == ["a"]
    assert len(pictures_without_words(browser)) == 1
    assert len(boxes_out_of_reach(browser)) == 1
    assert overflow(browser) > 100
    assert first_stop_of_tab(browser)[0] != "skip"
