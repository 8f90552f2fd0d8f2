import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { inspectAgentFile } from '../../src/adapters/agents/agent-file.ts';
import { admitted, failed, unusedHealth } from '../../src/machines/run/breaker.ts';
import { KNOWN_PROVIDERS, providerSettings, providerTable } from '../../src/machines/run/provider-settings.ts';
import { DEFAULT_RUN_LIMITS } from '../../src/machines/run/run-decision.ts';
import { runFailureKind } from '../../src/machines/run/run-failure.ts';
import type { RunFailureKind } from '../../src/machines/run/run-failure.ts';
import { TRIED_PROGRAMS, triedVersions } from '../../src/machines/run/tried-programs.ts';
import type { TriedProgramName } from '../../src/machines/run/tried-programs.ts';
import { runStage } from '../actors/run/run-stage.ts';
import { fails } from '../support/told-runtime.ts';
import { codeBlocks, readPage } from './pages.ts';

const page = readPage('docs/backends.md');
const blocks = codeBlocks(page);
const readme = readPage('README.md');
const agents = ['README.md', 'docs/backends.md'].flatMap((path) =>
  codeBlocks(readPage(path))
    .filter(({ info }) => info === 'markdown agent')
    .map((block) => ({ ...block, path })),
);
const pinned = JSON.parse(readPage('test/programs/versions.json')) as Readonly<Record<string, object>>;
const providerFiles = blocks.filter(({ info }) => info === 'yaml providers');

/** With the providers and the accounts that the page sets up. */
function inspect(source: string): ReturnType<typeof inspectAgentFile> {
  const providers = [
    ...Object.keys(KNOWN_PROVIDERS),
    ...providerFiles.flatMap((file) => Object.keys(parse(file.code) as object)),
  ];
  const profiles = [...page.matchAll(/^wakechart auth add (?<id>\S+) --provider (?<provider>\S+)/gm)].map(
    ({ groups }) => ({ id: groups?.['id'] ?? '', provider: groups?.['provider'] ?? '' }),
  );
  return inspectAgentFile(
    { agentId: 'helper', source, fileName: 'helper.md' },
    { builtinTools: [], home: { providers, profiles } },
  );
}

/** The rows of the table whose head begins with this cell, as lists of cells. */
function tableAfter(firstHeading: string): string[][] {
  const lines = page.split('\n');
  const start = lines.findIndex((line) => line.startsWith(`| ${firstHeading} |`));
  const rest = lines.slice(start + 2);
  const end = rest.findIndex((line) => !line.startsWith('|'));
  return rest.slice(0, end).map((line) => line.slice(2, -2).split(' | '));
}

describe('what is said about backends', () => {
  it('has the versions of programs that were tried, which are those that the tests install', () => {
    const names = Object.keys(TRIED_PROGRAMS) as TriedProgramName[];
    const rows = names.map((name) => [TRIED_PROGRAMS[name].title, TRIED_PROGRAMS[name].package, triedVersions(name)]);
    expect(
      tableAfter('program').map(([title, name = '', version]) => [title, name.replaceAll('`', ''), version]),
    ).toEqual(rows);
    for (const name of names) {
      const { title, package: published, newest } = TRIED_PROGRAMS[name];
      expect(pinned[name]).toMatchObject({ package: published, version: newest });
      expect(readme).toContain(`${title} ${triedVersions(name)}`);
    }
  });

  it.each(agents)(
    'shows in $path on line $line an agent file that is valid as it stands, and of which nothing is doubtful in a home as the page has it',
    ({ code }) => {
      expect(inspect(code).warnings).toEqual([]);
    },
  );

  it.each(providerFiles)('shows on line $line providers as a home takes them', ({ code }) => {
    expect(providerTable.safeParse(parse(code)).error).toBeUndefined();
  });

  it('says in the README how to point an agent at each of the five', () => {
    const [first = '', second = ''] = readme.split('## Point an agent at a model')[1]?.split('\n## ') ?? [];
    expect(second).not.toBe('');
    for (const provider of ['anthropic', 'openai', 'ollama', 'claude-code', 'codex'])
      expect(first).toContain(`| \`${provider}\`, `);
  });

  it('shows an agent for each family of providers', () => {
    const shown = agents.map(({ code }) => inspect(code).definition.provider);
    expect(shown).toEqual(expect.arrayContaining(['anthropic', 'openai', 'ollama', 'claude-code', 'codex']));
  });

  it('lists the providers that are known, with where they are and what they need', () => {
    const rows = tableAfter('known provider').map(([name, backend, speaks, address, key]) => [
      name,
      backend,
      speaks,
      address?.match(/`(http[^`]*)`/)?.[1],
      key?.match(/`(\w+)`/)?.[1],
    ]);
    const expected = Object.entries(KNOWN_PROVIDERS).map(([name, { backend, api, dialect, baseUrl, keyVariable }]) => [
      `\`${name}\``,
      `\`${backend}\``,
      `\`${api ?? dialect}\``,
      baseUrl,
      keyVariable,
    ]);
    expect(rows).toEqual(expected);
  });

  it('names every key that a provider may have', () => {
    const named = tableAfter('key in `providers.yaml`').flatMap(([keys = '']) =>
      [...keys.matchAll(/`(\w+)`/g)].map(([, key]) => key),
    );
    expect(new Set(named)).toEqual(new Set(Object.keys(providerSettings.shape)));
  });
});

interface Others {
  readonly account: boolean;
  readonly model: boolean;
  /** Nothing of what is to be read can be left out. */
  readonly isSmall?: boolean;
}

/**
 * What a run decides while its first candidate fails in the same way again and again, until another one is up or none.
 */
async function decisions(kind: RunFailureKind, { account, model, isSmall = false }: Others): Promise<string> {
  const profiles = ['one', ...(account ? ['other'] : [])].map((id) => ({ id, provider: 'a' }));
  const stage = runStage({ acts: { a: [fails(kind)], b: [fails('refusal')] }, profiles });
  await stage.run([{ provider: 'a', model: 'm' }, ...(model ? [{ provider: 'b', model: 'm' }] : [])], {
    compact: async () => (isSmall ? undefined : []),
    resumption: (_candidate, _runtime, anew) =>
      anew === undefined ? { sessionId: 's', generation: 1, newMessages: [] } : undefined,
  });
  const taken = stage.decisions.flatMap((decision) => (decision.type === 'failed' ? [decision.next] : []));
  const last = taken.findIndex((next) => next !== 'back_off' && next !== 'compact');
  return [...new Set(taken.slice(0, last + 1))].map((next) => `\`${next}\``).join(', ');
}

const HOUR_MS = 3_600_000;

/** How long it rests after the first failure in a row, the second and so on, until that grows no more. */
function rests(kind: RunFailureKind): string {
  const lengths: number[] = [];
  let health = unusedHealth({ provider: 'p', model: 'm' });
  for (let nowMs = 0; ;) {
    health = failed(health, { kind, message: 'no' }, nowMs);
    if (health.state === 'closed') return 'no';
    const untilMs = Date.parse(health.until ?? '');
    if (lengths.at(-1) === untilMs - nowMs) break;
    lengths.push(untilMs - nowMs);
    nowMs = untilMs;
    health = admitted(health, nowMs, { isPinned: false }).health;
  }
  const unitMs = lengths.every((length) => length % HOUR_MS === 0) ? HOUR_MS : 60_000;
  return `${lengths.map((length) => length / unitMs).join(', ')} ${unitMs === HOUR_MS ? 'h' : 'min'}`;
}

describe('the table of what is decided after a failure', () => {
  const rows = new Map(tableAfter('failure').map(([kind = '', , ...rest]) => [kind.replaceAll('`', ''), rest]));

  it('has a row for every kind of failure and for no other', () => {
    expect(new Set(rows.keys())).toEqual(new Set(runFailureKind.options));
  });

  it.each(runFailureKind.options)('says of %s what a run does and how long the candidate rests', async (kind) => {
    expect(rows.get(kind)).toEqual([
      await decisions(kind, { account: true, model: true }),
      await decisions(kind, { account: false, model: true }),
      await decisions(kind, { account: false, model: false }),
      rests(kind),
    ]);
  });

  it('says of a context in which nothing can be left out what a run does: the same without the first of it', async () => {
    const isSmall = true;
    const done = [
      await decisions('context_overflow', { account: true, model: true, isSmall }),
      await decisions('context_overflow', { account: false, model: true, isSmall }),
      await decisions('context_overflow', { account: false, model: false, isSmall }),
    ];
    expect(done).toEqual(
      rows
        .get('context_overflow')
        ?.slice(0, 3)
        .map((cell) => cell.replace('`compact`, ', '')),
    );
  });
});

it('the limits of a run are those that the page names', () => {
  expect(DEFAULT_RUN_LIMITS).toEqual({ maxAttempts: 12, maxBackOffs: 3, maxWaitMs: 60_000 });
});
