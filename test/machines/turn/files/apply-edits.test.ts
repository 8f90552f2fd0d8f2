import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyEdits } from '../../../../src/machines/turn/files/apply-edits.ts';

const refusal = (code: string, message: RegExp): unknown =>
  expect.objectContaining({ code, message: expect.stringMatching(message) });

describe('an edit', () => {
  it('replaces a text that is there once', () => {
    expect(applyEdits('a b c', [{ oldText: 'b', newText: 'x' }])).toEqual({ text: 'a x c', replacements: 1 });
  });

  it('puts in what is given and nothing that it could stand for', () => {
    expect(applyEdits('a b', [{ oldText: 'b', newText: "$& $1 $$ $'" }]).text).toBe("a $& $1 $$ $'");
    expect(applyEdits('b b', [{ oldText: 'b', newText: '$&', replaceAll: true }]).text).toBe('$& $&');
  });

  it('says how often and where a text was found that is not unique', () => {
    expect(() => applyEdits('x\ny\nx\n', [{ oldText: 'x', newText: 'z' }])).toThrow(
      refusal('EDIT_AMBIGUOUS', /found 2 times, on lines 1, 3/),
    );
  });

  it('does not take places that overlap for one place', () => {
    expect(() => applyEdits('aaa', [{ oldText: 'aa', newText: 'b' }])).toThrow(
      refusal('EDIT_AMBIGUOUS', /found 2 times/),
    );
  });

  it('replaces every place when it is told to', () => {
    expect(applyEdits('x y x', [{ oldText: 'x', newText: 'z', replaceAll: true }])).toEqual({
      text: 'z y z',
      replacements: 2,
    });
  });

  it('names the line that differs only in white space', () => {
    const text = 'function f() {\n\treturn 1;\n}\n';
    expect(() => applyEdits(text, [{ oldText: '    return 1;\n}', newText: '' }])).toThrow(
      refusal('EDIT_NOT_FOUND', /found 0 times\. Line 2 differs only in white space: it is "\\treturn 1;"/),
    );
  });

  it('names the nearest line', () => {
    const text = 'const one = 1;\nconst twenty = 20;\n';
    expect(() => applyEdits(text, [{ oldText: 'const twelve = 20;', newText: '' }])).toThrow(
      refusal('EDIT_NOT_FOUND', /nearest to its first one is line 2: "const twenty = 20;"/),
    );
    expect(() => applyEdits(text, [{ oldText: 'zzzzzz', newText: '' }])).toThrow(
      refusal('EDIT_NOT_FOUND', /No line of the file is like it/),
    );
  });

  it('that changes nothing is refused', () => {
    expect(() => applyEdits('a', [{ oldText: 'a', newText: 'a' }])).toThrow(
      refusal('EDIT_CHANGES_NOTHING', /by itself/),
    );
  });

  it('that would make a text without bounds is refused before it is made', () => {
    expect(() =>
      applyEdits('a'.repeat(100_000), [{ oldText: 'a', newText: 'b'.repeat(400_000), replaceAll: true }]),
    ).toThrow(refusal('FILE_TOO_LARGE', /40000000000 characters/));
  });

  it('has the line breaks of the file, whichever it came with', () => {
    expect(applyEdits('a\r\nb\r\nc\r\n', [{ oldText: 'a\nb', newText: 'x\ny\nz' }]).text).toBe('x\r\ny\r\nz\r\nc\r\n');
    expect(applyEdits('a\nb\n', [{ oldText: 'a\r\nb', newText: 'x\r\ny' }]).text).toBe('x\ny\n');
    expect(applyEdits('a\r\nb\nc\n', [{ oldText: 'b\nc', newText: 'd\ne' }]).text).toBe('a\r\nd\ne\n');
    expect(applyEdits('a\r\nb\nc\n', [{ oldText: 'a\nb', newText: 'd\ne' }]).text).toBe('d\r\ne\nc\n');
  });

  it('keeps a byte order mark', () => {
    expect(applyEdits('\uFEFFa b', [{ oldText: 'a', newText: 'x' }]).text).toBe('\uFEFFx b');
  });
});

describe('several edits', () => {
  it('work on what the one before left', () => {
    const edits = [
      { oldText: 'a', newText: 'b' },
      { oldText: 'b', newText: 'c' },
    ];
    expect(applyEdits('a', edits)).toEqual({ text: 'c', replacements: 2 });
  });

  it('say which of them cannot be made', () => {
    const edits = [
      { oldText: 'a', newText: 'b' },
      { oldText: 'q', newText: 'c' },
    ];
    expect(() => applyEdits('a', edits)).toThrow(refusal('EDIT_NOT_FOUND', /edit 2 of 2/));
  });

  it('can be undone by the same edits turned around', () => {
    const line = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\t'), maxLength: 6 });
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 1, maxLength: 20 }),
        fc.nat(),
        fc.constantFrom('\n', '\r\n'),
        line,
        (lines, at, ending, put) => {
          const index = at % lines.length;
          const marked = lines.map((each, position) => (position === index ? `<${each}>` : each)).join(ending);
          const edit = { oldText: `<${lines[index]}>`, newText: `{${put}\n}` };
          const there = applyEdits(marked, [edit]).text;
          expect(applyEdits(there, [{ oldText: edit.newText, newText: edit.oldText }]).text).toBe(marked);
        },
      ),
    );
  });
});
