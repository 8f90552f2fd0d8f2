/**
 * Every promised disguise of a secret at every place where text leaves: the secret is gone. The page about vaults shows
 * the same list.
 */
import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { InspectedText } from '../../../src/actors/inspection/inspected-text.ts';
import { SaidSoFar } from '../../../src/actors/run/said-so-far.ts';
import { TextTail } from '../../../src/actors/run/text-tail.ts';
import { ToolLedger } from '../../../src/actors/run/tool-ledger.ts';
import { redactedListener } from '../../../src/actors/vault/live-redaction.ts';
import { bodyText, headerTexts } from '../../../src/adapters/http-request/http-request-tool.ts';
import { callResultSchema, resultForModel, wordsOf } from '../../../src/adapters/mcp/call-result.ts';
import { StepFailure, failureOf } from '../../../src/adapters/embedded/step-failure.ts';
import type { AgentRunEvent } from '../../../src/machines/run/run-output.ts';
import { DISGUISES, NOT_FOUND } from '../../../src/machines/vault/redaction-promises.ts';
import type { Disguise } from '../../../src/machines/vault/redaction-promises.ts';
import { SecretRedaction } from '../../../src/machines/vault/secret-redaction.ts';
import { fileToolsSetup } from '../../adapters/file-tools/file-tools-setup.ts';
import { environmentWith, secretsWith } from '../../support/vault-setup.ts';
import { WRITERS } from './disguises.ts';

const SECRETS = ['Zx81-QQ-topsecret-5551212', 'gh"p_S3cr3t/\\+Val ue-Ω%41', "it's&<b>4711</b>=Qx9"];
const secrets = await secretsWith({ v: Object.fromEntries(SECRETS.map((value, index) => [`s${index}`, { value }])) });
const named = new Map(SECRETS.map((value, index) => [`S${index}`, value]));
const run = new SecretRedaction(named);
const environment = environmentWith({ secrets });

const inPieces = (text: string, size: number): string[] =>
  Array.from({ length: Math.ceil(text.length / size) }, (_, index) => text.slice(index * size, (index + 1) * size));
const event = (body: object): AgentRunEvent => ({ runId: 'r', seq: 1, ts: '', ...body }) as AgentRunEvent;

/** What has left when a text came in. */
const PLACES: Readonly<Record<string, (text: string) => string | Promise<string>>> = {
  'the log and exports of it': (text) =>
    JSON.stringify(
      secrets.drafts([
        { type: 'agent.message', data: { text, spanId: 's' } },
        {
          type: 'agent.tool_result',
          data: { callId: 'c', name: 'n', outcome: 'completed', output: { [text]: [text] } },
        },
      ]),
    ),
  'a run that is watched, in pieces': (text) => {
    const told: string[] = [];
    const listen = redactedListener(
      secrets,
      ({ stream, data }) => void told.push(stream === 'assistant' ? data.text : ''),
    );
    for (const piece of inPieces(text, 3))
      listen?.(event({ stream: 'assistant', data: { kind: 'text', text: piece } }));
    listen?.(event({ stream: 'lifecycle', data: { phase: 'end' } }));
    return told.join('');
  },
  'the output of commands, torn': (text) => {
    const stream = secrets.bytes();
    const told = inPieces(Buffer.from(text).toString('latin1'), 5).map(
      (piece) => stream?.add(Buffer.from(piece, 'latin1')) ?? new Uint8Array(),
    );
    return Buffer.concat([...told, stream?.end() ?? new Uint8Array()]).toString();
  },
  'what programs say in a run': (text) => {
    const told: string[] = [];
    const said = new SaidSoFar({
      redaction: run,
      emit: ({ data }) => void told.push('text' in data ? data.text : JSON.stringify(data)),
    });
    for (const piece of inPieces(text, 4)) said.add({ what: 'text', block: 0, text: piece });
    return JSON.stringify(said.payloads()) + told.join('');
  },
  'tools of programs in a run': (text) => {
    const told: string[] = [];
    const ledger = new ToolLedger({
      redaction: run,
      emit: (body) => void told.push(JSON.stringify(body)),
      onRequest: () => undefined,
    });
    ledger.requested({ callId: 'c', name: 'n', input: { [text]: text } });
    ledger.ended({ callId: 'c', outcome: 'completed', output: text });
    return told.join('');
  },
  'error output of programs': async (text) => {
    const tail = new TextTail(run, { maxCharacters: 300 });
    const bytes = Buffer.from(`${text}${'\n.'.repeat(100)}${text}`).toString('latin1');
    const stream = Readable.from(
      inPieces(bytes, 31).map((piece) => Buffer.from(piece, 'latin1')),
      { objectMode: false },
    );
    tail.follow(stream);
    await new Promise((resolve) => stream.once('end', resolve));
    return tail.toString();
  },
  'errors of models': (text) =>
    JSON.stringify(
      failureOf(new StepFailure({ kind: 'format', message: text }), {
        redact: (message) => run.text(message),
        now: 0,
        provider: 'openai',
        baseUrl: 'http://localhost',
      }),
    ),
  'results of servers of tools': async (text) => {
    const own = new SecretRedaction(named, { beside: secrets });
    const result = callResultSchema.parse({
      content: [{ type: 'text', text }],
      structuredContent: { text },
      isError: false,
    });
    return JSON.stringify(await resultForModel(result, { redaction: own, keep: undefined })) + wordsOf(result, own);
  },
  'answers of servers': async (text) => {
    const body = await bodyText(
      { bytes: Buffer.from(text), isTruncated: false, contentType: 'text/plain; charset=utf-8' },
      secrets,
    );
    return `${body}${JSON.stringify(headerTexts({ 'x-text': text }, secrets))}`;
  },
  'the inspector': (text) => new InspectedText((whole) => secrets.text(whole)).cut(`${text} ${'x'.repeat(20_000)}`, 60),
};

/** Letters and digits only, without what shows nothing. */
const strip = (text: string): string => text.replaceAll(/[^\p{L}\p{N}]/gu, '').toLowerCase();
const seen = (text: string): string =>
  strip(
    text
      .replaceAll('\u001b', '\\u001b')
      .replaceAll(/(?:\\+u001b|%1B)(?:%5B|\[|\()[\d;]*[mB]/gi, '')
      .replaceAll(/\\+u[0-9a-f]{4}|&nbsp;|%C2%A0|\\+[nrt]/gi, ''),
  );
const windowsOf = (text: string, width: number): string[] =>
  Array.from({ length: Math.max(0, text.length - width + 1) }, (_, at) => text.slice(at, at + width));

/**
 * Eight characters of the secret, or sixteen of its disguise, beyond those that may be told before it is clear what
 * they are.
 */
function leftIn(
  out: string,
  { secret, written, how }: { readonly secret: string; readonly written: string; readonly how: Disguise },
): string | undefined {
  const disguise = strip(written);
  const plain = windowsOf(strip(secret).slice(4), 8).find((part) => seen(out).includes(part));
  return (
    plain ??
    (how === 'spaced' || how === 'cut'
      ? undefined
      : windowsOf(disguise.slice(Math.floor(disguise.length / 4)), 16).find((part) => strip(out).includes(part)))
  );
}

describe.each(Object.entries(PLACES))('%s', (place, leaves) => {
  it.each(Object.keys(DISGUISES) as Disguise[])('let no secret out that is disguised: %s', async (how) => {
    const isTorn = /pieces|torn|in a run|output|answers/.test(place);
    for (const secret of SECRETS) {
      for (const written of WRITERS[how](secret)) {
        // Only a whole text says where it was cut, and a secret of signs and words leaves no part that could be told
        // from other texts.
        if (how === 'cut' && (isTorn || secret !== SECRETS[0])) continue;
        const out = await leaves(how === 'cut' ? written : `before (\n${written}\n) after`);
        expect({ written, left: leftIn(out, { secret, written, how }) }).toEqual({ written, left: undefined });
      }
    }
  });
});

/** Secrets of several parts, and a part of each that says enough to be one. */
const PARTS = [
  ['-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END KEY-----', 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC'],
  ['user=sa\npassword=Abc9Def8Ghi7Jkl6', 'Abc9Def8Ghi7Jkl6'],
  ['{"user":"sa","token":"Abc9Def8Ghi7Jkl6"}', 'Abc9Def8Ghi7Jkl6'],
  ['account:\n{"user":"sa",\n"token": "Abc9Def8Ghi7Jkl6",}', 'Abc9Def8Ghi7Jkl6'],
  ['postgres://sa:Abc9Def8Ghi7Jkl6@db.example/main', 'Abc9Def8Ghi7Jkl6'],
  ['https://hooks.example/services/Abc9Def8Ghi7Jkl6?x=1', 'Abc9Def8Ghi7Jkl6'],
  ['Server=db;User Id=sa;Password=Abc9Def8Ghi7Jkl6;', 'Abc9Def8Ghi7Jkl6'],
  [
    'DefaultEndpointsProtocol=https;AccountName=x;AccountKey=Abc9Def8Ghi7Jkl6+/==;EndpointSuffix=y',
    'Abc9Def8Ghi7Jkl6+/==',
  ],
  ['host=db user=sa password=Abc9Def8Ghi7Jkl6 sslmode=require', 'Abc9Def8Ghi7Jkl6'],
  ["host=db password='Abc9 Def8 Ghi7'", 'Abc9 Def8 Ghi7'],
  ['machine db.example login sa password Abc9Def8Ghi7Jkl6', 'Abc9Def8Ghi7Jkl6'],
  ['machine db.example login sa password "my pass w0rd H3re"', 'my pass w0rd H3re'],
  ['//registry.example/:_authToken=npm_Abc9Def8Ghi7', 'npm_Abc9Def8Ghi7'],
] as const;

/** What stands in other texts too: names, hosts and places of the same secrets. */
const HARMLESS = [
  [
    'host=db.example user=sa dbname=orders_v2 password=Abc9Def8Ghi7Jkl6',
    'SELECT * FROM orders_v2.items; src/orders_v2/index.ts',
  ],
  ['AccountName=mystorage2024;AccountKey=Abc9Def8Ghi7Jkl6+/==', 'https://mystorage2024.blob.example/'],
  ['FOO=x BASE_PATH=/usr/lib/python3.11/site-packages PW=Abc9Def8Ghi7Jkl6', '/usr/lib/python3.11/site-packages/x.py'],
] as const;

describe('a secret of several parts', () => {
  it.each(HARMLESS)('leaves alone what is no secret of it: %j', (whole, text) => {
    expect(new SecretRedaction(new Map([['S', whole]])).text(text)).toBe(text);
  });

  it.each([`-${' '.repeat(65_000)}!`, `"${' '.repeat(65_000)}"`, 'a '.repeat(32_000), '='.repeat(65_000)])(
    'is taken apart in the time of its length, whatever it is made of',
    (whole) => {
      expect(new SecretRedaction(new Map([['S', whole]])).text('harmless')).toBe('harmless');
    },
  );

  it.each(PARTS)('loses none of them: %j', (whole, part) => {
    const redaction = new SecretRedaction(new Map([['S', whole]]));
    expect(redaction.text(`before ${part} after`)).not.toContain(part);
    expect(redaction.text(`sa db.example main Server Password password require`)).toBe(
      'sa db.example main Server Password password require',
    );
  });
});

it.each([29_980, 29_990, 29_999])(
  'tools of programs in a run lose no secret to a cut at %i characters of their output',
  (before) => {
    const told: string[] = [];
    const ledger = new ToolLedger({
      redaction: run,
      emit: (body) => void told.push(JSON.stringify(body)),
      onRequest: () => undefined,
    });
    ledger.requested({ callId: 'c', name: 'n', input: {} });
    ledger.ended({
      callId: 'c',
      outcome: 'completed',
      output: `${'x'.repeat(before)}${SECRETS[0]}${'y'.repeat(40_000)}`,
    });
    for (const part of windowsOf(SECRETS[0] ?? '', 8)) expect(told.join('')).not.toContain(part);
  },
);

describe('files', () => {
  it.each(Object.keys(DISGUISES) as Disguise[])(
    'are read and searched without a secret that is disguised: %s',
    async (how) => {
      const setup = await fileToolsSetup();
      for (const secret of SECRETS) {
        const all = WRITERS[how](secret).filter((written) => !written.includes('\0') && how !== 'cut');
        if (all.length === 0) continue;
        await setup.put('notes.txt', all.map((written) => `before (\n${written}\n) after`).join('\n'));
        const [read, found] = await Promise.all([
          setup.call('read', { path: 'notes.txt' }, { environment }),
          setup.call('grep', { pattern: '.', path: 'notes.txt' }, { environment }),
        ]);
        for (const written of all)
          for (const out of [read, found])
            expect({ written, left: leftIn(JSON.stringify(out), { secret, written, how }) }).toEqual({
              written,
              left: undefined,
            });
      }
    },
  );

  it.each([2_000, 20_000, 65_536])('lose no secret to a cut at %i characters of a line', async (cut) => {
    const setup = await fileToolsSetup();
    const [secret = ''] = SECRETS;
    for (const before of [1, 9, 17, 25]) {
      await setup.put('long.txt', `${'x'.repeat(cut - before)}${secret}${'y'.repeat(3_000)}\nnext\n`);
      const outs = [
        await setup.call('read', { path: 'long.txt' }, { environment }),
        await setup.call('grep', { pattern: 'x|y', path: 'long.txt' }, { environment }),
        await setup.call('grep', { pattern: 'y{9}', path: 'long.txt' }, { environment }),
      ];
      for (const out of outs) for (const part of windowsOf(secret, 8)) expect(JSON.stringify(out)).not.toContain(part);
    }
  });

  it('keep the numbers of their lines where a secret takes several', async () => {
    const setup = await fileToolsSetup();
    await setup.put('wrapped.txt', `one\n${SECRETS[0]?.slice(0, 12)}\n${SECRETS[0]?.slice(12)}\nfour\n`);
    expect(await setup.call('read', { path: 'wrapped.txt' }, { environment })).toContain('     4\tfour');
  });
});

it('a part of a secret that says something by itself is gone everywhere, a line of a key among them', async () => {
  const line = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj';
  const key = `-----BEGIN PRIVATE KEY-----\n${line}\nMzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu\n-----END PRIVATE KEY-----`;
  for (const redaction of [new SecretRedaction(new Map([['K', key]])), await secretsWith({ v: { k: { value: key } } })])
    expect(redaction.text(`a ${line} b`)).toMatch(/^a \[redacted (?:K|v\/k)\] b$/);
});

it('a secret of six characters is taken out of runs and of servers of tools alike', () => {
  const short = new SecretRedaction(new Map([['PIN', 'x7#k2q']]));
  expect(short.text('pin x7#k2q, "x7#k2q"')).toBe('pin [redacted PIN], "[redacted PIN]"');
});

it('the page about vaults says what is promised, and what is not, as it is listed', async () => {
  const page = await readFile(new URL('../../../docs/vaults.md', import.meta.url), 'utf8');
  const listed = (begin: string): string[] =>
    (page.split(`${begin}\n\n`)[1]?.split('\n\n')[0] ?? '').split('\n').map((line) => line.replace(/^- /, ''));
  expect(listed('It is found')).toEqual(Object.values(DISGUISES));
  expect(listed('It does not find')).toEqual([...NOT_FOUND]);
});
