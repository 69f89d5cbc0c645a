"""A preregistered claim as boards and pages show it: both intervals, what it was, its readings."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from experiments.claims.confirming import rough
from experiments.claims.declared import Claim, Reading
from experiments.claims.judging import RESTS_ON, hopeless
from experiments.claims.lines import RULE_CHANGED, outlook
from experiments.claims.verdicts import DECIDED, SIGNS, UNDECIDED, WITHDRAWN

Left = Callable[[Claim, int], float]
"""The minutes that a claim with so many repetitions still needs."""

ToRead = Callable[[Reading], float]
"""The minutes that the repetitions of a reading still take."""


class Interval(NamedTuple):
    """An effect with its interval, NaN where none is known; of too few divisions without an end."""

    effect: float
    low: float
    high: float

    def scaled(self, by: float) -> Interval:
        """Return it in another unit."""
        return Interval(*(by * value for value in self))

    def in_words(self, digits: int = 3) -> str:
        """Return effect and interval as text, empty where none is known."""
        if math.isnan(self.low):
            return ""
        if math.isinf(self.low):
            return f"{self.effect:+.{digits}f} (too few divisions for an interval)"
        return f"{self.effect:+.{digits}f} [{self.low:+.{digits}f}, {self.high:+.{digits}f}]"


NOTHING = Interval(math.nan, math.nan, math.nan)


class Read(NamedTuple):
    """A reading of a claim on the scoreboard."""

    name: str
    reason: str
    seen: bool  # Whether it is exploratory
    verdict: str  # Empty before its repetitions are there
    found: Interval  # In the claim's unit
    contradicts: bool  # Whether its interval and the claim's verdict cannot both hold
    needs: str  # What it still needs; empty if it was run
    new: Interval = NOTHING  # For new data of the kind
    own: Interval = NOTHING  # The claim as it is, on the reading's repetitions

    @property
    def counts(self) -> bool:
        """Whether it was run and changes something."""
        return bool(self.verdict) and self.own.effect != self.found.effect

    def in_words(self) -> str:
        """Return what it says in one clause."""
        mark = "†" * self.seen
        if not self.verdict:
            return f"{self.name}{mark}: not run yet, {self.needs}"
        return f"{self.name}{mark}: {self.verdict}, {self.found.in_words()}{self.beside()}"

    def beside(self) -> str:
        """Say what the claim's own effect is on the same repetitions."""
        if math.isnan(self.own.effect):
            return ""
        if self.own.effect == self.found.effect:
            return ", as ours"
        return f", ours there {self.own.effect:+.3f}"


class Line(NamedTuple):
    """A preregistered claim on the scoreboard; effects are in its unit."""

    claim: str
    sentence: str
    place: str
    verdict: str
    sign: str
    sets: tuple[str, ...]  # Data sets
    of_sets: tuple[Interval, ...]  # The effect on each of them; empty before the first look
    found: Interval  # On these data
    new: Interval  # For new data of the kind
    delta: float  # delta, unit, reason: See :class:`~experiments.claims.declared.Claim`
    unit: str
    reason: str
    n: int  # Repetitions
    needs: str  # What it still needs, with the minutes on 2 cores; empty if it is decided
    chance: float  # Of a verdict by the declared repetitions; NaN where it is not predicted
    carries_over: str = ""  # Whether new data have the same verdict; empty where nothing is known
    robust: bool = False  # Whether it is decided, and no reading contradicts it
    due: bool = False  # Whether its verdict waits for fresh repetitions, as a rule was changed
    fresh: bool = False  # Whether these alone have judged it
    finds: float = math.nan  # Smallest effect that is found on these data
    floor: float = math.nan  # Smallest effect of new data that any number of repetitions finds
    none_as_good: str = ""  # In how many repetitions no model is as good, by set
    was: str = ""  # The verdict it was published with and its interval; empty where it was none
    changed: str = ""  # Why its sets, its effect or its verdict are others
    why: str = ""  # That, or why it is judged by another number of repetitions
    kind: str = "direction"  # What is asked of the effect
    readings: tuple[Read, ...] = ()
    unread: str = ""  # Why it has none
    marks: str = ""  # What is to be known beside the verdict, in few words each

    @property
    def hangs(self) -> bool:
        """Whether a reading contradicts it."""
        return any(read.contradicts for read in self.readings)

    @property
    def effect(self) -> float:
        """The effect on these data."""
        return self.found.effect

    def as_record(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        record = self._asdict() | self.found._asdict()
        record |= {"new_low": self.new.low, "new_high": self.new.high}
        del record["found"], record["new"]
        record["of_sets"] = [one.effect for one in self.of_sets]
        record["low_of_sets"] = [one.low for one in self.of_sets]
        record["high_of_sets"] = [one.high for one in self.of_sets]
        record["readings"] = [
            one._asdict() | {name: getattr(one, name)._asdict() for name in ("found", "new", "own")}
            for one in self.readings
        ]
        return record

    def said(self) -> str:
        """Return verdict, effect and interval in the claim's unit, and what is needed."""
        text = f"{self.sign} {self.verdict}: {self.claim}"
        if not math.isnan(self.effect):
            effect, rest = self.found.in_words(4).split(" ", 1)
            text += f", {effect} {self.unit} {rest}"
        text += f", δ = {self.delta:g}, n = {self.n}"
        return text + f"; needs {self.needs}" * bool(self.needs)

    def aside(self) -> list[str]:
        """Return what stands in small beside verdict and effect, one clause each."""
        return self.of_verdict() + self.of_effect()

    def of_verdict(self) -> list[str]:
        """Say what it was, who judges it, whether it carries over and hangs on a reading."""
        said = []
        if self.changed:
            said.append(f"was {self.was}: " * bool(self.was) + self.changed)
        if self.fresh:
            said.append(f"rule changed after rows were seen: {self.n} later ones judge alone")
        if self.carries_over:
            said.append(
                "carries over to new data"
                if self.carries_over == "yes"
                else "does not carry over to new data"
            )
        elif self.verdict in DECIDED and not math.isnan(self.effect) and math.isnan(self.new.low):
            said.append("new data unknown: rows tested never change")
        said += [mark for mark in self.marks.split("; ") if mark.startswith(RESTS_ON)]
        if not self.due:
            said += self._as_read()
        return said

    def of_effect(self) -> list[str]:
        """Say which effect could be found, and where no model is as good."""
        said = []
        if self.verdict != WITHDRAWN and self.floor > self.delta and math.isfinite(self.finds):
            at_least = " at least" * math.isnan(self.new.low)
            said.append(
                f"finds {self.finds:.2g} {self.unit} on these data; of new data no number of "
                f"repetitions finds less than {self.floor:.2g}{at_least}"
            )
        if self.none_as_good.replace("0", "").strip(" -"):
            counts = zip(self.sets, self.none_as_good.split(), strict=True)
            parts = [(float(n) / self.n, name) for name, n in counts if n != "-"]
            listed = ", ".join(f"{part:.0%} of cases on {name}" for part, name in parts)
            then = "nothing is saved" if "cost" in self.unit else "the loss is that at equal cost"
            said.append(f"no model validates as well in {listed}: {then}")
        return said

    def _as_read(self) -> list[str]:
        """Say whether it hangs on a reading, as far as any of them is decided."""
        if other := [read.name for read in self.readings if read.contradicts]:
            return [f"hangs on a reading: {', '.join(other)}"]
        if not self.robust:
            return [f"not read otherwise: {self.unread}"] * bool(self.unread)
        verdicts = [read.verdict for read in self.readings if read.counts]
        decided = sum(verdict in DECIDED for verdict in verdicts)
        return [f"robust: {decided} of {len(verdicts)} readings decided, none contradicts"]


def line_of(
    one: Claim,
    row: Mapping,
    left: Left,
    was: Mapping | None = None,
    read: Sequence = (),
    to_read: ToRead = lambda reading: math.nan,
) -> Line:
    """Return the line of a claim from its row of the table, those of its readings and its past."""
    intervals = zip(*(map(float, row[name].split()) for name in _OF_SETS), strict=True)
    due = RULE_CHANGED in row["needs"]
    verdict = row["verdict"]
    return Line(
        claim=one.id,
        sentence=one.sentence,
        place=one.place,
        verdict=verdict,
        sign=SIGNS[verdict],
        sets=tuple(part.dataset for part in one.parts),
        of_sets=tuple(Interval(*three) for three in intervals),
        found=Interval(*(row[name] for name in ("effect", "low", "high"))),
        new=Interval(*(row[name] for name in ("effect", "new_low", "new_high"))),
        delta=one.delta,
        unit=one.unit,
        reason=one.reason,
        n=int(row["n"]),
        needs=_needs(one, row, left),
        chance=row["chance"],
        carries_over=row["carries_over"],
        robust=row["robust"] == "yes",
        due=due,
        fresh=one.seen > 0 and not due,
        finds=row["finds"],
        floor=row["floor"] * one.delta,
        none_as_good=row["none_as_good"],
        was="" if was is None else _was(was),
        changed=one.withdrawn or one.changed,
        why=one.withdrawn or one.changed or ("" if was is None else _other_n(one, row, was)),
        kind=one.kind,
        readings=tuple(_read(one, reading, read, row, to_read) for reading in one.readings),
        unread=one.unread,
        marks=row["marks"],
    )


_OF_SETS = ("of_sets", "low_of_sets", "high_of_sets")


def _was(row: Mapping) -> str:
    """Say a published verdict with its interval."""
    found = Interval(row["effect"], row["low"], row["high"])
    return f"{row['verdict']} {found.in_words()} by {row['n']} repetitions"


def _other_n(one: Claim, row: Mapping, was: Mapping) -> str:
    """Say why it is judged by another number of repetitions than it was published with."""
    if row["n"] < was["n"]:
        return "The interval on these data decides it at an earlier look."
    if row["n"] == was["n"]:
        return ""
    folds = any(part.folds for part in one.parts)
    return "An interval needs four whole divisions." if folds else "By more repetitions."


def _read(
    one: Claim, reading: Reading, rows: Sequence[Mapping], judged: Mapping, to_read: ToRead
) -> Read:
    """Return a reading from its row of the table of readings, if it has one."""
    mine = (row for row in rows if (row["claim"], row["reading"]) == (one.id, reading.name))
    row = next(mine, {})
    its = row.get("verdict", "")
    found, new, own = (
        Interval(*(row.get(name, math.nan) for name in names))
        for names in (
            ("effect", "low", "high"),
            ("effect", "new_low", "new_high"),
            ("own_effect", "own_low", "own_high"),
        )
    )
    needs = "" if its else f"about {rough(to_read(reading))} min: decide {one.id} --readings"
    other = reading.name in judged["contradicted_by"].split("; ")
    return Read(reading.name, reading.reason, reading.seen, its, found, other, needs, new, own)


def _needs(one: Claim, row: Mapping, left: Left) -> str:
    text = row["needs"]
    if not text or (row["verdict"] != UNDECIDED and not one.seen):
        return text
    minutes, likely = left(one, int(row["n"])), outlook(one, row["chance"])
    if int(row["n"]) == 0:
        text = f"not run yet: {one.looks[0]} repetitions of each set"
    if minutes and not hopeless(row["chance"]):
        text += f", about {rough(minutes)} min"
    return f"{text}; {likely}" if likely else text
