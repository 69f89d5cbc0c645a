"""The report in a browser: nothing fails to load, nothing is fetched, anybody can read it.

Each property is a function that returns what is wrong, so that the same ones are shown to fire.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
import shutil
from pathlib import Path

import pytest

from experiments import registry
from experiments.publishing.report import content
from experiments.registry import short_name

pytestmark = pytest.mark.slow

RESULTS = Path(__file__).resolve().parents[3] / "results"
CLAIMS, CEGB, SPEED = (RESULTS / f"{name}.html" for name in ("claims", "cegb", "speed"))
PAPERS = [f"{short_name(paper)}.html" for paper in registry.PAPERS]
PAGES = ["index.html", *PAPERS, "claims.html", "speed.html", "own-data.html", "glossary.html"]
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


def screens(browser, selector):
    """How many screens down the elements of a selector end; none is never."""
    bottoms = browser.execute_script(
        "return [...document.querySelectorAll(arguments[0])]"
        ".map(e => e.getBoundingClientRect()).filter(box => box.height)"
        ".map(box => box.bottom + scrollY)",
        selector,
    )
    return max(bottoms) / HEIGHT if bottoms else float("inf")


@pytest.mark.parametrize("width", [TELEPHONE, TABLET, DESK])
@pytest.mark.parametrize("name", PAPERS)
def test_the_answer_is_on_the_first_screen(browser, name, width):
    """The sentence, the counts and the first claim with its verdict."""
    visit(browser, RESULTS / name, width=width)
    assert screens(browser, ".answer") <= 1
    assert screens(browser, "header .counts") <= 1
    assert screens(browser, ".board tbody tr:first-child") <= 1


@pytest.mark.parametrize(("width", "most"), [(DESK, 1), (TABLET, 2), (TELEPHONE, 3)])
def test_the_overview_is_short(browser, width, most):
    visit(browser, RESULTS / "index.html", width=width)
    assert screens(browser, "footer") <= most


@pytest.mark.parametrize(
    ("name", "most"), [*((name, 10) for name in PAPERS), ("glossary.html", 1), ("claims.html", 6)]
)
def test_a_page_is_short(browser, name, most):
    """Ten screens for a paper, what is folded not counted."""
    visit(browser, RESULTS / name)
    assert screens(browser, "footer") <= most


@pytest.mark.parametrize("scripts", [True, False])
def test_on_paper_nothing_is_folded(browser, scripts):
    visit(browser, CEGB, media="print", scripts=scripts)
    assert 0 < screens(browser, "#cegb-figure2-data") < float("inf")
    assert screens(browser, "#cegb-bisections ~ *, details .claims, .fold table") > 10


def test_an_old_address_leads_to_the_page_of_today(browser):
    visit(browser, RESULTS / "index.html", fragment=f"#{PANEL}")
    arrive(browser, f"{CEGB.name}#{PANEL}")
    visit(browser, RESULTS / "index.html", fragment="#reading")
    assert browser.current_url.endswith("index.html#reading")


# --- claims -----------------------------------------------------------------------------------


def shown_claims(browser):
    """What stands in the rows that are to be seen: sentence, verdict, data, n, artefact."""
    return browser.execute_script(
        "return [...document.querySelectorAll('table.claims tbody tr')]"
        ".filter(row => row.getClientRects().length)"
        ".map(row => [0, 1, 2, 5, 8].map(i => row.cells[i].innerText.trim()))"
    )


def heading(browser):
    return browser.execute_script("return document.getElementById('claims').textContent")


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


def csv_of_what_is_shown(browser):
    """Rows of the file that the page would save."""
    text = browser.execute_async_script(
        "const done = arguments[0], make = URL.createObjectURL;"
        "URL.createObjectURL = blob => { blob.text().then(done); return 'about:blank#'; };"
        "HTMLAnchorElement.prototype.click = () => {};"
        "document.querySelector('[name=csv]').dispatchEvent(new MouseEvent('click'));"
        "URL.createObjectURL = make;"
    )
    return list(csv.DictReader(io.StringIO(text)))


def test_claims_are_filtered_in_the_address(browser):
    """What is chosen is said, can be sent, and is what the file has."""
    visit(browser, CLAIMS)
    total = browser.execute_script("return document.querySelectorAll('.claims tbody tr').length")
    assert heading(browser) == f"Claims 1 to 25 of {total}: all, the primary ones first"
    assert len(shown_claims(browser)) == 25
    choose(browser, "rests", "whole set")
    choose(browser, "paper", "CEGB")
    choose(browser, "words", "cost")
    some, said = shown_claims(browser), heading(browser)
    assert all("(whole set)" in row[2] for row in some)
    n = int(re.search(r"(\d+)(?: claims)?:", said).group(1))
    assert 0 < n < total
    assert said.endswith(": CEGB; whole set; “cost”")
    address = browser.current_url
    assert address.endswith("#paper=cegb&rests=whole+set&words=cost")
    rows = csv_of_what_is_shown(browser)
    assert len(rows) == n
    assert {row["rests_on"] for row in rows} == {"whole set"}
    assert all(float(row["low"]) <= float(row["effect"]) <= float(row["high"]) for row in rows)
    visit(browser, CLAIMS, fragment=address.partition("html")[2])
    assert (shown_claims(browser), heading(browser)) == (some, said)
    choose(browser, "words", " no claim has these words")
    assert shown_claims(browser) == []
    click(browser, ".filters [type=reset]")
    assert heading(browser).startswith(f"Claims 1 to 25 of {total}")
    choose(browser, "verdict", "primary: any verdict")
    assert {row[1] for row in shown_claims(browser)}.isdisjoint({"described"})


def test_claims_are_turned_over_and_found(browser):
    visit(browser, CLAIMS)
    first = shown_claims(browser)
    click(browser, ".pager [name=next]")
    assert heading(browser).startswith("Claims 26 to 50 of ")
    assert browser.current_url.endswith("#page=2")
    assert not [row for row in shown_claims(browser) if row in first]
    last = "const rows = document.querySelectorAll('.claims tbody tr'); return rows[300].id"
    name = browser.execute_script(last)
    visit(browser, CLAIMS, fragment=f"#{name}")
    top = f"return document.getElementById({name!r}).getBoundingClientRect().top"
    assert 0 < browser.execute_script(top) < HEIGHT


def test_a_figure_leads_to_its_effects(browser):
    visit(browser, CEGB)
    link = "article[aria-labelledby=cegb-figure2] a[href^='claims.html#']"
    text = browser.execute_script(f'return document.querySelector("{link}").textContent')
    click(browser, link)
    arrive(browser, "claims.html#paper=cegb-figure2")
    assert heading(browser).endswith(f"of {int(text.split()[0])}: CEGB, Figure 2")


def test_claims_are_sorted_and_their_head_stays(browser):
    visit(browser, CLAIMS)
    before = shown_claims(browser)
    head = ".claims thead th:nth-child(6)"
    click(browser, f"{head} button")
    ascending = [int(row[3]) for row in shown_claims(browser)]
    assert ascending == sorted(ascending)
    click(browser, f"{head} button")
    descending = [int(row[3]) for row in shown_claims(browser)]
    assert descending == sorted(descending, reverse=True)
    assert descending[0] > ascending[0]
    state = f"return document.querySelector('{head}').getAttribute('aria-sort')"
    assert browser.execute_script(state) == "descending"
    click(browser, ".filters [type=reset]")
    assert shown_claims(browser) == before
    browser.execute_script("document.querySelectorAll('.claims tbody tr')[15].scrollIntoView()")
    boxes = f"return ['nav', '{head}'].map(e => document.querySelector(e).getBoundingClientRect())"
    nav, box = browser.execute_script(boxes)
    assert abs(nav["top"]) < 1
    assert abs(box["top"] - nav["bottom"]) < 2


def all_is_there(browser):
    """All claims, whatever page they are on, and no filters that would do nothing."""
    rows = "return document.querySelectorAll('table.claims tbody tr').length"
    assert len(shown_claims(browser)) == browser.execute_script(rows) > 0
    for idle in (".filters", ".pager"):
        shown = f"return document.querySelector('{idle}').getClientRects().length"
        assert browser.execute_script(shown) == 0


@pytest.mark.parametrize(("media", "scripts"), [("print", True), ("screen", False)])
def test_printed_and_without_script_all_claims_are_there(browser, media, scripts):
    visit(browser, CLAIMS, width=TELEPHONE, media=media, scripts=scripts)
    # Scripts of the page are off; those of the driver still run.
    all_is_there(browser)


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


def test_lines_are_taken_away_and_brought_back(browser):
    visit(browser, SPEED)
    line = (
        "return getComputedStyle(document.querySelector('.charts svg[role] > .line')).display"
        " !== 'none'"
    )
    assert browser.execute_script(line)
    click(browser, ".charts .legend button")
    assert not browser.execute_script(line)
    click(browser, ".charts .legend button")
    assert browser.execute_script(line)


def numbers(page):
    """The curves of each figure of a page, by its id, as the page holds them."""
    text = page.read_text(encoding="utf-8")
    article = r'<article aria-labelledby="([^"]+)"[^>]*>(.*?)</article>'
    packed = r'<script type="text/plain">([^<]+)</script>'
    return {
        name: content.unpacked(found[0])
        for name, inside in re.findall(article, text, re.DOTALL)
        if (found := re.findall(packed, inside))
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


def test_a_browser_that_cannot_unpack_curves_says_so(browser):
    visit(browser, CEGB)
    name = next(iter(numbers(CEGB)))
    browser.execute_script("delete window.DecompressionStream")
    open_curves(browser, name)
    said = browser.execute_script(f"return document.querySelector('{explorer(name)} p').innerText")
    assert said.endswith("(it has no DecompressionStream); they stand in rows.csv.")


@pytest.mark.parametrize("page", PAPERS)
def test_curves_are_read_and_taken_away(browser, page):
    visit(browser, RESULTS / page, width=TELEPHONE)
    records = numbers(RESULTS / page)
    assert records
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


def test_a_pointer_is_told_the_numbers_of_the_rows(browser):
    visit(browser, CEGB)
    panel = numbers(CEGB)["cegb-figure2"]["panels"][0]
    line = panel["lines"][0]
    open_curves(browser, "cegb-figure2")
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


@pytest.mark.parametrize("scripts", [True, False])
@pytest.mark.parametrize("width", [TELEPHONE, DESK])
def test_an_address_leads_to_its_panel(browser, width, scripts):
    """The panel is marked, in its picture and in the window, which may be narrower."""
    visit(browser, CEGB, width=width, fragment=f"#{PANEL}", scripts=scripts)
    box, outline, in_picture, width = browser.execute_script(
        "const panel = document.getElementById(arguments[0]);"
        "const inside = panel.parentNode.querySelector('img').getBoundingClientRect();"
        "const box = panel.getBoundingClientRect();"
        "return [box, getComputedStyle(panel).outlineStyle, box.left >= inside.left &&"
        " box.right <= inside.right && box.top >= inside.top && box.bottom <= inside.bottom,"
        " innerWidth]",
        PANEL,
    )
    assert in_picture
    assert outline == "solid"
    assert 0 <= box["left"] < box["right"] <= width
    assert 0 <= box["top"] < box["bottom"] <= HEIGHT


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
