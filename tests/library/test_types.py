"""A type checker reads a program that uses the wheel, as its users' editors do."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from library.build import PACKAGE, stage

PROGRAM = f"""\
import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline
from {PACKAGE}.adaboost_mh import AdaBoostMH
from {PACKAGE}.and_or_cascade import AndOrCascadeClassifier
from {PACKAGE}.bourdev_cascade import BourdevCascadeClassifier
from {PACKAGE}.budget_forest import BudgetForestClassifier, BudgetForestRegressor
from {PACKAGE}.budget_prune import BudgetPruneClassifier
from {PACKAGE}.registry import load_model
from {PACKAGE}.cegb import CEGBClassifier, CEGBRegressor
from {PACKAGE}.cronus import CronusClassifier
from {PACKAGE}.early_exit import EarlyExit
from {PACKAGE}.exporting import export_c, export_lightgbm
from {PACKAGE}.fcboost import FCBoostClassifier
from {PACKAGE}.gbrt import GBRTClassifier, GBRTRegressor
from {PACKAGE}.greedy_miser import GreedyMiserClassifier, GreedyMiserRegressor
from {PACKAGE}.interop import MeteredForest, from_lightgbm
from {PACKAGE}.mddag import MDDAGClassifier
from {PACKAGE}.on_demand import OnDemandPredictor
from {PACKAGE}.pipelines import PricedPipeline
from {PACKAGE}.raykar_cascade import RaykarCascadeClassifier
from {PACKAGE}.selection import BudgetSearchCV, TotalCostScorer, assert_budget, cost_curve
from {PACKAGE}.selection import total_cost
from {PACKAGE}.trees.export import export_dot, plot_tree
from {PACKAGE}.viola_jones import ViolaJonesClassifier

X = np.zeros((8, 3))
frame = pd.DataFrame(X, columns=["a", "b", "c"])
y = np.arange(8) % 2

trees: CEGBClassifier = CEGBClassifier(
    n_estimators=5, tradeoff=1e-3, feature_costs={{"a": 1.0, "b": 2.0, "c": 0.5}}
).fit(frame, y, eval_set=(X, y), sample_weight=np.ones(8))
labels: np.ndarray = trees.predict(frame)
shares: np.ndarray = trees.predict_proba(frame)
paid: np.ndarray = trees.prediction_cost(frame)
asked = trees.acquired_features(X)
passed: np.ndarray = trees.evaluations(X)
for scores, cost in zip(trees.staged_predict(X), trees.staged_cost(X), strict=True):
    print(scores.shape, cost.mean())
trees.save("model.zip")
again: CEGBClassifier = CEGBClassifier.load("model.zip")
print(again.classes_, again.n_features_in_, again.trees_, again.get_params(), again.learning_rate)

numbers: np.ndarray = CEGBRegressor(split_cost=0.1).fit(X, y).predict(X)
plain: GBRTRegressor = GBRTRegressor(max_leaves=4).fit(X, y)
GBRTClassifier().fit(X, y).score(X, y)
miser: GreedyMiserRegressor = GreedyMiserRegressor(budget=3.0).fit(X, y)
GreedyMiserClassifier(feature_costs=[1, 2, 3]).fit(X.tolist(), y.tolist())
exits: EarlyExit = EarlyExit(plain, threshold=0.5).fit()
stage: np.ndarray = exits.exit_stage(X)
cascade: CronusClassifier = CronusClassifier(n_stages=3).fit(X, y)
begun: CronusClassifier = cascade.initialised()
RaykarCascadeClassifier().fit(X, y).prediction_cost(X)
AndOrCascadeClassifier().fit(X, y).predict(X)
dag: MDDAGClassifier = MDDAGClassifier(trees, beta=1e-3).fit(X, y)
stumps: AdaBoostMH = AdaBoostMH(n_estimators=3, sampler="laminating").fit(X, y)
for detector in (ViolaJonesClassifier(), FCBoostClassifier(), BourdevCascadeClassifier()):
    detector.fit(X, y).predict(X)
forest: BudgetForestClassifier = BudgetForestClassifier(feature_costs=[1, 2, 3]).fit(X, y)
BudgetForestRegressor(impurity="entropy").fit(X, y).predict(X)
prunings: BudgetPruneClassifier = BudgetPruneClassifier(forest, budget=2.0).fit(X, y)
cheaper: BudgetPruneClassifier = prunings.pruned(tradeoff=0.1)
print(prunings.curve_.cost, cheaper.prediction_cost(X), cheaper.predict_proba(X))
metered: MeteredForest = from_lightgbm(object())
print(metered.predict(X), metered.prediction_cost(X))
table: pd.DataFrame = cost_curve(trees, X, y)
assert_budget(trees, X, 2.5)
search: BudgetSearchCV = BudgetSearchCV(trees, {{"tradeoff": [1e-3, 1e-2]}}, budget=1.0).fit(X, y)
predictor = OnDemandPredictor(trees, {{"a": lambda rows: np.zeros(len(rows))}})
print(predictor.predict([0, 1]).rows_by_function)
print(load_model("model.zip").predict(X), plot_tree(trees))
nodes: pd.DataFrame = trees.to_frame()
texts: list[str] = [export_dot(trees, 1), export_c(trees, name="trees"), export_lightgbm(plain)]
named = {{"a": 1.0, "b": 0.5, "c": 9.0}}
priced: CEGBRegressor = CEGBRegressor(feature_costs=named, n_jobs=-1, verbose=1).fit(
    frame, y, callbacks=[lambda told: told.number > 3]
)
cents: np.ndarray = priced.prediction_cost(frame, feature_costs=[1, 2, 3])
whole: np.ndarray = total_cost(trees, X, y, [[0, 1], [5, 0]])
score: float = TotalCostScorer({{0: {{1: 1.0}}, 1: {{0: 5.0}}}})(trees, X, y)
piped: PricedPipeline = PricedPipeline(make_pipeline(trees), feature_costs=named)
piped = piped.fit(frame, y)
bills: np.ndarray = priced.prediction_cost(frame)
"""

WRONG = f"""\
from {PACKAGE}.cegb import CEGBRegressor
from {PACKAGE}.cronus import CronusClassifier

CEGBRegressor().fit([[1]], [2.0], colour=3)
CEGBRegressor().fit([[1]])
CEGBRegressor(colour=3)
wrong: CronusClassifier = CEGBRegressor().fit([[1]], [2.0])
number: int = CEGBRegressor().predict([[1]])
"""


@pytest.mark.slow
def test_a_type_checker_reads_the_public_api(tmp_path):
    """In basic mode: nothing wrong in the one program, each mistake of the other."""
    package, users = tmp_path / "package", tmp_path / "users"
    package.mkdir()
    users.mkdir()
    stage(package)
    (users / "right.py").write_text(PROGRAM, "utf-8")
    (users / "wrong.py").write_text(WRONG, "utf-8")
    settings = {"extraPaths": [str(package)], "typeCheckingMode": "basic"}
    (users / "pyrightconfig.json").write_text(json.dumps(settings), "utf-8")
    command = [sys.executable, "-m", "basedpyright", "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run(
        [*command, "--project", str(users)], capture_output=True, text=True, cwd=users
    )
    assert done.stdout, done.stderr
    found = [
        (one["file"].rsplit("/", 1)[-1], one["range"]["start"]["line"], one["rule"])
        for one in json.loads(done.stdout)["generalDiagnostics"]
    ]
    assert sorted(found) == [
        ("wrong.py", 3, "reportCallIssue"),
        ("wrong.py", 4, "reportCallIssue"),
        ("wrong.py", 5, "reportCallIssue"),
        ("wrong.py", 6, "reportAssignmentType"),
        ("wrong.py", 7, "reportAssignmentType"),
    ]
