/** `wakechart vault`: what is there, and whether it can be had, without a value ever being shown. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkVaults, listVaults } from '../../src/cli/vault/vault.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';
import { captured } from './captured.ts';
import { runInProcess } from './in-process.ts';

const SECRET = 'ghp_Sup3rSecretValue42';

let home: TemporaryHome;

beforeEach(async () => {
  home = await temporaryHome();
});
afterEach(() => home.remove());

async function vault(name: string, text: string, mode = 0o600): Promise<void> {
  await mkdir(join(home.path, 'vaults'), { recursive: true, mode: 0o700 });
  await writeFile(join(home.path, 'vaults', `${name}.yaml`), text, { mode });
}

async function shown(
  command: (context: ReturnType<typeof captured>['context']) => Promise<number>,
  json = false,
): Promise<{ readonly code: number; readonly text: string }> {
  const { context, text } = captured(home.path);
  const code = await command({ ...context, json });
  expect(text()).not.toContain(SECRET);
  return { code, text: text() };
}

describe('wakechart vault', () => {
  it('lists where secrets are and where they may go', async () => {
    await vault(
      'github',
      `secrets: { token: { value: ${SECRET}, hosts: [api.github.com], commands: true, description: For releases }, key: { env: SOME_KEY } }`,
    );
    const { code, text } = await shown(listVaults);
    expect(code).toBe(0);
    expect(text).toMatch(/github\/token\s+its value in the vault\s+api\.github\.com, commands\s+For releases/);
    expect(text).toMatch(/github\/key\s+the variable SOME_KEY\s+nowhere/);
    expect(JSON.parse((await shown(listVaults, true)).text)).toMatchObject({
      vaults: [
        {
          vault: 'github',
          secrets: [
            { reference: 'github/token', hosts: ['api.github.com'], commands: true },
            { reference: 'github/key' },
          ],
        },
      ],
      unreadable: [],
    });
  });

  it('says where vaults would be when there are none', async () => {
    expect(await shown(listVaults)).toMatchObject({
      code: 0,
      text: expect.stringContaining(join(home.path, 'vaults')) as string,
    });
  });

  it('fails over a vault that cannot be read, and shows the others', async () => {
    await vault('fine', 'secrets: { a: { env: A } }');
    await vault('open', `secrets: { a: { value: ${SECRET} } }`, 0o644);
    const { code, text } = await shown(listVaults);
    expect(code).toBe(1);
    expect(text).toContain('chmod 600');
    expect(text).toContain('fine/a');
  });

  it('checks whether each secret can be had here', async () => {
    await vault(
      'v',
      `secrets: { fine: { value: ${SECRET} }, printed: { command: [printf, ${SECRET}] }, gone: { env: SURELY_NOT_SET_ANYWHERE } }`,
    );
    const { code, text } = await shown((context) => checkVaults(context, undefined));
    expect(code).toBe(1);
    expect(text).toMatch(/ok\s+v\/fine/);
    expect(text).toMatch(/ok\s+v\/printed\s+from what "printf" prints/);
    expect(text).toMatch(/none\s+v\/gone\s+the variable SURELY_NOT_SET_ANYWHERE is not set/);
    await expect(shown((context) => checkVaults(context, 'nothing'))).rejects.toMatchObject({
      code: 'VAULT_NOT_FOUND',
    });
  });

  it('is there as a command', async () => {
    await vault('v', `secrets: { fine: { value: ${SECRET} } }`);
    const ended = await runInProcess(['vault', 'check', '--vault', 'v', '--json', '--home', home.path]);
    expect(ended).toMatchObject({ code: 0 });
    expect(JSON.parse(ended.stdout)).toEqual({
      secrets: [{ reference: 'v/fine', source: 'its value in the vault', isAvailable: true }],
      unreadable: [],
    });
  });
});
