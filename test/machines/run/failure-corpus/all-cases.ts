/** The whole corpus, besides the failures of real sockets. */
import { anthropicCases } from './anthropic.ts';
import { cloudCases } from './cloud.ts';
import { compatibleCases } from './compatible.ts';
import type { FailureCase } from './failure-case.ts';
import { googleCases } from './google.ts';
import { openaiCases } from './openai.ts';
import { ownCases } from './own.ts';
import { programCases } from './programs.ts';
import { sdkClassCases } from './sdk-classes.ts';
import { statedStatusCases } from './stated-statuses.ts';
import { systemCases } from './system.ts';
import { textCases } from './texts.ts';

export const FAILURE_CORPUS: readonly (FailureCase & { readonly source: string })[] = Object.entries({
  Anthropic: anthropicCases,
  OpenAI: openaiCases,
  Google: googleCases,
  'providers that speak as OpenAI does': compatibleCases,
  clouds: cloudCases,
  'the AI SDK': sdkClassCases,
  'the system': systemCases,
  programs: programCases,
  'this setup': ownCases,
  texts: textCases,
  'statuses in texts': statedStatusCases,
}).flatMap(([source, cases]) => cases.map((one) => ({ ...one, source })));
