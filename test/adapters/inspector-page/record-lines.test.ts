import { describe, expect, it } from 'vitest';
import { RecordLines } from '../../../src/adapters/inspector-page/model/record-lines.ts';
import { MAX_LINE_CHARACTERS } from '../../../src/machines/inspection-log/inspection-record.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('records that arrive in pieces', () => {
  it('are the same however they are cut, and the last needs no end', () => {
    const bytes = bytesOf('{"format":"größe"}\n{"s":1}\n\nno JSON\n{"s":2}');
    for (let size = 1; size < 9; size += 1) {
      const lines = new RecordLines();
      const records = [];
      for (let at = 0; at < bytes.length; at += size) records.push(...lines.read(bytes.subarray(at, at + size)));
      expect([...records, ...lines.end()]).toEqual([{ s: 1 }, { s: 2 }]);
      expect(lines).toMatchObject({ header: { format: 'größe' }, damaged: 1 });
    }
  });

  it('may be as long as a recorder writes them', () => {
    const lines = new RecordLines();
    const longest = JSON.stringify({ text: '工'.repeat(MAX_LINE_CHARACTERS - 11) });
    expect(longest).toHaveLength(MAX_LINE_CHARACTERS);
    expect(lines.read(bytesOf(`{"format":"x"}\n${longest}\n`))).toHaveLength(1);
    expect(lines.damaged).toBe(0);
  });

  it('are left out when they are longer than a recorder writes, and cost no more than their length', () => {
    const lines = new RecordLines();
    lines.read(bytesOf('{"format":"x"}\n"'));
    const piece = bytesOf('x'.repeat(1_024));
    const pieces = MAX_LINE_CHARACTERS / piece.length + 8_192;
    const begun = performance.now();
    for (let count = 0; count < pieces; count += 1) expect(lines.read(piece)).toEqual([]);
    // The whole of it again with each piece would be 60 GB to scan.
    expect(performance.now() - begun).toBeLessThan(5_000);
    expect(lines.read(bytesOf('"\n{"s":1}\n'))).toEqual([{ s: 1 }]);
    expect(lines.damaged).toBe(1);
  });
});
