# SPDX-License-Identifier: LGPL-2.1-or-later
"""The table of "transport": how sure a run's figure is, and the rows as a file for a spreadsheet."""
import csv
import math
import statistics

# A run is timed in parts; Student's factor for the 95 % interval of their mean.
N_PARTS, FACTOR = 10, 2.262

COLUMNS = ('system', 'kind', 'size', 'units_per_s', 'units_per_s_margin', 'consumer_cpu_s_per_gb', 'worker_cpu_s_per_gb',
           'consumer_peak_bytes', 'worker_peak_bytes', 'others_cpu_s', 'reason')


def ends_of_parts(n_warm, n_units):
    """After how many units each part ends; the first one is what isn't timed."""
    return [n_warm + n_units * i // N_PARTS for i in range(N_PARTS + 1)]


def margin(ends, times):
    """Half of the 95 % interval of the rate in units per second."""
    rates = [(ends[i + 1] - ends[i]) / (times[i + 1] - times[i]) for i in range(N_PARTS)]
    return FACTOR * statistics.stdev(rates) / math.sqrt(N_PARTS)


def write(table, path):
    with open(path, 'w', newline='') as file:
        writer = csv.DictWriter(file, COLUMNS, extrasaction='ignore')
        writer.writeheader()
        writer.writerows(table)
