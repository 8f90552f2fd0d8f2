/** What is said in a session right now, as a viewer reads it: redacted, and the end of it where it is long. */
import type { ToolProgress } from '../turn/tool.ts';
import type { InspectedText } from './inspected-text.ts';
import type { InspectedSpeech } from './inspection-source.ts';
import type { LivePart, LiveSpeech } from '../words/live-words.ts';

/** Of all parts together: about two screens. */
const MAX_SHOWN_CHARACTERS = 6_000;
const MAX_PROGRESS_CHARACTERS = 300;

/** What the model says to the runtime is no words for people. */
const DIRECTIVE = /^[ \t]*```wakechart-directive[^]*/m;

function progressText(name: string, { message, done, total }: ToolProgress): string {
  const share = done === undefined ? [] : [total === undefined ? String(done) : `${done} of ${total}`];
  return [name, ...share, ...(message === undefined ? [] : [message])].join(' · ');
}

export class SaidNow {
  readonly #text: InspectedText;
  /** What viewers were given of it, and which secrets were known then: several of them watch the same session. */
  readonly #shown = new WeakMap<LiveSpeech, { readonly version: number; readonly said: InspectedSpeech | undefined }>();

  constructor(text: InspectedText) {
    this.#text = text;
  }

  of(speech: LiveSpeech | undefined): InspectedSpeech | undefined {
    if (speech === undefined) return undefined;
    const { version } = this.#text;
    const known = this.#shown.get(speech);
    if (known?.version === version) return known.said;
    const said = shownOf(speech, this.#text);
    this.#shown.set(speech, { version, said });
    return said;
  }
}

function shownOf(speech: LiveSpeech, text: InspectedText): InspectedSpeech | undefined {
  const { loggedAfter, isTorn } = speech;
  const parts: LivePart[] = [];
  let left = MAX_SHOWN_CHARACTERS;
  let isCut = isTorn;
  for (const [index, part] of [...speech.parts.entries()].toReversed()) {
    const said = part.kind === 'text' ? part.text.replace(DIRECTIVE, '') : part.text;
    const isOpen = loggedAfter === undefined && index === speech.parts.length - 1;
    const shown = text.endOf(said, left, { isTorn: isTorn && index === 0, isOpen });
    if (shown.length < said.length && left === shown.length) isCut = true;
    if (shown.trim() !== '') parts.unshift({ kind: part.kind, text: shown });
    left -= shown.length;
    if (left <= 0) break;
  }
  const calls = speech.calls.map(({ callId, name, progress }) => ({
    callId: text.name(callId),
    text: text.cut(progressText(name, progress), MAX_PROGRESS_CHARACTERS),
  }));
  if (parts.length === 0 && calls.length === 0) return undefined;
  return { parts, isCut, ...(loggedAfter === undefined ? {} : { loggedAfter }), calls };
}
