import { describe, expect, it } from 'vitest';
import { RuntimeError, messageOf } from '../../src/machines/errors.ts';

const refusing = new Proxy(
  {},
  {
    get() {
      throw new Error('no');
    },
  },
);

describe('the message of what was thrown', () => {
  it.each<[string, unknown, string]>([
    ['an error', new Error('boom'), 'boom'],
    ['an error of ours', new RuntimeError('X', 'no such file', { category: 'validation' }), 'no such file'],
    ['an object with a message', { message: 'rate limited', code: 429 }, 'rate limited'],
    ['a text', 'boom', 'boom'],
    ['a number', 0, '0'],
    ['a date', new Date(0), String(new Date(0))],
    ['a list', ['a', 'b'], 'a,b'],
    ['nothing', undefined, 'nothing was said about the reason'],
    ['null', null, 'nothing was said about the reason'],
    ['an empty text', '', 'nothing was said about the reason'],
    ['an empty list', [], 'nothing was said about the reason'],
    ['an error without a message', new TypeError(''), 'TypeError (it has no message)'],
    [
      'an error with a code only',
      Object.assign(new AggregateError([], ''), { code: 'ECONNREFUSED' }),
      'AggregateError ECONNREFUSED (it has no message)',
    ],
    [
      'an error whose message is no text',
      Object.assign(new Error('x'), { message: { deep: true } }),
      'Error (it has no message)',
    ],
    ['an object with a code only', { code: 429 }, '429 (it has no message)'],
    ['an object that says nothing', {}, 'an object without a message was thrown'],
    ['an object without a prototype', Object.create(null), 'an unprintable value was thrown'],
    ['a value that cannot be checked', refusing, 'an unprintable value was thrown'],
  ])('that is %s says something', (_what, thrown, expected) => {
    expect(messageOf(thrown)).toBe(expected);
  });
});
