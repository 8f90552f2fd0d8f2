/**
 * What has changed since a session began in the folders that it works in: what was committed, and all of it line by
 * line.
 */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ShownChanges } from '../../../actors/inspection/shown-answers.ts';
import { exact } from '../../../machines/exact-text.ts';
import type { DifferenceFile, DifferenceLine } from '../../../machines/inspection-log/unified-difference.ts';
import { about } from '../model/view.ts';
import { visibleText } from '../model/visible-text.ts';
import { amount, clockTime, counted } from '../model/words.ts';
import { When } from '../shared/when.tsx';
import type { SessionWatch } from './session-watch.ts';
import { SideSection } from './side-section.tsx';

/** Files with fewer lines in all are open at first. */
const OPEN_LINES = 200;
const MAX_COLUMNS = 2_000;

interface ChangesSectionProps {
  readonly watch: SessionWatch;
  /** What it left there may be what one wants to see. */
  readonly isOpenAtFirst: boolean;
}

export function ChangesSection({ watch, isOpenAtFirst }: ChangesSectionProps): JSX.Element {
  return (
    <SideSection
      title="Changes"
      watch={watch}
      name="changes"
      isOpenAtFirst={isOpenAtFirst}
      none={about.value?.kind === 'log' ? 'Changes are not recorded.' : 'It works in no folder that could be checked.'}
      isNone={(value) => value.length === 0}
      count={(folders) =>
        counted(
          folders.reduce((sum, { fileCount }) => sum + fileCount, 0),
          'file',
        )
      }
    >
      {(folders) =>
        folders.map((changes) => <Folder key={`${changes.title} ${changes.branch ?? ''}`} changes={changes} />)
      }
    </SideSection>
  );
}

function Folder({ changes }: { readonly changes: ShownChanges }): JSX.Element {
  const {
    title,
    branch,
    fileCount,
    differences,
    since,
    commits = [],
    commitCount = commits.length,
    isCut,
    underWay,
    because,
  } = changes;
  const told = new Set(differences.map(({ path }) => path));
  // Where nothing was committed, none is.
  const loose = new Set(
    commits.length === 0
      ? []
      : changes.files.flatMap(({ path, isUncommitted }) => (isUncommitted === true ? [path] : [])),
  );
  const others = changes.files.filter(({ path }) => !told.has(path));
  return (
    <div class="folder">
      <h4>
        {visibleText(title, 200)}
        {branch === undefined ? undefined : (
          <span>
            {' '}
            on the branch <code>{visibleText(branch, 100)}</code>
          </span>
        )}
      </h4>
      {underWay === undefined ? undefined : <UnderWay work={underWay} />}
      {because === undefined ? undefined : <p class="empty">{visibleText(because, 500)}</p>}
      {since === undefined ? undefined : (
        <p class="left-out">
          Compared with {visibleText(since, 300)}.{commitCount === 0 ? '' : ` ${counted(commitCount, 'commit')} since:`}
        </p>
      )}
      {commits.length === 0 ? undefined : <Commits commits={commits} count={commitCount} />}
      {because === undefined && fileCount === 0 ? <p class="empty">No file is different now.</p> : undefined}
      {differences.map((file) => (
        <File key={file.path} file={file} isLoose={loose.has(file.path)} />
      ))}
      {others.length === 0 ? undefined : (
        <ul class="other-files">
          {others.map(({ path, change }) => (
            <li key={path}>
              <code>{exact(path)}</code> <span class="badge">{change}</span>
            </li>
          ))}
        </ul>
      )}
      {fileCount > changes.files.length ? (
        <p class="left-out">{amount(fileCount - changes.files.length)} more files have changed.</p>
      ) : undefined}
      {isCut ? <p class="left-out">There is more than is shown here.</p> : undefined}
    </div>
  );
}

function UnderWay({ work: { what, files } }: { readonly work: NonNullable<ShownChanges['underWay']> }): JSX.Element {
  return (
    <p class="under-way">
      <span class="badge is-error">{what} in progress</span>{' '}
      {files.length === 0
        ? 'No file is in conflict any more.'
        : `In conflict: ${visibleText(files.map(exact).join(', '), 1_000)}`}
    </p>
  );
}

type ShownCommits = NonNullable<ShownChanges['commits']>;

function Commits({ commits, count }: { readonly commits: ShownCommits; readonly count: number }): JSX.Element {
  return (
    <ul class="other-files" aria-label="Commits">
      {commits.map(({ hash, subject, at }) => (
        <li key={hash}>
          <code title={hash}>{hash.slice(0, 10)}</code> {visibleText(subject, 300)}{' '}
          <span class="quiet">
            <When iso={at} tell={(time) => clockTime(time).slice(0, 8)} />
          </span>
        </li>
      ))}
      {count > commits.length ? <li>{amount(count - commits.length)} earlier ones</li> : undefined}
    </ul>
  );
}

function File({
  file: { path, added, removed, lines, omitted },
  isLoose,
}: {
  readonly file: DifferenceFile;
  readonly isLoose: boolean;
}): JSX.Element {
  const [isOpen, setOpen] = useState(lines.length <= OPEN_LINES);
  const name = path === '' ? 'a file without a name' : exact(path);
  return (
    <details class="difference-file" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <code>{name}</code> <span class="count-added">+{amount(added)}</span>{' '}
        <span class="count-removed">−{amount(removed)}</span>{' '}
        {isLoose ? <span class="badge">not committed</span> : undefined}
      </summary>
      {isOpen ? (
        <div class="difference" role="group" aria-label={`Changes of ${name}`} tabIndex={0}>
          <div class="difference-lines">
            {lines.map((line, index) => (
              <Line key={`${index} ${line.kind}`} line={line} />
            ))}
          </div>
          {omitted > 0 ? <p class="left-out">{amount(omitted)} more lines are not shown.</p> : undefined}
        </div>
      ) : undefined}
    </details>
  );
}

const SIGNS = { same: ' ', added: '+', removed: '−', place: ' ', note: ' ' } as const satisfies Record<
  DifferenceLine['kind'],
  string
>;

function Line({ line: { kind, text, before, after } }: { readonly line: DifferenceLine }): JSX.Element {
  return (
    <div class={`line is-${kind}`}>
      <span class="line-number">{before ?? ''}</span>
      <span class="line-number">{after ?? ''}</span>
      <code>
        {SIGNS[kind]}
        {visibleText(text, MAX_COLUMNS)}
      </code>
    </div>
  );
}
