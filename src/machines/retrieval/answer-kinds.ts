/** Whether a text holds the kind of thing that would answer a question: a time, a number, a person, a place. */
import type { AnswerKind } from './query.ts';

const NUMBER =
  /\p{N}|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|million)\b/iu;

const SIGNS: Readonly<Record<AnswerKind, RegExp>> = {
  time: /\b(?:\d{1,2}[:.]\d{2}|\d{4}-\d{2}|\d{1,2}(?:st|nd|rd|th)?(?: of)? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d|(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|yesterday|noon|midnight)/i,
  number: NUMBER,
  // A name within a sentence; what begins one may be any word.
  person: /[\p{Ll},;] \p{Lu}\p{Ll}+|^\p{Lu}\p{Ll}+ (?:\p{Ll}+ed|is|has|was|will|owns|wrote|said|found)\b/u,
  place: /[\w-]+\/[\w./-]+|\b[\w-]+\.(?:ts|js|mjs|py|go|rs|md|json|ya?ml|toml|sh|sql|css|html|txt|conf|cfg)\b/i,
};

export function holdsAnswer(text: string, kind: AnswerKind): boolean {
  return SIGNS[kind].test(text);
}
