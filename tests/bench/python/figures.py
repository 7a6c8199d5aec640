# SPDX-License-Identifier: LGPL-2.1-or-later
"""The figures: ratios of runs made in turn, and one table of everything."""
import statistics

from runs import SIZES, Missing, Spec

TINY = ('4k', '64k')
SYSTEMS = ('arena-pool', 'arena-ring', 'spdl-none', 'spdl-ring', 'spdl-pool', 'queue', 'shared-memory')


def throughput(run):
    return run['units_per_s']


def cpu(run):
    """Seconds per GB of both sides together."""
    return run['consumer_cpu_s_per_gb'] + run['worker_cpu_s_per_gb']


def is_disturbed(run, tiny):
    """Whether another program had the cores: it had much of them, or, with small units, where one side works all the
    time, that side had no core for all the time."""
    if run['others_cpu_s'] > 0.1 * run['wall_s'] + 0.02:
        return True
    return tiny and run['wall_s'] > 1.2 * max(run['consumer_cpu_s'], run['worker_cpu_s'])


def in_turn(runner, ours, base):
    """Pairs of runs, and those that were disturbed: they are made again, up to as many more. The order in a pair
    changes."""
    pairs, disturbed = [], []
    while len(pairs) < runner.n_pairs and len(disturbed) <= runner.n_pairs:
        order = (ours, base) if (len(pairs) + len(disturbed)) % 2 == 0 else (base, ours)
        made = {spec: runner.run(spec) for spec in order}
        kept = disturbed if any(is_disturbed(run, ours.size in TINY) for run in made.values()) else pairs
        kept.append((made[ours], made[base]))
    return pairs, disturbed


def ratio(key, pairs, disturbed, measure):
    values = [(measure(ours), measure(base)) for ours, base in pairs or disturbed]
    ratios = [ours / base for ours, base in values]
    median = statistics.median(ratios)
    if not pairs:
        return refuse(key, f'another program disturbed all of {len(disturbed)} pairs') | {f'{key}_disturbed': median}
    print(f'{key:32} {median:8.3f}   ({min(ratios):.3f} to {max(ratios):.3f}, {len(pairs)} pairs, {len(disturbed)} '
          'skipped)', flush=True)
    return {
        key: median, f'{key}_n': len(pairs), f'{key}_spread': (max(ratios) - min(ratios)) / median,
        f'{key}_skipped': len(disturbed), f'{key}_ours': statistics.median(ours for ours, _ in values),
        f'{key}_base': statistics.median(base for _, base in values),
    }


def refuse(key, reason):
    print(f'{key:32} null: {reason}', flush=True)
    return {key: None, f'{key}_reason': reason}


def compare(runner, keys, ours, base):
    """keys: key -> what of the runs."""
    try:
        pairs, disturbed = in_turn(runner, ours, base)
    except Missing as missing:
        return {name: value for key in keys for name, value in refuse(key, str(missing)).items()}
    return {name: value for key, measure in keys.items()
            for name, value in ratio(key, pairs, disturbed, measure).items()}


def pool(runner):
    results = {}
    for size in SIZES:
        base = Spec('spdl-pool', size=size)
        for prefix, native in (('py_pool', True), ('py_gi_pool', False)):
            if native or size in TINY:
                keys = {f'{prefix}_{size}_over_spdl': throughput}
                if size == '64k':
                    keys[f'{prefix}_{size}_cpu_over_spdl'] = cpu
                results |= compare(runner, keys, Spec('arena-pool', size=size, native=native), base)
    return results


def ring(runner):
    results = {}
    for size in ('4m', '32m'):
        keys = {f'py_ring_{size}_over_spdl': throughput}
        results |= compare(runner, keys, Spec('arena-ring', size=size), Spec('spdl-ring', size=size))
    return results


def inplace(runner):
    """Numbers that are computed into the arena, against those that are computed elsewhere and copied there."""
    return compare(runner, {'py_inplace_4m_over_pool': throughput},
                   Spec('arena-pool', size='4m', mode=('in-place',)), Spec('arena-pool', size='4m', mode=('computed',)))


def transport(runner):
    """One run of everything."""
    table = []
    for kind in ('bytes', 'numpy', 'torch'):
        for system in SYSTEMS + (('torch-queue',) if kind == 'torch' else ()):
            for size in ('64k', '4m') if runner.quick else SIZES:
                row = {'system': system, 'kind': kind, 'size': SIZES[size]}
                try:
                    row |= runner.run(Spec(system, kind, size))
                    rate = row['units_per_s'] * row['size'] / 1e9
                    print(f'{system:14} {kind:6} {size:>4} {row["units_per_s"]:10.0f} +- '
                          f'{row["units_per_s_margin"]:<7.0f} units/s {rate:7.2f} GB/s '
                          f'{cpu(row):8.4f} CPU s/GB', flush=True)
                except Missing as missing:
                    row |= {'units_per_s': None, 'reason': str(missing)}
                table.append(row)
    return {'transport': table}
