/**
 * What the page about agents says that families of tools cost is what the estimator counts, but for what rounding and a
 * few words change.
 */
import { expect, it } from 'vitest';
import { estimateTools } from '../../src/machines/turn/token-estimate.ts';
import { STANDARD_FAMILIES, TOOL_FAMILIES } from '../../src/machines/turn/tool-family.ts';
import type { ToolFamily } from '../../src/machines/turn/tool-family.ts';
import { describeTool } from '../../src/machines/turn/tool-schema.ts';
import { createNodeRuntime } from '../../src/node.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import { readPage } from './pages.ts';

/** Figures are rounded to hundreds. */
const ROUNDING_TOKENS = 100;
const TOLERANCE = 0.1;

/** Tokens that a model is given to read for the tools of each family. */
async function costsOfFamilies(): Promise<ReadonlyMap<string, number>> {
  const home = await temporaryHome();
  try {
    const runtime = await createNodeRuntime({ home: home.path, reconcileOnStart: false });
    const definitions = runtime.tools.map(({ definition }) => definition);
    await runtime.shutdown();
    const cost = (families: readonly ToolFamily[]): number =>
      estimateTools(
        definitions
          .filter(({ family }) => family !== undefined && families.includes(family))
          .map((each) => describeTool(each)),
      );
    return new Map([
      ...TOOL_FAMILIES.map((family): [string, number] => [`\`${family}\``, cost([family])]),
      ['the standard ones', cost([...STANDARD_FAMILIES])],
      ['all of them', cost(TOOL_FAMILIES)],
    ]);
  } finally {
    await home.remove();
  }
}

it('the page about agents names every family with what it costs', async () => {
  const told = new Map(
    [...readPage('docs/agents.md').matchAll(/^\| ([^|]+) \|.*\| ([\d,]+) \|$/gm)].map(
      ([, family = '', tokens = '']) => [family, Number(tokens.replaceAll(',', ''))],
    ),
  );
  const costs = await costsOfFamilies();
  expect([...told.keys()]).toEqual([...costs.keys()]);
  for (const [family, tokens] of costs) {
    const apart = Math.abs(tokens - (told.get(family) ?? 0));
    expect(apart, `${family} costs ${tokens} tokens`).toBeLessThanOrEqual(
      Math.max(ROUNDING_TOKENS, tokens * TOLERANCE),
    );
  }
});
