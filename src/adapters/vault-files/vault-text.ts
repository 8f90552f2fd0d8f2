/**
 * A vault as YAML. What is wrong is named with its line; nothing that stands in the file is ever repeated but names.
 */
import { LineCounter, isAlias, isNode, parseDocument, visit } from 'yaml';
import type { Document } from 'yaml';
import type { z } from 'zod';
import { RuntimeError } from '../../machines/errors.ts';
import { looksLikeKey } from '../../machines/run/auth-profile-check.ts';
import { MAX_VAULT_FILE_CHARACTERS, vaultFile } from '../../machines/vault/vault-definition.ts';
import type { VaultDefinition } from '../../machines/vault/vault-definition.ts';

/** More do not help. */
const MAX_COMPLAINTS = 5;

export interface VaultText {
  readonly name: string;
  readonly text: string;
  /** What errors call it. */
  readonly fileName: string;
}

/** @throws RuntimeError VAULT_INVALID */
export function parseVault({ name, text, fileName }: VaultText): VaultDefinition {
  if (text.length > MAX_VAULT_FILE_CHARACTERS)
    throw invalid(fileName, [`expected at most ${MAX_VAULT_FILE_CHARACTERS} characters, received ${text.length}`]);
  const lines = new LineCounter();
  // The pretty form of an error quotes the line.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true });
  const broken = document.errors.map(({ code, pos }) => `line ${lines.linePos(pos[0]).line}: no YAML (${code})`);
  if (broken.length > 0) throw invalid(fileName, broken);
  let hasAlias = false;
  visit(document, (_key, node) => {
    hasAlias ||= isAlias(node);
  });
  if (hasAlias) throw invalid(fileName, ['expected no aliases']);
  const parsed = vaultFile.safeParse(document.toJS() ?? {});
  if (parsed.success) return { name, ...parsed.data };
  throw invalid(
    fileName,
    parsed.error.issues.map((issue) => `${placeOf(document, lines, issue.path)}${wordsOf(issue)}`),
  );
}

function placeOf(document: Document, lines: LineCounter, path: readonly PropertyKey[]): string {
  const shown = path.map((key) => `${shownKey(String(key))}: `).join('');
  for (let length = path.length; length >= 0; length -= 1) {
    const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    const range = isNode(node) ? node.range : undefined;
    if (range) return `line ${lines.linePos(range[0]).line}: ${shown}`;
  }
  return shown;
}

/** What was written where a name belongs may be the secret. */
function wordsOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return `unknown keys: ${issue.keys.map(shownKey).join(', ')}`;
  if (issue.code === 'invalid_key')
    return issue.issues.map(({ message }) => message).join('; ') || 'expected another name';
  return issue.message.replace(/^Invalid (input|string|option): /, '');
}

function shownKey(key: string): string {
  return key.length > 64 || looksLikeKey(key) ? '[a name that looks like a key]' : key;
}

function invalid(fileName: string, complaints: readonly string[]): RuntimeError {
  const shown = complaints.slice(0, MAX_COMPLAINTS);
  const more = complaints.length - shown.length;
  return new RuntimeError(
    'VAULT_INVALID',
    `the vault ${fileName} is not valid: ${[...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('; ')}`,
    {
      category: 'validation',
      hint: 'A vault reads like: secrets: { token: { env: GITHUB_TOKEN, hosts: [api.github.com] } }',
      details: { file: fileName, issues: shown },
    },
  );
}
