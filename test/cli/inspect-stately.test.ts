/** What `wakechart inspect` refuses of other programs and of other inspectors, before anything is opened. */
import { describe, expect, it } from 'vitest';
import { runInProcess } from './in-process.ts';

const SESSION = '0192f0c1-2345-7abc-8def-0123456789ab';

describe('other programs and inspectors', () => {
  it.each([
    [['--stately-port', '70000'], 2, 'Expected a whole number from 0 to 65535'],
    [['--stately-origin', 'http://localhost:5173'], 2, 'expected --stately-port with --stately-origin'],
    [['run.ndjson', '--stately-port', '0'], 2, 'expected either a file or --stately-port'],
    [['--record', 'run.ndjson'], 2, 'expected --stately-port with --record'],
    [['run.ndjson', '--session', SESSION, '--send-to', 'wss://a.example'], 2, 'expected either a file or --session'],
    [['--send-to', 'wss://a.example'], 2, 'expected a file, --session or --stately-port'],
    [['run.ndjson', '--send-unknown-secrets'], 2, 'expected --send-to with --send-unknown-secrets'],
    [['run.ndjson', '--send-to', 'ws://a.example'], 1, 'expected wss:// for a.example'],
    [['run.ndjson', '--send-to', 'https://a.example'], 1, 'expected the address of a WebSocket'],
    [['--stately-port', '0', '--stately-origin', 'localhost'], 1, 'expected an origin as browsers write it'],
  ])('%j', async (words, code, says) => {
    const ended = await runInProcess(['inspect', ...words]);
    expect(ended).toMatchObject({ stdout: '', stderr: expect.stringContaining(says) as string });
    expect(ended.code).toBe(code);
  });
});
