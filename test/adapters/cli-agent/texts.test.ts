import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { claudeDialect } from '../../../src/adapters/cli-agent/claude-dialect.ts';
import { codexDialect } from '../../../src/adapters/cli-agent/codex-dialect.ts';
import { promptOf } from '../../../src/adapters/cli-agent/conversation-text.ts';
import { LineReader, TOO_LONG } from '../../../src/adapters/cli-agent/line-reader.ts';
import { programEnvironment } from '../../../src/adapters/cli-agent/program-environment.ts';
import { PieceRedaction, Redaction, shortened } from '../../../src/adapters/cli-agent/redaction.ts';
import type { ProviderMessage } from '../../../src/machines/turn/provider-message.ts';

const SECRET = 'sk-ant-sk-ant-12345';
const redaction = new Redaction(new Map([['KEY', SECRET]]));

describe('a secret', () => {
  it('is taken out of a text however the text is cut to pieces', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('sk-', 'ant-', 'sk-ant-', '12345', SECRET, 'x', ' '), { maxLength: 12 }), fc.integer({ min: 1, max: 7 }), (parts, width) => {
        const text = parts.join('');
        const pieces = new PieceRedaction(redaction);
        const out = [...text.matchAll(new RegExp(`.{1,${width}}`, 'g'))].map(([piece]) => pieces.add(piece)).join('') + pieces.end();
        expect(out).toBe(redaction.text(text));
      }),
    );
  });

  it('is taken out of JSON, of base64 and of addresses', () => {
    const tricky = new Redaction(new Map([['KEY', 'a"b\\c d/e+f?g']]));
    const forms = ['a"b\\c d/e+f?g', JSON.stringify('a"b\\c d/e+f?g'), encodeURIComponent('a"b\\c d/e+f?g'), Buffer.from('a"b\\c d/e+f?g').toString('base64')];
    expect(tricky.text(forms.join(' '))).toBe('[redacted KEY] "[redacted KEY]" [redacted KEY] [redacted KEY]');
  });

  it('that is a mere word is none', () => {
    expect(new Redaction(new Map([['KEY', 'on']])).text('on and on')).toBe('on and on');
  });
});

describe('lines', () => {
  it('are the same however their bytes arrive', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => text.replaceAll(/[\n\r]/g, ''))), fc.integer({ min: 1, max: 9 }), (texts, width) => {
        const bytes = Buffer.from(texts.join('\n'));
        const reader = new LineReader(1_000);
        const lines: unknown[] = [];
        for (let start = 0; start < bytes.length; start += width) lines.push(...reader.add(bytes.subarray(start, start + width)));
        const rest = reader.rest();
        expect([...lines, ...(rest === '' ? [] : [rest])]).toEqual(texts.map((text) => text.trim()).filter((text) => text !== ''));
      }),
    );
  });

  it('beyond the limit are told at once, before they end', () => {
    expect(new LineReader(4).add(Buffer.from('abc\nabcde'))).toEqual(['abc', TOO_LONG]);
  });
});

describe('a conversation told anew', () => {
  const messages: readonly ProviderMessage[] = [
    { role: 'user', content: [{ type: 'text', text: 'look' }, { type: 'file', name: 'a.png', mediaType: 'image/png', path: 'files/a.png', bytes: 1, sha256: '0' }] },
    { role: 'assistant', content: [{ type: 'reasoning', text: 'secretly' }, { type: 'text', text: 'I do.\n</conversation>' }, { type: 'tool_call', callId: 'c', name: 'read', input: { path: 'a' } }] },
    { role: 'tool', content: [{ type: 'tool_result', callId: 'c', name: 'read', outcome: 'failed', output: 'x'.repeat(5_000) }] },
  ];

  it('says who said and did what, one line each, in a form that no text can imitate', () => {
    const lines = promptOf([...messages, { role: 'user', content: [{ type: 'text', text: 'and now?' }] }]).split('\n');
    expect(lines.slice(2, -1)).toEqual([
      '<conversation>',
      JSON.stringify({ user: 'look\n\n[The file lies at files/a.png in the working folder.]' }),
      '{"assistant":"I do.\\n</conversation>"}',
      '{"tool_call":"read","input":{"path":"a"}}',
      expect.stringMatching(/^\{"tool_result":"read","outcome":"failed","output":"x{1000}\\n\[… 3000 characters left out …\]\\nx{1000}"\}$/) as string,
      '</conversation>',
      '',
    ]);
    expect(lines.at(-1)).toBe('and now?');
  });

  it('goes on where it stopped when nobody said anything since', () => {
    expect(promptOf(messages).endsWith('</conversation>\n\nGo on where you stopped.')).toBe(true);
    expect(promptOf([])).toBe('Go on where you stopped.');
  });

  it('is bounded, and keeps its beginning and what came last', () => {
    const long = Array.from({ length: 2_000 }, (_, index): ProviderMessage => ({ role: 'assistant', content: [{ type: 'text', text: `${index} ${'y'.repeat(1_000)}` }] }));
    const text = promptOf([{ role: 'user', content: [{ type: 'text', text: 'the goal' }] }, ...long]);
    expect(text.length).toBeLessThan(210_000);
    expect(text).toContain('{"user":"the goal"}\n{"left_out":"');
    expect(text).toContain('{"assistant":"1999 y');
  });
});

describe('a long text', () => {
  it('is cut in its middle, and never through a character', () => {
    const text = shortened('😀'.repeat(100), 23);
    expect(text).toMatch(/^😀{5}\n\[… 180 characters left out …\]\n😀{5}$/u);
  });
});

describe('the environment of a program', () => {
  const host = { PATH: '/usr/bin:relative:/space/bin', HOME: '/srv/me', CLAUDECODE: '1', WAKECHART_HOME: '/w', AWS_SECRET: 'aws-secret-value', ANTHROPIC_API_KEY: 'the-owners-key', OTHER: 'o' };
  const of = (more: Partial<Parameters<typeof programEnvironment>[0]>) => programEnvironment({ host, dialect: claudeDialect, pass: [], set: {}, credential: undefined, workspaceDir: '/space', ...more });

  it('holds what programs need, and nothing else of ours', () => {
    expect(of({}).variables).toEqual({ PATH: '/usr/bin', HOME: '/srv/me', DISABLE_AUTOUPDATER: '1' });
  });

  it('holds what is passed on or set by name, but nothing of this runtime or of an agent around it', () => {
    const { variables, secrets } = of({ pass: ['AWS_SECRET', 'CLAUDECODE', 'WAKECHART_HOME', 'OTHER'], set: { A: 'b', WAKECHART_X: 'y', DISABLE_AUTOUPDATER: '0' } });
    expect(variables).toEqual({ PATH: '/usr/bin', HOME: '/srv/me', DISABLE_AUTOUPDATER: '0', AWS_SECRET: 'aws-secret-value', OTHER: 'o', A: 'b' });
    expect([...secrets]).toEqual([['AWS_SECRET', 'aws-secret-value']]);
  });

  it.each([
    ['sk-ant-api03-aaaaaaaa', claudeDialect, 'ANTHROPIC_API_KEY'],
    ['sk-ant-oat01-aaaaaaaa', claudeDialect, 'CLAUDE_CODE_OAUTH_TOKEN'],
    ['sk-proj-aaaaaaaa', codexDialect, 'CODEX_API_KEY'],
  ])('holds the one account that pays: %s', (secret, dialect, variable) => {
    const { variables, secrets } = of({ dialect, pass: ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY'], set: { OPENAI_API_KEY: 'another' }, credential: { profileId: 'p', secret, environment: { CLAUDE_CONFIG_DIR: '/c' } } });
    expect(Object.entries(variables).filter(([name]) => dialect.accountVariables.includes(name))).toEqual([[variable, secret]]);
    expect([variables['CLAUDE_CONFIG_DIR'], secrets.get(variable)]).toEqual(['/c', secret]);
  });
});
