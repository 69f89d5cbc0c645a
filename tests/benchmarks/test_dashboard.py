"""asv's own pages: nothing of them comes from elsewhere, and they open from disk."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import asv
import pytest

from benchmarks import dashboard

LOADED = re.compile(r'<(?:script|link|img|iframe)\b[^>]*?\b(?:src|href)="([^"]*)"')


@pytest.fixture
def pages(tmp_path):
    """The pages that come with asv, and some numbers."""
    shutil.copytree(Path(asv.__file__).parent / "www", tmp_path / "html")
    folder = tmp_path / "html" / "graphs" / "summary"
    folder.mkdir(parents=True)
    (folder / "toy.Toy.time_fit.json").write_text("[[1, 0.5]]")
    (tmp_path / "html" / "info.json").write_text('{"asv-version": "</script>"}')
    return tmp_path / "html"


def test_nothing_is_loaded_from_elsewhere(pages):
    dashboard.make_offline(pages)
    for page in pages.glob("*.html"):
        loaded = LOADED.findall(page.read_text("utf-8"))
        assert len(loaded) > 1
        for name in loaded:
            assert "//" not in name
            assert name == "regressions.xml" or (pages / name).exists(), name
    for style in pages.rglob("*.css"):
        assert not re.search(r"(url\(|@import)\s*['\"]?(https?:)?//", style.read_text("utf-8"))


def test_what_is_loaded_is_what_asv_names(pages):
    """So that the test above is of asv's page as it is, and would see a new library."""
    remote = [name for name in LOADED.findall((pages / "index.html").read_text()) if "//" in name]
    assert len(remote) == len(list(dashboard.VENDORED.glob("*.*s"))) == 10
    page = pages / "index.html"
    page.write_text(page.read_text().replace("md5.min.js", "md6.min.js"))
    with pytest.raises(ValueError, match=r"loads md6\.min\.js"):
        dashboard.make_offline(pages)


def test_numbers_are_beside_the_page(pages):
    dashboard.make_offline(pages)
    line = (pages / "numbers.js").read_text("utf-8").splitlines()[0]
    numbers = json.loads(line.removeprefix("var asvFiles = ").removesuffix(";"))
    assert numbers["graphs/summary/toy.Toy.time_fit.json"] == [[1, 0.5]]
    assert numbers["info.json"] == {"asv-version": "</script>"}


def test_every_vendored_file_has_its_licence():
    text = (dashboard.VENDORED / "LICENSES.md").read_text("utf-8")
    files = {path.name for path in dashboard.VENDORED.iterdir()} - {"LICENSES.md"}
    assert set(re.findall(r"`([\w.]+\.(?:js|css))`", text.partition("|---")[2])) == files
    assert "Permission is hereby granted" in text


@pytest.mark.slow
def test_the_pages_open_from_disk(tmp_path):
    """The committed history, published by asv and drawn by a browser."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no chromium on the PATH; on Debian: apt-get install chromium")
    git = ["git", "rev-parse", "--is-shallow-repository"]
    shallow = subprocess.run(git, cwd=dashboard.ROOT, capture_output=True, text=True)
    if shallow.stdout.strip() != "false":
        pytest.skip("asv needs the commits that it measured; this is a shallow clone or none")
    known = ["git", "rev-parse", "--verify", "--quiet", "main"]
    if subprocess.run(known, cwd=dashboard.ROOT, capture_output=True).returncode:
        pytest.skip("asv needs the branch main")
    dashboard.publish(tmp_path / "html")
    dashboard.make_offline(tmp_path / "html")
    flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    flags += [f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=10000"]
    flags += ["--window-size=1280,3000"]  # asv draws what is in view, and begins with what is empty
    address = (tmp_path / "html" / "index.html").as_uri()
    dom = subprocess.run(
        [chromium, *flags, "--dump-dom", address], capture_output=True, text=True, timeout=120
    ).stdout
    names = json.loads((tmp_path / "html" / "index.json").read_text())["benchmarks"]
    assert dom.count("benchmark-container") == len(names) > 0
    assert "<canvas" in dom
