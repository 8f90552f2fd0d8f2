/** A stored inspection log as an inspector sees it, whole, torn, or while it is written. */
import { describe, expect, it } from 'vitest';
import { CAUGHT_UP, openLogSource } from '../../../src/actors/inspection/log-source.ts';
import type { LogPiece, LogSource, LogSourceOptions } from '../../../src/actors/inspection/log-source.ts';
import type { InspectionRecord } from '../../../src/machines/inspection-log/inspection-record.ts';
import { describeChart } from '../../../src/machines/inspection/describe-chart.ts';
import { taskMachine } from '../../../src/machines/task/task-machine.ts';
import { allRecords, inspectionSourceContract } from '../../support/inspection-source-contract.ts';

const HEADER = { format: 'inspection-log/1', boot: 'b', startedAt: 1_000 };
const lines = (...values: readonly unknown[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join('');
const step = (s: number, a = 'b:x:1', status = 'active'): object => ({
  k: 'step',
  s,
  t: s,
  a,
  type: 'GO',
  taken: [],
  value: 'here',
  status,
});
const told = (s: number, a = 'b:x:1'): object => ({ k: 'actor', s, t: s, a, id: a, status: 'active', value: 'there' });

/** Pieces that a test gives one after the other. */
class Pipe implements AsyncIterable<LogPiece> {
  readonly #pieces: LogPiece[] = [];
  #wake: () => void = () => undefined;
  #isOver = false;
  hasReturned = false;

  push(...pieces: readonly LogPiece[]): void {
    this.#pieces.push(...pieces);
    this.#wake();
  }

  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  [Symbol.asyncIterator](): AsyncIterator<LogPiece> {
    return {
      next: async () => {
        while (this.#pieces.length === 0 && !this.#isOver) await new Promise<void>((resolve) => (this.#wake = resolve));
        const value = this.#pieces.shift();
        return value === undefined ? { done: true, value } : { done: false, value };
      },
      return: async () => {
        this.hasReturned = true;
        this.end();
        return { done: true, value: undefined };
      },
    };
  }
}

async function opened(text: readonly LogPiece[], options: Partial<LogSourceOptions> = {}): Promise<LogSource> {
  const pipe = new Pipe();
  pipe.push(...text);
  pipe.end();
  const source = await openLogSource({ title: 'a log', pieces: pipe, onProblem: () => undefined, ...options });
  await source.caughtUp;
  return source;
}

inspectionSourceContract('a stored log', async () => {
  const source = await opened([
    lines(
      HEADER,
      { k: 'machine', s: 1, t: 1, a: 'b:x:0', id: 'task', chart: describeChart(taskMachine) },
      told(2),
      step(3),
    ),
  ]);
  return { source, [Symbol.asyncDispose]: async () => source.close() };
});

inspectionSourceContract('a log that is being written', async () => {
  const pipe = new Pipe();
  pipe.push(lines(HEADER, told(1)), CAUGHT_UP);
  const source = await openLogSource({ title: 'a log', pieces: pipe, onProblem: () => undefined });
  await source.caughtUp;
  let next = 1;
  const act = async (): Promise<void> => {
    next += 1;
    pipe.push(lines(step(next)));
    while (source.range().last < next) await new Promise((resolve) => setImmediate(resolve));
  };
  return { source, act, [Symbol.asyncDispose]: async () => source.close() };
});

describe('a stored log', () => {
  it('that is whole has ended, and there is nothing to say of it', async () => {
    const source = await opened([lines(HEADER, told(1), step(2))]);
    expect(source.about()).toEqual({
      kind: 'log',
      title: 'a log',
      hasSessions: false,
      canAnswer: false,
      notes: [],
      hasEnded: true,
    });
  });

  it('that is damaged says in sentences what is missing', async () => {
    const text = lines(
      HEADER,
      told(1),
      { k: 'surprise', s: 2, t: 1, a: 'b:x:1' },
      { ...step(3), more: 1 },
      step(10),
      step(11),
      step(4),
    ).replace('"k":"actor"', '"k":"actor');
    const source = await opened([text, '{"k":"step","s":12'], { title: 'x'.repeat(600) });
    const { notes, title } = source.about();
    expect(notes).toEqual([
      '2 lines could not be read; the first is line 2: expected JSON.',
      'The last line has no end: the writer of the log stopped in the middle of it.',
      '6 records are missing in one place; the first between records 3 and 10.',
      'One record was passed over, since its number was there already or cannot be true.',
      'One line could not be shown, since this version does not know the kind of record ("surprise").',
      'One field was passed over, since this version does not know what it means ("more").',
    ]);
    expect(title.length).toBe(500);
    expect((await allRecords(source)).map(({ s }) => s)).toEqual([3, 10, 11]);
  });

  it.each([
    ['nothing', []],
    ['an empty file that may grow', [CAUGHT_UP]],
    ['no header', [lines(told(1))]],
    ['the beginning of a line', ['{"format":', CAUGHT_UP]],
    ['something else', ['%PDF-1.4\n']],
    ['another version', [lines({ ...HEADER, format: 'inspection-log/2' })]],
  ] as const)('is refused where it is none: %s', async (_what, text) => {
    const pipe = new Pipe();
    pipe.push(...text);
    if (!text.some((piece) => piece === CAUGHT_UP)) pipe.end();
    await expect(openLogSource({ title: 'x', pieces: pipe, onProblem: () => undefined })).rejects.toMatchObject({
      code: 'INSPECTION_LOG_REFUSED',
      category: 'validation',
    });
    expect(pipe.hasReturned).toBe(true);
  });

  it('that breaks while it is read is shown as far as it came', async () => {
    const pieces = (async function* breaking(): AsyncGenerator<LogPiece> {
      yield lines(HEADER, told(1), step(2));
      throw new Error('EIO');
    })();
    const problems: unknown[] = [];
    const source = await openLogSource({ title: 'x', pieces, onProblem: (error) => void problems.push(error) });
    await source.caughtUp;
    expect([(await allRecords(source)).length, source.about().hasEnded, source.about().notes, problems.length]).toEqual(
      [2, true, ['The log could not be read any further: EIO.'], 1],
    );
  });

  it('that is followed ends when it is closed, and tells what was said of it', async () => {
    const pipe = new Pipe();
    pipe.push(lines(HEADER), CAUGHT_UP);
    const source = await openLogSource({ title: 'x', pieces: pipe, onProblem: () => undefined });
    await source.caughtUp;
    expect(source.about().hasEnded).toBe(false);
    pipe.push({ note: 'The file was cut short.' });
    await expect.poll(() => source.about().notes, { interval: 5 }).toEqual(['The file was cut short.']);
    source.close();
    source.close();
    expect([pipe.hasReturned, source.about().hasEnded]).toEqual([true, true]);
  });

  it('is shown without what is secret', async () => {
    const source = await opened(
      [
        lines(
          HEADER,
          { ...told(1), facts: { label: 'a token-1234' } },
          { k: 'emit', s: 2, t: 1, a: 'b:x:1', type: 'said', data: { deep: ['token-1234'] } },
        ),
      ],
      { redact: (text) => text.replaceAll('token-1234', '[redacted]') },
    );
    expect(JSON.stringify(await allRecords(source))).not.toContain('token-1234');
    expect(JSON.stringify(await allRecords(source)).match(/\[redacted\]/g)).toHaveLength(2);
  });

  it('that is too long loses its oldest records, but not how the actors stood', async () => {
    const many = Array.from({ length: 5_000 }, (_, index) => step(index + 4));
    const source = await opened(
      [
        lines(
          HEADER,
          { k: 'machine', s: 1, t: 1, a: 'b:x:0', id: 'task', chart: describeChart(taskMachine) },
          told(2, 'b:x:2'),
          told(3),
          step(4, 'b:x:2', 'done'),
          ...many.slice(1),
        ),
      ],
      { limits: { records: 2_000 } },
    );
    const records = await allRecords(source);
    expect(records.length).toBeLessThanOrEqual(2_002);
    expect(records.slice(0, 3)).toMatchObject([
      { k: 'machine', id: 'task' },
      { k: 'actor', a: 'b:x:1', value: 'here', status: 'active' },
      { k: 'step' },
    ] satisfies Partial<InspectionRecord>[]);
    expect([records[0]?.s, records.at(-1)?.s]).toEqual([source.range().first, 5_003]);
    expect(source.about().notes).toEqual([expect.stringMatching(/^The \d+ oldest records are not kept in memory\.$/)]);
    expect(source.chart('task')?.id).toBe(describeChart(taskMachine).id);
  });

  it('leaves the event loop to others while it is read', async () => {
    const pieces: string[] = [lines(HEADER)];
    for (let s = 1; s < 40_000; s += 100)
      pieces.push(lines(...Array.from({ length: 100 }, (_, index) => step(s + index))));
    let turns = 0;
    const count = (): void => {
      turns += 1;
      if (turns < 1_000) setImmediate(count);
    };
    setImmediate(count);
    await opened(pieces);
    expect(turns).toBeGreaterThan(10);
    turns = 1_000;
  });
});
