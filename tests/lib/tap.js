// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs named functions, async ones too, with one TAP line each: await run({'does this': () => { ... }});
import System from 'system';

export class Skip extends Error {}

export function assert(condition, message = 'assertion failed') {
  if (!condition)
    throw new Error(message);
}

export function assertEqual(actual, expected) {
  assert(actual === expected, `${actual} is not ${expected}`);
}

export function assertThrows(callback, domain, code) {
  try {
    callback();
  } catch (error) {
    assert(error.matches?.(domain, code), `the wrong error: ${error}`);
    return error;
  }
  throw new Error('no error');
}

export async function run(tests) {
  const entries = Object.entries(tests);
  let failures = 0;

  print(`1..${entries.length}`);
  for (const [index, [name, test]] of entries.entries()) {
    try {
      await test();
      print(`ok ${index + 1} - ${name}`);
    } catch (error) {
      if (error instanceof Skip) {
        print(`ok ${index + 1} - ${name} # SKIP ${error.message}`);
        continue;
      }
      failures++;
      print(`${error}\n${error.stack}`.trim().replace(/^/gm, '# '));
      print(`not ok ${index + 1} - ${name}`);
    }
  }
  System.exit(failures > 0 ? 1 : 0);
}
