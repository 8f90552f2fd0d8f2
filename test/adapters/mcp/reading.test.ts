/** What is made of the words of a server: lines, texts, schemas, lists and results, each without a server. */
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { TextTail } from '../../../src/actors/run/text-tail.ts';
import { callResultSchema, resultForModel, wordsOf } from '../../../src/adapters/mcp/call-result.ts';
import { guardedEvents } from '../../../src/adapters/mcp/guarded-stream.ts';
import { modelNamesOf, readListedTools } from '../../../src/adapters/mcp/listed-tools.ts';
import { answeredRequest } from '../../../src/adapters/mcp/stdio-transport.ts';
import { LineReader } from '../../../src/machines/run/line-reader.ts';
import { SecretRedaction } from '../../../src/machines/vault/secret-redaction.ts';
import { settingsOf } from '../../../src/adapters/mcp/server-settings.ts';

const OPEN = new SecretRedaction(new Map());

describe('lines', () => {
  it('are the same however the bytes are cut', () => {
    const text = 'one\n\r\n{"größe":"工具"}\nlast\n';
    for (let size = 1; size < 12; size += 1) {
      const reader = new LineReader(100);
      const bytes = Buffer.from(text);
      const lines = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        reader.add(bytes.subarray(index * size, (index + 1) * size)),
      ).flat();
      expect(lines.map((line) => (line.kind === 'line' ? line.text : line.kind))).toEqual([
        'one',
        '{"größe":"工具"}',
        'last',
      ]);
    }
  });

  it('beyond the limit are dropped, and tell which request they answer', () => {
    const message = (order: (id: object, body: object) => object): string =>
      JSON.stringify(order({ id: 17 }, { result: { text: 'x'.repeat(5_000), id: 4 } }));
    for (const line of [
      message((id, body) => ({ jsonrpc: '2.0', ...id, ...body })),
      message((id, body) => ({ ...body, jsonrpc: '2.0', ...id })),
    ]) {
      const reader = new LineReader(1_000);
      const pieces = [line.slice(0, 900), line.slice(900, 1_100), line.slice(1_100), '\nnext\n'].flatMap((piece) =>
        reader.add(Buffer.from(piece)),
      );
      expect(pieces).toMatchObject([
        { kind: 'overflow' },
        { kind: 'too_long', bytes: line.length },
        { kind: 'line', text: 'next' },
      ]);
      const [, first] = pieces;
      expect(first?.kind === 'too_long' ? answeredRequest(first) : undefined).toBe(17);
    }
  });

  it("that end in somebody else's id answer nothing", () => {
    expect(answeredRequest({ head: '{"method":"x","params":{', tail: '"id":5}}' })).toBeUndefined();
  });
});

describe('secrets', () => {
  const redaction = new SecretRedaction(
    new Map([
      ['KEY', 'correct "horse" battery'],
      ['CERT', '-----BEGIN-----\nabcd1234EFGH\n'],
      ['SHORT', 'abc'],
      ['PART', 'battery'],
    ]),
  );

  it.each([
    ['as they are', 'x correct "horse" battery y', 'x [redacted KEY] y'],
    ['in JSON', String.raw`{"k":"correct \"horse\" battery"}`, '{"k":"[redacted KEY]"}'],
    ['in a URL', '?k=correct%20%22horse%22%20battery', '?k=[redacted KEY]'],
    ['in base64', Buffer.from('correct "horse" battery').toString('base64'), '[redacted KEY]='],
    ['line by line', 'see abcd1234EFGH!', 'see [redacted CERT]!'],
    ['as a part of another', 'the battery', 'the [redacted PART]'],
  ])('are found %s', (_where, text, redacted) => {
    expect(redaction.text(text)).toBe(redacted);
  });

  it('are no secrets when they are that short', () => {
    expect(redaction.text('abc')).toBe('abc');
  });

  it('are found in keys and values of JSON, however deep it is', () => {
    expect(redaction.json({ battery: ['battery', 1, null, { a: 'battery' }] })).toEqual({
      '[redacted PART]': ['[redacted PART]', 1, null, { a: '[redacted PART]' }],
    });
    let deep: unknown = 'end';
    for (let depth = 0; depth < 100_000; depth += 1) deep = [deep];
    expect(JSON.stringify(redaction.json(deep)).length).toBeLessThan(1_000);
  });

  it('do not show in the tail of a text, wherever it is cut', async () => {
    const tail = new TextTail(redaction, { maxCharacters: 4_000 });
    const words = Array.from({ length: 4_000 }, () => 'correct "horse" battery, ').join('');
    const stream = Readable.from([
      ...Array.from({ length: Math.ceil(words.length / 997) }, (_, index) =>
        words.slice(index * 997, (index + 1) * 997),
      ),
      'the end',
    ]);
    tail.follow(stream);
    await new Promise((resolve) => stream.once('end', resolve));
    expect(String(tail)).toMatch(/the end$/);
    expect(String(tail).length).toBeLessThan(4_100);
    expect(String(tail)).not.toMatch(/horse|battery/);
  });
});

describe('the names that models see', () => {
  it.each([
    ['files', 'read', 'files__read'],
    ['files', 'read-all_2', 'files__read-all_2'],
    ['files', 'a.b/c', 'files__a_b_c'],
    ['1st', 'x', 'm1st__x_'],
  ])('of %s, %s begin with %s', (server, tool, name) => {
    expect(modelNamesOf(server, [tool]).get(tool)).toMatch(new RegExp(`^${name}`));
  });

  it('are the same whatever else there is, when they need no change', () => {
    expect(modelNamesOf('s', ['a_b', 'a.b']).get('a_b')).toBe('s__a_b');
    expect(modelNamesOf('s', ['a.b', 'a_b']).get('a_b')).toBe('s__a_b');
    expect(modelNamesOf('s', ['a.b', 'a_b']).get('a.b')).toMatch(/^s__a_b_[0-9a-f]{8}$/);
  });

  it('never meet, not even those of two servers', () => {
    const pairs = [
      ['a', 'b__c'],
      ['a__b', 'c'],
      ['a_', 'b'],
      ['a', '_b'],
      ['x.y', 't'],
      ['x_y', 't'],
      ['x y', 't'],
      ['n'.repeat(70), 't'],
      ['n'.repeat(71), 't'],
    ] as const;
    const names = pairs.map(([server, tool]) => modelNamesOf(server, [tool]).get(tool));
    expect(new Set(names).size).toBe(pairs.length);
    expect(names.every((name) => name !== undefined && /^[A-Za-z][\w-]{0,63}$/.test(name))).toBe(true);
  });
});

describe('a list of tools', () => {
  const settings = settingsOf({ url: 'http://localhost' }, { agentDirectory: '/', environment: {} });
  const read = (...tools: unknown[]): ReturnType<typeof readListedTools> =>
    readListedTools(tools, { server: 's', settings });

  it('offers what it can and names what it cannot', () => {
    const { tools, leftOut } = read(
      { name: 'good', inputSchema: { type: 'object' } },
      { name: 'bare' },
      { name: 'good', inputSchema: { type: 'object' } },
      { name: 'text', inputSchema: { type: 'string' } },
      { name: 'huge', inputSchema: { type: 'object', description: 'x'.repeat(70_000) } },
      { name: 7 },
      null,
    );
    expect(tools.map(({ serverName }) => serverName)).toEqual(['good', 'bare']);
    expect(leftOut).toEqual([
      '1 left out, named like another: good',
      expect.stringMatching(/^2 left out, without an input schema .*: text, huge$/),
      '2 left out, not well-formed: number 6, number 7',
    ]);
  });

  it('keeps descriptions within bounds, and falls back on titles', () => {
    const [long, titled, bare] = read(
      { name: 'a', description: 'x'.repeat(10_000) },
      { name: 'b', title: 'The title' },
      { name: 'c', annotations: 'nonsense' },
    ).tools;
    expect(long?.definition.description).toHaveLength(4_004);
    expect(titled?.definition.description).toBe('The title');
    expect(bare?.definition.description).toBe('c');
  });

  it('ends where models could not read on', () => {
    const { tools, leftOut } = read(
      ...Array.from({ length: 100 }, (_, index) => ({
        name: `t${index}`,
        inputSchema: { type: 'object', description: 'x'.repeat(60_000) },
      })),
    );
    expect(tools).toHaveLength(33);
    expect(leftOut).toHaveLength(1);
  });
});

describe('a result', () => {
  const result = (given: unknown): Promise<unknown> =>
    resultForModel(callResultSchema.parse(given), { redaction: OPEN, keep: undefined });
  const text = (words: string): object => ({ type: 'text', text: words });

  it.each([
    [{}, ''],
    [{ content: [text('a'), text('b')] }, 'a\nb'],
    [{ content: [], structuredContent: { a: 1 } }, { a: 1 }],
    [
      { content: [text('{"b":2,"a":1}')], structuredContent: { a: 1, b: 2 } },
      { a: 1, b: 2 },
    ],
    [{ content: [text('two\nlines')], structuredContent: { result: 'two\nlines' } }, 'two\nlines'],
    [{ content: [text('[{"a":1}]')], structuredContent: { items: [{ a: 1 }] } }, { items: [{ a: 1 }] }],
    [{ content: [text('a'), text('2')], structuredContent: { result: ['a', 2] } }, { result: ['a', 2] }],
    [
      { content: [text('a')], structuredContent: { result: ['a', 2] } },
      { structured: { result: ['a', 2] }, content: [text('a')] },
    ],
    [
      { content: [text('in words')], structuredContent: { a: 1 } },
      { structured: { a: 1 }, content: [text('in words')] },
    ],
    [
      { content: [{ type: 'resource', resource: { uri: 'file:///a', text: 'x', mimeType: 'text/plain' } }] },
      { content: [{ type: 'resource', uri: 'file:///a', mediaType: 'text/plain', text: 'x' }] },
    ],
    [
      { content: [{ type: 'resource', resource: { uri: 'file:///a' } }] },
      { content: [{ type: 'resource', uri: 'file:///a' }] },
    ],
    [
      { content: [{ type: 'hologram' }, text('a')] },
      '[a block of type "hologram" was left out: it is not known or not well-formed]\na',
    ],
    [{ content: [7] }, '[a block of type null was left out: it is not known or not well-formed]'],
  ])('%j is %j for the model', async (given, expected) => {
    expect(JSON.parse(JSON.stringify(await result(given)))).toEqual(expected);
  });

  it('has words for an error even without text', () => {
    expect(wordsOf(callResultSchema.parse({ structuredContent: { code: 5 } }), OPEN)).toBe('{"code":5}');
    expect(
      wordsOf(
        callResultSchema.parse({ content: [text('see'), { type: 'image', data: 'aGk=', mimeType: 'image/png' }] }),
        OPEN,
      ),
    ).toBe('see\n[image]');
  });
});

describe('a stream of events', () => {
  const guardedText = async (chunks: readonly string[], limitBytes = 1_000): Promise<string> => {
    const left = chunks.map((chunk) => Buffer.from(chunk));
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        const chunk = left.shift();
        if (chunk === undefined) controller.close();
        else controller.enqueue(chunk);
      },
    });
    return new Response(
      guardedEvents(body, {
        limitBytes,
        requestId: 5,
        resumedFrom: undefined,
        stop: undefined,
        onEvent: () => undefined,
      }),
    ).text();
  };

  it('without an id ends in an answer', async () => {
    expect(await guardedText(['data: {"a":', '1}\n\n'])).toMatch(
      /^data: \{"a":1\}\n\n\n\ndata: \{.*"id":5.*"kind":"ended"/,
    );
  });

  it('with an id ends as it ends: it can be resumed', async () => {
    expect(await guardedText(['i', 'd: 7\r\ndata:\r\n\r\n'])).toBe('id: 7\r\ndata:\r\n\r\n');
  });

  it('ends at an event that is too large, but not at many', async () => {
    expect(await guardedText(['data: x\n\n'.repeat(1_000), 'id: 1\n\n'])).not.toContain('too_large');
    expect(await guardedText(['id: 1\n\n', 'data: ', 'x'.repeat(600), 'x'.repeat(600), 'never read'])).toMatch(
      /"kind":"too_large"/,
    );
  });
});
