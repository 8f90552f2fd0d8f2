/** What signals do to a wake: the first one lets what may finish finish, the second one does not wait for it. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from './command-line.ts';
import { Stage } from './stage.ts';

const program = fileURLToPath(new URL('finishing-wake.mjs', import.meta.url));

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(() => stage.close());

interface Engraving {
  readonly id: string;
  readonly workspace: string;
  readonly interrupt: () => void;
  readonly text: () => string;
  readonly ended: Promise<number | null>;
}

/** A wake in a process of its own, in the middle of a call that may come to its end. */
async function engraving(): Promise<Engraving> {
  const { id, workspace } = await stage.sessionToWake(
    { toolCalls: [{ name: 'engrave', input: { command: '' } }] },
    { text: 'Done.' },
  );
  const { agentId } = await stage.runtime.sessions.status(id);
  const child = spawn(process.execPath, [program, stage.home, id, agentId], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  await until('the call', () => existsSync(join(workspace, 'begun')));
  return { id, workspace, ended, text: () => text, interrupt: () => void child.kill('SIGINT') };
}

const resultsOf = async (id: string): Promise<string[]> =>
  (await stage.eventsOf(id)).flatMap((event) => (event.type === 'agent.tool_result' ? [event.data.outcome] : []));

describe.concurrent('a wake that is interrupted in a call that may come to its end', () => {
  it('lets it do so, and keeps its result', async () => {
    const { id, workspace, interrupt, text, ended } = await engraving();
    interrupt();
    await until('the call to go on', () => text().includes('goes on\ngoes on\n'));
    await writeFile(join(workspace, 'go'), '');
    expect(await ended).toBe(130);
    expect(text()).not.toContain('told to stop');
    expect(text()).toMatch(/^ended: aborted$/m);
    expect(await resultsOf(id)).toEqual(['completed']);
    expect(await stage.wakeEndings(id)).toEqual(['aborted']);
  });

  it('stops it at the second signal, with a result that says so', async () => {
    const { id, interrupt, text, ended } = await engraving();
    interrupt();
    await until('the call to go on', () => text().includes('goes on\ngoes on\n'));
    interrupt();
    expect(await ended).toBe(130);
    expect(text()).toMatch(/^told to stop$/m);
    expect(text()).toMatch(/^ended: aborted$/m);
    expect(await resultsOf(id)).toEqual(['cancelled']);
    expect(await stage.wakeEndings(id)).toEqual(['aborted']);
  });
});
