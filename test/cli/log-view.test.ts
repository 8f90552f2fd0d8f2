/** How `task logs` and `task attach` show lines: each where its program wrote it, none twice, what is missing counted once. */
import { Writable } from 'node:stream';
import { beforeEach, describe, expect, it } from 'vitest';
import { LogView } from '../../src/cli/task/log-view.ts';
import { Output } from '../../src/cli/terminal/output.ts';

let shown: string[];
beforeEach(() => {
  shown = [];
});

/** Writes into `shown`, with `mark` before each piece. */
function output(mark: string, isTTY: boolean): Output {
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      shown.push(`${mark}${chunk.toString()}`);
      done();
    },
  });
  return new Output(Object.assign(stream, { isTTY, columns: 80 }) as unknown as NodeJS.WriteStream, { NO_COLOR: '1' });
}

const view = (from?: number, { isTTY = false, json = false } = {}): LogView =>
  new LogView({ out: output('', isTTY), err: output('! ', isTTY), json }, from);

const stdout = (...texts: readonly string[]): string[] => texts.map((text) => `[stdout] ${text}`);

describe('lines of a log', () => {
  it('go where the program wrote them, and what is of no program among the errors', async () => {
    const to = view(0);
    await to.show({ offset: 0, lines: ['[stdout] out', '[stderr] err', '[system] a remark', 'no mark'] });
    await to.end();
    expect(shown).toEqual(['out\n', '! err\n', '! a remark\n', '! no mark\n']);
  });

  it('are records for programs, each with its number and stream', async () => {
    const to = view(7, { json: true });
    await to.show({ offset: 9, lines: ['[stderr] err', '[stdout] out'] });
    await to.end();
    expect(shown.map((line) => JSON.parse(line) as unknown)).toEqual([
      { offset: 9, stream: 'stderr', text: 'err' },
      { offset: 10, stream: 'stdout', text: 'out' },
    ]);
  });
});

describe('lines that are not kept', () => {
  it('are counted over all gaps, and told once, at the end', async () => {
    const to = view(0);
    await to.show({ offset: 3, lines: stdout('3', '4') });
    await to.show({ offset: 5, lines: stdout('5') });
    await to.show({ offset: 10, lines: stdout('10') });
    await to.end();
    await to.end();
    expect(shown).toEqual(['3\n', '4\n', '5\n', '10\n', '! 7 lines were not kept\n']);
  });

  it('are none where the first line that is shown may be any', async () => {
    const to = view();
    await to.show({ offset: 100, lines: stdout('100') });
    await to.end();
    expect(shown).toEqual(['100\n']);
  });

  it('do not grow less when lines are told again', async () => {
    const to = view(0);
    await to.show({ offset: 1, lines: stdout('1', '2') });
    await to.show({ offset: 2, lines: stdout('2', '3') });
    await to.end();
    expect(shown.at(-1)).toBe('! 1 line was not kept\n');
  });
});

describe('what has no line end yet', () => {
  it('is written once as it grows, and its line is finished in its place', async () => {
    const to = view(0, { isTTY: true });
    await to.showUnfinished(stdout('Name'));
    await to.showUnfinished(stdout('Name'));
    await to.showUnfinished(stdout('Name: '));
    await to.show({ offset: 0, lines: stdout('Name: Ada', 'Hello Ada') });
    await to.end();
    expect(shown.join('')).toBe('Name: Ada\nHello Ada\n');
  });

  it('stays as it is when a line comes that does not go on with it', async () => {
    const to = view(0, { isTTY: true });
    await to.showUnfinished(stdout('50 %'));
    await to.showUnfinished(stdout('60 %'));
    await to.show({ offset: 0, lines: stdout('done') });
    await to.end();
    expect(shown.join('')).toBe('50 %\ndone\n');
  });

  it('is left on its line by a remark, and ended when nothing more comes', async () => {
    const to = view(0, { isTTY: true });
    await to.showUnfinished(stdout('Name: '));
    await to.note('its process lives and gives no answer');
    await to.end();
    expect(shown).toEqual(['Name: ', '! \nnote: its process lives and gives no answer\n', '\n']);
  });
});
