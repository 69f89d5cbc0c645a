"""Feature functions that ask a service: asynchronous, in batches, with a timeout and a fallback."""

from __future__ import annotations

import asyncio
import inspect
import math
import threading
from collections.abc import Callable, Iterable
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from ..estimators.parameters import check_flag, check_whole_number
from .functions import Source, check_answer, check_rows, take


class Fetched(NamedTuple):
    """What a function brought, and what it did not.

    Attributes
    ----------
    values : dict
        For each column that a row can be tested for an ndarray of shape (n_rows,), float64; NaN
        where it could not be had.
    lacking : ndarray of shape (n_rows,), bool
        Rows that got nothing.
    """

    values: dict[int, np.ndarray]
    lacking: np.ndarray


class Fetch:
    """A feature function with a timeout and a fallback, for :class:`OnDemandPredictor`.

    Rows whose feature cannot be had count as missing it: each split sends them where it sends
    missing values. How many they were says the result's ``lacking_by_function``.

    Parameters
    ----------
    function : callable
        As the functions of :class:`OnDemandPredictor`; or a coroutine function, ``async def``,
        which is run to its end, several batches at once.
    timeout : float, optional
        Seconds that a batch may take. A coroutine is cancelled then; a plain function is left
        behind in its thread, which nothing can stop, and its late answer is dropped. None: waits
        for ever.
    on_failure : {"missing", "raise"}
        Whether rows of a batch that fails, or takes too long, are missing the feature, or the
        prediction ends with the error, as it does without Fetch.
    batch_size : int, optional
        Rows that the function is asked for at once, at most; None: all that wait. Batches of a
        plain function go one after the other.
    concurrency : int
        Batches of a coroutine function that may run at once.
    bill_failures : bool
        Whether a row pays for a feature that it did not get: services differ.

    Raises
    ------
    ValueError
        If a parameter does not fit.

    Examples
    --------
    A service that knows nothing of row 7:

    >>> import numpy as np
    >>> from algorithms.cegb import CEGBRegressor
    >>> from algorithms.on_demand import Fetch, OnDemandPredictor
    >>> x = np.arange(100.0)
    >>> model = CEGBRegressor(n_estimators=1, feature_costs=[1.0]).fit(x[:, None], x >= 50)
    >>> def ask(rows):
    ...     if 7 in rows:
    ...         raise ConnectionError("no answer")
    ...     return x[rows]
    >>> ask = Fetch(ask, on_failure="missing", batch_size=1, bill_failures=False)
    >>> result = OnDemandPredictor(model, {0: ask}).predict(np.array([3, 7]))
    >>> result.cost, result.lacking_by_function
    (array([1., 0.]), {0: 1})
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        timeout: float | None = None,
        on_failure: str = "missing",
        batch_size: int | None = None,
        concurrency: int = 8,
        bill_failures: bool = True,
    ) -> None:
        if not callable(function):
            raise ValueError(f"Fetch needs a function, got {function!r:.80}.")
        number = isinstance(timeout, Real) and not isinstance(timeout, bool)
        if timeout is not None and not (number and 0 < timeout < math.inf):
            raise ValueError(f"timeout must be None or a number of seconds > 0, got {timeout!r}.")
        if on_failure not in ("missing", "raise"):
            raise ValueError(f"on_failure must be 'missing' or 'raise', got {on_failure!r}.")
        self.function, self.timeout, self.on_failure = function, timeout, on_failure
        self.batch_size = check_whole_number("batch_size", batch_size, 1, or_none=True)
        self.concurrency = check_whole_number("concurrency", concurrency, 1)
        self.bill_failures = check_flag("bill_failures", bill_failures)
        self._asynchronous = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
            getattr(function, "__call__", None)  # noqa: B004 - an object whose call is one
        )

    def __call__(self, rows: Any) -> Any:
        """Call the function as it is."""
        return self.function(rows)

    def fetch(self, source: Source, rows: Any, n_rows: int, may_miss: bool) -> Fetched:
        """Ask for the rows in batches, and put the answers together.

        Parameters
        ----------
        source : Source
            The function's own.
        rows : sequence
            From :func:`algorithms.on_demand.functions.take`.
        n_rows : int
        may_miss : bool
            Whether the model takes missing values.

        Returns
        -------
        Fetched

        Raises
        ------
        ValueError
            If an answer does not fit.
        RuntimeError
            With ``on_failure="raise"``, of the first batch that failed; a TimeoutError or the
            function's own exception is the cause.
        """
        rows, _ = check_rows(rows)
        size = self.batch_size or n_rows
        parts = [np.arange(first, min(first + size, n_rows)) for first in range(0, n_rows, size)]
        batches = [take(rows, part) for part in parts]
        answers = self._all_at_once(batches) if self._asynchronous else map(self._one, batches)
        values = {m: np.full(n_rows, np.nan) for m in source.tested}
        lacking = np.zeros(n_rows, dtype=bool)
        for part, batch, answer in zip(parts, batches, answers, strict=True):
            if isinstance(answer, _Failure):
                if self.on_failure == "raise":
                    raise failed(source, len(part), answer.error) from answer.error
                lacking[part] = True
                continue
            checked = check_answer(source, answer, batch, len(part), may_miss=may_miss)
            for m, column in checked.items():
                values[m][part] = column
        return Fetched(values, lacking)

    def _one(self, batch: Any) -> Any:
        """The answer of a plain function to a batch, or its failure."""
        if self.timeout is None:
            return _answer(self.function, batch)
        told: list[Any] = []
        thread = threading.Thread(
            target=lambda: told.append(_answer(self.function, batch)), daemon=True
        )
        thread.start()
        thread.join(self.timeout)
        return told[0] if told else self._too_late()

    def _too_late(self) -> _Failure:
        return _Failure(TimeoutError(f"no answer within {self.timeout:g} seconds"))

    def _all_at_once(self, batches: list[Any]) -> list[Any]:
        """Answers of a coroutine function, or its failures, in the order of the batches."""

        async def gathered() -> list[Any]:
            gate = asyncio.Semaphore(self.concurrency)

            async def one(batch: Any) -> Any:
                async with gate:
                    try:
                        return await asyncio.wait_for(self.function(batch), self.timeout)
                    except TimeoutError as error:
                        return self._too_late() if self.timeout else _Failure(error)
                    except Exception as error:
                        return _Failure(error)

            return list(await asyncio.gather(*map(one, batches)))

        # In a thread of its own: the caller's may have a running loop, as in a notebook.
        told: list[Any] = []
        thread = threading.Thread(target=lambda: told.append(asyncio.run(gathered())))
        thread.start()
        thread.join()
        return told[0]


class _Failure(NamedTuple):
    """Why a batch brought nothing."""

    error: Exception


def failed(source: Source, n_rows: int, error: Exception) -> RuntimeError:
    """Say of a function that it failed."""
    why = f"{type(error).__name__}: {error}"
    return RuntimeError(f"The function of {source.name} failed on {n_rows} rows with {why}")


def check_failures(sources: Iterable[Source], may_miss: bool) -> None:
    """Refuse functions that leave values missing which the model does not take (ValueError)."""
    for source in sources:
        function = source.function
        if isinstance(function, Fetch) and function.on_failure == "missing" and not may_miss:
            raise ValueError(
                f"The function of {source.name} may leave values missing (on_failure='missing'), "
                "which this model does not take: use on_failure='raise', or boosted trees."
            )


def _answer(function: Callable[..., Any], batch: Any) -> Any:
    try:
        return function(batch)
    except Exception as error:
        return _Failure(error)
