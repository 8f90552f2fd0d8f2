/**
 * An image of a real MCP server on its way through the whole setup: into the workspace, the log, and what a model reads
 * in its next step.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { AgentRunParams, AgentRuntime } from '../../../src/actors/run/agent-runtime.ts';
import { fileKindOf } from '../../../src/machines/turn/files/file-kind.ts';
import type { ImageReference, ProviderMessage } from '../../../src/machines/turn/provider-message.ts';
import { imageReferencesIn } from '../../../src/machines/turn/provider-message.ts';
import { createNodeRuntime } from '../../../src/node.ts';
import type { Runtime } from '../../../src/runtime.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';
import { published } from './mcp-setup.ts';

let home: TemporaryHome;
let runtime: Runtime;
/** What the model was given to read, step by step. */
let steps: (AgentRunParams & { readonly messages: readonly ProviderMessage[] })[];

/** Asks for the image in its first step, and says what it was given from then on. */
const looker: AgentRuntime = {
  id: 'looker',
  run: async (params) => {
    if (params.messages === undefined) throw new Error('expected a conversation');
    steps.push(params);
    const ask = { type: 'tool_call', callId: 'look_1', name: 'images__get-tiny-image', input: {} } as const;
    return {
      payloads: params.modelStepsTaken === 0 ? [ask] : [{ type: 'text', text: 'Seen.' }],
      meta: { modelSteps: 1 },
    };
  },
  abort: async () => undefined,
  isRunActive: () => false,
};

beforeEach(async () => {
  home = await temporaryHome();
  steps = [];
  runtime = await createNodeRuntime({ home: home.path, backends: [looker] });
});
afterEach(async () => {
  await runtime.shutdown();
  await home.remove();
});

/** In the result of the last step. */
function imagesGiven(): readonly ImageReference[] {
  return (steps.at(-1)?.messages ?? []).flatMap((message) =>
    message.role === 'tool' ? message.content.flatMap(({ output }) => imageReferencesIn(output)) : [],
  );
}

async function lCheckedImage(): Promise<string> {
  const server = { command: process.execPath, args: [published('server-everything/dist/index.js'), 'stdio'] };
  await runtime.agents.create({
    agentId: 'looker',
    source: {
      frontmatter: {
        name: 'Checker',
        provider: 'looker',
        model: 'm',
        tools: [{ mcp: 'images' }],
        permission: 'preapproved',
        mcp: { images: server },
      },
      instructions: '',
    },
  });
  const { sessionId } = await runtime.sessions.create({ agentId: 'looker' });
  await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Check.' });
  expect(await runtime.wake(sessionId)).toMatchObject({ outcome: 'sleep', modelSteps: 2 });
  return sessionId;
}

it('an image of a server is in the workspace, and the model is referred to it; nothing of its bytes is in the log', async () => {
  const sessionId = await lCheckedImage();
  const [image, ...others] = imagesGiven();
  expect(image).toMatchObject({
    type: 'image',
    mediaType: 'image/png',
    path: expect.stringMatching(/^\.wakechart-runtime\/outputs\/call_\w+\.[0-9a-f]{16}\.png$/) as string,
  });
  expect(others).toEqual([]);
  const bytes = await readFile(join(steps.at(-1)?.workspaceDir ?? '', image?.path ?? ''));
  expect(fileKindOf(bytes)).toEqual({ kind: 'image', mediaType: 'image/png' });
  const log = JSON.stringify(await eventsOf(sessionId));
  expect(log).not.toContain(bytes.toString('base64').slice(0, 60));
  expect(log).toContain(image?.path);
});

it('a fork is referred to the same image, which is not in its empty workspace', async () => {
  const before = await lCheckedImage();
  const given = imagesGiven();
  const { sessionId } = await runtime.sessions.fork(before);
  await runtime.sessions.send(sessionId, { type: 'user.message', text: 'And now?' });
  await runtime.wake(sessionId);
  expect(steps.at(-1)?.sessionId).toBe(sessionId);
  expect(imagesGiven()).toEqual(given);
  await expect(readFile(join(steps.at(-1)?.workspaceDir ?? '', given[0]?.path ?? ''))).rejects.toMatchObject({
    code: 'ENOENT',
  });
});

async function eventsOf(sessionId: string): Promise<unknown[]> {
  const events: unknown[] = [];
  for await (const event of runtime.sessions.events(sessionId)) events.push(event);
  return events;
}
