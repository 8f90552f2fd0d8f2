/** Every rule of the setup, in one list: what the structure test holds the checkout to. */
import { fileRules } from './file-rules.ts';
import { importRules } from './import-rules.ts';
import { purityRules } from './purity-rules.ts';
import { textRules } from './text-rules.ts';
import type { Rule } from './rules.ts';

export const projectRules: readonly Rule[] = [...importRules, ...purityRules, ...fileRules, ...textRules];
