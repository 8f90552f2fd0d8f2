/**
 * Follows `cd` through a line: in which folders each of its commands may run. Where that is not for sure, in all that
 * it may be.
 */
import type { GapSign } from './shell-gaps.ts';
import { NotUnderstood } from './literal-word.ts';

/** From where the line runs; empty for there. */
type Folders = ReadonlySet<string>;

interface Scope {
  /** Where the next command may run. */
  now: Folders;
  /** Wherever a command of this scope may have led. */
  all: Folders;
  /** Whether `||` stands in the list so far: then a command may run though the one before it did not. */
  hasOr: boolean;
  /** Where the command before leads, when it is a `cd`. */
  entering: Folders | undefined;
}

/** Plain names only: what is above, at home or in a variable is elsewhere. */
const FOLDER = /^(?:\.\/)?[A-Za-z0-9_@][A-Za-z0-9_@.+-]*(?:\/[A-Za-z0-9_@][A-Za-z0-9_@.+-]*)*\/?$/;

const GOES_ON: ReadonlySet<GapSign> = new Set<GapSign>(['&&', '||', '|', '(', '{', ';']);

const HERE: Folders = new Set(['']);

/** It may be any: what is above the folder of the line is outside of everything that is allowed. */
const ANYWHERE: Folders = new Set(['..']);
const MAX_FOLDERS = 8;

export class EnteredFolders {
  /** The sign just before the next command. */
  #before: GapSign | undefined;
  readonly #scopes: Scope[] = [{ now: HERE, all: HERE, hasOr: false, entering: undefined }];

  get now(): Folders {
    return this.#scope.now;
  }

  /** Takes the signs before the next command. @throws NotUnderstood */
  pass(signs: readonly GapSign[]): void {
    for (const sign of signs) {
      // A line that ends behind one of these goes on.
      if (sign === 'line' && this.#before !== undefined && GOES_ON.has(this.#before)) continue;
      this.#pass(sign);
      this.#before = sign;
    }
  }

  /** Takes a command that is no `cd`. */
  stay(): void {
    this.#before = undefined;
  }

  /** Takes a `cd`. @returns whether it is known where it leads */
  enter(words: readonly string[]): boolean {
    const [target = ''] = words;
    const before = this.#before;
    this.#before = undefined;
    const scope = this.#scope;
    // One that is timed is another program's in some shells; in a pipe it leads the others nowhere, or all of them.
    if (words.length !== 1 || !FOLDER.test(target) || before === '|' || before === 'time') {
      this.#lose(scope);
      return false;
    }
    const name = target.replace(/^\.\//, '').replace(/\/$/, '');
    scope.entering = new Set([...scope.now].map((folder) => (folder === '' ? name : `${folder}/${name}`)));
    scope.all = new Set([...scope.all, ...scope.entering]);
    if (scope.all.size > MAX_FOLDERS) this.#lose(scope);
    return true;
  }

  #lose(scope: Scope): void {
    scope.now = ANYWHERE;
    scope.all = ANYWHERE;
    scope.entering = undefined;
  }

  get #scope(): Scope {
    const scope = this.#scopes.at(-1);
    if (scope === undefined) throw new NotUnderstood('it closes a group that it did not open');
    return scope;
  }

  #pass(sign: GapSign): void {
    const scope = this.#scope;
    const { entering, hasOr, all } = scope;
    switch (sign) {
      case '(':
        this.#scopes.push({ now: scope.now, all: scope.now, hasOr: false, entering: undefined });
        return;
      case ')':
        this.#scopes.pop();
        return;
      case '&&':
        if (entering !== undefined) scope.now = hasOr ? all : entering;
        break;
      case '|':
        if (entering !== undefined) this.#lose(scope);
        break;
      case '{':
      case '}':
      case '||':
        scope.now = all;
        scope.hasOr = true;
        break;
      case ';':
      case 'line':
        scope.now = all;
        scope.hasOr = false;
        break;
      case 'time':
      case 'redirection':
        return;
    }
    scope.entering = undefined;
  }
}
