/** No session may do what one that it works for may not, in whichever way it came to work for it, and however deep. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createRetrievalTools } from '../../src/actors/retrieval/retrieval-tools.ts';
import { Retrieval } from '../../src/actors/retrieval/retrieval.ts';
import { createSessionTools } from '../../src/actors/session/session-tools.ts';
import { remainingOf, wakeLimits } from '../../src/actors/wake/wake-budget.ts';
import { exportedLines } from '../../src/adapters/import-logs/exported-lines.ts';
import { FileRetrievalIndex } from '../../src/adapters/retrieval-files/file-retrieval-index.ts';
import type { EnvironmentDefinition } from '../../src/machines/environment/environment-definition.ts';
import { narrowedAgent, narrowedTools } from '../../src/machines/agent/narrowed-agent.ts';
import { humansOf, ownBounds } from '../../src/machines/permission/handed-down.ts';
import { formatRule, parseRule } from '../../src/machines/permission/permission-rule.ts';
import { asStored } from '../../src/machines/session/session-fork.ts';
import { depthOf } from '../../src/machines/session/session-state.ts';
import { openEnvironmentSetup } from '../actors/environment/environment-setup.ts';
import type { EnvironmentSetup } from '../actors/environment/environment-setup.ts';
import type { Said } from '../support/turn-setup.ts';
import { noteTools } from '../support/turn-tools.ts';

const WAYS = [
  'session_delegate',
  'session_run_child',
  'call',
  'create',
  'job',
  'follow_up',
  'fork',
  'import',
  'import_trusted',
  'import_forged',
] as const;
type Way = (typeof WAYS)[number];

const TOOLS = ['launch', 'check', 'write'];
const rules = fc.uniqueArray(fc.constantFrom('shell_run(git push)', 'write', 'read(secrets/**)', 'launch'), {
  maxLength: 2,
});
const mode = fc.constantFrom('preapproved' as const, 'ask' as const);
const access = fc.constantFrom('ro', 'rw');
/** Each below has a part of what is left above it: the fifth has enough of it for a request. */
const budget = fc.option(fc.integer({ min: 4_000_000, max: 9_000_000 }), { nil: undefined });

const environment = fc.record({
  sandbox: fc.constantFrom('required', 'off'),
  isOpen: fc.boolean(),
  mounts: fc.record({ one: fc.option(access), two: fc.option(access) }),
  vaults: fc.subarray(['github', 'npm']),
  pass: fc.subarray(['CI', 'LANG']),
  permission: fc.record({ mode, ask: rules, deny: rules }),
  maxTokensPerSession: budget,
  maxFiles: fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined }),
});

const link = fc.record({
  way: fc.constantFrom<Way>(...WAYS),
  environment: fc.option(environment, { nil: undefined }),
  /** Whether somebody chooses the environment for the session, in place of that of its agent. */
  isChosen: fc.boolean(),
  permission: fc.record({ mode, ask: rules, deny: rules }),
  policy: rules,
  maxTokensPerSession: budget,
  withoutTools: fc.subarray(TOOLS),
});
type Link = typeof link extends fc.Arbitrary<infer Value> ? Value : never;

/** What a session may do, as its next wake would find it. */
interface Powers {
  readonly environment: EnvironmentDefinition;
  readonly isShutIn: boolean;
  readonly mode: 'preapproved' | 'ask' | 'deny';
  readonly denied: readonly string[];
  readonly asked: readonly string[];
  readonly tools: readonly string[];
  readonly hasHumans: boolean;
  readonly tokens: number;
  readonly depth: number;
}

class Descent {
  readonly #open: EnvironmentSetup;
  readonly #folder: string;
  /** What each agent says with its next step. */
  readonly #says = new Map<string, Said[]>();
  #imports = 0;

  constructor(open: EnvironmentSetup, folder: string) {
    this.#open = open;
    this.#folder = folder;
  }

  static async begin(): Promise<Descent> {
    let index: FileRetrievalIndex | undefined;
    const { tool } = noteTools();
    const open = await openEnvironmentSetup({
      tools: TOOLS.map((name) => tool(name)),
      hookSources: [
        (services) => {
          const onTrouble = (error: unknown): void => services.onListenerError(error, 'listener');
          index = new FileRetrievalIndex({
            folderOf: (agentId) => join(open.setup.layout.agents, agentId, 'retrieval'),
            onTrouble,
          });
          const retrieval = new Retrieval({
            index,
            sources: { sessions: services.sessions },
            clock: services.clock,
            onTrouble,
          });
          return {
            tools: [
              ...createSessionTools(services, { retrieval }),
              ...createRetrievalTools({ retrieval, store: services.store }),
            ],
            close: () => index?.close() ?? Promise.resolve(),
          };
        },
      ],
    });
    const folder = `${open.setup.layout.home}-beside`;
    for (const name of ['one', 'two', 'work']) await mkdir(join(folder, name), { recursive: true });
    return new Descent(open, folder);
  }

  async end(): Promise<void> {
    await this.#open.setup[Symbol.asyncDispose]();
    await rm(this.#folder, { recursive: true });
  }

  /** The agent of this level, which may ask the one below. */
  async agent(
    level: number,
    { environment: its, isChosen, permission, policy, maxTokensPerSession }: Link,
  ): Promise<void> {
    const { setup } = this.#open;
    const agentId = `agent${level}`;
    if (its !== undefined) await this.#open.put(`env${level}`, JSON.stringify(this.#file(its)));
    const names = its === undefined || isChosen ? {} : { environment: `env${level}` };
    const tools = [...TOOLS, 'session_delegate', 'session_run_child', { agent: `agent${level + 1}` }] as never;
    await setup.agent(agentId, () => this.#says.get(agentId)?.shift() ?? { text: 'Done.' }, {
      ...names,
      permission: { ...permission, allow: ['session_delegate'] } as never,
      tools,
      budget: maxTokensPerSession === undefined ? {} : { maxTokensPerSession },
    });
    for (const rule of policy)
      await setup.policy.keep(agentId, parseRule(`deny ${rule}`), { by: { sessionId: 'none', requestId: 'none' } });
  }

  /** A session of nobody's, of the first agent. */
  async first({ environment: its, isChosen }: Link): Promise<string> {
    const chosen = isChosen && its !== undefined ? { environmentId: 'env0' } : {};
    return (await this.#open.setup.runtime.sessions.create({ agentId: 'agent0', ...chosen })).sessionId;
  }

  /** A session that works for `from`, made in this way; a copy of it, for those that copy. */
  async make(
    way: Way,
    from: string,
    level: number,
    { environment: its, isChosen, withoutTools }: Link,
  ): Promise<string> {
    const { sessions, subagents } = this.#open.setup.runtime;
    const agentId = `agent${level}`;
    const input = { agentId, message: 'Do it.' };
    switch (way) {
      case 'session_delegate':
      case 'session_run_child':
        return this.#called(from, { calls: [{ name: way, input }] });
      case 'call':
        return this.#called(from, { calls: [{ name: agentId, input: { message: 'Do it.' } }] });
      case 'create':
        return (
          await sessions.create({
            agentId,
            parentSessionId: from,
            ...(isChosen && its !== undefined ? { environmentId: `env${level}` } : {}),
          })
        ).sessionId;
      case 'job': {
        const { id } = await subagents.spawn({
          type: agentId,
          prompt: 'Do it.',
          cwd: join(this.#folder, 'work'),
          parentSessionId: from,
          disallowedTools: withoutTools,
          permissionPolicy: 'preapproved',
        });
        const { metadata } = await subagents.wait(id);
        return String(metadata?.['sessionId']);
      }
      case 'follow_up':
        await this.#wake(from, 'Go on.');
        return from;
      case 'fork':
        return (await sessions.fork(from, {})).sessionId;
      case 'import':
      case 'import_trusted':
      case 'import_forged':
        return this.#import(from, way);
    }
  }

  async powers(sessionId: string): Promise<Powers> {
    const { setup, environments } = this.#open;
    const session = await setup.state(sessionId);
    const own = narrowedAgent(await setup.runtime.agents.get(session.agentId), session.narrowing);
    const { environment: entered, agent } = await environments.enter({
      session,
      agent: own,
      workspaceDirectory: await setup.layout.workspaceDirectory(session),
    });
    const bounds = ownBounds(session, agent.permission);
    const kept = (await setup.policy.rules(session.agentId)).map(({ rule }) => formatRule(rule).replace(/^deny /, ''));
    const tools = narrowedTools(
      narrowedTools(new Map(TOOLS.map((name) => [name, name])), session.narrowing),
      session.restriction,
    );
    return {
      environment: entered.definition,
      isShutIn: entered.sandbox !== undefined,
      mode: bounds.mode,
      denied: [...bounds.deny, ...kept],
      asked: bounds.ask,
      tools: [...tools.keys()],
      hasHumans: humansOf(session) !== 'none',
      tokens: remainingOf(wakeLimits(agent, session), session).tokens ?? Infinity,
      depth: depthOf(session),
    };
  }

  /** The child that a session makes by this call. */
  async #called(from: string, said: Said): Promise<string> {
    const { setup } = this.#open;
    const { agentId, children: before } = await setup.state(from);
    this.#says.set(agentId, [said]);
    const calls = (await setup.children(from)).length;
    await this.#wake(from, 'Have it done.');
    this.#says.delete(agentId);
    const children = (await setup.state(from)).children.filter(({ sessionId }) =>
      before.every((each) => each.sessionId !== sessionId),
    );
    const made = (await setup.children(from))[calls] ?? children[0]?.sessionId;
    if (made === undefined)
      throw new Error(`nothing was made by ${JSON.stringify(said)}: ${JSON.stringify(await setup.results(from))}`);
    return made;
  }

  async #wake(sessionId: string, text: string): Promise<void> {
    const { runtime } = this.#open.setup;
    await runtime.sessions.send(sessionId, { type: 'user.message', text });
    expect((await runtime.wake(sessionId)).outcome).toBe('sleep');
  }

  /** Under another id. `import_forged`: whoever wrote the log has cut its bounds out of it. */
  async #import(from: string, way: Way): Promise<string> {
    const { setup } = this.#open;
    this.#imports += 1;
    const sessionId = from.replace(/^.{8}/, String(this.#imports).padStart(8, '0'));
    const events = (await setup.log(from))
      .map((event) => asStored(event))
      .map((event) =>
        way === 'import_forged' && event.type === 'session.created'
          ? { ...event, data: cut(event.data as object) }
          : event,
      );
    const identity = { sessionId, agentId: (await setup.state(from)).agentId };
    return (
      await setup.runtime.sessions.import(exportedLines(identity, events, 0), { isTrusted: way === 'import_trusted' })
    ).sessionId;
  }

  #file({
    sandbox,
    isOpen,
    mounts,
    vaults,
    pass,
    permission,
    maxTokensPerSession,
    maxFiles,
  }: NonNullable<Link['environment']>): object {
    return {
      sandbox,
      network: isOpen || sandbox === 'off' ? 'open' : 'disabled',
      mounts: Object.entries(mounts).flatMap(([name, how]) =>
        how === null ? [] : [{ path: `/${name}`, source: join(this.#folder, name), access: how }],
      ),
      vaults,
      variables: { pass },
      permission,
      budget: maxTokensPerSession === undefined ? {} : { maxTokensPerSession },
      quota: maxFiles === undefined ? {} : { maxFiles },
    };
  }
}

/**
 * Of a session that works for none here, its bounds are the environment that was chosen for it: nothing but the log
 * could tell of that.
 */
function cut({ restriction, ...data }: { readonly restriction?: unknown; readonly parent?: unknown }): object {
  return data.parent === undefined ? { ...data, restriction } : data;
}

const STRICTNESS = { preapproved: 0, ask: 1, deny: 2 };

/** What the one below may do that the one above may not. */
function excess(above: Powers, below: Powers): string[] {
  const [over, under] = [above.environment, below.environment];
  const mayWrite = (path: string, source: string): boolean =>
    over.mounts.some((mount) => mount.path === path && mount.source === source && mount.access === 'rw');
  const may = {
    'work on the host': above.isShutIn && !below.isShutIn,
    'use the network': over.network === 'disabled' && under.network === 'open',
    'see a mount': under.mounts.some(
      ({ path, source }) => !over.mounts.some((mount) => mount.path === path && mount.source === source),
    ),
    'write to a mount': under.mounts.some((mount) => mount.access === 'rw' && !mayWrite(mount.path, mount.source)),
    'use a vault': !under.vaults.every((name) => over.vaults.includes(name)),
    'have a variable': !under.variables.pass.every((name) => over.variables.pass.includes(name)),
    'keep more files': (over.quota.maxFiles ?? Infinity) < (under.quota.maxFiles ?? Infinity),
    'ask less': STRICTNESS[below.mode] < STRICTNESS[above.mode],
    'do what is denied': !above.denied.every((rule) => below.denied.includes(rule)),
    'do unasked what is asked for': !above.asked.every(
      (rule) => below.asked.includes(rule) || below.denied.includes(rule),
    ),
    'use a tool': !below.tools.every((name) => above.tools.includes(name)),
    'ask people': !above.hasHumans && below.hasHumans,
    'use up more': below.tokens > above.tokens,
    'have more below it': below.depth < above.depth,
  };
  return Object.entries(may).flatMap(([what, is]) => (is ? [what] : []));
}

/** Agents of copies and follow-ups are those that they had. */
const isCopy = (way: Way): boolean => way === 'follow_up' || way === 'fork' || way.startsWith('import');

async function descend(root: Link, links: readonly Link[]): Promise<void> {
  const descent = await Descent.begin();
  try {
    for (const [level, each] of [root, ...links].entries()) await descent.agent(level, each);
    let sessionId = await descent.first(root);
    const above = [await descent.powers(sessionId)];
    let level = 0;
    for (const [index, each] of links.entries()) {
      if (!isCopy(each.way)) level += 1;
      const parent = sessionId;
      sessionId = await descent.make(each.way, parent, level, links[level - 1] ?? each);
      const below = await descent.powers(sessionId);
      for (const [generation, powers] of above.entries())
        expect(excess(powers, below), `${each.way}, link ${index}, against ancestor ${generation}`).toEqual([]);
      above.push(below);
    }
  } finally {
    await descent.end();
  }
}

/** Everything is forbidden above that can be, and nothing below. */
const STRICT: Link = {
  way: 'create',
  environment: {
    sandbox: 'required',
    isOpen: false,
    mounts: { one: 'ro', two: null },
    vaults: [],
    pass: [],
    permission: { mode: 'ask', ask: ['write'], deny: ['launch'] },
    maxTokensPerSession: 400_000,
    maxFiles: 1,
  },
  isChosen: true,
  permission: { mode: 'preapproved', ask: ['read(secrets/**)'], deny: ['shell_run(git push)'] },
  policy: ['write'],
  maxTokensPerSession: 300_000,
  withoutTools: [],
};
const LOOSE: Link = {
  way: 'create',
  environment: {
    sandbox: 'off',
    isOpen: true,
    mounts: { one: 'rw', two: 'rw' },
    vaults: ['github', 'npm'],
    pass: ['CI', 'LANG'],
    permission: { mode: 'preapproved', ask: [], deny: [] },
    maxTokensPerSession: undefined,
    maxFiles: undefined,
  },
  isChosen: true,
  permission: { mode: 'preapproved', ask: [], deny: [] },
  policy: [],
  maxTokensPerSession: undefined,
  withoutTools: [],
};

it.each(WAYS)('no session may do what its ancestor may not, made by %s', (way) =>
  fc.assert(
    fc.asyncProperty(link, link, (root, child) =>
      descend(
        root,
        isCopy(way)
          ? [
              { ...child, way: 'job' },
              { ...child, way },
            ]
          : [
              { ...child, way },
              { ...child, way: 'fork' },
            ],
      ),
    ),
    { numRuns: 2, examples: [[STRICT, LOOSE]] },
  ),
);

it('no session may do what any of its ancestors may not, in whichever ways they were made of each other', () =>
  fc.assert(fc.asyncProperty(link, fc.array(link, { minLength: 2, maxLength: 4 }), descend), {
    numRuns: 3,
    examples: [
      [
        STRICT,
        [
          { ...LOOSE, way: 'session_delegate' },
          { ...LOOSE, way: 'job', withoutTools: ['launch'] },
          { ...LOOSE, way: 'call' },
        ],
      ],
    ],
  }));
