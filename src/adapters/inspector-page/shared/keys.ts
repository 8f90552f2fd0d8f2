/** Keys that work wherever nothing is being written. */
import { goLive, isHelpShown, narrowPane, step } from '../model/view.ts';
import { isPlainKey } from './list-keys.ts';
import { showFailure } from '../model/failures.ts';

export interface PageKey {
  readonly keys: readonly string[];
  readonly does: string;
}

/** As the help tells them. */
export const pageKeys: readonly PageKey[] = [
  { keys: ['←', '→'], does: 'one record back, one on' },
  { keys: ['Shift ←', 'Shift →'], does: 'a hundred back, a hundred on' },
  { keys: ['L'], does: 'back to what happens now' },
  { keys: ['E', 'Shift E'], does: 'the next failure, the previous one; from now, the last' },
  { keys: ['/'], does: 'search the actors; Enter leads to what was found' },
  { keys: ['↑', '↓'], does: 'in lists and trees: the row before, the row after' },
  { keys: ['X', 'Shift ↑↓', 'Ctrl A'], does: 'in the sessions: tick one, a range, all; Esc unticks' },
  { keys: ['←', '→'], does: 'in the tree: close, open' },
  { keys: ['+', '−', '0'], does: 'in charts and timelines: larger, smaller, all of it' },
  { keys: ['Shift ←', 'Shift →', 'Z', 'O'], does: 'in timelines: along, to the bar, to its session' },
  { keys: ['?'], does: 'show or hide this help' },
  { keys: ['Esc'], does: 'close what is open, empty the search' },
];

const A_LOT = 100;
/** Where these keys move within. */
const OWN_KEYS = '[role=tree],[role=tablist],[role=listbox],[role=grid],input,select';

/** @returns leaves */
export function keepKeys(): () => void {
  addEventListener('keydown', press);
  return () => removeEventListener('keydown', press);
}

function press(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || !isPlainKey(event) || isWriting(event.target)) return;
  const act = isHelpShown.value ? whileHelp(event) : actionOf(event);
  if (act === undefined) return;
  event.preventDefault();
  act();
}

/** Nothing behind the help moves. */
function whileHelp({ key }: KeyboardEvent): (() => void) | undefined {
  return key === '?' || key === 'Escape'
    ? () => {
        isHelpShown.value = false;
      }
    : undefined;
}

function actionOf({ key, shiftKey, target }: KeyboardEvent): (() => void) | undefined {
  const by = shiftKey ? A_LOT : 1;
  const isFree = !(target instanceof Element && target.closest(OWN_KEYS) !== null);
  switch (key) {
    case 'ArrowLeft':
      return isFree ? () => step(-by) : undefined;
    case 'ArrowRight':
      return isFree ? () => step(by) : undefined;
    case 'l':
    case 'L':
      return goLive;
    case 'e':
    case 'E':
      return () => showFailure(shiftKey ? 'back' : 'on');
    case '/':
      return search;
    case '?':
      return () => {
        isHelpShown.value = true;
      };
    default:
      return undefined;
  }
}

/** At once where it can be seen, so that what is typed next is not lost; else as soon as its pane is shown. */
function search(): void {
  const focus = (): void => document.querySelector<HTMLInputElement>('[data-search]')?.focus();
  narrowPane.value = 'left';
  focus();
  requestAnimationFrame(focus);
}

function isWriting(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(?:input|textarea|select)$/i.test(target.tagName)) &&
    !/^(?:range|checkbox|radio|button)$/.test(target.getAttribute('type') ?? 'text')
  );
}
