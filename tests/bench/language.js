// SPDX-License-Identifier: LGPL-2.1-or-later
// The consumer of language.c: language.js field|portable BENCH CPU N-UNITS N-RUNS prints microseconds per unit, each run.
import GLib from 'gi://GLib';
import System from 'system';

const [KIND, BENCH, CPU, ...NUMBERS] = ARGV;
const [N_UNITS, N_RUNS] = NUMBERS.map(Number);
const N_ITEMS = 1024;
const FIRST_SUM = N_ITEMS * (N_ITEMS - 1) / 2;

let Arena;
try {
  Arena = (await import('gi://Arena?version=1.0')).default;
} catch (error) {
  print(`needs a build with introspection: ${error.message}`);
  System.exit(77);
}

function checkSum(x, i) {
  let sum = 0;
  for (let k = 0; k < x.length; k++)
    sum += x[k];
  if (sum !== FIRST_SUM + N_ITEMS * i)
    throw new Error(`unit ${i} has other bytes`);
}

const checks = {
  field: (unit, i) => checkSum(unit.array('x'), i),

  portable: (unit, i) => {
    const {id, name, labels, x} = unit.value;
    if (id !== i || name !== 'batch' || labels.join() !== `${i},2,3,4`)
      throw new Error(`unit ${i} has another value`);
    checkSum(x, i);
  },
};

// The microseconds of a unit in one iteration
function read(worker, check) {
  const warmUp = Math.floor(N_UNITS / 10);
  let [i, began] = [0, 0];
  for (const unit of worker) {
    if (i === warmUp)
      began = GLib.get_monotonic_time();
    check(unit, i++);
  }
  const elapsed = GLib.get_monotonic_time() - began;
  if (i !== N_UNITS)
    throw new Error(`${i} units`);
  return elapsed / (N_UNITS - warmUp);
}

const backend = new Arena.Pool({segmentSize: 4 * N_ITEMS, count: 256});
const argv = [BENCH, '--work', KIND, CPU, `${N_UNITS}`];
const worker = new Arena.Worker({backend, argv, bufferSize: 64});
read(worker, checks[KIND]);
for (let run = 0; run < N_RUNS; run++)
  print(read(worker, checks[KIND]));
worker.close();
