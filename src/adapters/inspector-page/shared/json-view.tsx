/** JSON of a record, folded and bounded: what is deep or long is shown when the reader asks for it. */
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { visibleLines, visibleText } from '../model/visible-text.ts';
import { amount } from '../model/words.ts';
import { CopyButton } from './copy-button.tsx';

/** So many entries of one list or object, and so many more with each step. */
const PAGE = 50;
const OPEN_ENTRIES = 12;
const MAX_DEPTH = 24;
const MAX_TEXT = 8_000;
const SHORT_TEXT = 200;

export interface JsonViewProps {
  readonly label: string;
  readonly value: unknown;
  /** Something was left out before it came here. */
  readonly isCut?: boolean | undefined;
}

export function JsonView({ label, value, isCut = false }: JsonViewProps): JSX.Element {
  const text = useMemo(() => JSON.stringify(value, undefined, 2) ?? 'undefined', [value]);
  return (
    <section class="json" aria-label={label}>
      <h3>
        {label}
        {isCut ? (
          <span class="badge is-waiting" title="The recording program bounds what is written">
            cut when it was recorded
          </span>
        ) : undefined}
      </h3>
      <div class="json-body mono">
        <Value value={value} depth={0} />
      </div>
      <CopyButton text={text} what={label.toLowerCase()} />
    </section>
  );
}

function Value({
  name,
  value,
  depth,
}: {
  readonly name?: string;
  readonly value: unknown;
  readonly depth: number;
}): JSX.Element {
  const title = name === undefined ? undefined : <span class="json-name">{visibleText(name)}: </span>;
  if (typeof value !== 'object' || value === null)
    return (
      <div class="json-line">
        {title}
        <Plain value={value} />
      </div>
    );
  const entries = Object.entries(value);
  const kind = Array.isArray(value) ? `[ ${entries.length} ]` : `{ ${entries.length} }`;
  if (entries.length === 0 || depth >= MAX_DEPTH)
    return (
      <div class="json-line">
        {title}
        <span class="quiet">{Array.isArray(value) ? '[]' : '{}'}</span>
      </div>
    );
  return <Branch title={title} kind={kind} entries={entries} depth={depth} />;
}

interface BranchProps {
  readonly title: JSX.Element | undefined;
  readonly kind: string;
  readonly entries: readonly (readonly [string, unknown])[];
  readonly depth: number;
}

function Branch({ title, kind, entries, depth }: BranchProps): JSX.Element {
  const [isOpen, setOpen] = useState(depth < 2 && entries.length <= OPEN_ENTRIES);
  const [shown, setShown] = useState(PAGE);
  return (
    <details class="json-branch" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {title}
        <span class="quiet">{kind}</span>
      </summary>
      {isOpen
        ? entries.slice(0, shown).map(([key, each]) => <Value key={key} name={key} value={each} depth={depth + 1} />)
        : undefined}
      {isOpen && entries.length > shown ? (
        <button class="quiet" onClick={() => setShown(shown + PAGE)}>
          {amount(entries.length - shown)} more
        </button>
      ) : undefined}
    </details>
  );
}

function Plain({ value }: { readonly value: unknown }): JSX.Element {
  const [isWhole, setWhole] = useState(false);
  if (typeof value !== 'string') return <span class="json-plain">{String(value)}</span>;
  return (
    <span class="json-text">
      “{visibleLines(value, isWhole ? MAX_TEXT : SHORT_TEXT)}”
      {value.length <= SHORT_TEXT || isWhole ? undefined : (
        <button class="quiet" onClick={() => setWhole(true)}>
          {amount(value.length)} characters
        </button>
      )}
    </span>
  );
}
