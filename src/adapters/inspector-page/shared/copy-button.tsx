/** Copies a text. Where the browser does not let it, the text is marked instead, for the keys that copy. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

const TOLD_MS = 2_000;

export interface CopyButtonProps {
  readonly text: string;
  /** What it is, as the end of a sentence: `Copy the command`. */
  readonly what: string;
}

export function CopyButton({ text, what }: CopyButtonProps): JSX.Element {
  const button = useRef<HTMLButtonElement>(null);
  const [told, setTold] = useState<string>();
  useEffect(() => {
    if (told === undefined) return undefined;
    const timer = setTimeout(() => setTold(undefined), TOLD_MS);
    return () => clearTimeout(timer);
  }, [told]);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setTold('Copied');
    } catch {
      const beside = button.current?.previousElementSibling;
      if (beside !== null && beside !== undefined) getSelection()?.selectAllChildren(beside);
      setTold('Marked');
    }
  };
  return (
    <button
      ref={button}
      class="copy quiet"
      aria-label={told === undefined ? `Copy ${what}` : told}
      onClick={() => void copy()}
    >
      {told ?? 'Copy'}
    </button>
  );
}
