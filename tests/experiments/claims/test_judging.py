"""Verdicts of declared claims from rows, against plain arithmetic."""

from __future__ import annotations

import dataclasses
import math
import re
import statistics

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from experiments.claims.command import _wanted
from experiments.claims.declared import (
    FIRST_SEED,
    Claim,
    Part,
    Reading,
    check_declared,
    discover,
    every,
    n_judged,
    otherwise,
)
from experiments.claims.judging import judge, judge_all
from experiments.claims.lines import as_row, outlook, readings_of, table
from experiments.publishing.output import DamagedResults


def effects_of(name):
    return lambda rows: rows.loc[rows["dataset"] == name, "effect"].to_numpy()


CLAIM = Claim(
    "toy-better", "Better.", "section 1", "points", 0.5, "half a point",
    (Part("toy", "one", effects_of("one")), Part("toy", "two", effects_of("two"))),
)  # fmt: skip


def runs(one, two, kind="real", overlap=0.0):
    names = ["one"] * len(one) + ["two"] * len(two)
    rows = pd.DataFrame({"dataset": names, "effect": [*one, *two]})
    data = {name: {"kind": kind, "test_overlap": overlap} for name in ("one", "two")}
    return {"toy": (rows, {"data": data})}


def by_hand(values, level, n_sets=2, shared=0.0):
    """The pooled interval from the words of the docstrings, in plain Python."""
    means = [statistics.mean(v) for v in values]
    parts = [statistics.variance(v) * (1 / len(v) + shared) / n_sets**2 for v in values]
    freedom = sum(parts) ** 2 / sum(p**2 / (len(v) - 1) for p, v in zip(parts, values, strict=True))
    half = stats.t.ppf((1 + level) / 2, freedom) * math.sqrt(sum(parts))
    return statistics.mean(means) - half, statistics.mean(means) + half


@pytest.mark.parametrize("overlap", [0.0, 0.5, 1.0])
def test_the_interval_of_a_claim_by_hand(overlap):
    rng = np.random.default_rng(0)
    one, two = rng.normal(2.0, 0.2, 10).tolist(), rng.normal(1.0, 0.4, 10).tolist()
    judged = judge(CLAIM, runs(one, two, overlap=overlap), 12)
    level = 1 - 0.05 / 12 * 0.25
    shared = {0.0: 0.0, 0.5: 1.0, 1.0: 0.0}[overlap]  # Nadeau and Bengio; none is known of 1
    assert (judged.found.low, judged.found.high) == pytest.approx(by_hand((one, two), level))
    assert (judged.new is None) == (overlap == 1)  # of other rows nothing is known
    assert (judged.of_kind.low, judged.of_kind.high) == pytest.approx(
        by_hand((one, two), level, shared=shared)
    )
    assert judged.look.level == pytest.approx(level)


def test_for_new_data_folds_are_wider_by_a_quarter():
    folds = tuple(dataclasses.replace(part, folds=True) for part in CLAIM.parts)
    values = np.random.default_rng(2).normal(1.0, 0.3, (2, 20)).tolist()
    judged = judge(dataclasses.replace(CLAIM, parts=folds, looks=(20,)), runs(*values), 12)
    expected = by_hand(values, judged.look.level, shared=0.25)
    assert (judged.new.low, judged.new.high) == pytest.approx(expected)


def test_on_these_data_folds_of_a_division_are_averaged_first():
    """Twenty folds are four divisions, and so three degrees of freedom a set."""
    folds = tuple(dataclasses.replace(part, folds=True) for part in CLAIM.parts)
    values = np.random.default_rng(1).normal(1.0, 0.3, (2, 20))
    judged = judge(dataclasses.replace(CLAIM, parts=folds, looks=(20,)), runs(*values), 12)
    divisions = values.reshape(2, 4, 5).mean(axis=2).tolist()
    expected = by_hand(divisions, judged.look.level)
    assert (judged.found.low, judged.found.high) == pytest.approx(expected)
    assert judged.found.effect == pytest.approx(values.mean())


def test_each_look_takes_its_own_repetitions_and_the_first_that_decides_ends():
    rng = np.random.default_rng(2)
    sure = rng.normal(3.0, 0.1, (2, 40))
    assert judge(CLAIM, runs(*sure), 1).n == 10
    late = np.concatenate([rng.normal(0.6, 2.0, (2, 10)), rng.normal(3.0, 0.1, (2, 30))], axis=1)
    judged = judge(CLAIM, runs(*late), 1)
    assert judged.n in (20, 40)
    assert judged.verdict == "reproduced"


def test_rows_that_lack_a_column_are_damaged():
    rows, meta = runs([1.0] * 10, [2.0] * 10)["toy"]
    with pytest.raises(DamagedResults, match="kept of toy lack 'effect'"):
        judge(CLAIM, {"toy": (rows.drop(columns="effect"), meta)}, 1)


def test_later_repetitions_choose_no_rival_of_an_earlier_look():
    """Where the rival is the best over the repetitions, those of a look alone say which it is."""

    def over_best(rows):
        rivals = rows.groupby("rival")["effect"].mean()
        return rows.loc[rows["rival"] == rivals.idxmin(), "effect"].to_numpy()

    one, other = np.full(20, 1.0), np.r_[np.full(10, 2.0), np.full(10, -9.0)]
    noise = np.random.default_rng(4).normal(0, 0.01, 20)
    frames = [pd.DataFrame({"dataset": "one", "seed": FIRST_SEED + np.arange(20), "rival": name,
                            "effect": values + noise})
              for name, values in (("a", one), ("b", other))]  # fmt: skip
    rows = pd.concat(frames, ignore_index=True)
    claim = dataclasses.replace(CLAIM, parts=(Part("toy", "one", over_best),))
    meta = {"data": {"one": {"kind": "real", "test_overlap": 0.0}}}
    judged = judge(claim, {"toy": (rows, meta)}, 1)
    assert (judged.verdict, judged.n) == ("reproduced", 10)
    assert judged.found.effect == pytest.approx(1.0, abs=0.02)


def test_a_drawing_beside_the_repetitions_is_none_of_them():
    """Its seed is one of the published rows, which come before those of repetitions."""
    effects = np.r_[np.full(10, 1.0), np.full(10, -9.0)] + np.random.default_rng(4).normal(
        0, 0.01, 20
    )
    rows = pd.DataFrame({"dataset": "one", "seed": FIRST_SEED + np.arange(20), "effect": effects})
    drawing = pd.DataFrame({"dataset": ["one"], "seed": [10], "effect": [np.nan]})
    claim = dataclasses.replace(
        CLAIM,
        parts=(Part("toy", "one", lambda rows: rows["effect"].dropna().to_numpy()),),
        delta=1e-6,
    )
    meta = {"data": {"one": {"kind": "real", "test_overlap": 0.0}}}
    judged = judge(claim, {"toy": (pd.concat([drawing, rows]), meta)}, 1)
    assert judged.look.n == 10
    assert judged.found.effect == pytest.approx(effects[:10].mean())


def beyond(judged):
    """Repetitions that a claim at its limit is said to need."""
    pattern = r"about (\d+) repetitions of each set, beyond its declared limit"
    return int(re.fullmatch(pattern, as_row(judged, "toy")["needs"]).group(1))


def test_what_an_undecided_claim_needs():
    assert as_row(judge(CLAIM, {}, 1), "toy")["needs"] == "10 more repetitions of each set"
    noisy = np.random.default_rng(3).normal(0.3, 1.0, (2, 12))
    judged = judge(CLAIM, runs(*noisy), 1)
    assert (judged.verdict, judged.n, judged.next.n) == ("undecided", 10, 20)
    noisy = np.random.default_rng(3).normal(0.3, 3.0, (2, 40))
    judged = judge(CLAIM, runs(*noisy), 1)
    assert (judged.verdict, judged.next) == ("undecided", None)
    assert beyond(judged) > 40
    # Twenty would find an effect of δ; this is just above δ, which is neither no effect nor more.
    equal = dataclasses.replace(CLAIM, kind="equivalence", looks=(20,))
    near = np.linspace(-1, 1, 20) * 0.2 + 0.5
    judged = judge(equal, runs(near, near), 1)
    assert (judged.verdict, judged.next) == ("undecided", None)
    assert beyond(judged) > 100


def test_a_verdict_that_rests_on_few_divisions_of_one_set_is_marked():
    noise = np.random.default_rng(11).normal(0, 0.1, (2, 20))
    folded = [dataclasses.replace(CLAIM.parts[0], folds=True), CLAIM.parts[1]]
    for parts, loud, marked in (
        (folded, (9, 1), True),
        (folded, (1, 9), False),  # of the loud set there are twenty
        (CLAIM.parts, (9, 1), False),
        (folded[:1], (9, 1), False),  # there is no other
    ):
        claim = dataclasses.replace(CLAIM, parts=tuple(parts), looks=(20,))
        judged = judge(claim, runs(*(9 + noise * np.reshape(loud, (2, 1)))), 1)
        assert judged.verdict == "reproduced"
        mark = "rests on few divisions of one"
        assert (mark in as_row(judged, "toy")["marks"]) == marked


def test_what_repetitions_hardly_decide_needs_other_data():
    """An interval that lies around δ, which more repetitions only make narrower."""
    near = np.linspace(-1, 1, 10) * 0.01 + 0.5
    equal = dataclasses.replace(CLAIM, kind="equivalence")
    judged = judge(equal, runs(near, near), 1)
    assert not judged.hopeless  # as likely on either side
    margin = dataclasses.replace(CLAIM, kind="margin", looks=(10, 11))
    judged = judge(margin, runs(near - 1.001, near - 1.001), 1)
    row = as_row(judged, "toy")
    assert judged.hopeless
    assert judged.chance < 0.05
    assert (row["verdict"], row["needs"]) == ("undecided", "too near a bound")
    assert "by 11 repetitions has a chance of" in outlook(margin, judged.chance)
    kept = {("toy", "one", "overnight"): 10}
    assert _wanted([judged], kept, ["toy"]) == {}
    named = _wanted([judged], kept, ["toy-better"])
    assert named == {"toy": {(name, "overnight", every): 11 for name in ("one", "two")}}
    noisy = np.random.default_rng(3).normal(0.3, 1.0, (2, 10))
    likely = judge(CLAIM, runs(*noisy), 1)
    assert not likely.hopeless
    assert f"has a chance of {likely.chance:.0%}" in outlook(CLAIM, likely.chance)
    assert outlook(CLAIM, judge(CLAIM, {}, 1).chance) == ""


# --- rules that were changed, readings, and what is none of the paper's ------------------------


def with_seeds(one, two):
    """Rows whose seeds are those of repetitions."""
    made = runs(one, two)
    rows, _ = made["toy"]
    rows["seed"] = [*(FIRST_SEED + np.arange(len(one))), *(FIRST_SEED + np.arange(len(two)))]
    return made


def test_a_verdict_that_a_changed_rule_turns_stays_until_fresh_repetitions_judge():
    noise = np.random.default_rng(8).normal(0, 0.1, 20)
    turned = dataclasses.replace(CLAIM, seen=10, fresh=10)
    known = with_seeds(2 + noise[:10], 2 + noise[:10])
    judged = judge(turned, known, 1, "undecided")
    assert (judged.verdict, judged.is_due) == ("undecided", True)
    assert judged.found.low > 0  # though by the changed rule it would be reproduced
    assert "10 fresh repetitions" in as_row(judged, "toy")["needs"]
    assert _wanted([judged], {}, [])["toy"]["one", "overnight", every] == 20
    later = with_seeds(*[np.r_[2 + noise[:10], noise[10:] - 2]] * 2)
    judged = judge(turned, later, 1, "undecided")
    assert (judged.verdict, judged.n, judged.is_due) == ("opposite", 10, False)
    assert judged.found.effect == pytest.approx(np.mean(noise[10:] - 2))
    assert judged.look.level == 1 - 0.05


def test_a_claim_that_is_asked_again_spends_a_share_of_the_error_rate_each_time():
    noise = np.random.default_rng(8).normal(0, 0.1, 30)
    again = dataclasses.replace(CLAIM, seen=20, fresh=10, asked=2)
    other = dataclasses.replace(CLAIM, id="toy-other", looks=(10,))
    check_declared((again, other))
    known = with_seeds(*[np.r_[noise[:20], 2 + noise[20:]]] * 2)
    judged = judge_all((again, other), known)
    assert [one.look.level for one in judged] == [1 - 0.05 / 3] * 2
    assert judged[0].found.effect == pytest.approx(np.mean(2 + noise[20:]))  # of the last alone
    with pytest.raises(ValueError, match="asked again"):
        check_declared((dataclasses.replace(again, seen=0),))


def test_readings_are_judged_alone_and_may_contradict():
    noise = np.random.default_rng(9).normal(0, 0.1, 10)
    alone = Reading("alone", "why", (CLAIM.parts[1],))
    never = Reading("never run", "why", (dataclasses.replace(CLAIM.parts[1], dataset="three"),))
    claim = dataclasses.replace(CLAIM, readings=(alone, never))
    judged = judge(claim, runs(2 + noise, 1 + noise), 1)
    assert [one.verdict for one in judged.readings] == ["reproduced", ""]
    assert (judged.robust, judged.contradicted_by) == ("yes", [])
    judged = judge(claim, runs(4 + noise, noise), 1)
    assert (judged.verdict, judged.readings[0].verdict) == ("reproduced", "no effect (equivalent)")
    assert (judged.robust, judged.contradicted_by) == ("no", ["alone"])
    row = as_row(judged, "toy")
    assert row["readings"] == "alone: no effect (equivalent); never run: not run yet"
    assert "hangs on a reading" in row["marks"].split("; ")
    (line,) = readings_of(judged)
    assert (line["reading"], line["own_effect"]) == ("alone", row["effect"])


def test_a_reading_that_changes_nothing_counts_for_nothing():
    noise = np.random.default_rng(9).normal(0, 0.1, 10)
    claim = dataclasses.replace(CLAIM, readings=(Reading("the same", "why", CLAIM.parts),))
    judged = judge(claim, runs(2 + noise, 1 + noise), 1)
    assert judged.readings[0].verdict == judged.verdict == "reproduced"
    assert judged.robust == ""
    assert as_row(judged, "toy")["readings"] == "the same: reproduced, as ours"


@pytest.mark.parametrize(("as_well", "effect"), [(False, 0.0), (True, 1.0)])
def test_a_reading_may_choose_from_what_is_set_and_the_claims_own(as_well, effect):
    """By other settings the method is at 0, by the claim's own at 1: the best of what it has."""
    rows, meta = runs([0.0] * 10, [])["toy"]
    rows = rows.assign(algorithm="one", seed=FIRST_SEED + np.arange(10))
    best = Part("toy", "one", lambda rows: rows.groupby("seed")["effect"].max().to_numpy())
    reading = Reading("set", "why", (otherwise(best, ["one.bins=2"], as_well=as_well),))
    both = {"toy": (rows.assign(effect=1.0), meta), reading.parts[0].artefact: (rows, meta)}
    claim = dataclasses.replace(CLAIM, parts=(best,), readings=(reading,))
    assert judge(claim, both, 1).readings[0].found.effect == effect


def test_sets_that_go_opposite_ways_are_mixed_unless_they_are_equal_together():
    noise = np.random.default_rng(10).normal(0, 0.1, 10)
    assert judge(CLAIM, runs(4 + noise, noise - 1), 1).verdict == "mixed"
    assert judge(CLAIM, runs(1 + noise, noise - 1), 1).verdict == "no effect (equivalent)"


def test_withdrawn_claims_are_shown_and_take_no_place():
    gone = dataclasses.replace(CLAIM, withdrawn="the paper says it of others")
    judged = judge(gone, runs([1.0, 2.0] * 5, [1.0, 2.0] * 5), 1)
    assert (judged.verdict, judged.found.effect) == ("withdrawn", 1.5)
    many = [dataclasses.replace(CLAIM, id=str(i)) for i in range(12)]
    check_declared((*many, gone))
    denied = dataclasses.replace(CLAIM, id="denied", paper_effect=-1.0)
    check_declared((*many, gone, denied))
    assert n_judged((*many, gone, denied)) == 13  # what the paper denies spends no error rate


def test_repetitions_without_a_model_that_is_as_good_are_counted():
    parts = (
        dataclasses.replace(CLAIM.parts[0], none=lambda rows: np.arange(20) < 3),
        CLAIM.parts[1],
    )
    values = np.random.default_rng(2).normal(3.0, 0.1, (2, 20))
    judged = judge(dataclasses.replace(CLAIM, parts=parts), runs(*values), 1)
    assert as_row(judged, "toy")["none_as_good"] == "3 -"


def test_a_claim_is_asked_of_data_that_the_paper_says_it_of():
    claims = {one.id: one for claims in discover().values() for one in claims}
    told, gone = claims["cegb-saving-ranking"], claims["cegb-saving"]
    assert gone.withdrawn
    for wrong in (
        dataclasses.replace(gone, withdrawn=""),  # as it was published: documents, asked of classes
        dataclasses.replace(told, parts=(*told.parts, gone.parts[0])),
    ):
        with pytest.raises(ValueError, match="is said of"):
            check_declared((wrong,))
    check_declared((told, gone))


def test_stand_ins_are_not_judged():
    judged = judge(CLAIM, runs(np.ones(10), np.ones(10), kind="synthetic"), 1)
    assert (judged.verdict, judged.found) == ("not testable here", None)


@pytest.mark.parametrize(("paper_effect", "verdict"), [(0.0, True), (-0.1, True), (0.1, False)])
def test_what_the_paper_prints_can_deny_its_own_sentence(paper_effect, verdict):
    """Whatever our rows say; their effect stands beside, and no more are asked for."""
    denied = dataclasses.replace(CLAIM, paper_effect=paper_effect)
    rng = np.random.default_rng(2)
    judged = judge(denied, runs(rng.normal(2, 0.1, 10), rng.normal(2, 0.1, 10)), 1)
    assert (judged.verdict == "denied by the paper's own table") is verdict
    assert judged.found.effect == pytest.approx(2, abs=0.1)
    assert (judge(denied, {}, 1).next is None) is verdict


def test_an_artefact_has_one_scale():
    parts = (CLAIM.parts[0], dataclasses.replace(CLAIM.parts[1], scale="laptop"))
    with pytest.raises(ValueError, match="Several scales"):
        check_declared((dataclasses.replace(CLAIM, parts=parts),))


def test_a_table_has_a_line_for_each_claim():
    found = table(judge_all([CLAIM, dataclasses.replace(CLAIM, id="toy-other")], {}), "toy")
    assert found["claim"].tolist() == ["toy-better", "toy-other"]
    assert found["sets"].tolist() == ["one two"] * 2


@pytest.mark.parametrize(
    "wrong",
    [
        (CLAIM, CLAIM),
        tuple(dataclasses.replace(CLAIM, id=str(i)) for i in range(13)),
        (dataclasses.replace(CLAIM, parts=()),),
        (dataclasses.replace(CLAIM, delta=0.0),),
        (dataclasses.replace(CLAIM, delta=math.nan),),
        (dataclasses.replace(CLAIM, kind="other"),),
        (dataclasses.replace(CLAIM, reason=""),),
        (dataclasses.replace(CLAIM, looks=(20, 10)),),
    ],
)
def test_declarations_that_cannot_be_judged_are_refused(wrong):
    with pytest.raises(ValueError, match=r"claims|needs|Looks"):
        check_declared(wrong)


def test_effects_of_queries_are_crossed_with_repetitions():
    rng = np.random.default_rng(5)
    table = rng.normal(1.0, 0.1, (12, 30)) + rng.normal(0.0, 0.5, 30)
    part = Part("toy", "one", lambda rows: table)
    claim = dataclasses.replace(CLAIM, parts=(part,))
    judged = judge(claim, runs([0.0], [0.0]), 1)
    first = table[:10]
    mean, of_row, of_column = first.mean(), first.mean(axis=1), first.mean(axis=0)
    rest = first - of_row[:, None] - of_column + mean
    squares = [
        30 * np.var(of_row, ddof=1), 10 * np.var(of_column, ddof=1), np.sum(rest**2) / (9 * 29)
    ]  # fmt: skip
    by_row, by_column = max(squares[0] - squares[2], 0) / 30, (squares[1] - squares[2]) / 10
    variance = by_row / 10 + by_column / 30 + squares[2] / 300
    assert judged.found.effect == pytest.approx(mean)
    half = judged.new.high - judged.new.effect
    t = stats.t.ppf((1 + judged.look.level) / 2, judged.new.freedom)
    assert half == pytest.approx(t * math.sqrt(variance))
    these = stats.ttest_1samp(of_row, 0).confidence_interval(judged.look.level)
    assert (judged.found.low, judged.found.high) == pytest.approx((these.low, these.high))
    assert 20 < judged.new.freedom < 40  # of the queries, which vary most
