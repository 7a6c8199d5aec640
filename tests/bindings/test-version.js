// SPDX-License-Identifier: LGPL-2.1-or-later
import Arena from 'gi://Arena?version=1.0';

import {assertEqual, run} from '../lib/tap.js';

await run({
  'run time is compile time': () => {
    assertEqual(Arena.get_major_version(), Arena.MAJOR_VERSION);
    assertEqual(Arena.get_minor_version(), Arena.MINOR_VERSION);
    assertEqual(Arena.get_micro_version(), Arena.MICRO_VERSION);
  },
  'private names are absent': () => {
    for (const name of ['AVAILABLE_IN_0_1', 'INSIDE', 'COMPILATION', 'Mapping', 'mapping_new', 'memfd_new'])
      assertEqual(Arena[name], undefined);
  },
});
