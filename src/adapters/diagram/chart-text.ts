/** Says in words what a picture shows, for those who cannot see it. */
import type { ChartDescription } from '../../machines/inspection/chart-description.ts';
import { counted } from '../../machines/inspection/markdown.ts';
import { placeName, transitionSentence } from './wording.ts';

/** Characters; a longer text is cut after a sentence. */
const LONGEST = 4000;

export function chartText({ states, transitions, description }: ChartDescription): string {
  const root = states[0];
  const finals = states.filter(({ kind }) => kind === 'final').map(({ id }) => id);
  const sentences = [
    ...(description === undefined ? [] : [description]),
    `${counted(states.length - 1, 'state')} and ${counted(transitions.length, 'transition')}.`,
    ...(root?.initial === undefined ? [] : [`It starts in ${placeName(root.initial)}.`]),
    ...(finals.length === 0 ? [] : [`It ends in ${finals.join(', ')}.`]),
    ...transitions.map((transition) => `${transitionSentence(transition)}.`),
  ];
  let text = '';
  for (const [index, sentence] of sentences.entries()) {
    if (text.length + sentence.length > LONGEST)
      return `${text} And ${counted(sentences.length - index, 'more sentence')} that stand in the chart itself.`.trim();
    text = text === '' ? sentence : `${text} ${sentence}`;
  }
  return text;
}
