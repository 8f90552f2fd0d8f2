/** What every command gets: where to write, which home, how it is interrupted. */
import { asTyped, invocation } from './invocation.ts';
import type { ChosenConfig } from './open/chosen-config.ts';
import { FILES, storeWords } from './open/chosen-store.ts';
import type { ChosenStore } from './open/chosen-store.ts';
import type { Interruption } from './interruption.ts';
import type { Output } from './terminal/output.ts';
import { shellQuoted } from './terminal/text.ts';

export interface CommandContext {
  readonly out: Output;
  readonly err: Output;
  /** For programs: JSON on standard output and nothing else. */
  readonly json: boolean;
  /** Absolute. */
  readonly home: string;
  /** Whether the user named the home in this very command. */
  readonly isHomeGiven: boolean;
  /** The database that holds the sessions; undefined when they are in the home. */
  readonly store?: ChosenStore | undefined;
  /** Whether this very command says that they are in the home, whatever the environment says. */
  readonly isFilesGiven?: boolean | undefined;
  /** What is given in code. Undefined: nothing. */
  readonly config?: ChosenConfig | undefined;
  readonly interruption: Interruption;
}

/** Where the sessions are, for people. */
export function storeText({ home, store }: Pick<CommandContext, 'home' | 'store'>): string {
  return store?.shown ?? home;
}

/** A command of ours as the user could type it next, with the same home, store and config. */
export function nextCommand(
  { home, isHomeGiven, store, isFilesGiven, config }: CommandContext,
  ...words: readonly string[]
): string {
  return shellQuoted([...invocation(), ...words, ...placeWords({ home, isHomeGiven, store, isFilesGiven, config })]);
}

/** A text that names commands of ours, such as a hint, as the user could type them next. */
export function textAsTyped(context: PlaceChoice, text: string): string {
  return asTyped(text, typedProgram(context));
}

/** The program with what was typed of home, store and config, before the name of any command. */
export function typedProgram(context: PlaceChoice): readonly string[] {
  return [...invocation(), ...placeWords(context)];
}

type PlaceChoice = Pick<CommandContext, 'home' | 'isHomeGiven' | 'store' | 'isFilesGiven' | 'config'>;

function placeWords({ home, isHomeGiven, store, isFilesGiven, config }: PlaceChoice): readonly string[] {
  const stored = store?.isGiven === true ? storeWords(store) : isFilesGiven === true ? ['--store', FILES] : [];
  const coded = config?.isGiven === true ? ['--config', config.file] : [];
  return [...(isHomeGiven ? ['--home', home] : []), ...stored, ...coded];
}
