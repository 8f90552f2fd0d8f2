/**
 * Small signs, in a square of sixteen, as lines. Each has a form of its own, since color alone says nothing to many.
 * Words beside them say the same.
 */
import type { JSX } from 'preact';

const CIRCLE = 'M8 2.6a5.4 5.4 0 1 0 .01 0Z';
const CROSS = 'M4.5 4.5l7 7M11.5 4.5l-7 7';
const FORWARD = 'l5.5 4-5.5 4Z';
const BACKWARD = 'l-5.5 4 5.5 4Z';
const SMALL_CROSS = 'l4.4 4.4m0-4.4-4.4 4.4';

const SIGNS = {
  open: 'M4.5 6.5 8 10l3.5-3.5',
  closed: 'M6.5 4.5 10 8l-3.5 3.5',
  running: 'M8 4.6a3.4 3.4 0 1 0 .01 0Z',
  waiting: 'M5.8 4.5v7M10.2 4.5v7',
  completed: 'M3.8 8.4 6.8 11.2 12.2 5',
  failed: CROSS,
  error: CROSS,
  cancelled: 'M5 5h6v6H5Z',
  stopped: 'M5 5h6v6H5Z',
  refused: `${CIRCLE}M4.4 11.6l7.2-7.2`,
  unknown: 'M5.6 6.2a2.4 2.4 0 1 1 3.4 2.2c-.7.3-1 .7-1 1.5M8 12.3v.5',
  supervisor: 'M8 3.2v3.6M3.8 12.6V9.4h8.4v3.2M8 6.8v5.8',
  task: `M5 4${FORWARD}`,
  session: 'M2.8 3.6h10.4v7H8l-3 2.6v-2.6H2.8Z',
  action: 'M8.8 2.4 4.2 9h3.6l-.8 4.6L11.8 7H8.2Z',
  toolCall: 'M5.4 3.6C3.6 3.6 5 8 3 8c2 0 .6 4.4 2.4 4.4M10.6 3.6c1.8 0 .4 4.4 2.4 4.4c-2 0-.6 4.4-2.4 4.4',
  subagent: 'M4.4 2.8v10.4M4.4 9.4c4.4 0 7.2-1 7.2-5M9.6 5.4l2-2 2 2',
  run: 'M12.6 8A4.6 4.6 0 1 1 10.8 4.3M10.9 2v2.6H8.3',
  step: 'M8 2.4l1.5 4.1L13.6 8l-4.1 1.5L8 13.6 6.5 9.5 2.4 8l4.1-1.5Z',
  timer: `${CIRCLE}M8 5v3.2l2.2 1.4`,
  other: 'M8 6.2a1.8 1.8 0 1 0 .01 0Z',
  event: 'M2 8h12M9.5 3.5 14 8l-4.5 4.5',
  ignored: `${CIRCLE}M4.4 11.6l7.2-7.2`,
  actor: 'M8 2v12M2 8h12',
  emit: 'M4 12l8-8M6 4h6v6',
  cancel: `${CIRCLE}M5.8 5.8${SMALL_CROSS}`,
  snap: 'M2.8 5h10.4v7H2.8ZM6 5l1-2h2l1 2',
  machine: 'M2 2.8h5v4H2ZM9 9.4h5v4H9ZM4.5 6.8v4.6H9',
  first: `M4.5 4v8M12 4${BACKWARD}`,
  back: `M11 4${BACKWARD}`,
  on: `M5 4${FORWARD}`,
  failureBack: `M6.5 4 3 8l3.5 4M9 5.8${SMALL_CROSS}`,
  failureOn: `M9.5 4 13 8l-3.5 4M2.6 5.8${SMALL_CROSS}`,
} as const;

export type SignName = keyof typeof SIGNS;

export function Sign({ of, size = 16 }: { readonly of: SignName; readonly size?: number }): JSX.Element {
  return (
    <svg class={`sign sign-${of}`} viewBox="0 0 16 16" width={size} height={size} aria-hidden="true">
      <path d={SIGNS[of]} />
    </svg>
  );
}
