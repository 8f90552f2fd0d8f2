/** The output of commands without secrets: in results, in logs in memory and on disk, and for whoever listens. */
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SecretRedaction } from '../../../src/machines/vault/secret-redaction.ts';
import { openShellWorkbench } from './shell-workbench.ts';

const SECRET = 'ghp_Sup3rSecretValue42';
const redaction = new SecretRedaction(new Map([['github/token', [SECRET]]]));

describe('a command whose output is redacted', () => {
  it('leaves its secret in no result, no log and no listener, also in pieces and in what was held back at its end', async () => {
    const heard: string[] = [];
    const asked: string[] = [];
    await using bench = await openShellWorkbench({
      logsToDisk: true,
      onOutput: ({ chunk }) => void heard.push(Buffer.from(chunk).toString()),
      redactionOf: ({ parentSessionId }) => {
        asked.push(parentSessionId);
        return redaction.bytes();
      },
    });
    const handle = await bench.start(
      `printf 'ghp_Sup3r'; sleep 0.02; printf 'SecretValue42\\n'; echo 'err ${SECRET}' >&2; printf 'ends with ghp_Sup3rSec'`,
      { parentSessionId: 'session-1' },
    );
    const { output } = await handle.result;
    const page = await handle.readLog();
    const logs = (
      await Promise.all((await readdir(bench.logs)).map((name) => readFile(join(bench.logs, name), 'utf8')))
    ).join('');
    for (const text of [output, page.lines.join('\n'), logs, heard.join('')]) {
      expect(text).not.toContain(SECRET);
      expect(text).toContain('[redacted github/token]');
      expect(text).toContain('err [redacted github/token]');
      // So is the beginning of one with which the stream ends, where it is as much as a secret by itself.
      expect(text.split('[redacted github/token]')).toHaveLength(4);
      expect(text).not.toContain('ghp_Sup3rSec');
    }
    expect(asked).toEqual(['session-1', 'session-1']);
  });

  it('is as it was where there is nothing to take out', async () => {
    await using bench = await openShellWorkbench({ redactionOf: () => undefined });
    expect((await (await bench.start(`echo '${SECRET}'`)).result).output).toBe(`${SECRET}\n`);
  });
});
