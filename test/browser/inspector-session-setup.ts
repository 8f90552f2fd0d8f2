/** A real runtime whose sessions are shown by the page of the inspector, as it is built, in a real browser. */
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { createRuntimeSource } from '../../src/actors/inspection/runtime-source.ts';
import type { InspectionSource } from '../../src/actors/inspection/inspection-source.ts';
import { diagramHash } from '../../src/adapters/diagram/diagram-hash.ts';
import { renderChart } from '../../src/adapters/diagram/render-chart.ts';
import { startInspector } from '../../src/adapters/inspector/inspector.ts';
import type { TestBrowser } from '../support/browser.ts';
import type { PageCheck } from '../support/browser-pages.ts';
import { AGENT, openSetup } from '../support/session-setup.ts';
import type { SessionSetup, SessionSetupOptions } from '../support/session-setup.ts';
import { noteTools } from '../support/turn-tools.ts';
import type { NotedTools } from '../support/turn-tools.ts';

/** Built before the tests (test/setup/build-dist.ts). */
const PAGE = fileURLToPath(new URL('../../dist/inspector-page/', import.meta.url));

export interface ShownSetup {
  readonly setup: SessionSetup;
  readonly tools: NotedTools;
  readonly source: InspectionSource;
  readonly origin: string;
  readonly problems: unknown[];
  /** A session whose agent asks whether it may deploy. */
  waiting(options?: { readonly expiresAfterSeconds?: number }): Promise<string>;
  /** Another one of the same agent. */
  waitingToo(): Promise<string>;
  /** A session whose agent plays these steps, up to where it waits. */
  playing(steps: readonly object[]): Promise<string>;
  /** The page, signed in. @param hash with its `#` */
  open(hash?: string, check?: PageCheck): Promise<Page>;
}

export interface ShownSetupOptions extends SessionSetupOptions {
  readonly browser: TestBrowser;
  /** What the server is given in place of what it would be. */
  readonly replaced?: (source: InspectionSource) => Partial<InspectionSource>;
}

export async function showSetup({ browser, replaced, ...options }: ShownSetupOptions): Promise<ShownSetup> {
  const tools = noteTools();
  const setup = await openSetup({ ...options, tools: [tools.tool('deploy', { permissionPolicy: 'always_ask' })] });
  const problems: unknown[] = [];
  const onProblem = (problem: unknown): void => void problems.push(problem);
  const real = createRuntimeSource({
    title: 'the setup',
    sessions: setup.runtime.sessions,
    agents: setup.runtime.agents,
    clock: setup.clock,
    commands: { sessions: setup.runtime.sessions, wake: (id) => setup.runtime.trigger(id) },
    live: setup.runtime.inspection.live,
    owner: setup.runtime.inspection.owner,
    onProblem,
  });
  const source = replaced === undefined ? real : withReplaced(real, replaced(real));
  const server = await startInspector({
    source,
    pictures: { hash: diagramHash, draw: renderChart },
    pageDirectory: PAGE,
    onProblem,
  });
  const pages: Page[] = [];
  onTestFinished(async () => {
    await Promise.all(pages.map((page) => page.context().close()));
    await server.close();
    real.close();
    await setup.close();
  });
  const agent = (expiresAfterSeconds?: number): object => ({
    tools: ['deploy', 'ask_human'],
    permission: { mode: 'ask', ...(expiresAfterSeconds === undefined ? {} : { expiresAfterSeconds }) },
  });
  const playing: ShownSetup['playing'] = async (steps) => {
    const id = await setup.session(steps, { message: 'Bring it out.', agent: agent() });
    await setup.runtime.wake(id);
    return id;
  };
  return {
    setup,
    tools,
    source,
    origin: server.origin,
    problems,
    playing,
    waitingToo: async () => {
      const { sessionId } = await setup.runtime.sessions.create({ agentId: AGENT });
      await setup.runtime.sessions.send(sessionId, { type: 'user.message', text: 'Bring it out.' });
      await setup.runtime.wake(sessionId);
      return sessionId;
    },
    waiting: async ({ expiresAfterSeconds } = {}) => {
      const id = await setup.session(
        [
          {
            text: 'I would deploy now.',
            toolCalls: [{ name: 'deploy', input: { command: 'deploy --to production' } }],
          },
          { text: 'It is out.', directive: { outcome: 'sleep', summary: 'Deployed.' } },
        ],
        { message: 'Bring it out.', agent: agent(expiresAfterSeconds) },
      );
      await setup.runtime.wake(id);
      return id;
    },
    open: async (hash = '', check = {}) => {
      const page = await browser.open({ viewport: { width: 1440, height: 900 }, ...check });
      pages.push(page);
      await page.goto(server.signInAddress());
      if (hash !== '') {
        await page.goto(new URL(hash, new URL('.', page.url())).href);
        await page.reload();
      }
      return page;
    },
  };
}

function withReplaced(real: InspectionSource, replaced: Partial<InspectionSource>): InspectionSource {
  const names = [
    'about',
    'range',
    'records',
    'follow',
    'chart',
    'recordingOf',
    'sessions',
    'session',
    'events',
    'processes',
    'changes',
    'answer',
  ] as const;
  const given = Object.fromEntries(names.map((name) => [name, (replaced[name] ?? real[name]).bind(real)]));
  // Each name is given what has its type.
  return {
    header: real.header,
    speech: real.speech,
    command: replaced.command ?? real.command,
    ...given,
  } as InspectionSource;
}
