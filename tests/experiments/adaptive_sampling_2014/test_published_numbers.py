"""What the README says of adaptive sampling is what was published: plain loops over the rows."""

import json
import math
import re
import statistics
from collections import defaultdict

import pytest

from experiments.adaptive_sampling_2014.show.paper_tables import TABLES
from reference import adaptive_sampling
from tests.experiments.published_rows import RESULTS, claims, fresh, lines, primaries, readme
from tests.recomputed import sampling

README = readme("adaptive_sampling_2014")
MINUS = "\N{MINUS SIGN}"


def shown(table: str, claim: str) -> str:
    """An effect with its interval and, if there is one, the paper's own; a dash for no claim."""
    row = claims(f"sampling-{table}").get(claim)
    if row is None:
        return "–"
    cell = f"{float(row['effect']):+.3f} [{float(row['low']):+.3f}, {float(row['high']):+.3f}]"
    paper = f" ({float(row['paper_effect']):+.2g})" if row["paper_effect"] else ""
    return (cell + paper).replace("-", MINUS)


def test_answer_on_caltech():
    losses = defaultdict(dict)
    for row in fresh("sampling-table3-rules", "caltech101"):
        if (row["budget"], row["rounds"]) == ("paper", "1000"):
            losses[row["seed"]][row["algorithm"]] = float(row["log10_loss"])
    assert len(losses) == 10
    # A margin is part of what is recomputed, and of the rule of a primary claim.
    for name, margin in {"no-advantage": 0.02, "mas-beaten": 0, "laminating-beaten": 0}.items():
        row = primaries("sampling")[f"sampling-{name}"]
        effect = statistics.mean(sampling.OF_LOSS[name](list(losses.values()))) - margin
        assert float(row["effect"]) == pytest.approx(effect, abs=2e-6)
        assert row["verdict"] == "reproduced"
    assert "On Caltech-101** sampling examples brings nothing, as in the paper." in README


def table_of(number: int) -> str:
    return (RESULTS / f"sampling-table{number}" / "table.md").read_text(encoding="utf-8")


# --- Tables 1, 2 and 4 ----------------------------------------------------------------------------


@pytest.mark.parametrize("rounds", [10, 100, 1_000])
@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ("laminating-wins", "Laminating than the best other"),
        ("mas-ahead", "M.A.S. than the baselines"),
        ("tasting-ahead", "Tasting than the baselines"),
    ],
)
def test_leads_up_to_1_000_rounds(claim, words, rounds):
    cells = [shown(f"table{number}", f"{claim}-{rounds}") for number in (1, 2, 4)]
    assert f"| {words}, T = {rounds:,} | {' | '.join(cells)} |" in README


def test_the_answer_on_top():
    """Where a lead is sure: its interval lies above 0."""

    def sure(table, claim):
        return [t for t in (10, 100, 1_000) if float(claims(table)[f"{claim}-{t}"]["low"]) > 0]

    mnist, inria, cifar = (f"sampling-table{number}" for number in (1, 2, 4))
    assert sure(mnist, "laminating-wins") == [100, 1_000]
    assert sure(inria, "laminating-wins") == [1_000]
    assert sure(cifar, "laminating-wins") == []
    for table in (mnist, inria):
        assert sure(table, "mas-ahead") == sure(table, "tasting-ahead") == [10, 100, 1_000]
    assert sure(cifar, "mas-ahead") == [10, 100]
    assert sure(cifar, "tasting-ahead") == [10, 100, 1_000]
    assert float(claims(cifar)["laminating-wins-1000"]["paper_effect"]) == 0
    for number in (1, 3, 4):
        assert float(claims(f"sampling-table{number}")["tasting-best-10000"]["low"]) > 0


def test_sizes():
    """As the published tables have them; the first number is of training images."""
    for number, name in enumerate(("MNIST", "INRIA", "Caltech-101", "CIFAR-10"), start=1):
        sizes = {
            who: re.search(
                rf"^\| {who} \| (\S+) \| (\S+) \| (\S+)", table_of(number), re.M
            ).groups()
            for who in ("paper", "ours")
        }
        line = re.search(rf"\| {name} \| ([^|]*) \| ([^|]*) \|", README)
        for said, (train, test, features) in zip(line.groups(), sizes.values(), strict=True):
            assert re.findall(r"\d[\d,]*\d", said) == [train, test, features]
    assert sizes["paper"][0] == "50,000"  # of CIFAR-10, the last
    assert sizes["ours"][0] == "10,000"
    assert "CIFAR-10, of which we train on a fifth" in README


# --- Table 3 --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        (
            "no-advantage-10",
            "the best that does not sample examples than the best that does, T = 10",
        ),
        ("no-advantage-100", "the same, T = 100"),
        ("no-advantage-1000", "the same, T = 1,000"),
        ("mas-beaten-1000", "the baselines than M.A.S., T = 1,000"),
        ("laminating-beaten-1000", "the baselines than Laminating, T = 1,000"),
    ],
)
def test_leads_on_caltech_101(claim, words):
    other = shown("table3-rules", f"{claim}-rules").split(" (")[0]
    assert f"| {words} | {shown('table3', claim)} | {other} |" in README


def test_what_ties_do_to_mas():
    losses = [
        statistics.mean(
            float(row["log10_loss"])
            for row in lines(f"sampling-{table}")
            if (row["algorithm"], row["budget"], row["rounds"]) == ("mas_q1", "paper", "1000")
        )
        for table in ("table3", "table3-rules")
    ]
    numbers = (*losses, TABLES["caltech101"]["mas_q1"][2][0])
    words = "it ends at {:.2f}, with any of equals at {:.2f}; the paper has {:.2f}."
    assert words.format(*numbers).replace("-", MINUS) in README


# --- after 10,000 rounds --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ("tasting-best", "Tasting than the best other, loss"),
        ("laminating-wins", "Laminating than the best other, loss"),
        ("best-family-behind", "other Uniform strategies than Best family, error"),
    ],
)
def test_leads_after_10_000_rounds(claim, words):
    cells = [shown(f"table{number}", f"{claim}-10000") for number in (1, 2, 3, 4)]
    assert f"| {words} | {' | '.join(cells)} |" in README


def test_how_far_errors_lie_apart():
    """The range over the methods but Best family; claims say how far it stays below 0.6."""
    cells = []
    for number, images in enumerate(TABLES, start=1):
        row = claims(f"sampling-table{number}")["alike-10000"]
        mean, last, first, paper = (
            0.6 - float(row[name]) for name in ("effect", "low", "high", "paper_effect")
        )
        errors = defaultdict(dict)
        for one in lines(f"sampling-table{number}"):
            if (one["budget"], one["rounds"], one["dataset"]) == ("paper", "10000", row["dataset"]):
                errors[one["seed"]][one["algorithm"]] = float(one["test_error"])
        ranges = [
            max(known) - min(known)
            for by_method in errors.values()
            if (known := [by_method[m] for m in TABLES[images] if m != "best_family"])
        ]
        assert statistics.mean(ranges) == pytest.approx(mean, abs=1e-3)
        cells.append(f"{mean:.3f} [{first:.3f}, {last:.3f}] ({paper:.2g})")
    assert f"| errors without Best family lie apart by | {' | '.join(cells)} |" in README


def test_families_kept_by_best_family():
    kept = []
    for number in (1, 2, 3, 4):
        names = re.search(r"Kept: Best family: ([^;]*);", table_of(number))[1].split(", ")
        assert len(names) == 5
        assert len(set(names)) == 1
        kept.append(names[0])
    said = "`{}` on MNIST, `{}` on INRIA, `{}` on Caltech-101, `{}` on CIFAR-10"
    assert said.format(*kept) in README
    bandit = re.search(r"; UCB: ([^;]*);", table_of(4))[1].split(", ")
    assert set(bandit) == {"2^11"}


# --- figures, and beside the paper ----------------------------------------------------------------


def test_effects_of_the_figures():
    first = [shown("figure1", f"cost-{cost}") for cost in (1_000, 10_000, 100_000)]
    said = "by {}, {} and {} decades at QS = 1,000, 10,000 and 100,000"
    assert said.format(*first) in README
    second = [shown("figure2", f"passes-{passes}") for passes in (3, 10)]
    assert "a share of {} at QS = 180,000 and {} at QS = 600,000".format(*second) in README


def test_bounds():
    C = adaptive_sampling.C
    for factor, said in ((2 * C * C, "69"), (8 * C * C, "274.9")):
        assert f"{factor:.{len(said.partition('.')[2])}f}" == said
        assert f"4 / (1 − exp(−δ²S/{said})) − 4" in README
    begins = [math.ceil(-math.log(1 - 4 / 5) * factor) for factor in (69, 8 * C * C)]
    assert begins == [112, 443]  # the first whole numbers above
    assert "| is below 1 where | δ²S > 111 | δ²S > 442 |" in README


def test_failures_of_laminating():
    failures = defaultdict(lambda: [0, 0])
    for row in lines("sampling-theorem1"):
        key = row["procedure"], row["votes"], row["n_features"], int(row["strength"])
        failures[key][0] += int(row["failures"])
        failures[key][1] += int(row["trials"])
    failed, drawn = failures["one iteration", "opposed", "2", 12]
    allowed = 4 * math.exp(-12 / 2)
    words = f"allows a failure in {100 * allowed:.0f} % of the draws; {100 * failed / drawn:.0f} %"
    assert words in README
    last = max(key[-1] for key, (failed, _) in failures.items() if failed)
    assert f"the last failures are at δ²S of {last}." in README
    assert last < 111


def test_all_evaluations_counted():
    columns = 0
    sets = ("mnist_mash", "inria_person_mash", "caltech101", "cifar10_mash")
    for number, name in enumerate(sets, start=1):
        losses = defaultdict(list)
        for row in lines(f"sampling-table{number}"):
            if (row["budget"], row["dataset"]) == ("all", name):
                losses[int(row["rounds"]), row["algorithm"]].append(float(row["log10_loss"]))
        for rounds in (10, 100, 1_000, 10_000):
            means = {m: statistics.mean(losses[rounds, m]) for m in TABLES["mnist"]}
            worst = sorted(means, key=means.get)[-2:]
            columns += set(worst) == {"tasting_1q", "tasting_q1"}
    assert f"Tasting has the largest loss in all {columns} columns." in README


def test_rounds_in_the_time_of_uniform_naive():
    text = (RESULTS / "sampling-milliseconds-table" / "table.md").read_text(encoding="utf-8")
    found, losses = defaultdict(list), defaultdict(list)
    for part in text.split("\n## ")[1:]:
        for name, loss, rounds in re.findall(
            r"^\| ([^|]*) \| [^|]* \| [^|]* \| (\S+), [^|]* % \[(\d+)†?\] \|", part, re.MULTILINE
        ):
            found[name].append(int(rounds))
            losses[name].append(float(loss.replace(MINUS, "-")))
    assert set(found["Uniform Naive"]) == {1_000}
    groups = (["Laminating"], ["Tasting 1.Q", "Tasting Q.1"], ["M.A.S. 1.Q", "M.A.S. Q.1"])
    rounds = [[n for name in group for n in found[name]] for group in groups]
    ends = [end for mine in rounds for end in (min(mine), max(mine))]
    said = "Laminating trains {} to {}, Tasting {} to {} and M.A.S. 1.Q and Q.1 {} to {}."
    assert said.format(*ends) in README
    for name in (name for group in groups for name in group):
        assert len(losses[name]) == 4
        assert all(a > b for a, b in zip(losses[name], losses["Uniform Naive"], strict=True))


def test_what_the_choices_change():
    means = defaultdict(list)
    for row in lines("sampling-choices"):
        key = row["algorithm"], row["variant"], row["dataset"], row["rounds"]
        means[key].append((float(row["log10_loss"]), float(row["test_error"])))

    def change(variant, dataset, method="laminating", rounds="1000", column=0, base="default"):
        mine, other = (
            statistics.mean(pair[column] for pair in means[method, name, dataset, rounds])
            for name in (variant, base)
        )
        return mine - other

    off = [-change("Q_128", name) for name in ("mnist", "inria_person")]
    added = [change("Q_128", name) for name in ("caltech101", "cifar10")]
    assert f"Q = 128 takes {off[0]:.2f} decades off its loss on MNIST" in README
    assert f"at 1,000 rounds and {off[1]:.1f} on INRIA" in README
    assert "it adds {:.2f} and {:.2f}.".format(*added) in README
    points = [-change(f"Q_{q}", "caltech101", column=1) for q in (128, 512, 2048)]
    assert f"take {min(points):.0f} to {max(points):.0f} points off the test error" in README
    uniform = [change("uniform_draws", name) for name in ("mnist", "inria_person")]
    assert "adds {:.2f} decades on MNIST and {:.1f} on INRIA at 1,000".format(*uniform) in README
    small = [
        abs(change(variant, "mnist", method, rounds, base=base))
        for method, variant, base, ends in (
            ("mas_naive", "components_1", "default", ("10", "100", "1000")),
            ("mas_naive", "components_5", "default", ("10", "100", "1000")),
            ("tasting_1q", "R_3", "default", ("10", "100", "1000")),
            ("tasting_1q", "R_30", "default", ("10", "100", "1000")),
            ("uniform_naive", "exact", "8_bit", ("10", "100", "200")),
        )
        for rounds in ends
    ]
    assert f"move the loss on MNIST by {max(small):.2f} decades at most" in README


def test_mas_naive_on_inria():
    """Behind Tasting 1.Q with all windows of ours, ahead of it in the paper."""
    losses = defaultdict(list)
    for row in lines("sampling-examples"):
        if (row["dataset"], row["rounds"]) == ("inria_person_mash", "1000"):
            losses[row["algorithm"], int(row["n_train"])].append(float(row["log10_loss"]))
    sizes = sorted({n for _, n in losses})
    gaps = [
        statistics.mean(losses["mas_naive", n]) - statistics.mean(losses["tasting_1q", n])
        for n in sizes
    ]
    slope = statistics.linear_regression([math.log2(n) for n in sizes], gaps).slope
    printed = TABLES["inria_person"]
    ahead = printed["tasting_1q"][2][0] - printed["mas_naive"][2][0]
    assert f"lies {gaps[-1]:.2f} decades behind Tasting 1.Q with our {sizes[-1]:,};" in README
    assert f"each doubling takes off {-slope:.2f} (above)" in README
    assert f"has it {ahead:.2f} ahead." in README
    assert round(14_608 / sizes[-1]) == 6


def test_repetitions_and_seeds():
    for artefact, seeds, scale in (
        ("table1", range(5, 10), "overnight"),
        ("table2", range(5, 10), "overnight"),
        ("table3", range(5), "overnight"),
        ("table4", range(5, 10), "overnight"),
        ("table3-rules", range(5, 10), "laptop"),
        ("figure1", range(10, 20), "laptop"),
        ("figure2", range(10, 20), "laptop"),
        ("choices", range(3), "laptop"),
        ("milliseconds-table", range(1), "laptop"),
    ):
        record = json.loads((RESULTS / f"sampling-{artefact}" / "meta.json").read_text())
        assert (record["seeds"], record["scale"]) == (list(seeds), scale)
