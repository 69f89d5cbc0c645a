"""README.md, docs/, CITATION.cff and the workflows: what they show runs, and leads somewhere."""

import code
import os
import re
import shutil
import subprocess

import pytest
import yaml

import algorithms.cegb  # noqa: F401  (it settles where compiled kernels are, before a test does)
import datasets
from tests.test_layers import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
README = PAGES[0].read_text(encoding="utf-8")
OTHERS = [
    *(ROOT / f"{name}.md" for name in ("CHANGELOG", "CONTRIBUTING", "library/README")),
    *sorted((ROOT / "datasets").rglob("*.md")),
    *sorted((ROOT / "experiments").rglob("*.md")),
    *sorted((ROOT / "results").glob("*.md")),
]


def blocks(text, language):
    """Code of a language; "" is what has none."""
    shown = re.findall(r"^```(\w*)\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    return [code for name, code in shown if name == language]


def section(heading, text=README):
    return text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


# --- README.md ------------------------------------------------------------------------------------


def pasted(text, capsys):
    """Return what an interactive interpreter prints when the lines are pasted into it."""
    console = code.InteractiveConsole()
    unfinished = [console.push(line) for line in text.split("\n")][-1]
    printed = capsys.readouterr()
    assert not unfinished
    assert "Error" not in printed.err
    return printed.out


def test_the_first_example_prints_what_is_shown(cache, capsys):
    """Its data are a wheel of the index that serves the installation."""
    (shown,) = blocks(section("In sixty seconds"), "")
    (example,) = blocks(section("In sixty seconds"), "python")
    assert pasted(example, capsys) == shown


def test_the_first_example_without_its_data_says_what_to_do(unreachable):
    (example,) = blocks(section("In sixty seconds"), "python")
    with pytest.raises(datasets.DataUnavailable, match=r"Next: allow access to a package index"):
        exec(example)


def test_every_page_of_docs_is_one_click_away():
    for page in PAGES[1:]:  # a history is linked by what it is the history of
        name, current = page.name, page.name.replace("-history", "")
        linking = PAGES[0] if current == name else page.with_name(current)
        assert re.search(rf"\((docs/)?{name}\)", linking.read_text("utf-8")), name


# --- all pages ------------------------------------------------------------------------------------


def anchors(text):
    """The names that headings get: small letters, digits and hyphens."""
    headings = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def dead_links(page):
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    dead = []
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"https?://", link):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        known = not anchor or anchor in anchors(target.read_text("utf-8"))
        if not target.exists() or not known:
            dead.append(link)
    return dead


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_lead_somewhere_and_their_python_is_python(page):
    assert dead_links(page) == []
    for example in blocks(page.read_text("utf-8"), "python"):
        compile(example, page.name, "exec")


@pytest.mark.parametrize("page", OTHERS, ids=lambda page: str(page.relative_to(ROOT)))
def test_other_documents_lead_somewhere(page):
    assert dead_links(page) == []


def test_a_dead_link_is_found(tmp_path):
    (tmp_path / "b.md").write_text("# Of b, too\n")
    page = tmp_path / "a.md"
    page.write_text(
        "[1](b.md) [2](c.md) [3](b.md#of-b-too) [4](b.md#of-c) [5](#x) [6](https://x.y)\n"
    )
    assert dead_links(page) == ["c.md", "b.md#of-c", "#x"]


def test_a_strangers_three_questions_are_answered_one_click_from_the_first_page():
    """Does Greedy Miser hold? Which method for my table? How do I fail my build?"""
    index = (ROOT / "results" / "index.html").read_text("utf-8")
    for first, links in (
        (README, ("experiments/greedy_miser_2012/README.md", "docs/compare.md#fail-a-build")),
        (index, ("miser.html", "own-data.html")),
    ):
        assert all(link in first for link in links)
    assert section("Does it hold?", (ROOT / "experiments/greedy_miser_2012/README.md").read_text())
    assert "\n## Fail a build " in (ROOT / "docs" / "compare.md").read_text("utf-8")
    assert "experiments compare" in section("Compare on your own data")


# --- citing ---------------------------------------------------------------------------------------


def words(title):
    return re.sub(r"[^a-z ]", "", title.lower()).split()


def test_the_five_papers_are_cited_alike_everywhere():
    given = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert {"cff-version", "message", "title", "authors", "version", "license"} <= set(given)
    cited = {" ".join(words(one["title"])): one for one in given["references"]}
    papers = sorted(ROOT.glob("experiments/*_20*/README.md"))
    assert len(papers) == 5
    for path in papers:
        text = path.read_text("utf-8").split("\n## ")[0]  # which says whose paper it is
        (one,) = (one for title, one in cited.items() if title in " ".join(words(text)))
        assert path.parent.name.endswith(str(one["year"]))
        assert one["url"] in README
        assert all(author["family-names"] in text for author in one["authors"])


# --- workflows ------------------------------------------------------------------------------------


def steps(path):
    given = yaml.safe_load(path.read_text("utf-8"))
    assert True in given  # YAML's reading of `on`
    steps = [step for job in given["jobs"].values() for step in job["steps"]]
    assert all(("uses" in step) != ("run" in step) for step in steps)
    return steps


def test_the_workflow_to_copy_is_the_one_that_is_shown():
    path = ROOT / "docs" / "budget-workflow.yml"
    compare = (ROOT / "docs" / "compare.md").read_text("utf-8")
    assert blocks(compare, "yaml") == [path.read_text("utf-8")]
    runs = [step["run"] for step in steps(path) if "run" in step]
    assert "`test_budget.py`" in section("Fail a build when accuracy or cost drifts", compare)
    assert runs[-1] == "pytest test_budget.py"


def test_ci_runs_both_kinds_of_tests():
    """What `make test` leaves out is not left out of CI."""
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))
    runs = {
        name: [step["run"] for step in job["steps"] if "run" in step]
        for name, job in workflow["jobs"].items()
    }
    assert runs["test"] == ["bash .ci/run"]
    assert runs["slow"] == ["bash .ci/run slow"]
    assert workflow["jobs"]["release"]["needs"] == ["test", "slow"]
    makefile, script = (ROOT / "Makefile").read_text(), (ROOT / ".ci" / "run").read_text()
    assert re.search(r'^test: setup\n\t\$\(TEST\) -m "not slow" ', makefile, re.M)
    assert re.search(r"^test-slow: setup\n\t\$\(TEST\) -m slow ", makefile, re.M)
    assert re.search(r"^ *make test ", script, re.M)
    assert re.search(r"^ *make test-slow ", script, re.M)


@pytest.mark.parametrize("path", sorted((ROOT / ".github" / "workflows").glob("*.yml")))
def test_a_workflow_may_do_no_more_than_it_needs(path):
    """Each says its permissions, ends what takes too long, and keeps no second run of a change."""
    given = yaml.safe_load(path.read_text("utf-8"))
    allowed = {"ci.yml": {}, "pages.yml": {"pages": "write", "id-token": "write"}}[path.name]
    assert given["permissions"] == {"contents": "read"} | allowed
    assert "permissions" not in {key for job in given["jobs"].values() for key in job}
    assert all(job["timeout-minutes"] <= 60 for job in given["jobs"].values())
    assert given["concurrency"]["group"]


def test_the_weekly_run_asks_what_can_change_without_us():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))
    assert workflow[True]["schedule"]
    weekly = [job for job in workflow["jobs"].values() if "== 'schedule'" in job["if"]]
    runs = [step["run"] for job in weekly for step in job["steps"] if "run" in step]
    assert any("--upgrade " in run and ".lock" not in run for run in runs)
    assert ".venv/bin/python -m experiments data addresses" in runs


def test_one_version_of_an_action_everywhere():
    """As in CI's own workflow, whose versions are known to work."""
    folder = ROOT / ".github" / "workflows"
    versions = {}
    for path in (*folder.glob("*.yml"), ROOT / "docs" / "budget-workflow.yml"):
        for step in steps(path):
            name, _, version = step.get("uses", "").partition("@")
            if name:
                assert re.fullmatch(r"v\d+", version)
                versions.setdefault(name, set()).add(version)
    assert {name: len(found) for name, found in versions.items()} == dict.fromkeys(versions, 1)
    assert {"actions/configure-pages", "actions/upload-pages-artifact", "actions/deploy-pages"} < (
        set(versions)
    )


@pytest.mark.skipif(
    os.name != "posix" or not shutil.which("git") or not (ROOT / ".git").exists(),
    reason="needs a checkout and a POSIX shell",
)
def test_the_published_page_finds_what_it_links_to(tmp_path):
    (script,) = (
        step["run"] for step in steps(ROOT / ".github/workflows/pages.yml") if "run" in step
    )
    environment = {**os.environ, "RUNNER_TEMP": str(tmp_path)}
    subprocess.run(["bash", "-euc", script], cwd=ROOT, env=environment, check=True)
    site = tmp_path / "site"
    (start,) = re.findall(r"url=([^\"]+)", (site / "index.html").read_text("utf-8"))
    page = site / start
    assert page.read_bytes() == (ROOT / "results" / "index.html").read_bytes()
    links = set()
    for one in page.parent.glob("*.html"):
        links |= set(re.findall(r'(?:href|src)="([^"#:]+)(?:#[^"]*)?"', one.read_text("utf-8")))
    assert len(links) > 100
    assert [link for link in links if not (page.parent / link).exists()] == []
