/**
 * The stories whose logs are kept, one after another for each version: run once by that version, with the real store,
 * then never again. A later version that can do more adds stories of its own; these stay as they are.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkspaceCopyStore } from '../../src/actors/workspace-copy/copy-store.ts';
import { createWorkspaceCopies } from '../../src/actors/workspace-copy/workspace-copies.ts';
import { createIdSource } from '../../src/actors/session/id-source.ts';
import { SessionJournal } from '../../src/actors/session/session-journal.ts';
import { BackgroundTaskManager } from '../../src/actors/task/background-task-manager.ts';
import { FileAgentCatalog } from '../../src/adapters/agents/file-agent-catalog.ts';
import { FileEventStore } from '../../src/adapters/files/file-event-store.ts';
import { HomeLayout } from '../../src/adapters/files/layout.ts';
import { createHomeCopyFolders } from '../../src/adapters/workspace-copy-files/home-copy-folders.ts';
import { createMemoryWorkspaceCopyStore } from '../../src/adapters/memory/memory-workspace-copy-store.ts';
import { createScriptAgentRuntime } from '../../src/adapters/script/script-agent-runtime.ts';
import type { WorkspaceCopyLimits } from '../../src/machines/workspace-copy/copy-limits.ts';
import { createRuntime } from '../../src/runtime.ts';
import { AGENT, openSetup, until } from '../support/session-setup.ts';
import type { SessionSetup } from '../support/session-setup.ts';

export interface Scenario {
  readonly name: string;
  /** Plays the story and answers with the session whose log is to be kept, at the moment it is to be kept. */
  play(setup: SessionSetup, keep: (sessionId: string) => Promise<void>): Promise<void>;
}

export const openOnFiles = (): Promise<SessionSetup> =>
  openSetup({ workspace: '/workspace', store: ({ home, clock }) => new FileEventStore({ home, clock }) });

const shell = { name: 'shell_run', input: { command: 'true' } };
const question = { name: 'ask_human', input: { question: 'Which one?', choices: ['red', 'blue'] } };

export const SCENARIOS: readonly Scenario[] = [
  {
    name: '0.2-deliveries-and-requests',
    async play(setup, keep) {
      const { sessions } = setup.runtime;
      const steps = [
        { text: 'Working.', reasoning: 'First the command.', toolCalls: [shell, question] },
        {
          text: 'Done.',
          usage: { inputTokens: 20, outputTokens: 10 },
          directive: { outcome: 'sleep', summary: 'Done.', queuedWakes: [{ reason: 'recheck', delaySeconds: 60 }] },
        },
        { text: 'Slow.', toolCalls: [shell] },
      ];
      const id = await setup.session(steps, { message: 'Go', agent: { permission: 'ask' } });
      await sessions.send(id, {
        type: 'user.define_outcome',
        title: 'All tests are green',
        criteria: ['none is skipped'],
      });
      await setup.runtime.wake(id);
      const [permission, asked] = (await sessions.get(id)).pendingActions;
      await sessions.send(id, {
        type: 'user.tool_confirmation',
        requestId: permission?.requestId ?? '',
        toolName: 'shell_run',
        allowed: false,
        note: 'not today',
      });
      await sessions.send(id, { type: 'user.answer', requestId: asked?.requestId ?? '', response: 'blue' });
      await sessions.send(
        id,
        { type: 'user.message', text: 'Quickly' },
        { delivery: 'steer', idempotencyKey: 'quickly' },
      );
      await setup.runtime.wake(id);
      await sessions.send(id, { type: 'user.message', text: 'One more' });
      await setup.runtime.wake(id);
      await sessions.send(id, { type: 'user.message', text: 'Stop that' }, { delivery: 'interrupt' });
      await keep(id);
    },
  },
  {
    name: '0.2-died-after-an-interruption',
    async play(setup, keep) {
      const id = await setup.session([{ text: 'Working.', toolCalls: [shell, shell] }], { message: 'Go' });
      const waking = setup.runtime.wake(id).catch(() => undefined);
      await until(() => setup.processes.works.length === 2);
      // Its process cannot write any more; somebody else interrupts it.
      await setup.store.close();
      const { home, clock } = setup;
      const store = new FileEventStore({ home, clock });
      await (
        await SessionJournal.open(id, { store, clock, ids: createIdSource({ clock }) })
      ).append([{ type: 'user.interrupt', data: { reason: 'enough' } }]);
      await store.close();
      await keep(id);
      for (const work of setup.processes.works) work.resolve({});
      await waking;
    },
  },
  {
    name: '0.2-parked',
    async play(setup, keep) {
      const id = await setup.session([{ error: { kind: 'rate_limit', message: 'slow down', retryAfterMs: 60_000 } }], {
        message: 'Go',
        script: { onEnd: 'repeat-last' },
      });
      for (let failures = 0; failures < 5; failures += 1) await setup.runtime.wake(id);
      await keep(id);
    },
  },
  {
    name: '0.2-child',
    async play(setup, keep) {
      const parentSessionId = await setup.session([{ text: 'Helped.' }]);
      const { sessionId } = await setup.runtime.sessions.create({
        agentId: 'player',
        title: 'Helper',
        parentSessionId,
      });
      await setup.runtime.sessions.send(sessionId, { type: 'user.message', text: 'Help' });
      await setup.runtime.wake(sessionId);
      await keep(sessionId);
    },
  },
  {
    name: '0.2-parent',
    async play(setup, keep) {
      const parentSessionId = await setup.session([{ text: 'Helped.' }]);
      const { sessionId } = await setup.runtime.sessions.create({
        agentId: 'player',
        title: 'Helper',
        parentSessionId,
      });
      await setup.runtime.sessions.send(sessionId, { type: 'user.message', text: 'Help' });
      await setup.runtime.wake(sessionId);
      await keep(parentSessionId);
    },
  },
  {
    name: '0.2-fork',
    async play(setup, keep) {
      const id = await setup.session([{ text: 'Asking.', toolCalls: [question] }], { message: 'Go' });
      await setup.runtime.wake(id);
      await keep((await setup.runtime.sessions.fork(id, { title: 'Another way' })).sessionId);
    },
  },
  {
    name: '0.3-grants-and-answers',
    async play(setup, keep) {
      const { sessions } = setup.runtime;
      const deploy = { custom: 'deploy', description: 'Deploys.' };
      const steps = [
        { text: 'Working.', toolCalls: [shell, { name: 'deploy', input: { build: '7' } }, question] },
        { text: 'Again.', toolCalls: [shell], usage: { inputTokens: 200, outputTokens: 50, cost: 0.01 } },
        { text: 'Over and out.' },
      ];
      const id = await setup.session(steps, {
        message: 'Go',
        agent: {
          permission: { mode: 'ask', expiresAfterSeconds: 3600 },
          tools: ['shell_run', 'ask_human', deploy],
          budget: { maxTokensPerSession: 1_000_000, maxCostPerWake: 5 },
        },
      });
      await setup.runtime.wake(id);
      for (const { requestId, kind, toolName } of (await sessions.get(id)).pendingActions) {
        if (kind === 'permission')
          await sessions.send(id, { type: 'user.tool_confirmation', requestId, toolName, allowed: true });
        else await sessions.send(id, { type: 'user.answer', requestId, response: 'blue' });
      }
      const waking = setup.runtime.wake(id);
      await until(() => setup.processes.works.length === 1);
      setup.processes.works[0]?.resolve({ exitCode: 0 });
      await waking;
      for (const { requestId, toolName } of (await sessions.get(id)).pendingActions)
        await sessions.send(id, { type: 'user.custom_tool_result', requestId, toolName, output: { ok: true } });
      await setup.runtime.wake(id);
      // Nobody allows the last one in time.
      await setup.clock.advance(3_600_001);
      await setup.runtime.wake(id);
      await keep(id);
    },
  },
  {
    name: '0.3-delegating',
    async play(setup, keep) {
      const id = await setup.session(
        [{ text: 'Help me.', toolCalls: [{ name: 'helper', input: { message: 'Which one?' } }] }, { text: 'Thanks.' }],
        { message: 'Go', agent: { tools: [{ agent: 'helper' }], budget: { maxTokensPerSession: 80_000 } } },
      );
      await setup.runtime.agents.create({
        agentId: 'helper',
        source: {
          frontmatter: { name: 'Helper', provider: 'script', model: '../player/help.json' },
          instructions: 'Help.',
        },
      });
      await writeFile(
        join(setup.home, 'agents/player/help.json'),
        JSON.stringify({
          format: 'wakechart-script/1',
          steps: [
            { text: 'Wait.', toolCalls: [question] },
            { text: 'The blue one.', usage: { inputTokens: 30, outputTokens: 10 } },
          ],
        }),
      );
      await setup.runtime.wake(id);
      await keep(id);
    },
  },
  {
    name: '0.3-budget-reached',
    async play(setup, keep) {
      const id = await setup.session([{ text: 'Once more.', toolCalls: [{ name: 'nobody', input: {} }] }], {
        message: 'Go',
        agent: { budget: { maxIdenticalCalls: 3 } },
        script: { onEnd: 'repeat-last' },
      });
      await setup.runtime.wake(id);
      await keep(id);
    },
  },
  {
    name: '0.4-jobs',
    async play(setup, keep) {
      const { parent } = await jobsOf(setup);
      await setup.runtime.wake(parent);
      await keep(parent);
    },
  },
  {
    name: '0.4-job',
    async play(setup, keep) {
      const { child } = await jobsOf(setup);
      await keep(child);
    },
  },
  {
    name: '0.4-promotions',
    async play(setup, keep) {
      const id = await setup.session([{ text: 'Learned.' }], { message: 'Go' });
      await setup.runtime.wake(id);
      const { store, clock } = setup;
      const journal = await SessionJournal.open(id, { store, clock, ids: createIdSource({ clock }) });
      await journal.append([
        { type: 'learning.kept', data: { learningId: 'learning_1', as: 'new' } },
        { type: 'memory.promoted', data: { version: 1, expectedVersion: 0, learningIds: ['learning_1'] } },
        { type: 'files.promoted', data: { version: 2, expectedVersion: 1, paths: ['notes.md'] } },
        { type: 'promotion.refused', data: { what: 'memory', because: 'The outcome is not reached.' } },
        { type: 'promotion.refused', data: { what: 'shared_files', because: 'The outcome is not reached.' } },
      ]);
      await keep(id);
    },
  },
  {
    name: '0.4-another-machine',
    async play(setup, keep) {
      const id = await setup.session([{ text: 'First.' }, { text: 'Second.' }], { message: 'Go' });
      const copies = createMemoryWorkspaceCopyStore({ clock: setup.clock });
      const one = machine(setup, copies, { name: 'one' });
      const workspace = one.layout.ownWorkspace({ sessionId: id, agentId: AGENT });
      await mkdir(workspace, { recursive: true });
      await writeFile(join(workspace, 'notes.md'), 'more than ten bytes');
      await one.wake(id);
      await setup.runtime.sessions.send(id, { type: 'user.message', text: 'Go on' });
      await machine(setup, copies, { name: 'two', limits: { maxFiles: 100, maxBytes: 10 } }).wake(id);
      await keep(id);
    },
  },
];

/** One of several machines that share the store of the setup. */
function machine(
  setup: SessionSetup,
  copies: WorkspaceCopyStore,
  { name, limits }: { readonly name: string; readonly limits?: WorkspaceCopyLimits },
): { readonly layout: HomeLayout; wake(sessionId: string): Promise<unknown> } {
  const { clock, store } = setup;
  const shared = new HomeLayout(setup.home);
  const layout = new HomeLayout(join(setup.home, 'machines', name));
  const folders = createHomeCopyFolders({ layout });
  const onTrouble = (): void => undefined;
  const workspaceCopies = createWorkspaceCopies({
    copies,
    folders: { ...folders, host: async () => ({ id: name, name }) },
    boundBecause: async () => undefined,
    limits,
    onTrouble,
  });
  const runtime = createRuntime({
    clock,
    store,
    directories: {
      agentDirectory: (agentId) => shared.agentDirectory(agentId),
      workspaceDirectory: async () => '/workspace',
    },
    agents: new FileAgentCatalog({ agentsDirectory: shared.agents }),
    runtimes: [createScriptAgentRuntime({ clock })],
    tasks: new BackgroundTaskManager({ runners: {}, clock, onListenerError: onTrouble }),
    workspaceCopies,
    owner: name,
    onListenerError: onTrouble,
  });
  // The store is the setup's, which closes it: a runtime that is shut down would.
  return { layout, wake: (sessionId) => runtime.wake(sessionId) };
}

/** A session with a job that is done and one that failed, and the session that did the first. */
async function jobsOf(setup: SessionSetup): Promise<{ readonly parent: string; readonly child: string }> {
  const parent = await setup.session([{ text: 'The blue one.', usage: { inputTokens: 30, outputTokens: 10 } }], {
    agent: { budget: { maxTokensPerSession: 80_000 } },
  });
  const { subagents, sessions } = setup.runtime;
  const spawn = async (type: string): Promise<void> => {
    const job = await subagents.spawn({
      type,
      prompt: 'Which one?',
      label: 'choose',
      cwd: '/workspace',
      parentSessionId: parent,
      allowedTools: ['shell_run'],
    });
    await subagents.wait(job.id).catch(() => undefined);
  };
  await spawn(AGENT);
  await spawn('nobody');
  const [child] = (await sessions.get(parent)).children;
  if (child === undefined) throw new Error('the session has no child');
  return { parent, child: child.sessionId };
}
