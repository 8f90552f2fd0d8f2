/** What an operator reads of errors that reach no caller. */
import { afterEach, expect, it, vi } from 'vitest';
import { reportToConsole } from '../../../src/actors/streams/listener-errors.ts';
import { RuntimeError } from '../../../src/machines/errors.ts';

afterEach(() => vi.restoreAllMocks());

it.each([
  ['a listener', new Error('Mine.'), /a function passed in as event sink threw/],
  ['the runtime itself', new RuntimeError('X', 'Ours.', { category: 'crash' }), /goes on after an error/],
])('names %s as what went wrong', (_, error, words) => {
  const told = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  reportToConsole(error, 'event_sink');
  expect(told).toHaveBeenCalledWith(expect.stringMatching(words), error);
});
