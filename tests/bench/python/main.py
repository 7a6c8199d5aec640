# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs what run.sh says; every run has processes of its own."""
import argparse
import json
import os
import pathlib

import figures
import runs
import table

FIGURES = ('pool', 'ring', 'inplace', 'transport')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--quick', action='store_true')
    parser.add_argument('--json')
    parser.add_argument('--csv')
    parser.add_argument('--plot')
    parser.add_argument('--only', choices=FIGURES)
    arguments = parser.parse_args()

    runner = runs.Runner(arguments.quick)
    results = {'machine': {'cpus': len(os.sched_getaffinity(0)), **runner.versions()}}
    for name in FIGURES:
        if arguments.only in (None, name):
            results.update(getattr(figures, name)(runner))
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(results, indent=2) + '\n')
    if arguments.csv and 'transport' in results:
        table.write(results['transport'], arguments.csv)
    if arguments.plot and 'transport' in results:
        import plot
        plot.draw(results['transport'], arguments.plot)


if __name__ == '__main__':
    main()
