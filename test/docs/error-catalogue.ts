/** A page for each error as Markdown, and their index, written from the places of the source that make them. */
import { RuntimeError } from '../../src/machines/errors.ts';
import type { ErrorCategory } from '../../src/machines/errors.ts';
import { partOf, subjectOf, SUBJECTS } from './error-subjects.ts';
import type { ErrorSite } from './error-sites.ts';

const HEAD = `# Errors

Every code of an error that Wakechart throws or tells, with a page each, written from the places of its source that make it. An error is \`{ code, category, message, recoverable, docs, hint?, details? }\`: \`code\` is for
programs and stays what it is, \`message\` says what was expected and what came, \`hint\` what to do, \`docs\` names the page in the package, \`details\` holds plain data such as limits and ids. Test with
\`RuntimeError.is(error)\` and \`error.code\`. \`wakechart explain CODE\` prints a page. *Recoverable* means that the caller can do something about it and go on; it follows from the category: all but
\`crash\` are.

On a page stands what the error says: \`{name}\` is put in when it happens, \`{a | b}\` is one of the two, and \`…\` stands for words that are worked out then. Under a message, or under several, stands
what to do. A validation error without that names each wrong place and what was expected there: correct it. The code of
a \`BackgroundTaskError\` that is made without one, as in a runner of your own, is \`TASK_\` and its category. Codes of your own have no page.
`;

export interface ErrorEntry {
  readonly code: string;
  readonly sites: readonly ErrorSite[];
}

/** Every code with the places that make it, in order. */
export function errorEntries(sites: readonly ErrorSite[]): ErrorEntry[] {
  const byCode = new Map<string, ErrorSite[]>();
  for (const site of sites)
    if (site.code !== undefined) byCode.set(site.code, [...(byCode.get(site.code) ?? []), site]);
  return [...byCode]
    .map(([code, those]) => ({ code, sites: those }))
    .toSorted((one, other) => (one.code < other.code ? -1 : 1));
}

/** The index: one line a code. */
export function errorIndex(entries: readonly ErrorEntry[]): string {
  const sections = SUBJECTS.map(({ title }) => {
    const those = entries.filter(({ code }) => subjectOf(code) === title);
    return `\n## ${title}\n\n${those.map(({ code, sites }) => `- [${code}](errors/${code}.md): ${kindText(sites)}\n`).join('')}`;
  });
  return `${HEAD}${sections.join('')}`;
}

export function errorPage({ code, sites }: ErrorEntry): string {
  const parts = [...new Set(sites.map(({ file }) => partOf(file)))].toSorted();
  const head = `# ${code}\n\n[${subjectOf(code)}, and how to read this page](../errors.md)`;
  return `${head}\n\n${kindText(sites)} Raised by ${listed(parts)}.\n\n${sayings(sites)}`;
}

function kindText(sites: readonly ErrorSite[]): string {
  const categories = categoriesOf(sites);
  if (categories.length === 0) return 'Told as a reason, in a status or an answer.';
  const recoverable = [...new Set(sites.flatMap((site) => recoverableOf(site)))];
  const word =
    recoverable.length > 1
      ? 'recoverable, unless it says otherwise'
      : recoverable[0] === 'true'
        ? 'recoverable'
        : 'not recoverable';
  return `${categories.map((category) => `\`${category}\``).join(' or ')}, ${word}.`;
}

/** What the place says itself counts before what its category says. */
function recoverableOf({ recoverable, ...site }: ErrorSite): string[] {
  if (recoverable === 'true' || recoverable === 'false') return [recoverable];
  return categoriesOf([site]).map((category) => String(new RuntimeError('ANY', '', { category }).recoverable));
}

export function categoriesOf(sites: readonly Pick<ErrorSite, 'categories'>[]): ErrorCategory[] {
  return [...new Set(sites.flatMap(({ categories }) => categories))]
    .filter((category): category is ErrorCategory => /^[a-z_]+$/.test(category))
    .toSorted();
}

/** Each hint once, under the messages that it comes with. */
function sayings(sites: readonly ErrorSite[]): string {
  const byHint = new Map<string, Set<string>>();
  for (const { messages, hints } of sites) {
    const hint = hints.filter((text) => !isOfAnother(text)).map((text) => plain(text));
    const key = [...new Set(hint)].join(' Or: ');
    byHint.set(key, new Set([...(byHint.get(key) ?? []), ...messages.map((message) => said(message))]));
  }
  const groups = [...byHint].map(([hint, messages]) => {
    const shown = [...messages].map((message) => `- ${message}\n`);
    return `${shown.join('')}${hint === '' ? '' : `  - ${hint}\n`}`;
  });
  return groups.join('');
}

/** What is all put in at run time says nothing by its name. */
function said(message: string): string {
  return isOfAnother(message) ? 'the words of what went wrong' : codeText(message);
}

/** Whether a message or hint is handed on whole, or there is none. */
export function isOfAnother(text: string): boolean {
  return /^(?:\{[^}]*\}|…)?$/.test(text);
}

function codeText(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.includes('`') ? `\`\` ${line} \`\`` : `\`${line}\``;
}

/** Hints are prose, with words in them that Markdown would read as its own. */
function plain(text: string): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replaceAll(/[\\`*_<>[\]|#]/g, '\\$&');
}

function listed(parts: readonly string[]): string {
  const [last = ''] = parts.slice(-1);
  return parts.length < 2 ? last : `${parts.slice(0, -1).join(', ')} and ${last}`;
}
