"""The report in a browser: nothing fails to load, nothing is fetched, anybody can read it.

Each property is a function that returns what is wrong, so that the same ones are shown to fire.
"""

from __future__ import annotations

import itertools
import json
import re
import shutil
from pathlib import Path

import pytest

from experiments.publishing.report import content

pytestmark = pytest.mark.slow

PAGE = Path(__file__).resolve().parents[3] / "results" / "index.html"
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    "--disable-dev-shm-usage",  # which may be small, as in containers
)
TELEPHONE, WIDE_TELEPHONE, DESK = 360, 390, 1200  # CSS pixels


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


# --- the page ---------------------------------------------------------------------------------


def test_everything_loads_and_nothing_comes_from_the_network(browser):
    assert PAGE.exists(), "results/index.html is missing: make report"
    visit(browser, PAGE)
    assert missing_pictures(browser) == []
    assert console_errors(browser) == []
    assert requests_to_the_network(browser) == []


def look(browser, *, width=DESK, dark=False, media="screen"):
    """Show the page that is open in a window of a given width, light or dark, or as printed."""
    metrics = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme], "media": media})


@pytest.fixture
def desk(browser):
    """The page on a desk, with all effects shown; opened anew only if something else is open."""
    here = "return location.href.split('#')[0] === arguments[0] && innerWidth === arguments[1]"
    if browser.execute_script(here, PAGE.as_uri(), DESK):
        click(browser, ".filters [type=reset]")
    else:
        visit(browser, PAGE)
    browser.execute_script("document.querySelector('.described').open = true")
    return browser


def test_anybody_can_read_it_at_any_width(browser):
    visit(browser, PAGE)
    assert first_stop_of_tab(browser) == ["skip", "#content", True]
    outline = "return getComputedStyle(document.activeElement).outlineStyle"
    assert browser.execute_script(outline) != "none"
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
    for width in (TELEPHONE, WIDE_TELEPHONE, DESK):
        look(browser, width=width)
        assert overflow(browser) <= 0
        assert boxes_out_of_reach(browser) == []
        assert broken_words(browser, ".verdict, .matrix th") == []
    look(browser, media="print")
    assert broken_words(browser, ".verdict, .matrix th") == []
    look(browser, dark=True)
    colour = "return getComputedStyle(document.querySelector(arguments[0])).backgroundColor"
    assert browser.execute_script(colour, "body") != "rgb(255, 255, 255)"
    if browser.execute_script("return document.images.length"):
        assert browser.execute_script(colour, ".picture") == "rgb(255, 255, 255)"
    look(browser)


# --- its script -------------------------------------------------------------------------------


def shown_claims(browser):
    """What stands in the rows that are to be seen: sentence, data, artefact, n."""
    return browser.execute_script(
        "return [...document.querySelectorAll('table.claims tbody tr')]"
        ".filter(row => row.getClientRects().length)"
        ".map(row => [0, 1, 7, 4].map(i => row.cells[i].innerText.trim()))"
    )


def choose(browser, name, value):
    """Set a field of the filters as a person does, by an option's text or by typing."""
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import Select

    field = browser.find_element(By.CSS_SELECTOR, f".filters [name={name}]")
    if field.tag_name == "select":
        Select(field).select_by_visible_text(value)
    else:
        field.send_keys(value)


def click(browser, selector):
    browser.execute_script("document.querySelector(arguments[0]).click()", selector)


def test_effects_are_filtered(desk):
    browser = desk
    everything = shown_claims(browser)
    choose(browser, "extent", "whole set")
    some = shown_claims(browser)
    assert 0 < len(some) < len(everything)
    assert some == [row for row in everything if "(whole set)" in row[1]]
    said = browser.execute_script("return document.querySelector('.filters output').value")
    assert said == f"{len(some)} of {len(everything)} effects"
    choose(browser, "words", "no claim has these words")
    assert shown_claims(browser) == []
    click(browser, ".filters [type=reset]")
    assert shown_claims(browser) == everything


def test_an_artefact_leads_to_its_effects(desk):
    browser = desk
    link = ".own-claims a[data-where]"
    text = browser.execute_script(f"return document.querySelector('{link}').textContent")
    title = browser.execute_script(
        f"return document.querySelector('{link}').closest('article').querySelector('h3').innerText"
    )
    browser.execute_script("document.querySelector('.described').open = false")
    click(browser, link)
    rows = shown_claims(browser)
    assert len(rows) == int(text.split()[0])
    assert all(row[2].startswith(title) for row in rows)
    assert browser.current_url.endswith("#described")
    # A link to an effect that is filtered out, in a closed fold, shows it all the same.
    hidden = browser.execute_script("return document.querySelector('table.claims tr[hidden]').id")
    browser.execute_script("document.querySelector('.described').open = false")
    browser.execute_script("location.hash = arguments[0]", hidden)
    assert browser.execute_async_script(
        "const [id, done] = arguments;"
        "setTimeout(() => done(document.getElementById(id).getClientRects().length), 100)",
        hidden,
    )


def test_claims_are_sorted_and_their_head_stays(desk):
    browser = desk
    before = shown_claims(browser)
    head = ".claims thead th:nth-child(5)"
    click(browser, f"{head} button")
    ascending = [int(row[3]) for row in shown_claims(browser)]
    assert ascending == sorted(ascending)
    click(browser, f"{head} button")
    assert [int(row[3]) for row in shown_claims(browser)] == ascending[::-1]
    state = f"return document.querySelector('{head}').getAttribute('aria-sort')"
    assert browser.execute_script(state) == "descending"
    click(browser, ".filters [type=reset]")
    assert shown_claims(browser) == before
    browser.execute_script("document.querySelectorAll('.claims tbody tr')[40].scrollIntoView()")
    top = f"return document.querySelector('{head}').getBoundingClientRect().top"
    assert abs(browser.execute_script(top)) < 1


def test_lines_are_taken_away_and_brought_back(desk):
    browser = desk
    line = (
        "return getComputedStyle(document.querySelector('.charts svg[role] > .line')).display"
        " !== 'none'"
    )
    assert browser.execute_script(line)
    click(browser, ".charts .legend button")
    assert not browser.execute_script(line)
    click(browser, ".charts .legend button")
    assert browser.execute_script(line)


def numbers():
    """The curves of each figure, by its id, as the page holds them."""
    page = PAGE.read_text(encoding="utf-8")
    articles = re.findall(r'<article aria-labelledby="([^"]+)">(.*?)</article>', page, re.DOTALL)
    packed = r'<script type="text/plain">([^<]+)</script>'
    return {
        name: content.unpacked(found[0])
        for name, article in articles
        if (found := re.findall(packed, article))
    }


def explorer(name):
    return f'article[aria-labelledby="{name}"] .explore'


def open_curves(browser, name):
    """Open a figure's curves and wait until they are drawn."""
    browser.execute_async_script(
        "const [box, done] = [document.querySelector(arguments[0]), arguments[1]];"
        "new MutationObserver((_, own) => { own.disconnect(); done(); })"
        ".observe(box, { childList: true }); box.open = true;",
        explorer(name),
    )


def test_curves_are_read_and_taken_away(browser):
    visit(browser, PAGE, width=TELEPHONE)
    records = numbers()
    assert {"cegb-figure2", "miser-figure1", "cronus-figure2", "mddag-figure2"} <= set(records)
    old = records.popitem()[0]  # as a browser that cannot unpack it shows it
    browser.execute_script("window.it = DecompressionStream; delete window.DecompressionStream")
    open_curves(browser, old)
    said = browser.execute_script(f"return document.querySelector('{explorer(old)} p').innerText")
    assert said.endswith("(it has no DecompressionStream); they stand in rows.csv.")
    browser.execute_script("window.DecompressionStream = window.it")
    for name, record in records.items():
        open_curves(browser, name)
        drawn = (
            f"return document.querySelectorAll('{explorer(name)} .charts .line:not(.off)').length"
        )
        n_lines = [len(panel["lines"]) for panel in record["panels"]]
        assert browser.execute_script(drawn) == sum(n_lines) > 0
        first = record["panels"][0]["lines"][0]
        button = f"{explorer(name)} .legend button"
        assert read(browser, name).startswith(f"{first['label']}: ")
        click(browser, button)
        having = [[line["label"] for line in panel["lines"]] for panel in record["panels"]]
        left = sum(n_lines) - sum(first["label"] in labels for labels in having)
        assert browser.execute_script(drawn) == left
        if n_lines[0] > 1:  # another one is near
            assert not read(browser, name).startswith(f"{first['label']}: ")
        click(browser, button)
        assert browser.execute_script(drawn) == sum(n_lines)
    assert overflow(browser) <= 0
    assert pictures_without_words(browser) == ids_used_twice(browser) == []
    assert console_errors(browser) == []
    panel = records["cegb-figure2"]["panels"][0]
    line = panel["lines"][0]
    said = f"{line['label']}: {line['y'][0]:,} ± {line['half'][0]:,} (95 % t interval over seeds)"
    said += f" at cost {line['x'][0]:,}, n = {panel['n']}"
    assert read(browser, "cegb-figure2") == said


def read(browser, name):
    """What a pointer on the first point of a figure's first curve is told."""
    return browser.execute_script(
        "const box = document.querySelector(arguments[0]);"
        "const line = box.querySelector('svg[role] .line');"
        "line.classList.remove('off');"  # else it has no place; the next one read is what counts
        "const mark = line.querySelector('path').getBoundingClientRect();"
        "line.classList.toggle('off', box.querySelector('button').ariaPressed === 'false');"
        "line.parentNode.dispatchEvent(new PointerEvent('pointermove', { bubbles: true,"
        " clientX: mark.x + mark.width / 2, clientY: mark.y + mark.height / 2 }));"
        "return box.querySelector('.reading').value",
        explorer(name),
    )


PANEL = "cegb-figure2-panel-d"


def faults_of_the_way(browser, panel):
    """What is wrong where a claim's link to its panel ends: the panel, marked, in the window."""
    links = f".claims a[href='#{panel}']"
    click(browser, links)
    box, outline, in_picture, width = browser.execute_script(
        "const panel = document.getElementById(arguments[0]);"
        "const inside = panel.parentNode.querySelector('img').getBoundingClientRect();"
        "const box = panel.getBoundingClientRect();"
        "return [box, getComputedStyle(panel).outlineStyle, box.left >= inside.left &&"
        " box.right <= inside.right && box.top >= inside.top && box.bottom <= inside.bottom,"
        " innerWidth]",
        panel,
    )
    faults = [] if in_picture else ["outside of the picture"]
    faults += [] if outline == "solid" else ["not marked"]
    if not (0 <= box["left"] < box["right"] <= width and 0 <= box["top"] < box["bottom"] <= 800):
        faults.append(f"out of sight: {box}")
    return faults


def test_a_claim_leads_to_its_panel_in_print_all_is_there(desk):
    assert faults_of_the_way(desk, PANEL) == []
    look(desk, media="print")
    all_is_there(desk)
    look(desk)


def test_without_its_script_all_is_there(browser):
    """On a telephone, where a picture is wider than the window."""
    visit(browser, PAGE, width=TELEPHONE, scripts=False)
    # Scripts of the page are off; those of the driver still run.
    all_is_there(browser)
    assert faults_of_the_way(browser, PANEL) == []


def all_is_there(browser):
    browser.execute_script("document.querySelector('.described').open = true")  # as a reader does
    rows = "return document.querySelectorAll('table.claims tbody tr').length"
    assert len(shown_claims(browser)) == browser.execute_script(rows) > 0
    filters = "return document.querySelector('.filters').getClientRects().length"
    assert browser.execute_script(filters) == 0


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
        "<p class='verdict' style='width: 3em; overflow-wrap: anywhere'>not inconclusive</p>"
    )
    visit(browser, page(tmp_path, body), width=TELEPHONE)
    assert faults_of_the_outline(browser) == ["2 h1", "h1 is followed by h3"]
    assert dead_links_within(browser) == ["#b"]
    assert ids_used_twice(browser) == ["a"]
    assert len(pictures_without_words(browser)) == 1
    assert len(boxes_out_of_reach(browser)) == 1
    assert overflow(browser) > 100
    assert broken_words(browser, ".verdict") == ["inconclusive"]
    assert first_stop_of_tab(browser)[0] != "skip"
