/**
 * A part of the pane that can be folded; how it was left is remembered while the page lives. What is folded away costs
 * nothing.
 */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

const leftOpen = new Map<string, boolean>();

export interface SectionProps {
  readonly title: string;
  /** Beside the title: how much there is. */
  readonly aside?: ComponentChildren;
  readonly isOpenAtFirst?: boolean;
  /** While it is open. @returns leaves */
  readonly whileOpen?: () => () => void;
  readonly children: () => ComponentChildren;
}

export function Section({ title, aside, isOpenAtFirst = false, whileOpen, children }: SectionProps): JSX.Element {
  const [isOpen, setOpen] = useState(leftOpen.get(title) ?? isOpenAtFirst);
  useEffect(() => (isOpen ? whileOpen?.() : undefined), [isOpen, whileOpen]);
  const toggle = (event: Event): void => {
    const { open } = event.currentTarget as HTMLDetailsElement;
    // It is told of its first drawing too.
    if (open === isOpen) return;
    leftOpen.set(title, open);
    setOpen(open);
  };
  return (
    <details class="section" open={isOpen} onToggle={toggle}>
      <summary>
        <h3>{title}</h3>
        {aside === undefined ? undefined : <span class="aside">{aside}</span>}
      </summary>
      {isOpen ? <div class="section-body">{children()}</div> : undefined}
    </details>
  );
}
