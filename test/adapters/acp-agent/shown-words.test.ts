import { expect, it } from 'vitest';
import { ShownWords } from '../../../src/adapters/acp-agent/shown-words.ts';

it('shows of what the log says only what was not said yet', () => {
  const words = new ShownWords();
  expect(words.said('text', 'Hello ')).toBe('Hello ');
  expect(words.said('reasoning', 'hm')).toBe('hm');
  expect(words.logged('text', 'Hello world')).toBe('world');
  expect(words.logged('reasoning', 'hm')).toBe('');
});

it('shows words that come after the log has told them no second time', () => {
  const words = new ShownWords();
  expect(words.logged('text', 'Hello world')).toBe('Hello world');
  expect(words.said('text', 'Hello ')).toBe('');
  expect(words.said('text', 'world')).toBe('');
  words.reset();
  expect(words.said('text', 'Next')).toBe('Next');
});

it('knows several messages of one step apart', () => {
  const words = new ShownWords();
  expect(words.said('text', 'One.Two.')).toBe('One.Two.');
  expect(words.logged('text', 'One.')).toBe('');
  expect(words.logged('text', 'Two.')).toBe('');
});

it('shows what the log says whole where words were lost, or other words are in the log', () => {
  const words = new ShownWords();
  words.said('text', 'Hel');
  words.lost();
  expect(words.said('text', 'rld')).toBe('');
  expect(words.logged('text', 'Hello world')).toBe('\n\nHello world');
  words.reset();
  expect(words.said('text', 'my key')).toBe('my key');
  expect(words.logged('text', '[redacted KEY]')).toBe('\n\n[redacted KEY]');
});

it('says that an attempt failed whose words are shown already', () => {
  const words = new ShownWords();
  expect(words.takenBack()).toBe('');
  words.said('text', 'I thi');
  expect(words.takenBack()).toContain('does not count');
  expect(words.said('text', 'Again')).toBe('Again');
  expect(words.logged('text', 'Again')).toBe('');
});
