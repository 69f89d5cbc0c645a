"""An L2 penalty ½ λ Σ v² on leaf values, as in XGBoost.

It is λ more in every H of a gain and of a value. ``min_hessian_leaf`` looks at H itself.
"""

from dataclasses import dataclass, replace

from reference.trees import Criterion


@dataclass(frozen=True)
class Penalised(Criterion):
    """Another criterion, with λ more in H."""

    reg_lambda: float
    other: Criterion

    def gain(self, m, GL, HL, GR, HR, G, H):
        """Raw gain."""
        more = self.reg_lambda
        return self.other.gain(m, GL, HL + more, GR, HR + more, G, H + more)

    def noise(self, G, H, R):
        """What rounding may gain."""
        return self.other.noise(G, H + self.reg_lambda, R)

    def value(self, G, H):
        """-G/(H + λ)."""
        return self.other.value(G, H + self.reg_lambda)

    def clipped(self, v):
        """Nearest value that a leaf may have."""
        return self.other.clipped(v)

    def of_children(self, m, v_left, v_right):
        """The same penalty for both."""
        both = self.other.of_children(m, v_left, v_right)
        return tuple(replace(self, other=one) for one in both)
