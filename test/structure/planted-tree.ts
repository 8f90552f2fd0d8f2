/** A small tree that keeps every rule, in a temporary folder, with whatever a test plants in it. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { checkTree, describeViolation } from './rules.ts';
import type { Rule } from './rules.ts';
import { readSourceTree } from './source-tree.ts';

/** File contents by path; `undefined` takes a file of the healthy tree away. */
export type Planted = Readonly<Record<string, string | undefined>>;

const lines = (...code: string[]): string => `${code.join('\n')}\n`;

/** npm may write this address into a lock file. Put together here, for the rule that forbids it everywhere else. */
const PUBLIC_REGISTRY = ['https:', '', 'registry.npmjs.org'].join('/');

const HEALTHY: Planted = {
  'package.json': JSON.stringify({
    name: 'planted',
    dependencies: { xstate: '1', rxjs: '1', zod: '1', execa: '1' },
    devDependencies: { vitest: '1' },
  }),
  'package-lock.json': JSON.stringify({
    packages: {
      'node_modules/tool': { optionalDependencies: { 'tool-linux': '1.0.0' } },
      'node_modules/tool-linux': { version: '1.0.0', resolved: `${PUBLIC_REGISTRY}/tool-linux/-/tool-linux-1.0.0.tgz` },
    },
  }),
  'src/index.ts': lines(
    '/** The root. */',
    "export { run } from './runtime.ts';",
    "export type { Port } from './ports.ts';",
  ),
  'src/runtime.ts': lines('/** Composes. */', "import { act } from './actors/act.ts';", 'export const run = act;'),
  'src/ports.ts': lines('/** Ports. */', "export type { Port } from './actors/act.ts';"),
  'src/machines.ts': lines('/** Charts. */', "export { chart } from './machines/chart.ts';"),
  'src/testing.ts': lines(
    '/** For tests. */',
    "export { suite } from './testing/suite.ts';",
    "export { act } from './actors/act.ts';",
  ),
  'src/testing/suite.ts': lines(
    '/** A contract. */',
    "import { deepStrictEqual } from 'node:assert/strict';",
    "import type { Port } from '../actors/act.ts';",
    "import { chart } from '../machines/chart.ts';",
    "import { fixture } from './fixture.ts';",
    'export const suite = (port: Port) => deepStrictEqual([port, chart], fixture);',
  ),
  'src/testing/fixture.ts': lines('/** A fixture. */', 'export const fixture = 1;'),
  'src/node.ts': lines(
    '/** Chooses. */',
    "import { shell } from './adapters/shell/shell.ts';",
    "import { run } from './runtime.ts';",
    'export const node = [shell, run];',
  ),
  'src/node/config-module.ts': lines(
    '/** What a worker loads. */',
    "import { shell } from '../adapters/shell/shell.ts';",
    'export const worker = [shell];',
  ),
  'src/cli/audit/chart-module.ts': lines(
    '/** Loads what a user names. */',
    'export const load = (path: string): Promise<unknown> => import(path);',
  ),
  'src/subagent-worker.ts': lines(
    '/** The program of a worker. */',
    "import { subagents } from './node/subagents.ts';",
    'export const worker = subagents;',
  ),
  'src/http.ts': lines('/** Gives what servers need. */', "export { shell } from './adapters/shell/shell.ts';"),
  'src/postgres.ts': lines(
    '/** Gives what one technology needs. */',
    "export { shell } from './adapters/shell/shell.ts';",
  ),
  'src/node/subagents.ts': lines(
    '/** Chooses what subagents need. */',
    "import { shell } from '../adapters/shell/shell.ts';",
    'export const subagents = [shell];',
  ),
  'src/machines/chart.ts': lines(
    '/** A chart. */',
    "import { setup } from 'xstate';",
    "import * as z from 'zod/v4';",
    'export const chart = setup({ z });',
  ),
  'src/actors/act.ts': lines(
    '/** An actor. */',
    "import { Subject } from 'rxjs/internal/Subject';",
    "import { chart } from '../machines/chart.ts';",
    'export interface Port {}',
    'export const act = [Subject, chart];',
  ),
  'src/adapters/shell/shell.ts': lines(
    '/** A shell. */',
    "import { readFileSync } from 'node:fs';",
    "import { execa } from 'execa';",
    "import type { Port } from '../../actors/act.ts';",
    "import { quote } from './quote.ts';",
    'export const shell = [execa, readFileSync, quote] satisfies Port;',
  ),
  'src/adapters/shell/quote.ts': lines('/** Quotes. */', 'export const quote = 1;'),
  'src/adapters/inspector-page/main.tsx': lines(
    '/** The page. */',
    "import { render } from 'preact';",
    "import './page.css';",
    'export const page = render;',
  ),
  'src/cli/main.ts': lines(
    '#!/usr/bin/env node',
    '/** The command line. */',
    "import { shell } from '../adapters/shell/shell.ts';",
    "import { node } from '../node.ts';",
    'export const main = [shell, node];',
  ),
  'test/a.test.ts': lines(
    "import { it } from 'vitest';",
    "import { chart } from '../src/machines/chart.ts';",
    "it.skipIf(chart)('works', () => {});",
  ),
};

/** The violations of a tree with `planted` in it, as people read them. */
export function violationsWith(planted: Planted, rules: readonly Rule[]): string[] {
  const root = mkdtempSync(join(tmpdir(), 'tree-'));
  try {
    for (const [path, text] of Object.entries({ ...HEALTHY, ...planted })) {
      if (text === undefined) continue;
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    return checkTree(readSourceTree(root), rules).map(describeViolation);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
