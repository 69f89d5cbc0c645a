"""Scanning a picture: every window of it is scored from one integral image, and left early.

A detector is trained on tables of Haar-like bytes, one row a window. To scan a picture, no window
is cut out and no row is made: sums over rectangles come from an integral image that all windows
share, and only for the stumps that a window passes until it leaves. Scores, decisions and
evaluations equal those of the model on the table of the windows' bytes, bit for bit.

Larger objects are found in smaller copies of the picture (:mod:`algorithms.on_demand.pyramid`).
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numba import prange

from ..cascades.values import cell_of
from ..estimators.parameters import check_number, check_whole_number
from ..kernels.decorators import parallel_kernel, resolve_n_threads, threads
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
from .pyramid import level_shapes, shrunk


@dataclass(frozen=True)
class Scan:
    """The windows of a picture at all scales, row by row, the largest scale first.

    Attributes
    ----------
    boxes : ndarray of shape (n_windows, 4), int64
        Top, left, bottom, right in pixels of the picture; the last two are exclusive.
    scores : ndarray of shape (n_windows,), float64
        What the model's ``decision_function`` gives.
    decisions : ndarray of shape (n_windows,), bool
        Whether the score is above the threshold.
    evaluations : ndarray of shape (n_windows,), int64
        Stumps evaluated; constant votes are none.
    scale : ndarray of shape (n_windows,), float64
        How many times smaller the picture was.
    """

    boxes: np.ndarray
    scores: np.ndarray
    decisions: np.ndarray
    evaluations: np.ndarray
    scale: np.ndarray

    def strongest(self, overlap: float = 0.3) -> np.ndarray:
        """Choose among detections that overlap the one with the highest score.

        Parameters
        ----------
        overlap : float, default=0.3
            Share of intersection in union above which two boxes see the same.

        Returns
        -------
        ndarray of int64
            Numbers of windows, highest score first; of equal ones the first window.
        """
        waiting = np.flatnonzero(self.decisions)
        waiting = waiting[np.argsort(-self.scores[waiting], kind="stable")]
        chosen = []
        while len(waiting):
            best, waiting = waiting[0], waiting[1:]
            chosen.append(best)
            shared = _intersection_over_union(self.boxes[best], self.boxes[waiting])
            waiting = waiting[~(shared > overlap)]
        return np.array(chosen, dtype=np.int64)


def _intersection_over_union(box: np.ndarray, boxes: np.ndarray) -> np.ndarray:
    corner = np.maximum(box[:2], boxes[:, :2]), np.minimum(box[2:], boxes[:, 2:])
    common = np.prod(np.maximum(corner[1] - corner[0], 0), axis=1)
    sizes = [np.prod(b[..., 2:] - b[..., :2], axis=-1) for b in (box, boxes)]
    return common / (sizes[0] + sizes[1] - common)


@parallel_kernel
def _scan_sum(images, window, stumps, follow, places, scores, left, evaluations):
    """Add up votes for each window until it leaves.

    Parameters
    ----------
    images : IntegralImages
    window : tuple of int
        Height and width.
    stumps : HaarStumps
    follow : RunningSum
    places : tuple of two ndarray of int64
        Tops and lefts of the windows: all pairs are scanned.
    scores : ndarray of shape (n_tops, n_lefts), float64
    left, evaluations : ndarray of shape (n_tops, n_lefts), int64
        Filled, like the scores: the stage at which each left, from 1.
    """
    tops, lefts = places
    n_stumps = follow.vote.shape[0]
    for i in prange(tops.shape[0]):
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


@parallel_kernel
def _scan_stages(images, window, stumps, follow, places, scores, left, evaluations):
    """Walk each window through the stages until it leaves; as above, with a StageTable."""
    tops, lefts = places
    n_stages = follow.constant.shape[0]
    for i in prange(tops.shape[0]):
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


@parallel_kernel
def _scan_policy(images, window, stumps, answer, jump, cells, places, scores, left, evaluations):
    """Send each window through a decision DAG; as above, with scores in steps.

    The parts of a Policy come one by one: numba does not hand threads a tuple inside a tuple.
    """
    tops, lefts = places
    n_stumps = answer.shape[0]
    for i in prange(tops.shape[0]):
        g = np.empty(1, dtype=np.int64)
        for j in range(lefts.shape[0]):
            at = tops[i] * images.width + lefts[j]
            deviation = deviation_at(images, at, window[0], window[1])
            g[0] = cells.initial[0]
            ran, n = np.int64(0), 0
            t = jump[0, cell_of(cells, g, ran)]
            while t < n_stumps:
                right = goes_right(stumps, t, images.sums, at, deviation)
                g[0] += answer[t, np.uintp(right)]
                ran += cells.sizes[t]
                n += 1
                t = jump[t + 1, cell_of(cells, g, ran)]
            scores[i, j] = 0.0
            left[i, j] = g[0]
            evaluations[i, j] = n


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

    def __init__(self, model, features: HaarFeatures, *, n_threads: int | None = None) -> None:
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
        counts = [_places(shape, self.window, stride) for shape in shapes]
        n_windows = [len(tops) * len(lefts) for tops, lefts in counts]
        scan = _room(sum(n_windows))
        ends = np.cumsum(n_windows)
        for shape, places, n, end in zip(shapes, counts, n_windows, ends, strict=True):
            part = slice(end - n, end)
            level = Scan(*(getattr(scan, field.name)[part] for field in fields(Scan)))
            self._scan_level(picture, shape, places, threshold, level)
        return scan

    def _scan_level(self, picture: np.ndarray, shape, places, threshold: float, level: Scan):
        """Scan the picture at one size, and fill that part of the scan."""
        smaller = picture if shape == picture.shape else shrunk(picture, shape)
        grid = tuple(map(len, places))
        left = np.empty(grid, dtype=np.int64)
        self._walk(
            smaller, places, level.scores.reshape(grid), left, level.evaluations.reshape(grid)
        )
        scores, remained = self._detector.finish(left.ravel(), level.scores)
        level.scores[:], level.decisions[:] = scores, remained & (scores > threshold)
        boxes = level.boxes.reshape(*grid, 4)
        for axis, (starts, extent) in enumerate(zip(places, self.window, strict=True)):
            ratio = picture.shape[axis] / shape[axis]
            for column, edges in ((axis, starts), (axis + 2, starts + extent)):
                edges = np.rint(edges * ratio).astype(np.int64)
                boxes[:, :, column] = edges[:, None] if axis == 0 else edges
        level.scale[:] = np.sqrt(picture.size / np.prod(shape))

    def _walk(self, picture: np.ndarray, places, scores, left, evaluations) -> None:
        """Fill in how each window left, (n_tops, n_lefts) each."""
        detector, images = self._detector, integral_images(picture)
        votes = detector.votes
        stumps = haar_stumps(self._corners, votes.feature, votes.cut, picture.shape[1])
        scan, follow = _KERNELS[type(detector.follow)], detector.follow
        follow = follow if isinstance(follow, Policy) else (follow,)
        with threads(self._n_threads, scores.size):
            scan(images, self.window, stumps, *follow, places, scores, left, evaluations)


def _places(shape, window, stride: int) -> tuple[np.ndarray, np.ndarray]:
    """Tops and lefts of the windows of a picture."""
    tops, lefts = (
        np.arange(0, side - extent + 1, stride) for side, extent in zip(shape, window, strict=True)
    )
    return tops, lefts


def _room(n_windows: int) -> Scan:
    return Scan(
        np.empty((n_windows, 4), dtype=np.int64),
        np.empty(n_windows),
        np.empty(n_windows, dtype=bool),
        np.empty(n_windows, dtype=np.int64),
        np.empty(n_windows),
    )


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
