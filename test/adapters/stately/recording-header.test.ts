/** The header that names a recording: what is in a name reaches no socket as it is. */
import { expect, it } from 'vitest';
import { encodedBoot } from '../../../src/adapters/stately/recording-header.ts';

it('names any recording in a header, also one whose name ends in half of a character', () => {
  expect(encodedBoot('0192 ü\r\n')).toBe('0192%20%C3%BC%0D%0A');
  expect(encodedBoot('half \uD83D')).toBe('half%20%EF%BF%BD');
  expect(encodedBoot('whole \u{1F600}')).toBe('whole%20%F0%9F%98%80');
});
