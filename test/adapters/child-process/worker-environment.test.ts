/** What a worker has in its environment: what programs need and what was named, and of secrets those of its job. */
import { readdirSync } from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { RuntimeError } from '../../../src/machines/errors.ts';
import { OpenRunners } from './runner-setup.ts';
import type { RunnerSetup } from './runner-setup.ts';

const setups = new OpenRunners();
const open = setups.open.bind(setups);
afterEach(() => setups.close());

describe('the environment of a worker', () => {
  interface Told {
    readonly env: Record<string, string>;
    /** What it was started with, as others can read it. */
    readonly born: string;
    readonly start: unknown;
    readonly argv: string[];
  }
  const told = async (setup: RunnerSetup, more: Parameters<RunnerSetup['start']>[1] = {}): Promise<Told> => {
    const { handle } = await setup.start({ behavior: 'tells' }, more);
    return JSON.parse((await handle.result).output) as Told;
  };

  it('is what programs need, and what was named: no keys', async () => {
    vi.stubEnv('SECRET_OF_THE_HOST', 'not yours');
    vi.stubEnv('NODE_OPTIONS', '--no-warnings');
    vi.stubEnv('ANTHROPIC_API_KEY', 'a-key-of-the-host');
    vi.stubEnv('PASSED_ON', 'by name');
    vi.stubEnv('WAKECHART_PASS_ENV', 'PASSED_ON');
    vi.stubEnv('GIT_AUTHOR_NAME', 'somebody');
    try {
      const { env } = await told(await open({ env: { MINE: '1' } }));
      expect(env).toMatchObject({
        MINE: '1',
        PASSED_ON: 'by name',
        GIT_AUTHOR_NAME: 'somebody',
        HOME: process.env['HOME'],
        TMPDIR: process.env['TMPDIR'],
      });
      expect(Object.keys(env)).not.toContain('SECRET_OF_THE_HOST');
      expect(Object.keys(env)).not.toContain('ANTHROPIC_API_KEY');
      expect(Object.keys(env)).not.toContain('NODE_OPTIONS');
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it('has the variable that a profile names, and its value is nowhere else', async () => {
    vi.stubEnv('SOME_API_KEY', 'very-secret-value');
    try {
      const setup = await open();
      expect((await told(setup)).env['SOME_API_KEY']).toBeUndefined();
      const { env, start, argv, born } = await told(setup, {
        providerProfile: { name: 'mine', provider: 'openai', apiKeyEnv: 'SOME_API_KEY' },
      });
      // The value is taken out of the answer, too.
      expect(env['SOME_API_KEY']).toBe('[redacted SOME_API_KEY]');
      expect(JSON.stringify([start, argv])).not.toContain('redacted');
      // Nor can another process of this user read it where the environments of processes are shown.
      expect(born).toContain('PATH=');
      expect(born).not.toContain('SOME_API_KEY');
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it('has the keys that its job needs, and no others', async () => {
    vi.stubEnv('ANTHROPIC_API_KEY', 'key-of-anthropic');
    vi.stubEnv('OPENAI_API_KEY', 'key-of-openai');
    vi.stubEnv('SOME_API_KEY', 'very-secret-value');
    const keysOf = ({ env }: Told): string[] =>
      Object.keys(env)
        .filter((name) => name.endsWith('_API_KEY'))
        .toSorted();
    try {
      const asked: unknown[] = [];
      const catalog = await open({
        providerConfig: { providers: { mine: { backend: 'embedded', keyVariable: 'SOME_API_KEY' } } },
        keysFor: async (job) => {
          asked.push(job);
          return ['OPENAI_API_KEY', 'NOT_SET'];
        },
      });
      expect(keysOf(await told(catalog))).toEqual(['OPENAI_API_KEY']);
      expect(keysOf(await told(catalog, { model: 'anthropic/large' }))).toEqual([
        'ANTHROPIC_API_KEY',
        'OPENAI_API_KEY',
      ]);
      expect(keysOf(await told(catalog, { providerProfile: 'mine' }))).toEqual(['OPENAI_API_KEY', 'SOME_API_KEY']);
      expect(asked[0]).toEqual({ agentType: 'worker', sessionId: undefined });
      expect(keysOf(await told(await open()))).toEqual([]);
      expect(keysOf(await told(await open({ providerConfig: { provider: 'anthropic' } })))).toEqual([
        'ANTHROPIC_API_KEY',
      ]);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it('says why the keys of a job cannot be found, before anything is forked', async () => {
    const { start, folder } = await open({ keysFor: () => Promise.reject(new Error('the catalog is closed')) });
    await expect(start('')).rejects.toThrow('the catalog is closed');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('keeps secrets out of text, errors and transcripts, also where they come in pieces', async () => {
    const secret = 'very-secret-value';
    const setup = await open({ env: { SOME_API_KEY: secret } });
    const { handle, events, text } = await setup.start({ behavior: 'tells a secret' });
    const error = await handle.result.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(RuntimeError.is(error) && error.toJSON()).toMatchObject({
      message: 'refused [redacted SOME_API_KEY]',
      details: { secret: '[redacted SOME_API_KEY]' },
    });
    expect(text()).toBe('text [redacted SOME_API_KEY] end');
    const records = await setup.transcript();
    expect(records.map(({ data }) => data['text'])).toEqual(
      expect.arrayContaining(['out [redacted SOME_API_KEY] end', 'err [redacted SOME_API_KEY]']),
    );
    expect(JSON.stringify([records, events])).not.toContain(secret);
  });
});
