/** The transcript of a job: what is in it, where it lies, how it is read. */
import { execFileSync } from 'node:child_process';
import { appendFile, link, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { JobTranscript } from '../../../src/adapters/child-process/job-transcript.ts';
import { LineSplitter } from '../../../src/adapters/child-process/job-log.ts';
import { TranscriptReader } from '../../../src/adapters/child-process/transcript-reader.ts';
import { transcriptPath } from '../../../src/adapters/child-process/child-process-runner.ts';
import { SecretRedaction } from '../../../src/machines/vault/secret-redaction.ts';
import { runnerSetup } from './runner-setup.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'transcripts-'));
  path = join(folder, 'deep', 'job.jsonl');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const openTranscript = (maxBytes = 1_000_000): Promise<JobTranscript> =>
  JobTranscript.open({ path, clock: createSystemClock(), redaction: new SecretRedaction(new Map()), maxBytes });

describe('the transcript of a job', () => {
  it('holds what happened, line by line, and only its owner may read it', async () => {
    const setup = await runnerSetup();
    try {
      const { handle } = await setup.start({ behavior: 'works' });
      await handle.result;
      const records = await setup.transcript();
      expect(
        records.map(({ type, data }) => [type, data['text'] ?? data['toolName'] ?? data['currentAction']]),
      ).toEqual(
        expect.arrayContaining([
          ['text', 'Hello, world'],
          ['text', 'and more'],
          ['tool_start', 'shell_run'],
          ['tool_end', 'shell_run'],
          ['stdout', 'printed'],
          ['stderr', 'complained'],
          ['result', 'fine'],
        ]),
      );
      expect(records[0]).toMatchObject({ type: 'start', time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string });
      expect(records.at(-1)?.type).toBe('result');
      expect(handle.transcriptPath).toBe(join(setup.folder, 'logs', 'parent', 'subagents', 'job.jsonl'));
      expect(((await stat(handle.transcriptPath ?? '')).mode & 0o777).toString(8)).toBe('600');
      const page = await handle.readLog?.();
      expect(page?.lines).toContain('[stdout] printed');
      expect(page?.lines).toContain('[text] Hello, world');
      expect(page).toMatchObject({ taskId: 'job', cursor: { offset: 0 } });
    } finally {
      await setup.close();
    }
  });

  it('can be read while the job runs', async () => {
    const setup = await runnerSetup({ killGraceMs: 20 });
    try {
      const { handle } = await setup.start({ behavior: 'listens' });
      const before = await handle.readLog?.();
      await handle.send?.('hello');
      await handle.cancel('read');
      const after = await handle.readLog?.({ offset: before?.lines.length ?? 0 });
      expect(after?.lines).toEqual(expect.arrayContaining(['[send] hello', '[system] Asked to end: read']));
    } finally {
      await setup.close();
    }
  });

  it('takes no more than it may, and says so', async () => {
    const setup = await runnerSetup({ limits: { transcriptBytes: 100_000 } });
    try {
      const { handle } = await setup.start({ behavior: 'floods its output' });
      const { output, metadata } = await handle.result;
      expect(output).toBe('flooded');
      expect(metadata).toEqual({ transcriptTrouble: 'it is longer than 100000 bytes' });
      expect((await stat(handle.logPath ?? '')).size).toBeLessThan(101_000);
      expect((await readFile(handle.logPath ?? '', 'utf8')).trimEnd().split('\n').at(-1)).toContain(
        'The transcript ends here',
      );
    } finally {
      await setup.close();
    }
  });

  it('goes on behind a line that a crash has torn', async () => {
    const first = await openTranscript();
    first.write('text', { text: 'whole' });
    await first.close();
    await appendFile(path, '{"time":"2026-01-01T00:00:00.000Z","type":"te');
    const reader = new TranscriptReader({ jobId: 'job', path });
    expect((await reader.page()).lines).toEqual(['[text] whole']);
    const second = await openTranscript();
    second.write('text', { text: 'after' });
    await second.close();
    expect((await reader.page()).lines).toEqual([
      '[text] whole',
      '[system] a line that cannot be read: {"time":"2026-01-01T00:00:00.000Z","type":"te',
      '[text] after',
    ]);
  });

  it.each(['link', 'name', 'folder', 'pipe'])(
    'is written nowhere else when a %s was put where it will lie',
    async (what) => {
      const other = join(folder, 'other');
      await mkdir(other);
      await writeFile(join(other, 'job.jsonl'), 'mine\n');
      if (what === 'folder') await symlink(other, dirname(path));
      else await mkdir(dirname(path));
      if (what === 'link') await symlink(join(other, 'job.jsonl'), path);
      if (what === 'name') await link(join(other, 'job.jsonl'), path);
      if (what === 'pipe') execFileSync('mkfifo', [path]);
      await expect(
        JobTranscript.open({
          path,
          root: folder,
          clock: createSystemClock(),
          redaction: new SecretRedaction(new Map()),
          maxBytes: 1_000,
        }),
      ).rejects.toMatchObject({ category: 'storage', code: 'TRANSCRIPT_UNWRITABLE' });
      expect(await readFile(join(other, 'job.jsonl'), 'utf8')).toBe('mine\n');
      if (what === 'link')
        await expect(new TranscriptReader({ jobId: 'job', path }).page()).rejects.toMatchObject({ code: 'ELOOP' });
    },
  );

  it("lies where the folder of transcripts leads, which is its owner's to say", async () => {
    await mkdir(join(folder, 'disk'));
    await symlink(join(folder, 'disk'), join(folder, 'logs'));
    const transcript = await JobTranscript.open({
      path: join(folder, 'logs', 'a', 'b', 'job.jsonl'),
      root: join(folder, 'logs'),
      clock: createSystemClock(),
      redaction: new SecretRedaction(new Map()),
      maxBytes: 1_000,
    });
    transcript.write('text', { text: 'hello' });
    await transcript.close();
    expect(await readFile(join(folder, 'disk', 'a', 'b', 'job.jsonl'), 'utf8')).toContain('hello');
  });

  it('does without what it cannot write', async () => {
    const transcript = await openTranscript();
    await rm(dirname(path), { recursive: true });
    transcript.write('text', { text: 'into nothing' });
    await transcript.close();
    transcript.write('text', { text: 'after the end' });
    await transcript.close();
    expect(transcript.trouble).toMatch(/could not be written/);
    await writeFile(join(folder, 'file'), '');
    await expect(
      JobTranscript.open({
        path: join(folder, 'file', 'x.jsonl'),
        clock: createSystemClock(),
        redaction: new SecretRedaction(new Map()),
        maxBytes: 1,
      }),
    ).rejects.toMatchObject({ category: 'storage', code: 'TRANSCRIPT_UNWRITABLE' });
  });
});

describe('pages of a transcript', () => {
  it('are each where they should be in a hundred thousand lines, and read no more than they show', async () => {
    await (await openTranscript()).close();
    await writeFile(
      path,
      Array.from(
        { length: 100_000 },
        (_, index) => `{"time":"t","type":"text","data":{"text":"line ${index}"}}\n`,
      ).join(''),
    );
    const reader = new TranscriptReader({ jobId: 'job', path });
    const lines: string[] = [];
    for (let cursor: { offset: number } | undefined = { offset: 0 }; cursor !== undefined;) {
      const page = await reader.page(cursor);
      lines.push(...page.lines);
      cursor = page.nextCursor;
    }
    expect(lines).toHaveLength(100_000);
    expect(lines.every((line, index) => line === `[text] line ${index}`)).toBe(true);
  });

  it('are clamped like those of every log', async () => {
    await (await openTranscript()).close();
    await writeFile(path, '{"time":"t","type":"a","data":{"text":"1"}}\n{"time":"t","type":"a","data":{"b":2}}\n');
    const reader = new TranscriptReader({ jobId: 'job', path });
    const page = async (offset: number) => reader.page({ offset });
    expect((await page(-5)).lines).toEqual(['[a] 1', '[a] {"b":2}']);
    expect(await page(1)).toEqual({ taskId: 'job', cursor: { offset: 1 }, lines: ['[a] {"b":2}'] });
    expect(await page(1e9)).toEqual({ taskId: 'job', cursor: { offset: 2 }, lines: [] });
    expect((await page(Number.NaN)).cursor).toEqual({ offset: 0 });
    expect((await page(0.9)).cursor).toEqual({ offset: 0 });
  });

  it('are empty where there is no file yet', async () => {
    expect(await new TranscriptReader({ jobId: 'job', path }).page({ offset: 7 })).toEqual({
      taskId: 'job',
      cursor: { offset: 0 },
      lines: [],
    });
  });

  it('agree however many are asked for at once, while lines are appended', async () => {
    await (await openTranscript()).close();
    const reader = new TranscriptReader({ jobId: 'job', path });
    for (let round = 0; round < 20; round += 1) {
      await appendFile(path, `{"time":"t","type":"n","data":{"text":"${round}"}}\n`);
      const pages = await Promise.all([0, 0, round].map((offset) => reader.page({ offset })));
      expect(pages.map(({ lines }) => lines.at(-1))).toEqual([`[n] ${round}`, `[n] ${round}`, `[n] ${round}`]);
    }
  });

  it('show whatever was put into the file as one line each', async () => {
    await (await openTranscript()).close();
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes.map((byte) => (byte === 10 ? 32 : byte)))),
          { maxLength: 20 },
        ),
        async (written) => {
          await writeFile(path, Buffer.concat(written.map((line) => Buffer.concat([line, Buffer.from('\n')]))));
          const { lines } = await new TranscriptReader({ jobId: 'job', path }).page();
          expect(lines).toHaveLength(written.length);
          expect(lines.every((line) => line.startsWith('['))).toBe(true);
        },
      ),
      { numRuns: 50 },
    );
  });
});

describe('the place of a transcript', () => {
  it('is below its folder, whatever the names are, and differs for different names', () => {
    const odd = fc.oneof(
      fc.string({ maxLength: 200 }),
      fc.constantFrom('..', '.', '', '../..', '/etc', 'a/b', 'a\\b', 'con.', 'a\0b', '\u202e', 'é', 'É'),
    );
    fc.assert(
      fc.property(odd, odd, (one, other) => {
        const [first, second] = [one, other].map((name) =>
          transcriptPath({ logsDir: '/logs', parentSessionId: name, jobId: name }),
        );
        const parts = relative('/logs', first ?? '').split('/');
        expect(parts).toHaveLength(3);
        expect(
          parts.every(
            (part) => part !== '..' && part !== '.' && part !== '' && part.length < 130 && /^[\w.-]+$/.test(part),
          ),
        ).toBe(true);
        expect(first === second).toBe(one === other);
      }),
    );
    expect(transcriptPath({ logsDir: '/logs', parentSessionId: 'local', jobId: 'agent_1' })).toBe(
      '/logs/local/subagents/agent_1.jsonl',
    );
  });
});

describe('lines of text that comes in pieces', () => {
  it('are the same however it is cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom('a', ' ', '\r', '\n', '😀'), maxLength: 8 }), { maxLength: 20 }),
        (pieces) => {
          const lines: string[] = [];
          const splitter = new LineSplitter((line) => lines.push(line));
          for (const piece of pieces) splitter.add(piece);
          splitter.end();
          expect(lines).toEqual(
            pieces
              .join('')
              .split('\n')
              .map((line) => line.replace(/\r$/, ''))
              .filter((line) => line !== ''),
          );
        },
      ),
    );
  });

  it('are cut where they have no end, between characters', () => {
    const lines: string[] = [];
    const splitter = new LineSplitter((line) => lines.push(line));
    const text = `x${'😀'.repeat(10_000)}`;
    for (let at = 0; at < text.length; at += 777) splitter.add(text.slice(at, at + 777));
    splitter.end();
    expect(lines.join('')).toBe(text);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(8_192);
    expect(lines.every((line) => Buffer.from(line).toString() === line)).toBe(true);
  });
});
