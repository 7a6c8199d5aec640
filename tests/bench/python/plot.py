# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws "transport": GB/s over the size of a unit, with its 95 % interval, for each kind of payload."""
import matplotlib
matplotlib.use('Agg')
from matplotlib import pyplot  # noqa: E402

from runs import SIZES  # noqa: E402


def draw(table, path):
    kinds = list(dict.fromkeys(row['kind'] for row in table))
    figure, axes = pyplot.subplots(1, len(kinds), figsize=(5 * len(kinds), 4.5), sharey=True, layout='constrained')
    for kind, axis in zip(kinds, axes):
        rows = [row for row in table if row['kind'] == kind and row['units_per_s']]
        for system in dict.fromkeys(row['system'] for row in rows):
            points = [(row['size'], row['units_per_s'] * row['size'] / 1e9, row['units_per_s_margin'] * row['size'] / 1e9)
                      for row in rows if row['system'] == system]
            style = {'linewidth': 2.5} if system.startswith('arena') else {'linewidth': 1.2, 'linestyle': '--'}
            axis.errorbar(*zip(*points), marker='o', capsize=3, label=system, **style)
        axis.set(title=kind, xscale='log', yscale='log', xlabel='size of a unit')
        axis.set_xticks(list(SIZES.values()), SIZES, minor=False)
        axis.minorticks_off()
        axis.grid(True, which='major', alpha=0.3)
    axes[0].set_ylabel('GB/s')
    axes[-1].legend(fontsize='small')
    figure.savefig(path, dpi=110)
