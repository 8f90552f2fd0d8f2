/** What every managed tool of a runtime says of itself, and that what it gives is what it said. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MANAGED_TOOL_NAMES } from '../../src/machines/turn/managed-tools.ts';
import { managedToolCatalogue } from '../../src/machines/turn/tool-catalogue.ts';
import type { ToolDefinition } from '../../src/machines/turn/tool-definition.ts';
import { createNodeRuntime } from '../../src/node.ts';
import type { NodeRuntime } from '../../src/node.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';
import { writeFile } from 'node:fs/promises';

let home: TemporaryHome;
let runtime: NodeRuntime;

beforeAll(async () => {
  home = await temporaryHome();
  runtime = await createNodeRuntime({ home: home.path, reconcileOnStart: false });
});

afterAll(async () => {
  await runtime.shutdown();
  await home.remove();
});

const managed = (): readonly ToolDefinition[] =>
  runtime.tools.map(({ definition }) => definition).filter(({ ownership }) => ownership === 'managed');

describe('every managed tool', () => {
  it('is in the one table of them, and what is in that is there', () => {
    expect(
      managed()
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(MANAGED_TOOL_NAMES.toSorted());
  });

  it('says what it is for, whose family it is of, what it gives and what it can do', () => {
    const silent = managed().filter(
      ({ description, family, outputSchema, effects }) =>
        !/^[A-Z].{20,}\.$/s.test(description) ||
        family === undefined ||
        outputSchema === undefined ||
        effects === undefined,
    );
    expect(silent.map(({ name }) => name)).toEqual([]);
  });

  it('that changes nothing can destroy nothing, and none that writes files, promotes or sends says that it changes nothing', () => {
    const contradictions = managed().filter(
      ({ readOnly, destructive, effects = [] }) =>
        readOnly && (destructive || effects.includes('writes_files') || effects.includes('promotes')),
    );
    expect(contradictions.map(({ name }) => name)).toEqual([]);
  });

  it('is in the catalogue once, with an input that has names', () => {
    const entries = managedToolCatalogue(managed());
    expect(new Set(entries.map(({ name }) => name)).size).toBe(managed().length);
    expect(entries.filter(({ input }) => input.kind !== 'object').map(({ name }) => name)).toEqual([]);
  });
});

/** Calls that cost little, in the order in which an agent makes them. */
const CALLS: readonly { readonly name: string; readonly input: object }[] = [
  { name: 'write', input: { path: 'a.txt', content: 'one\n' } },
  { name: 'read', input: { path: 'a.txt' } },
  { name: 'edit', input: { path: 'a.txt', oldText: 'one', newText: 'two' } },
  { name: 'glob', input: { pattern: '*.txt' } },
  { name: 'grep', input: { pattern: 'two' } },
  { name: 'shell_run', input: { command: 'echo here' } },
  { name: 'shell_exec', input: { command: 'echo there' } },
  { name: 'shell_history', input: {} },
  { name: 'shell_read_last_output', input: {} },
  { name: 'shell_set_env', input: { name: 'KIND', value: 'x' } },
  { name: 'shell_set_cwd', input: { cwd: '.' } },
  { name: 'shell_close', input: {} },
];

describe('the output of a managed tool', () => {
  it('is what its schema says', async () => {
    await runtime.agents.create({
      agentId: 'user-of-tools',
      source: {
        frontmatter: {
          name: 'user-of-tools',
          provider: 'script',
          model: 'script.json',
          permission: { mode: 'preapproved' },
        },
        instructions: 'Play.',
      },
    });
    const steps = [...CALLS.map((call) => ({ toolCalls: [call] })), { text: 'Done.' }];
    await writeFile(
      join(home.path, 'agents', 'user-of-tools', 'script.json'),
      JSON.stringify({ format: 'wakechart-script/1', steps }),
    );
    const { sessionId } = await runtime.sessions.create({ agentId: 'user-of-tools' });
    await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Begin.' });
    expect(await runtime.wake(sessionId)).toMatchObject({ outcome: 'sleep' });
    const definitions = new Map(managed().map((definition) => [definition.name, definition]));
    const checked: string[] = [];
    for await (const event of runtime.sessions.events(sessionId)) {
      if (event.type !== 'agent.tool_result') continue;
      const { name, outcome, output } = event.data;
      const parsed = definitions.get(name)?.outputSchema?.safeParse(output);
      checked.push(
        `${name} ${outcome} ${parsed?.success === true ? 'as it said' : JSON.stringify({ output, error: parsed?.error?.issues })}`,
      );
    }
    expect(checked).toEqual(CALLS.map(({ name }) => `${name} completed as it said`));
  });
});
