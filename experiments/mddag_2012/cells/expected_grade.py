"""McRank's expected grade: from the scores of a classifier of grades to one score for ranking.

P. Li, C. Burges, Q. Wu: McRank: learning to rank using multiple classification and gradient
boosting. Advances in Neural Information Processing Systems 20 (2007), pages 897-904. R.
Busa-Fekete, D. Benbouzid, B. Kégl: Fast classification using sparse decision DAGs. ICML 2012,
section 3.3, rank so by AdaBoost.MH and by MDDAG.

=================  ========================================================================
symbol             name
=================  ========================================================================
K                  number of grades
f_l(x_n)           ``scores`` (n, K), or (n,) for two grades
p̂_nl               ``class_probabilities``
T(l)               ``grades[l]``; McRank's choice is the grade itself
S_n                ``expected_grade``
=================  ========================================================================

McRank's classifier has probabilities; AdaBoost.MH has scores, and the ICML paper does not print how
it gets from these to probabilities. Choices

1. The exponential loss of label l alone, P e^-f + (1 - P) e^f, is least at f = ½ log(P / (1 - P)):
   so P(l) is σ(2 f_l), the logistic function. A softmax of 2 f would be proportional to the odds
   P / (1 - P) instead. If f is as it should be, the K numbers sum to 1; as it is not, they are
   divided by their sum.
2. With balanced initial weights a pair of another label counts 1 / (K - 1), and the least is at
   f = ½ log((K - 1) P / (1 - P)): so P(l) is σ(2 f_l - log(K - 1)).
3. Nothing is fitted. Training rows are those that the scores have learned by heart, and AdaBoost,
   MDDAG and cascades are compared by the same function of their scores.
4. Where all labels are so improbable that a float64 cannot tell, their ratios still can be told:
   logarithms are subtracted before anything is exponentiated.
"""

import numpy as np


def log_logistic(x: np.ndarray) -> np.ndarray:
    """Logarithm of σ(x) = 1 / (1 + e^-x)."""
    return -np.logaddexp(0.0, -x)


def class_probabilities(scores: np.ndarray, initial_weights: str = "uniform") -> np.ndarray:
    """Probabilities p̂ (n, K) of the grades; of two grades if there is one score (n,)."""
    scores = np.ascontiguousarray(scores, dtype=np.float64)
    if scores.ndim == 1:
        scores = np.column_stack([-scores, scores])  # one label: σ(2f) and 1 - σ(2f) = σ(-2f)
    K = scores.shape[1]
    offset = np.log(K - 1.0) if initial_weights == "balanced" else 0.0
    logs = log_logistic(2.0 * scores - offset)
    likely = np.exp(logs - np.max(logs, axis=1, keepdims=True))
    total = np.zeros(len(scores))
    for of_label in likely.T:
        total = total + of_label
    return likely / total[:, None]


def expected_grade(
    scores: np.ndarray, grades: np.ndarray, initial_weights: str = "uniform"
) -> np.ndarray:
    """Expected grade S (n,): Σ_l p̂_nl T(l)."""
    expected = 0.0
    for of_label, grade in zip(class_probabilities(scores, initial_weights).T, grades, strict=True):
        expected = expected + of_label * float(grade)
    return expected
