/** Which keys do what. */
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { isHelpShown } from '../model/view.ts';
import { pageKeys } from './keys.ts';

export function Help(): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const isShown = isHelpShown.value;
  useEffect(() => {
    if (isShown) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isShown]);
  return (
    <dialog
      ref={dialog}
      class="help"
      aria-label="Keys"
      onClose={() => {
        isHelpShown.value = false;
      }}
    >
      <h2>Keys</h2>
      <dl>
        {pageKeys.map(({ keys, does }) => (
          <div key={does}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <button
        onClick={() => {
          isHelpShown.value = false;
        }}
      >
        Close
      </button>
    </dialog>
  );
}
