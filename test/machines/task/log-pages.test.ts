/** Log lines and pages as plain data. */
import { describe, expect, it } from 'vitest';
import { appendPrefixedLogLines, createBackgroundTaskLogPage } from '../../../src/machines/task/log-pages.ts';

describe('prefixed log lines', () => {
  it.each([
    ['one\ntwo\r\nthree', ['[stdout] one', '[stdout] two', '[stdout] three']],
    ['\n\r\n\n', []],
    ['', []],
    [' \n', ['[stdout]  ']],
    ['last without end', ['[stdout] last without end']],
  ])('of %j are %j', (text, expected) => {
    const lines = ['before'];
    appendPrefixedLogLines(lines, 'stdout', text);
    expect(lines).toEqual(['before', ...expected]);
  });
});

describe('a log page', () => {
  const lines = Array.from({ length: 450 }, (_, index) => `line ${index}`);

  it('holds 200 lines unless told otherwise, and leads through the whole log', () => {
    const read: string[] = [];
    let page = createBackgroundTaskLogPage('task_1', lines);
    expect(page.taskId).toBe('task_1');
    expect(page.lines).toHaveLength(200);
    for (;;) {
      read.push(...page.lines);
      if (page.nextCursor === undefined) break;
      page = createBackgroundTaskLogPage('task_1', lines, page.nextCursor);
    }
    expect(read).toEqual(lines);
  });

  it.each([
    [NaN, 0],
    [-1, 0],
    [-Infinity, 0],
    [2.9, 2],
    [450, 450],
    [451, 450],
    [Infinity, 450],
  ])('at offset %d begins at %i', (offset, begins) => {
    const page = createBackgroundTaskLogPage('t', lines, { offset });
    expect(page.cursor).toEqual({ offset: begins });
    expect(page.lines[0]).toBe(lines[begins]);
  });

  it('has no next cursor when there is nothing more', () => {
    expect(createBackgroundTaskLogPage('t', lines, { offset: 449 })).toEqual({
      taskId: 't',
      cursor: { offset: 449 },
      lines: ['line 449'],
    });
    expect(createBackgroundTaskLogPage('t', [])).toEqual({ taskId: 't', cursor: { offset: 0 }, lines: [] });
  });

  it.each([0, -3, NaN, 0.5])('with the limit %d still moves on', (limit) => {
    expect(createBackgroundTaskLogPage('t', lines, { offset: 0 }, limit).lines.length).toBeGreaterThan(0);
  });

  it('does not change when the log grows', () => {
    const log = ['a'];
    const page = createBackgroundTaskLogPage('t', log);
    log.push('b');
    expect(page.lines).toEqual(['a']);
  });
});
