/** What a session has changed in the folders that it works in, line by line. */
import type { JSX } from 'preact';
import { useCallback, useMemo, useState } from 'preact/hooks';
import type { InspectedChanges } from '../../../actors/inspection/inspection-source.ts';
import { visibleText } from '../model/visible-text.ts';
import { amount, counted } from '../model/words.ts';
import { exact } from './exact-text.ts';
import { filesOfDifference } from './difference.ts';
import type { DifferenceFile, DifferenceLine } from './difference.ts';
import { Section } from './section.tsx';
import type { SessionWatch } from './session-watch.ts';

/** Files with fewer lines in all are open at first. */
const OPEN_LINES = 200;
const MAX_COLUMNS = 2_000;

export function ChangesSection({ watch }: { readonly watch: SessionWatch }): JSX.Element {
  const { value, because } = watch.sides.changes.value;
  const look = useCallback(() => watch.sides.look('changes'), [watch]);
  const files = value?.reduce((sum, { fileCount }) => sum + fileCount, 0);
  return (
    <Section title="Changes" whileOpen={look} aside={files === undefined ? undefined : counted(files, 'file')}>
      {() => (
        <>
          {because === undefined ? undefined : <p class="sessions-note" role="status">Not up to date: {visibleText(because, 500)}</p>}
          {value === undefined ? (because === undefined ? <p class="empty">They are looked up.</p> : undefined) : value.length === 0 ? <p class="empty">It works in no folder that could be looked at.</p> : value.map((changes) => <Folder key={`${changes.title} ${changes.branch ?? ''}`} changes={changes} />)}
        </>
      )}
    </Section>
  );
}

function Folder({ changes }: { readonly changes: InspectedChanges }): JSX.Element {
  const { title, branch, fileCount, difference, isCut, because } = changes;
  const files = useMemo(() => filesOfDifference(difference), [difference]);
  const told = new Set(files.map(({ path }) => path));
  const others = changes.files.filter(({ path }) => !told.has(path));
  return (
    <div class="folder">
      <h4>{visibleText(title, 200)}{branch === undefined ? undefined : <span> on the branch <code>{visibleText(branch, 100)}</code></span>}</h4>
      {because === undefined ? undefined : <p class="empty">{visibleText(because, 500)}</p>}
      {because === undefined && fileCount === 0 ? <p class="empty">Nothing has changed.</p> : undefined}
      {files.map((file) => <File key={file.path} file={file} />)}
      {others.length === 0 ? undefined : <ul class="other-files">{others.map(({ path, change }) => <li key={path}><code>{exact(path)}</code> <span class="badge">{change}</span></li>)}</ul>}
      {fileCount > changes.files.length ? <p class="left-out">{amount(fileCount - changes.files.length)} more files have changed.</p> : undefined}
      {isCut ? <p class="left-out">There is more than is shown here.</p> : undefined}
    </div>
  );
}

function File({ file: { path, added, removed, lines, omitted } }: { readonly file: DifferenceFile }): JSX.Element {
  const [isOpen, setOpen] = useState(lines.length <= OPEN_LINES);
  const name = path === '' ? 'a file without a name' : exact(path);
  return (
    <details class="difference-file" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary><code>{name}</code> <span class="count-added">+{amount(added)}</span> <span class="count-removed">−{amount(removed)}</span></summary>
      {isOpen ? (
        <div class="difference" role="group" aria-label={`Changes of ${name}`} tabIndex={0}>
          <div class="difference-lines">{lines.map((line, index) => <Line key={`${index} ${line.kind}`} line={line} />)}</div>
          {omitted > 0 ? <p class="left-out">{amount(omitted)} more lines are not shown.</p> : undefined}
        </div>
      ) : undefined}
    </details>
  );
}

const SIGNS = { same: ' ', added: '+', removed: '−', place: ' ', note: ' ' } as const satisfies Record<DifferenceLine['kind'], string>;

function Line({ line: { kind, text, before, after } }: { readonly line: DifferenceLine }): JSX.Element {
  return (
    <div class={`line is-${kind}`}>
      <span class="line-number">{before ?? ''}</span>
      <span class="line-number">{after ?? ''}</span>
      <code>{SIGNS[kind]}{visibleText(text, MAX_COLUMNS)}</code>
    </div>
  );
}
