"""Scanning a picture: every window of it is scored from one integral image, and left early.

A detector is trained on tables of Haar-like bytes, one row a window. To scan a picture, no window
is cut out and no row is made: sums over rectangles come from an integral image that all windows
share, and only for the stumps that a window passes until it leaves. Scores, decisions and
evaluations equal those of the model on the table of the windows' bytes, bit for bit.

Larger objects are found in smaller copies of the picture.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..decision_dag.rewards import SPAN_BITS
from ..estimators.parameters import check_number, check_whole_number
from ..kernels.decorators import allocating_kernel, kernel, resolve_n_threads, small_kernel, threads
from ..kernels.loops import for_each
from ..stumps.haar import (
    HaarFeatures,
    check_features,
    corners_of,
    deviation_at,
    goes_right,
    haar_stumps,
    integral_images,
)
from .detectors import ANEW, ONWARD, Policy, RunningSum, StageTable, detector_of

_TURNS = 8  # windows that a decision DAG sends on in turns


class Level(NamedTuple):
    """The windows of a picture at one scale, row by row."""

    # How many times smaller the picture was, in the geometric mean of height and width
    scale: float
    # (n_rows, 2) int64: top and bottom of each row of windows, in pixels of the picture
    down: np.ndarray
    across: np.ndarray  # (n_columns, 2) int64: left and right of each column


@dataclass(frozen=True)
class Scan:
    """The windows of a picture at all scales, row by row, the largest picture first."""

    scores: np.ndarray  # (n_windows,) float64: what the model's ``decision_function`` gives
    decisions: np.ndarray  # (n_windows,) bool: whether the score is above the threshold
    evaluations: np.ndarray  # (n_windows,) int64: stumps evaluated; constant votes are none
    levels: tuple[Level, ...]  # Where the windows are

    @property
    def boxes(self) -> np.ndarray:
        """Top, left, bottom, right of all windows; see :meth:`boxes_of`."""
        return self.boxes_of(np.arange(len(self.scores)))

    @property
    def scale(self) -> np.ndarray:
        """How many times smaller the picture was: (n_windows,) float64."""
        sizes = [len(level.down) * len(level.across) for level in self.levels]
        return np.repeat([level.scale for level in self.levels], sizes)

    def boxes_of(self, windows: np.ndarray) -> np.ndarray:
        """Give the outlines of windows."""
        windows = np.asarray(windows, dtype=np.int64)
        boxes = np.empty((len(windows), 4), dtype=np.int64)
        end = 0
        for level in self.levels:
            begin, end = end, end + len(level.down) * len(level.across)
            inside = np.flatnonzero((windows >= begin) & (windows < end))
            row, column = np.divmod(windows[inside] - begin, len(level.across))
            boxes[inside, ::2], boxes[inside, 1::2] = level.down[row], level.across[column]
        return boxes

    def strongest(self, overlap: float = 0.3) -> np.ndarray:
        """Choose among detections that overlap the one with the highest score."""
        waiting = np.flatnonzero(self.decisions)
        waiting = waiting[np.argsort(-self.scores[waiting], kind="stable")]
        boxes, chosen = self.boxes_of(waiting), []
        while len(waiting):
            chosen.append(waiting[0])
            others = ~(_intersection_over_union(boxes[0], boxes) > overlap)
            others[0] = False
            waiting, boxes = waiting[others], boxes[others]
        return np.array(chosen, dtype=np.int64)


def _intersection_over_union(box: np.ndarray, boxes: np.ndarray) -> np.ndarray:
    corner = np.maximum(box[:2], boxes[:, :2]), np.minimum(box[2:], boxes[:, 2:])
    common = np.prod(np.maximum(corner[1] - corner[0], 0), axis=1)
    sizes = [np.prod(b[..., 2:] - b[..., :2], axis=-1) for b in (box, boxes)]
    return common / (sizes[0] + sizes[1] - common)


@kernel
def _scan_row_by_sum(i, images, window, stumps, follow, places, scores, left, evaluations):
    tops, lefts = places
    n_stumps = follow.vote.shape[0]
    for j in range(lefts.shape[0]):
        at = tops[i] * images.width + lefts[j]
        deviation = deviation_at(images, at, window[0], window[1])
        score, t = 0.0, 0
        while True:
            begin = follow.begin[t]
            if begin == begin:  # no NaN
                score = begin
            right = goes_right(stumps, t, images.sums, at, deviation)
            score += follow.vote[t, np.uintp(right)]
            if score < follow.threshold[t] or t == n_stumps - 1:
                break
            t += 1
        scores[i, j] = score
        left[i, j] = follow.stage[t]
        evaluations[i, j] = follow.passed[t]


@kernel
def _scan_sum(images, window, stumps, follow, places, scores, left, evaluations):
    """Add up votes for each window until it leaves.

    Tops and lefts (`places`) are scanned in all pairs. What is filled in has a row for each top and
    a column for each left: scores, the stage at which the window left, from 1, and evaluations.
    """
    captured = images, window, stumps, follow, places, scores, left, evaluations
    for_each(_scan_row_by_sum, places[0].shape[0], True, captured)


@allocating_kernel
def _scan_row_by_stages(i, images, window, stumps, follow, places, scores, left, evaluations):
    tops, lefts = places
    n_stages = follow.constant.shape[0]
    went = np.zeros(follow.answer.shape[0], dtype=np.int64)
    for j in range(lefts.shape[0]):
        at = tops[i] * images.width + lefts[j]
        deviation = deviation_at(images, at, window[0], window[1])
        score, k = 0.0, 0
        while True:
            if follow.start[k] != ONWARD:
                score = follow.constant[k]
            if follow.start[k] == ANEW:
                for t in range(follow.stop[k]):
                    score += follow.weight[t, k] * follow.answer[t, went[t]]
            for t in range(follow.stop[k], follow.stop[k + 1]):
                went[t] = goes_right(stumps, t, images.sums, at, deviation)
                score += follow.vote[t, went[t]]
            k += 1
            if score < follow.threshold[k - 1] or k == n_stages:
                break
        scores[i, j] = score
        left[i, j] = k
        evaluations[i, j] = follow.passed[k - 1]


@kernel
def _scan_stages(images, window, stumps, follow, places, scores, left, evaluations):
    """Walk each window through the stages until it leaves; as above, with a StageTable."""
    captured = images, window, stumps, follow, places, scores, left, evaluations
    for_each(_scan_row_by_stages, places[0].shape[0], True, captured)


@kernel
def bin_of(score: int, n_bins: int, running: bool, ran: int) -> int:
    """Cell of one score (in steps), as :func:`algorithms.decision_dag.rewards.cell_of` says.

    A call with arrays counts who holds them, which takes longer than a stump.
    """
    half = ran if running else np.int64(1) << (SPAN_BITS - 1)
    if half == 0:
        return n_bins // 2
    if score >= half:
        return n_bins - 1
    at = (score + half) * n_bins
    return max(at // (2 * half) if running else at >> SPAN_BITS, 0)


@small_kernel
def _pass_stump(images, stumps, answer, jump, cells, split, deviation, g, row, w, t):
    """Let window w of a row pass stump t; the next one that it is sent to.

    Of each window of the row: `g`, its score in steps beyond that before any stump; and `row`, its
    place, its evaluations, and the sizes of what was evaluated.
    """
    window, stump = np.uintp(w), np.uintp(t)
    right = goes_right(stumps, stump, images.sums, row[0, window], deviation[window])
    score = g[window] + answer[stump, np.uintp(right)]
    ran = row[2, window] + cells.sizes[stump]
    g[window], row[2, window] = score, ran
    row[1, window] += np.int64(split[stump])
    cell = bin_of(score, cells.n_bins, cells.running, ran)
    return np.int64(jump[np.uintp(t + 1), np.uintp(cell)])


@allocating_kernel
def _scan_row_by_policy(i, images, window, stumps, follow, places, scores, left, evaluations):
    """A few windows take turns, as where one goes next is known late.

    Meanwhile the processor is at work on the others; one that has quit gives way to the next of the
    row.
    """
    tops, lefts = places
    answer, jump, cells, split = follow
    n_stumps, n_windows = answer.shape[0], lefts.shape[0]
    first = np.int64(jump[0, bin_of(0, cells.n_bins, cells.running, 0)])
    # Windows beyond the last one are begun, but never finished.
    deviation = np.ones(n_windows + _TURNS)
    g = np.zeros(n_windows + _TURNS, dtype=np.int64)
    row = np.zeros((3, n_windows + _TURNS), dtype=np.int64)
    for j in range(n_windows):
        row[0, j] = tops[i] * images.width + lefts[j]
        deviation[j] = deviation_at(images, row[0, j], window[0], window[1])
    turn, waits = np.arange(_TURNS), np.full(_TURNS, first)
    n_begun = _TURNS if first < n_stumps else n_windows
    while n_begun < n_windows:
        for s in range(_TURNS):
            w = turn[s]
            t = _pass_stump(
                images, stumps, answer, jump, cells, split, deviation, g, row, w, waits[s]
            )
            quits = t == n_stumps
            turn[s] = n_begun if quits else w
            waits[s] = first if quits else t
            n_begun += np.int64(quits)
    for s in range(_TURNS):
        w, t = turn[s], waits[s]
        while w < n_windows and t < n_stumps:
            t = _pass_stump(images, stumps, answer, jump, cells, split, deviation, g, row, w, t)
    for j in range(n_windows):
        left[i, j], evaluations[i, j] = cells.initial[0] + g[j], row[1, j]


@kernel
def _scan_policy(images, window, stumps, follow, places, scores, left, evaluations):
    """Send each window through a decision DAG; as above, with scores in steps, left as such."""
    captured = images, window, stumps, follow, places, scores, left, evaluations
    for_each(_scan_row_by_policy, places[0].shape[0], True, captured)


_KERNELS = {RunningSum: _scan_sum, StageTable: _scan_stages, Policy: _scan_policy}


class PictureScanner:
    """Scores every window of grey pictures with a fitted detector.

    Parameters
    ----------
    model : AdaBoostMH, boosted stumps, or a cascade or MDDAG of stumps
        Fitted on bytes of Haar-like features; two classes. It is taken as it is now: a later `fit`
        changes nothing here.
    features : HaarFeatures
        What each column that the model was fitted on is.
    n_threads : int, optional
        None: all. No result depends on it.

    Attributes
    ----------
    features : HaarFeatures
    window : tuple of int
        Height and width of a window.

    Raises
    ------
    ValueError
        If the model is no such model, or the features are not those of its columns.

    Examples
    --------
    >>> import numpy as np
    >>> from algorithms.adaboost_mh import AdaBoostMH
    >>> from algorithms.on_demand import HaarFeatures, PictureScanner
    >>> X = np.array([[0], [100], [128], [255]], dtype=np.uint8)
    >>> model = AdaBoostMH(n_estimators=1).fit(X, [0, 0, 0, 1])
    >>> left_is_brighter = HaarFeatures(np.array([0]), np.array([[0, 0, 4, 4]]), (4, 4))
    >>> picture = np.zeros((4, 12), dtype=np.uint8)
    >>> picture[:, 4:6] = 200
    >>> scan = PictureScanner(model, left_is_brighter).scan(picture, stride=4, n_scales=1)
    >>> scan.decisions, scan.boxes[scan.strongest()]
    (array([False,  True, False]), array([[0, 4, 4, 8]]))
    """

    def __init__(
        self, model: object, features: HaarFeatures, *, n_threads: int | None = None
    ) -> None:
        self._detector = detector_of(model)
        self.features = check_features(features, self._detector.n_features)
        self.window = self.features.window
        self._corners = corners_of(self.features)
        self._n_threads = resolve_n_threads(n_threads)

    def scan(
        self,
        picture: np.ndarray,
        *,
        stride: int = 1,
        scale_step: float = 1.25,
        n_scales: int | None = None,
        threshold: float = 0.0,
    ) -> Scan:
        """Score the windows of a picture.

        Parameters
        ----------
        picture : array-like of shape (height, width), uint8
            Grey levels.
        stride : int, default=1
            Pixels from a window to the next one, at each scale.
        scale_step : float, default=1.25
            How many times smaller each copy of the picture is than the one before.
        n_scales : int, optional
            At most so many scales; None: as long as a window fits.
        threshold : float, default=0.0
            Windows with a higher score are accepted, but of a cascade none that it rejected.

        Returns
        -------
        Scan

        Raises
        ------
        ValueError
            If the picture is not grey bytes or smaller than a window, or a parameter does not fit.
        """
        picture = _checked_picture(picture, self.window)
        stride = check_whole_number("stride", stride, 1)
        scale_step = check_number("scale_step", scale_step, positive=True)
        if not scale_step > 1.0:
            raise ValueError(f"scale_step must be above 1, got {scale_step}.")
        if n_scales is not None:
            n_scales = check_whole_number("n_scales", n_scales, 1)
        threshold = float(threshold)
        if np.isnan(threshold):
            raise ValueError("threshold must be a number, not NaN.")
        shapes = level_shapes(picture.shape, self.window, scale_step, n_scales)
        levels = [_level(picture.shape, shape, self.window, stride) for shape in shapes]
        n_windows = [len(level.down) * len(level.across) for level in levels]
        ends = np.cumsum(n_windows)
        scores, evaluations = np.empty(ends[-1]), np.empty(ends[-1], dtype=np.int64)
        decisions = np.empty(ends[-1], dtype=bool)
        for shape, n, end in zip(shapes, n_windows, ends, strict=True):
            part = slice(end - n, end)
            smaller = picture if shape == picture.shape else shrunk(picture, shape)
            left = self._walk(smaller, stride, scores[part], evaluations[part])
            decided, remained = self._detector.finish(left, scores[part])
            scores[part], decisions[part] = decided, remained & (decided > threshold)
        return Scan(scores, decisions, evaluations, tuple(levels))

    def _walk(self, picture: np.ndarray, stride: int, scores, evaluations) -> np.ndarray:
        """Fill in scores and evaluations of each window; how it left, (n_windows,) int64."""
        votes, follow = self._detector.votes, self._detector.follow
        images = integral_images(picture)
        stumps = haar_stumps(self._corners, votes.feature, votes.cut, picture.shape[1])
        places = _places(picture.shape, self.window, stride)
        grid = tuple(map(len, places))
        left = np.empty(grid, dtype=np.int64)
        with threads(self._n_threads, left.size):
            _KERNELS[type(follow)](
                images, self.window, stumps, follow, places,
                scores.reshape(grid), left, evaluations.reshape(grid),
            )  # fmt: skip
        return left.ravel()


def _places(shape, window, stride: int) -> tuple[np.ndarray, np.ndarray]:
    """Tops and lefts of the windows of a picture."""
    tops, lefts = (
        np.arange(0, side - extent + 1, stride) for side, extent in zip(shape, window, strict=True)
    )
    return tops, lefts


def _level(whole, shape, window, stride: int) -> Level:
    """Where the windows of a smaller picture are in the whole one."""
    edges = [
        np.rint((starts[:, None] + [0, extent]) * (side / new)).astype(np.int64)
        for starts, extent, side, new in zip(
            _places(shape, window, stride), window, whole, shape, strict=True
        )
    ]
    return Level(float(np.sqrt(np.prod(whole) / np.prod(shape))), *edges)


def _checked_picture(picture, window: tuple[int, int]) -> np.ndarray:
    """Grey bytes, contiguous, not smaller than a window."""
    picture = np.asarray(picture)
    if picture.ndim != 2 or picture.dtype != np.uint8:
        raise ValueError(
            "picture must be grey levels as uint8 of shape (height, width), got "
            f"{picture.dtype} of shape {picture.shape}."
        )
    if picture.shape[0] < window[0] or picture.shape[1] < window[1]:
        raise ValueError(
            f"The picture has {picture.shape[0]}×{picture.shape[1]} pixels and is smaller than a "
            f"window of {window[0]}×{window[1]}."
        )
    return np.ascontiguousarray(picture)


# --- smaller copies of a picture ------------------------------------------------------------------


def shrunk(picture: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Shrink grey bytes to the mean over the area that each new pixel covers.

    Means of whole numbers, rounded half up: the same on every processor.
    """
    small = np.empty(shape, dtype=np.uint8)
    _shrink(np.ascontiguousarray(picture), small)
    return small


@allocating_kernel
def _shrink(picture, small):
    """Fill the smaller picture. A pixel has as many parts down and across as there are new ones."""
    (height, width), (n_down, n_across) = picture.shape, small.shape
    area = np.float64(height) * np.float64(width)
    row, before = np.empty(width, dtype=np.int64), np.zeros(width + 1, dtype=np.int64)
    for i in range(n_down):
        row[:] = 0
        begin, end = i * height, (i + 1) * height
        for r in range(begin // n_down, (end - 1) // n_down + 1):
            share = min(end, (r + 1) * n_down) - max(begin, r * n_down)
            for c in range(width):
                row[c] += share * np.int64(picture[r, c])
        for c in range(width):
            before[c + 1] = before[c] + row[c]
        until, whole, part = np.int64(0), np.int64(0), np.int64(0)
        for j in range(n_across):
            last = until
            whole += width // n_across
            part += width % n_across
            if part >= n_across:
                whole, part = whole + 1, part - n_across
            until = before[whole] * n_across + (row[whole] * part if part > 0 else 0)
            # Whole numbers far below 2**53: a quotient that is no whole number is not rounded to
            # one, and so its floor is that of the fraction.
            small[i, j] = np.uint8((np.float64(until - last) + 0.5 * area) / area)


def level_shapes(
    shape: tuple[int, int], window: tuple[int, int], scale_step: float, n_scales: int | None
) -> list[tuple[int, int]]:
    """Give the sizes at which a picture is scanned, as long as a window fits, its own first.

    Each is `scale_step` (above 1) times smaller than the one before; at most `n_scales`, if given.
    """
    shapes, k = [shape], 1
    while n_scales is None or len(shapes) < n_scales:
        smaller = tuple(round(side / scale_step**k) for side in shape)
        if smaller[0] < window[0] or smaller[1] < window[1]:
            break
        if smaller != shapes[-1]:  # a step just above 1 need not change any side
            shapes.append(smaller)
        k += 1
    return shapes
