/** Keys that work wherever nothing is being written. */
import { goLive, isHelpShown, step } from '../model/view.ts';

export interface PageKey {
  readonly keys: readonly string[];
  readonly does: string;
}

/** As the help tells them. Lists and the tree have keys of their own. */
export const pageKeys: readonly PageKey[] = [
  { keys: ['←', '→'], does: 'one record back, one on' },
  { keys: ['Shift ←', 'Shift →'], does: 'a hundred back, a hundred on' },
  { keys: ['L'], does: 'back to what happens now' },
  { keys: ['/'], does: 'search the actors' },
  { keys: ['?'], does: 'show or hide this help' },
  { keys: ['Esc'], does: 'close what is open' },
];

const A_LOT = 100;

/** @returns leaves */
export function keepKeys(): () => void {
  addEventListener('keydown', press);
  return () => removeEventListener('keydown', press);
}

function press(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target)) return;
  const act = actionOf(event);
  if (act === undefined) return;
  event.preventDefault();
  act();
}

function actionOf({ key, shiftKey, target }: KeyboardEvent): (() => void) | undefined {
  const by = shiftKey ? A_LOT : 1;
  // Within a list, a tree or tabs these keys move there.
  const isFree = !(target instanceof Element && target.closest('[role=tree],[role=tablist],input,select') !== null);
  if (key === 'ArrowLeft') return isFree ? () => step(-by) : undefined;
  if (key === 'ArrowRight') return isFree ? () => step(by) : undefined;
  if (key === 'l' || key === 'L') return goLive;
  if (key === '/') return () => document.querySelector<HTMLInputElement>('[data-search]')?.focus();
  if (key === '?') return () => { isHelpShown.value = !isHelpShown.value; };
  if (key === 'Escape' && isHelpShown.value) return () => { isHelpShown.value = false; };
  return undefined;
}

function isWriting(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(?:input|textarea|select)$/i.test(target.tagName)) && target.getAttribute('type') !== 'range';
}
