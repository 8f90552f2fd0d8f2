import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SANDBOXED_ENVIRONMENT, environmentFile } from '../../../src/machines/environment/environment-definition.ts';
import { strictestEnvironment } from '../../../src/machines/environment/strictest-environment.ts';
import { boundBecause } from '../../../src/machines/workspace-copy/copy-binding.ts';
import { differenceOf, isSameCopy } from '../../../src/machines/workspace-copy/copy-difference.ts';
import {
  byPath,
  indexText,
  partsOf,
  readIndex,
  readParts,
} from '../../../src/machines/workspace-copy/copy-manifest.ts';
import type { CopyEntry } from '../../../src/machines/workspace-copy/copy-manifest.ts';
import { bytesOfName, nameOfBytes } from '../../../src/machines/workspace-copy/file-names.ts';
import { copyArrival, maySpeak } from '../../../src/machines/workspace-copy/copy-state.ts';
import type { HomeHost, CopySituation, WorkspaceCopyState } from '../../../src/machines/workspace-copy/copy-state.ts';

const HASH = 'a'.repeat(64);
const file = (path: string, size = 3, piece = HASH): CopyEntry => ({
  kind: 'file',
  path,
  mode: 0o600,
  size,
  pieces: size === 0 ? [] : [piece],
});
const folder = (path: string): CopyEntry => ({ kind: 'folder', path, mode: 0o700 });
const link = (path: string, target = 'x'): CopyEntry => ({ kind: 'link', path, target });

describe('names of files', () => {
  it('are made again from their text, whatever their bytes, and are told from each other', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 20 }),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 8 }).map((text) => new TextEncoder().encode(text)),
    );
    fc.assert(
      fc.property(bytes, (name) => {
        const text = nameOfBytes(name);
        expect([...(bytesOfName(text) ?? new TextEncoder().encode(text))]).toEqual([...name]);
      }),
      { numRuns: 500 },
    );
  });

  it('that are text are their own text', () => {
    expect(nameOfBytes(new TextEncoder().encode('naïve 😀.txt'))).toBe('naïve 😀.txt');
    expect(bytesOfName('naïve 😀.txt')).toBeUndefined();
  });
});

describe('a manifest', () => {
  const many = [
    folder('workspace'),
    ...Array.from({ length: 3_000 }, (_, index) => file(`workspace/file-${String(index).padStart(5, '0')}`)),
  ].toSorted(byPath);

  it('is read as it was written, part by part', () => {
    const parts = partsOf(many);
    expect(parts.length).toBeGreaterThan(4);
    expect(readParts(parts)).toEqual(many);
    expect(
      readIndex(
        indexText(
          many,
          parts.map(() => HASH),
        ),
      ),
    ).toEqual({ version: 1, parts: parts.map(() => HASH), files: 3_001, bytes: 9_000 });
    expect(partsOf([])).toEqual([]);
  });

  it('has one other part when one file is another', () => {
    const before = new Set(partsOf(many));
    const after = partsOf(many.map((entry, index) => (index === 1_500 ? file(entry.path, 4, 'b'.repeat(64)) : entry)));
    expect(after.filter((part) => !before.has(part))).toHaveLength(1);
    const fewer = partsOf(many.filter((_, index) => index !== 700));
    expect(fewer.filter((part) => !before.has(part)).length).toBeLessThanOrEqual(2);
  });

  it.each([
    ['a path twice', [folder('workspace'), link('workspace/a'), link('workspace/a')]],
    ['paths out of order', [folder('workspace'), link('workspace/b'), link('workspace/a')]],
    ['no folder for a file', [folder('workspace'), file('workspace/a/b')]],
    ['a link in place of a folder', [folder('workspace'), link('workspace/a'), file('workspace/a/b')]],
    ['a link in place of the whole', [link('workspace', '/etc')]],
    ['fewer pieces than bytes', [folder('workspace'), file('workspace/a', 2_000_000)]],
    ['a path that climbs', [folder('workspace'), link('workspace/../a')]],
    ['a root of nobody', [folder('home')]],
  ])('with %s is refused', (_what, entries) => {
    expect(() => readParts([JSON.stringify(entries)])).toThrow(
      expect.objectContaining({ code: 'WORKSPACE_COPY_DAMAGED' }) as Error,
    );
  });

  it('tells what is not the same in another', () => {
    const before = [folder('workspace'), file('workspace/a'), file('workspace/b'), link('workspace/c')];
    const after = [
      folder('workspace'),
      file('workspace/a'),
      { ...file('workspace/b'), mode: 0o644 } as CopyEntry,
      file('workspace/c'),
      file('workspace/d'),
    ];
    expect(differenceOf(before, after)).toEqual({ added: [after[4]], changed: [after[2], after[3]], removed: [] });
    expect(differenceOf(after, before).removed).toEqual([after[4]]);
    expect([isSameCopy(before, before), isSameCopy(before, after)]).toEqual([true, false]);
  });
});

describe('where a workspace is', () => {
  const one: HomeHost = { id: '1', name: 'one' };
  const two: HomeHost = { id: '2', name: 'two' };
  const copy = { epoch: 3, manifestId: HASH, files: 1, bytes: 1 };
  const state: WorkspaceCopyState = { epoch: 3, host: one, copy, added: [] };
  const situation: CopySituation = {
    sessionId: 's',
    state,
    here: two,
    bound: undefined,
    missingFolder: undefined,
    last: { epoch: 3, hasDied: false },
  };

  it.each<[string, Partial<CopySituation>, object]>([
    ['no machine has spoken of it', { state: undefined }, { kind: 'first' }],
    ['only a file has come for it', { state: { epoch: 0, added: [] } }, { kind: 'first' }],
    ['it is here', { here: one }, { kind: 'home' }],
    ['it is here and bound', { here: one, bound: 'b', state: { ...state, bound: 'b' } }, { kind: 'home' }],
    ['it is elsewhere', {}, { kind: 'moves', from: one, copy, mayHaveLost: false }],
    ['a wake has begun since the copy', { last: { epoch: 4, hasDied: false } }, { kind: 'moves', mayHaveLost: true }],
    [
      'the wake that made the copy has died',
      { last: { epoch: 3, hasDied: true } },
      { kind: 'moves', mayHaveLost: true },
    ],
    [
      'no copy was made',
      { state: { epoch: 1, host: one, added: [] }, last: { epoch: 1, hasDied: false } },
      { kind: 'moves', copy: undefined, mayHaveLost: true },
    ],
    [
      'no wake has begun',
      { state: { epoch: 1, host: one, added: [] }, last: undefined },
      { kind: 'moves', copy: undefined, mayHaveLost: false },
    ],
    [
      'a wake has spoken for here that never began',
      { here: one, state: { ...state, epoch: 5 }, last: { epoch: 4, host: two, hasDied: true } },
      { kind: 'moves', from: two, mayHaveLost: true },
    ],
    [
      'a wake has spoken for elsewhere that never began',
      { here: one, state: { ...state, epoch: 5, host: two }, last: { epoch: 4, host: one, hasDied: true } },
      { kind: 'stays' },
    ],
    [
      'a home was copied in after the last wake',
      { here: two, state: { ...state, host: two }, last: { epoch: 3, host: one, hasDied: false } },
      { kind: 'home' },
    ],
    ['it was released', { state: { epoch: 3, copy, added: [] } }, { kind: 'moves', from: undefined }],
    ['it is elsewhere and bound there', { state: { ...state, bound: 'b' } }, { kind: 'refused' }],
    ['it is elsewhere and bound as seen from here', { bound: 'b' }, { kind: 'refused' }],
    ['its folder is not here', { missingFolder: '/p' }, { kind: 'refused' }],
    [
      'its folder is not here and no machine has spoken',
      { missingFolder: '/p', state: undefined },
      { kind: 'refused' },
    ],
    ['its folder is gone at home', { missingFolder: '/p', here: one }, { kind: 'home' }],
  ])('decides what a wake does when %s', (_when, changed, expected) => {
    expect(copyArrival({ ...situation, ...changed })).toMatchObject(expected);
  });

  it('may be said by later wakes, by the same one on the same machine, and by the wake that it was released for', () => {
    const now = { epoch: 3, host: one };
    expect([
      maySpeak(undefined, now),
      maySpeak(state, now),
      maySpeak({ epoch: 2, host: two }, now),
      maySpeak({ epoch: 4, host: one }, now),
      maySpeak({ epoch: 3, host: two }, now),
      maySpeak({ epoch: 3 }, now),
      maySpeak({ epoch: 4 }, now),
    ]).toEqual([true, true, true, false, false, true, false]);
  });
});

describe('what binds a session to its machine', () => {
  const environment = { ...SANDBOXED_ENVIRONMENT, mounts: [] };
  const withMount = {
    ...environment,
    mounts: environmentFile.parse({
      sandbox: 'required',
      mounts: [{ path: '/data', source: '/srv/data', access: 'rw' }],
    }).mounts,
  };

  it.each<[string, Parameters<typeof boundBecause>[0], unknown]>([
    ['nothing', { environment }, undefined],
    [
      'its environment, when that says so',
      { environment: { ...environment, hostBound: true } },
      expect.stringContaining('hostBound'),
    ],
    [
      'the environment of its parent',
      { environment: { ...environment, hostBound: false }, others: [{ environmentId: 'strict', hostBound: true }] },
      expect.stringContaining('"strict"'),
    ],
    ['a folder that it was given', { environment, workspace: '/p' }, expect.stringContaining('/p')],
    ['a mount that it may write', { environment: withMount }, expect.stringContaining('/srv/data')],
    [
      'no folder that is the same everywhere, as its environment says',
      { environment: { ...withMount, hostBound: false }, workspace: '/p' },
      undefined,
    ],
  ])('is %s', (_what, parts, expected) => {
    expect(boundBecause(parts)).toEqual(expected);
  });

  it('holds where one of several environments says so, and is lifted only by all', () => {
    const boundOf = (...all: (boolean | undefined)[]): unknown => {
      const [own = environment, ...others] = all.map((hostBound) =>
        hostBound === undefined ? environment : { ...environment, hostBound },
      );
      return strictestEnvironment(own, others).hostBound;
    };
    expect([
      boundOf(undefined, true),
      boundOf(false, false),
      boundOf(false, undefined),
      boundOf(true, false),
      boundOf(undefined, undefined),
    ]).toEqual([true, false, undefined, true, undefined]);
  });
});
