/** What a mutex promises: an order, and that a failure is its caller's alone. */
import { describe, expect, it } from 'vitest';
import { KeyedMutex, Mutex } from '../../../src/actors/concurrency/mutex.ts';

interface Gate {
  readonly promise: Promise<void>;
  resolve(): void;
}

function manualPromise(): Gate {
  let open = (): void => undefined;
  const promise = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { promise, resolve: () => open() };
}

describe('a mutex', () => {
  it('begins work when all that was asked for before has settled, in that order', async () => {
    const mutex = new Mutex();
    const said: string[] = [];
    const first = manualPromise();
    const all = [
      mutex.run(async () => {
        said.push('one begins');
        await first.promise;
        said.push('one ends');
      }),
      mutex.run(async () => void said.push('two')),
      mutex.run(async () => void said.push('three')),
    ];
    await Promise.resolve();
    expect(said).toEqual(['one begins']);
    first.resolve();
    await Promise.all(all);
    expect(said).toEqual(['one begins', 'one ends', 'two', 'three']);
  });

  it('hands a failure to its caller alone', async () => {
    const mutex = new Mutex();
    const failed = mutex.run(() => Promise.reject(new Error('no')));
    const next = mutex.run(async () => 'runs');
    await expect(failed).rejects.toThrow('no');
    await expect(next).resolves.toBe('runs');
  });
});

describe('a mutex for each key', () => {
  it('lets work of other keys run meanwhile, and work of the same key wait', async () => {
    const mutex = new KeyedMutex();
    const first = manualPromise();
    const said: string[] = [];
    const one = mutex.run('a', async () => {
      await first.promise;
      said.push('a1');
    });
    const two = mutex.run('a', async () => void said.push('a2'));
    await mutex.run('b', async () => void said.push('b'));
    expect(said).toEqual(['b']);
    first.resolve();
    await Promise.all([one, two]);
    expect(said).toEqual(['b', 'a1', 'a2']);
  });

  it('hands a failure to its caller alone', async () => {
    const mutex = new KeyedMutex();
    const failed = mutex.run('a', () => Promise.reject(new Error('no')));
    const next = mutex.run('a', async () => 'runs');
    await expect(failed).rejects.toThrow('no');
    await expect(next).resolves.toBe('runs');
  });
});
