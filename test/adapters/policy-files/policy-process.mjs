/**
 * A process that keeps rules beside others: `tool_<name>_<number>`, from 1 on, each reported on standard output once it
 * is kept.
 *
 *   argv: directory of the policy, name of the process, how many rules
 */
import { writeSync } from 'node:fs';
import { FilePolicyStore } from '../../../dist/adapters/policy-files/file-policy-store.js';
import { parseRule } from '../../../dist/machines/permission/permission-rule.js';

const [directory = '', name = '', count = ''] = process.argv.slice(2);
const store = new FilePolicyStore({ directory, clock: Date });
for (let number = 1; number <= Number(count); number += 1) {
  await store.keep('reviewer', parseRule(`allow tool_${name}_${number}`), {
    by: { sessionId: name, requestId: String(number) },
  });
  // At once, so that nothing is reported that was not kept, and nothing kept is forgotten by a kill but the last.
  writeSync(1, `allow tool_${name}_${number}\n`);
}
