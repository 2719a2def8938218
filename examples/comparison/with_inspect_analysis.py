"""The log of with_inspect.py as a table, and the difference between its conditions with an interval."""

from inspect_ai.analysis import samples_df, score_to_float
from scipy.stats import bootstrap, permutation_test

votes = score_to_float("score_pattern")(samples_df("logs"))
print(votes[["id", "metadata_condition", "score_pattern"]])

groups = votes.groupby("metadata_condition").score_pattern
plain, reason = (groups.get_group(name).to_numpy(dtype=float) for name in ["plain", "reason"])
print(groups.agg(["count", "mean"]))


def difference(a, b, axis=-1):
    return a.mean(axis) - b.mean(axis)


interval = bootstrap((reason, plain), difference, method="percentile", rng=1).confidence_interval
p = permutation_test((reason, plain), difference, rng=1).pvalue
print(f"reason minus plain: {difference(reason, plain):.4f} [{interval.low:.4f}, {interval.high:.4f}], p = {p:.4f}")
